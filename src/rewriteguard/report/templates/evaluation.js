(() => {
  const rows = dataOf("data"), clauses = dataOf("clause-data");
  const groups = new Map(dataOf("names").groups.map(([key, cases]) => [key, new Set(cases)]));
  const BROKEN = new Set(["altered", "dropped", "added"]);
  const LABELS = {relevant: "relevant", near_miss: "near miss", forbidden: "forbidden", unauthorised: "not for this user"};
  const CAME = {found: "relevant document", near_miss: "near miss only", missing: "nothing relevant", "": "not judged"};
  const texts = new Map(), byArm = new Map();
  const arm = (row) => (row.rewriter ? `${words(row.arm)} · ${row.rewriter}` : words(row.arm));
  const quote = (text, attributes = {}) => make("bdi", {dir: "auto", ...attributes}, text);

  const named = clauses.map(([id, rewriter, armName, clause, kind, asked, critical, fate, instead, query, evidence]) =>
    ({case: id, rewriter, arm: armName, clause, kind, asked, critical, fate, instead, query, evidence}));
  const keyOf = (row) => JSON.stringify([row.case, row.rewriter, row.arm]);
  for (const clause of named) {
    const key = keyOf(clause);
    if (!byArm.has(key)) byArm.set(key, []);
    byArm.get(key).push(clause);
  }

  function matches(row, form, fields) {
    const {group} = form.elements;
    return fields.every((name) => {
      const wanted = form.elements[name]?.value;
      return !wanted || row[name] === wanted;
    }) && (!group?.value || groups.get(group.value).has(row.case));
  }

  function textOf(row, make) {
    if (!texts.has(row)) texts.set(row, make(row).filter((part) => part).join("\n").toLowerCase());
    return texts.get(row);
  }

  const wordsOf = (row) => [row.case, arm(row), row.original, row.rewrite, row.stage, row.action, ...row.queries, ...row.base_queries,
    ...row.dropped, ...row.reasons.map(words), ...[row.base_results, row.results].flatMap(([documents]) => documents.map(([, id]) => id))];
  const wordsOfClause = (row) => [row.case, arm(row), row.asked, row.instead, row.kind && words(row.kind)];

  function ranking(title, [documents, left], relevant) {
    const items = documents.map(([rank, id, label]) => make("li", {value: rank, class: label || "plain"},
      quote(id, {class: "id"}), ...(label ? [" ", make("span", {class: "tag"}, LABELS[label])] : [])));
    const parts = [make("h4", {}, title)];
    if (!items.length) parts.push(make("p", {class: "small"}, "Nothing came back."));
    else parts.push(make("ol", {class: "ranking"}, ...items));
    if (left) parts.push(make("p", {class: "small"}, `${left} more, none of them labelled`));
    if (relevant && !documents.some(([, , label]) => label === "relevant") && items.length) {
      parts.push(make("p", {class: "small"}, "None of them is relevant."));
    }
    return make("div", {class: "ranked"}, ...parts);
  }

  const entry = (title, ...children) => [make("dt", {}, title), make("dd", {class: "said"}, ...children)];
  const lines = (queries) => (queries.length
    ? queries.map((query) => make("p", {}, quote(query)))
    : [make("p", {class: "small"}, "nothing was searched")]);

  function became(row) {
    const where = row.query === null || row.query === undefined ? "" : ` (query ${row.query + 1})`;
    const parts = [make("span", {class: `fate ${row.fate}`}, row.fate)];
    if (row.instead) parts.push(row.fate === "altered" ? " to " : ": ", quote(row.instead, {class: "quoted"}));
    if (row.instead && where) parts.push(make("span", {class: "small"}, where));
    return parts;
  }

  const KIND = {must_preserve: "as it is", forbidden_assumption: "not to be assumed"};
  const kindOf = (row) => `${row.kind ? words(row.kind) : KIND[row.clause] ?? words(row.clause)}${row.critical ? ", critical" : ""}`;

  function contract(row) {
    const own = byArm.get(keyOf(row)) ?? [];
    if (!own.length) return [];
    const items = own.map((clause) => make("li", {}, quote(clause.asked, {class: "quoted"}),
      make("span", {class: "small"}, ` ${kindOf(clause)} `), ...became(clause)));
    return [make("h4", {}, "Contract"), make("ul", {class: "contract"}, ...items)];
  }

  function details(row, number) {
    const parts = [make("dl", {class: "pair"},
      ...entry(`Searched, ${row.base}`, ...lines(row.base_queries)), ...entry("Searched, this arm", ...lines(row.queries)))];
    if (row.action) parts.push(make("p", {class: "small"}, `The guard's action: ${words(row.action)}.`));
    parts.push(...contract(row));
    return make("details", {}, make("summary", {}, "Queries and contract", make("span", {class: "unseen"},
      ` of regression ${number}`)), ...parts);
  }

  function card(row, number) {
    const heading = make("h3", {id: `row-${number}`}, make("span", {class: "number"}, `${number}`), " ",
      make("span", {class: "badge"}, `lost at ${row.stage || "an unknown stage"}`));
    const codes = make("ul", {class: "codes", "aria-label": "The guard's findings"},
      ...row.reasons.map((code) => make("li", {}, words(code).replace(".", ": "))));
    const about = [`case ${row.case}`, arm(row), `against the ${row.base}`, row.turn && `turn ${row.turn}`,
      row.status !== "ok" && row.status].filter((part) => part);
    const meta = make("p", {class: "meta"}, ...about.flatMap((part, place) => [place ? " · " : "", make("bdi", {}, part)]));
    const pair = make("dl", {class: "pair"}, ...entry("Turn", quote(row.original)),
      ...(row.rewrite === null ? [] : entry("Rewrite", quote(row.rewrite))));
    if (row.dropped.length) {
      pair.append(...entry("Not kept", ...row.dropped.flatMap((text, place) => [place ? ", " : "", quote(text, {class: "quoted"})])));
    }
    const article = make("article", {class: "card lost", "aria-labelledby": heading.id},
      make("header", {}, heading, ...(row.reasons.length ? [codes] : []), meta), pair,
      make("div", {class: "rankings"}, ranking(`Came back, ${row.base}`, row.base_results),
        ranking("Came back, this arm", row.results, true)), details(row, number));
    return make("li", {}, article);
  }

  function clauseRow(row) {
    return make("tr", {tabindex: "-1"}, make("th", {scope: "row"}, quote(row.case)), make("td", {}, quote(arm(row))),
      make("td", {}, quote(row.asked, {class: "quoted"}), " ", make("span", {class: "small"}, kindOf(row))),
      make("td", {}, ...became(row)), make("td", {}, CAME[row.evidence]));
  }

  if (clauses.length) {
    listing({
      id: "matrix",
      all: clauses.length,
      matching: (query, form) => named.filter((row) =>
        (form.elements.fate.value === "broken" ? BROKEN.has(row.fate) : matches(row, form, ["fate"]))
        && matches(row, form, ["rewriter", "arm", "kind"])
        && (!query || textOf(row, wordsOfClause).includes(query))),
      card: clauseRow,
      nothing: "No clause matches. Clear a filter to see more.",
      first: 50,
    });
  }

  listing({
    id: "rows",
    all: rows.length,
    matching: (query, form) => {
      const against = new Set([...form.querySelectorAll("[name=base]:checked")].map((box) => box.value));
      const all = !form.querySelector("[name=base]");
      return rows.filter((row) => (all || against.has(row.base))
        && matches(row, form, ["rewriter", "arm", "stage"])
        && (!query || textOf(row, wordsOf).includes(query)));
    },
    card,
    nothing: rows.length ? "No regression matches. Clear a filter to see more." : "No request lost its evidence in any arm.",
    keys: {o: ["base", "original"], r: ["base", "rewrite"]},
    first: 10,
  });
})();
