"use strict";
const byId = (id) => document.getElementById(id);
const dataOf = (id) => JSON.parse(byId(id).textContent);
const words = (code) => code.replaceAll("_", " ");

// Text goes in as text nodes and attributes alone, so that no words of the data are ever read as markup.
function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

// The list below its filters in the section `id`. `all` is the number of its rows, `matching(query, form)` gives those to
// show, `card(row, number)` the item of one, `nothing` is said where none matches. Of the lists of a page one takes the
// keys: those that move and search, and `keys`, which switch check boxes.
function listing({id, all, matching, card, nothing, keys, first = 25}) {
  const MORE = 100;
  const root = byId(id), form = root.querySelector("form"), list = root.querySelector(".list");
  const count = root.querySelector(".count"), more = root.querySelector(".more");
  const search = form.querySelector("input[type=search]");
  let found = [], shown = 0;

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
      ? `${n(shown)} of ${n(found.length)} shown${found.length < all ? `, ${n(all)} in all` : ""}`
      : nothing;
  }

  function update() {
    found = matching(search.value.trim().normalize("NFC").toLowerCase(), form);
    shown = 0;
    list.replaceChildren();
    show(first);
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
    const box = byId("shortcuts"), on = box?.checked;  // a setting, and no filter
    setTimeout(() => { if (box) box.checked = on; update(); });
  });

  more.addEventListener("click", () => {
    const next = shown;
    show(MORE);
    const item = list.children[next];
    (item?.querySelector("summary") ?? item)?.focus();
  });

  // A name in a table leads to its rows: all other filters are cleared first.
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-filter], a[data-filters]");
    if (link?.hash !== `#${id}`) return;
    form.reset();
    const {filter, value, filters} = link.dataset;
    const wanted = filters ? Object.entries(JSON.parse(filters)) : [[filter, value]];
    for (const [name, chosen] of wanted) {
      const boxes = form.querySelectorAll(`input[type=checkbox][name=${name}]`);
      for (const box of boxes) box.checked = box.value === chosen;
      if (!boxes.length && form.elements[name]) form.elements[name].value = chosen;
    }
    setTimeout(update);
  });

  // The row that had the focus keeps it, or the one before it where it is gone.
  function updateAround() {
    const place = [...list.children].findIndex((item) => item.contains(document.activeElement));
    const before = new Set(found.slice(0, place + 1));
    update();
    if (place < 0) return;
    const next = Math.max(0, found.filter((row) => before.has(row)).length - 1);
    if (next >= shown) show(next + 1 - shown);
    (list.children[next]?.querySelector("summary") ?? root).focus();
  }

  if (keys) shortcuts({form, list, more, search, update: updateAround, keys});

  // Paper has no hover and nothing to click on.
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...list.querySelectorAll("details:not([open])")];
    for (const details of opened) details.open = true;
  });
  addEventListener("afterprint", () => { for (const details of opened) details.open = false; });

  update();
}

function shortcuts({form, list, more, search, update, keys}) {
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

  const toggle = (name, value) => {
    const box = [...form.querySelectorAll(`input[name=${name}]`)].find((each) => each.value === value);
    if (!box) return;
    box.checked = !box.checked;
    update();
  };

  const KEYS = {"/": () => search.focus(), j: () => step(1), k: () => step(-1)};
  for (const [key, [name, value]] of Object.entries(keys)) KEYS[key] = () => toggle(name, value);
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest?.("input:not([type=checkbox]), select, textarea");
    if (typing || event.ctrlKey || event.metaKey || event.altKey || !byId("shortcuts").checked) return;
    if (!Object.hasOwn(KEYS, event.key)) return;
    event.preventDefault();
    KEYS[event.key]();
  });
}
