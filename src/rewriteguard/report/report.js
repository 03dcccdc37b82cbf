"use strict";
(() => {
  const FIRST = 25, MORE = 100;
  const byId = (id) => document.getElementById(id);
  const rows = JSON.parse(byId("data").textContent);
  const {kinds, logs, systems} = JSON.parse(byId("names").textContent);
  const form = byId("filters"), list = byId("list"), count = byId("count"), more = byId("more"), search = byId("search");
  const selects = ["fault", "kind", "dependence", "system"].map(byId).filter((select) => select);
  const verdicts = [...form.elements.verdict];
  const ranked = [...rows].sort((a, b) => b.rank - a.rank);
  const texts = new Map();
  let found = [], shown = 0;

  // Text goes in as text nodes and attributes alone, so that no words of the log are ever read as markup.
  function make(tag, attributes, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  }

  const words = (code) => code.replaceAll("_", " ");
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

  function matching() {
    const wanted = new Set(verdicts.filter((box) => box.checked).map((box) => box.value));
    const chosen = selects.filter((select) => select.value);
    const query = search.value.trim().normalize("NFC").toLowerCase();
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

  function show(number) {
    const end = Math.min(found.length, shown + number);
    const part = document.createDocumentFragment();
    for (; shown < end; shown += 1) part.append(card(found[shown], shown + 1));
    list.append(part);
    const left = found.length - shown;
    more.hidden = !left;
    more.textContent = `Show ${Math.min(MORE, left)} more`;
    const n = (value) => value.toLocaleString("en");
    count.textContent = found.length
      ? `${n(shown)} of ${n(found.length)} shown${found.length < rows.length ? `, ${n(rows.length)} in all` : ""}`
      : "No turn matches. Clear a filter to see more.";
  }

  function update() {
    found = matching();
    shown = 0;
    list.replaceChildren();
    show(FIRST);
  }

  let waiting = 0;
  search.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(update, 120); });
  search.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { search.value = ""; update(); event.preventDefault(); }
  });
  form.addEventListener("change", (event) => {
    if (event.target !== search && event.target.id !== "shortcuts") update();
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => {
    const shortcuts = byId("shortcuts"), on = shortcuts.checked;  // a setting, and no filter
    setTimeout(() => { shortcuts.checked = on; update(); });
  });

  more.addEventListener("click", () => {
    const next = shown;
    show(MORE);
    list.children[next]?.querySelector("summary").focus();
  });

  // A name in a table leads to its rows: all other filters are cleared first.
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-filter]");
    if (!link) return;
    form.reset();
    const {filter, value} = link.dataset;
    if (filter === "verdict") for (const box of verdicts) box.checked = box.value === value;
    else byId(filter).value = value;
    setTimeout(update);
  });

  function step(by) {
    const open = [...list.querySelectorAll("article > details > summary")];
    const here = document.activeElement?.closest("article");
    const place = open.findIndex((summary) => summary.closest("article") === here);
    const target = open[Math.max(0, place + by)];
    if (target) {
      target.focus({preventScroll: true});
      target.closest("article").scrollIntoView({block: "nearest"});
    } else if (!more.hidden) {
      more.click();
    }
  }

  function toggle(verdict) {
    const box = verdicts.find((each) => each.value === verdict);
    box.checked = !box.checked;
    const place = [...list.children].findIndex((item) => item.contains(document.activeElement));
    const before = new Set(found.slice(0, place + 1));
    update();
    if (place >= 0) focusOn(Math.max(0, found.filter((row) => before.has(row)).length - 1));
  }

  // The turn that had the focus keeps it, or the one before it where it is gone.
  function focusOn(place) {
    if (place >= shown) show(place + 1 - shown);
    (list.children[place]?.querySelector("summary") ?? byId("rows")).focus();
  }

  const KEYS = {
    "/": () => search.focus(), j: () => step(1), k: () => step(-1),
    c: () => toggle("changed"), u: () => toggle("uncertain"), p: () => toggle("preserved"),
  };
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest?.("input:not([type=checkbox]), select, textarea");
    if (typing || event.ctrlKey || event.metaKey || event.altKey || !byId("shortcuts").checked) return;
    if (!Object.hasOwn(KEYS, event.key)) return;
    event.preventDefault();
    KEYS[event.key]();
  });

  // Paper has no hover and nothing to click on.
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("#list details:not([open])")];
    for (const details of opened) details.open = true;
  });
  addEventListener("afterprint", () => { for (const details of opened) details.open = false; });

  update();
})();
