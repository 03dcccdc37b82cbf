(() => {
  const rows = dataOf("data");
  const {kinds, logs, systems} = dataOf("names");
  const selects = ["fault", "kind", "dependence", "system"].map(byId).filter((select) => select);
  const verdicts = [...byId("filters").elements.verdict];
  const ranked = [...rows].sort((a, b) => b.rank - a.rank);
  const texts = new Map();

  const kindName = (kind) => (Object.hasOwn(kinds, kind) ? kinds[kind] : words(kind));
  const codeName = (code) => {
    const [fault, kind] = code.split(".");
    return kind ? `${words(fault)}: ${kindName(kind)}` : words(fault);
  };
  const plain = (pieces) => pieces.map((piece) => (typeof piece === "string" ? piece : piece[0])).join("");

  function textOf(row) {
    if (!texts.has(row)) {
      const parts = [plain(row.turn), plain(row.rewrite), row.id, row.system, row.why, row.codes.map(([code]) => codeName(code)).join("\n")];
      texts.set(row, [...parts, ...remarks(row), ...row.history.map((message) => plain(message[2]))].join("\n").normalize("NFC").toLowerCase());
    }
    return texts.get(row);
  }

  const codePart = (row, place, value) => row.codes.some(([code]) => code.split(".")[place] === value);
  // The place of a label among those that have a group; all others are one group behind them. A label itself may be
  // empty, or hold what an attribute cannot.
  const places = new Map(systems.map((label, place) => [label, String(place)]));
  const systemOf = (row) => (row.system === undefined ? "" : places.get(row.system) ?? String(systems.length));
  const tests = {
    fault: (row, value) => codePart(row, 0, value),
    kind: (row, value) => codePart(row, 1, value),
    dependence: (row, value) => row.dependent === (value === "dependent"),
    system: (row, value) => systemOf(row) === value,
  };

  function matching(query) {
    const wanted = new Set(verdicts.filter((box) => box.checked).map((box) => box.value));
    const chosen = selects.filter((select) => select.value);
    return (byId("order").value === "line" ? rows : ranked).filter((row) =>
      wanted.has(row.verdict)
      && chosen.every((select) => tests[select.id](row, select.value))
      && (!query || textOf(row).includes(query)));
  }

  const STATUSES = new Set(["kept", "dropped", "altered", "invented", "carried"]);
  function saying(piece) {
    const [, status, kind, note] = piece;
    return [words(status), kind && `(${kindName(kind)})`, note && `: ${note}`].filter((part) => part).join(" ")
      .replace(" :", ":");
  }

  function marked(pieces) {
    const text = make("bdi", {dir: "auto"});
    for (const piece of pieces) {
      if (typeof piece === "string") {
        text.append(piece);
      } else if (piece[1] === "cut") {
        text.append(make("span", {class: "cut"}, piece[0]));
      } else {
        const status = piece[1], shape = STATUSES.has(status) ? status : "other";
        const [, before, inner, after] = /^(\s*)(.*?)(\s*)$/s.exec(piece[0]);
        const mark = make("span", {class: `mark ${shape}`, title: saying(piece)}, make("span", {class: "words"}, inner));
        if (piece[4] !== "more") mark.append(make("span", {class: status === "kept" ? "tag unseen" : "tag"}, words(status)));
        text.append(before, mark, after);
      }
    }
    return text;
  }

  // The marks once more in words, for those who see neither colours nor what appears on hover.
  function listed(row) {
    const groups = new Map();
    const [inTurn, inRewrite] = row.hidden ?? [[], []];  // what the marks upon it hide
    for (const [where, pieces] of [["turn", [...row.turn, ...inTurn]], ["rewrite", [...row.rewrite, ...inRewrite]]]) {
      for (const piece of pieces) {
        if (typeof piece === "string") continue;
        const [text, status, kind, note, part] = piece;
        if (status === "cut" || part || (status === "kept" && where === "rewrite")) continue;
        if (!groups.has(status)) groups.set(status, []);
        const about = [kind && kindName(kind), note].filter((part) => part).join(", ");
        groups.get(status).push([text, about]);
      }
    }
    const entries = [...groups].flatMap(([status, items]) => [
      make("dt", {}, words(status)),
      make("dd", {}, ...items.flatMap(([text, about], place) => [
        place ? "; " : "", make("bdi", {class: "quoted"}, text), about ? ` (${about})` : ""])),
    ]);
    return entries.length ? [make("h4", {}, "Words compared"), make("dl", {class: "words-list"}, ...entries)] : [];
  }

  function evidence(row) {
    const parts = [];
    if (row.why) parts.push(make("p", {class: "why", dir: "auto"}, row.why));
    parts.push(...listed(row));
    if (row.raw !== undefined) {
      parts.push(make("h4", {}, "As the rewriter wrote it"), make("p", {class: "raw", dir: "auto"}, row.raw));
    }
    return parts;
  }

  function historyOf(row) {
    if (!row.history.length) return [];
    const left = row.messages - row.history.length;
    const items = row.history.map(([number, role, pieces]) =>
      make("p", {class: "message"}, make("span", {class: "who"}, `${number} ${role}`), " ", marked(pieces)));
    if (left) items.unshift(make("p", {class: "small"}, `${left} more message${left === 1 ? "" : "s"} not shown`));
    return [make("dt", {}, "History"), make("dd", {class: "history"}, ...items)];
  }

  // How far the finding may be another one than that of the log.
  function remarks(row) {
    const otherwise = row.logged && row.logged !== row.verdict;
    return [otherwise && `judged otherwise now, logged as ${row.logged}`, row.cut && "the log holds the last messages alone"]
      .filter((part) => part);
  }

  function card(row, number) {
    const heading = make("h3", {id: `row-${number}`},
      make("span", {class: "number"}, `${number}`), " ", make("span", {class: `badge ${row.verdict}`}, row.verdict));
    const codes = make("ul", {class: "codes", "aria-label": "Findings"}, ...row.codes.map(([code, severity]) =>
      make("li", {class: severity}, codeName(code), severity === "minor" ? " (minor)" : "")));
    const place = logs.length > 1 ? `${logs[row.file]}, line ${row.line}` : `line ${row.line}`;
    const about = [place, row.time && `${row.time} UTC`, row.system === "" ? "(empty)" : row.system,
      row.dependent ? "needs the conversation" : "complete by itself", ...remarks(row)].filter((part) => part);
    const meta = make("p", {class: "meta"}, ...about.flatMap((part, place) => [place ? " · " : "", make("bdi", {}, part)]));
    if (row.id !== undefined) meta.append(" · ", make("bdi", {class: "id"}, row.id));
    const pair = make("dl", {class: "pair"}, ...historyOf(row),
      make("dt", {}, "Turn"), make("dd", {class: "said"}, marked(row.turn)),
      make("dt", {}, "Rewrite"), make("dd", {class: "said"}, marked(row.rewrite)));
    const details = make("details", {}, make("summary", {}, "Evidence", make("span", {class: "unseen"},
      ` of turn ${number}`)), ...evidence(row));
    const article = make("article", {class: `card ${row.verdict}`, "aria-labelledby": heading.id},
      make("header", {}, heading, ...(row.codes.length ? [codes] : []), meta), pair, details);
    return make("li", {}, article);
  }

  listing({
    id: "rows",
    all: rows.length,
    matching,
    card,
    nothing: "No turn matches. Clear a filter to see more.",
    keys: {c: ["verdict", "changed"], u: ["verdict", "uncertain"], p: ["verdict", "preserved"]},
  });
})();
