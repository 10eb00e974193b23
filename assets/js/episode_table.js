/* The episodes: filtered, sorted and turned page by page in the browser, which holds a few figures of each. */
const { el, emit, on, plural, save, say, signed } = window.ecom;
const root = element.querySelector(".ec-episodes");
const PAGE = 50;
const ASKED = 500; // episodes that one request of a download names
const COLUMNS = [
  ["env_id", "Environment"],
  ["difficulty", "d"],
  ["seed", "Seed"],
  ["player", "Player"],
  ["turns", "Turns"],
  ["total", "Reward"],
  ["correct", "Correct"],
  ["cause", "Main failure cause"],
  ["source", "Source"],
];
// What can be chosen, each with what it is of a row. A row passes where every choice is empty or the same.
const CHOICES = {
  env_id: ["Environment", (row) => row.env_id],
  difficulty: ["Difficulty", (row) => `d ${row.difficulty}`],
  player: ["Player", (row) => row.player],
  outcome: ["Outcome", (row) => (row.correct ? "correct" : "not correct")],
  cause: ["Failure cause", (row) => row.cause],
  source: ["Source", (row) => row.source],
};
const RANGES = {
  total: ["Reward", { min: -1, max: 1, step: 0.1 }],
  turns: ["Turns", { min: 0, step: 1 }],
};
const collator = new Intl.Collator(undefined, { numeric: true });
let all = [];
let found = [];
let causes = {};
let told = { token: "", older: 0 };
let sort = { key: "order", down: true };
let page = 0;
let chosen = null;
let loading = false;

/* The filters. */
const search = el("input", { type: "search", placeholder: "player, seed or id", oninput: () => filtered() });
const choices = {};
const ranges = {};
const fields = [labelled("Find", search, "Filter by player, seed or id")];
for (const [name, [label]] of Object.entries(CHOICES)) {
  choices[name] = el("select", { onchange: () => filtered() });
  fields.push(labelled(label, choices[name], `Filter by ${label.toLowerCase()}`));
}
for (const [name, [label, options]] of Object.entries(RANGES)) {
  const bound = (word) =>
    el("input", {
      ...options,
      type: "number",
      placeholder: word,
      "aria-label": `${label} ${word}`,
      oninput: () => filtered(),
    });
  ranges[name] = [bound("from"), bound("to")];
  fields.push(
    el("div", { class: "ec-field ec-range", role: "group", "aria-label": label }, el("span", {}, label), el("div", {}, ranges[name])),
  );
}
function labelled(label, control, name) {
  control.setAttribute("aria-label", name);
  return el("label", { class: "ec-field" }, el("span", {}, label), control);
}
const reset = el("button", { type: "button", class: "ec-link", onclick: clearFilters }, "Clear all filters");
const filters = el(
  "details",
  { class: "ec-filters", open: window.matchMedia("(min-width: 761px)").matches },
  el("summary", {}, "Filters"),
  el("div", { class: "ec-filterbar" }, fields),
);

/* The table and what stands around it. */
const head = el("tr", {});
const body = el("tbody", {});
const count = el("p", { class: "ec-count", role: "status" });
const older = el("p", { class: "ec-desc" });
const empty = el("p", { class: "ec-empty" }, "Reading the stored episodes …");
const table = el(
  "div",
  { class: "ec-scroll", tabindex: 0, role: "region", "aria-label": "Episodes" },
  el("table", { class: "ec-table" }, el("thead", {}, head), body),
);
const place = el("span", { class: "ec-desc" });
const turnTo = (name, text, by) =>
  el("button", { type: "button", class: "ec-icon", "aria-label": name, onclick: () => ((page += by), rows()) }, text);
const [before, after] = [turnTo("Earlier page", "←", -1), turnTo("Next page", "→", 1)];
const pager = el("div", { class: "ec-pager" }, before, place, after);
const download = el("button", { type: "button", class: "ec-button", id: "ec-download-all", onclick: fetchAll });
const forget = el(
  "button",
  { type: "button", class: "ec-button", id: "ec-forget", onclick: () => trigger("clear", {}) },
  "Forget my uploads",
);
const summary = el("div", { class: "ec-head" }, count, el("div", { class: "ec-actions" }, reset, forget, download));
const parts = [filters, summary, table, pager, older];
root.append(el("h2", { class: "ec-hidden" }, "Finished episodes"), ...parts, empty);

const text = (row) => `${row.player} ${row.seed} ${row.id}`.toLowerCase();
const active = () =>
  [search, ...Object.values(choices), ...Object.values(ranges).flat()].filter((control) => control.value !== "");
function clearFilters() {
  for (const control of active()) control.value = "";
  filtered();
  search.focus();
}

/* Which rows pass, and how many would pass with any other choice in one of the filters. */
function matches() {
  const wanted = search.value.trim().toLowerCase();
  const limits = Object.entries(ranges).map(([name, [low, high]]) => [
    name,
    low.value === "" ? -Infinity : low.valueAsNumber,
    high.value === "" ? Infinity : high.valueAsNumber,
  ]);
  const set = Object.keys(choices).filter((name) => choices[name].value !== "");
  const counts = Object.fromEntries(Object.keys(choices).map((name) => [name, new Map()]));
  const add = (name, row) => counts[name].set(row.is[name], (counts[name].get(row.is[name]) || 0) + 1);
  found = [];
  for (const row of all) {
    if (wanted && !row.text.includes(wanted)) continue;
    if (limits.some(([name, low, high]) => row[name] < low - 1e-9 || row[name] > high + 1e-9)) continue;
    const missed = set.filter((name) => row.is[name] !== choices[name].value);
    if (!missed.length) {
      found.push(row);
      for (const name in choices) add(name, row);
    } else if (missed.length === 1) add(missed[0], row);
  }
  return counts;
}
function filtered() {
  const counts = matches();
  for (const [name, select] of Object.entries(choices))
    for (const option of select.options)
      if (option.value) option.textContent = `${option.value} (${counts[name].get(option.value) || 0})`;
  const set = active().length;
  filters.querySelector("summary").textContent = set ? `Filters: ${set} set` : "Filters";
  reset.hidden = !set;
  page = 0;
  sorted();
}
function sorted() {
  const { key, down } = sort;
  const sign = down ? -1 : 1;
  const compare = (a, b) => (typeof a === "number" && typeof b === "number" ? a - b : collator.compare(a, b));
  found.sort((a, b) => sign * compare(a[key], b[key]) || b.order - a.order);
  header();
  rows();
}

function header() {
  head.replaceChildren(
    ...COLUMNS.map(([key, name]) =>
      el(
        "th",
        {
          scope: "col",
          class: `ec-col-${key}`,
          "aria-sort": sort.key === key ? (sort.down ? "descending" : "ascending") : "none",
        },
        el(
          "button",
          {
            type: "button",
            onclick: () => {
              sort = { key, down: sort.key === key ? !sort.down : false };
              page = 0;
              sorted();
              head.querySelectorAll("button")[COLUMNS.findIndex(([one]) => one === key)].focus();
            },
          },
          name,
          sort.key === key ? (sort.down ? " ↓" : " ↑") : "",
        ),
      ),
    ),
  );
}
function line(row) {
  const open = el(
    "button",
    { type: "button", class: "ec-link", "aria-label": `Open ${row.env_id}, difficulty ${row.difficulty}, seed ${row.seed}` },
    row.env_id,
  );
  const cells = {
    env_id: open,
    difficulty: row.difficulty,
    seed: row.seed,
    player: [row.player, row.trial > 0 && el("small", {}, `trial ${row.trial + 1}`)],
    turns: row.turns,
    total: el("span", { class: row.total > 0 ? "ec-good" : "ec-bad" }, signed(row.total)),
    correct: row.correct ? "yes" : "no",
    cause: row.cause && el("span", { class: "ec-cause", title: causes[row.cause] }, row.cause),
    source: row.source,
  };
  return el(
    "tr",
    { class: row.key === chosen ? "ec-on" : "", data: { key: row.key }, onclick: () => pick(row) },
    COLUMNS.map(([key]) => el("td", { class: `ec-col-${key}` }, cells[key])),
  );
}
function rows() {
  const pages = Math.max(1, Math.ceil(found.length / PAGE));
  page = Math.max(0, Math.min(page, pages - 1));
  const start = page * PAGE;
  body.replaceChildren(...found.slice(start, start + PAGE).map(line));
  table.scrollTop = 0;
  pager.hidden = pages < 2;
  before.disabled = page === 0;
  after.disabled = page === pages - 1;
  place.textContent = `${start + 1}–${Math.min(start + PAGE, found.length)} of ${found.length}`;
  count.textContent = sentence();
  if (!loading) download.textContent = found.length === all.length ? "Download all" : `Download these ${found.length}`;
  download.disabled = !found.length;
  neighbours();
}
function sentence() {
  const number = found.length === all.length ? plural(all.length, "episode") : `${found.length} of ${plural(all.length, "episode")}`;
  if (!found.length) return `${number}: nothing matches these filters.`;
  const right = found.filter((row) => row.correct).length;
  const mean = found.reduce((sum, row) => sum + row.total, 0) / found.length;
  return `${number} · ${Math.round((100 * right) / found.length)} % correct · mean reward ${signed(mean)}`;
}

/* Choosing. The inspector asks for the episode before or after the one it shows, in the order of this table. */
function mark() {
  for (const one of body.children) one.classList.toggle("ec-on", one.dataset.key === chosen);
  neighbours();
}
function pick(row) {
  chosen = row.key;
  mark();
  trigger("select", { key: row.key });
}
const at = () => found.findIndex((row) => row.key === chosen);
const neighbours = () =>
  emit("inspector:neighbours", { before: at() > 0, after: at() < found.length - 1 && found.length > 0 });
on(root, "inspector:episode", ({ by }) => {
  const place = at() + by;
  const row = found[place];
  if (!row) return;
  if (Math.floor(place / PAGE) !== page) {
    page = Math.floor(place / PAGE);
    rows();
  }
  pick(row);
  body.querySelector(".ec-on").scrollIntoView({ block: "nearest" });
});
on(root, "inspector:step", ({ key }) => {
  if (key === chosen) return;
  chosen = key;
  mark();
});
body.addEventListener("keydown", (event) => {
  const row = event.target.closest("tr");
  const next = { ArrowDown: row.nextElementSibling, ArrowUp: row.previousElementSibling }[event.key];
  if (!next) return;
  event.preventDefault();
  next.querySelector("button").focus();
});

/* A download comes in parcels: a long one shows how far it is, can be stopped, and holds nobody up. */
async function fetchAll() {
  if (loading) {
    loading = false;
    return;
  }
  loading = true;
  const keys = found.map((row) => row.key);
  const pieces = [];
  let gone = 0;
  let problem = "";
  for (let done = 0; done < keys.length && loading; ) {
    download.textContent = `Stop (${done} of ${keys.length})`;
    try {
      const got = await server.parcel({ token: told.token, keys: keys.slice(done, done + ASKED) });
      if (!got.taken) throw new Error("nothing came");
      pieces.push(got.text);
      done += got.taken;
      gone += got.gone;
    } catch {
      problem = `The download broke off after ${done} of ${plural(keys.length, "episode")}. Try it again.`;
      break;
    }
  }
  if (loading && !problem) save("episodes.jsonl", new Blob(pieces));
  if (gone) problem = `${plural(gone, "episode")} could not be found any more.`;
  loading = false;
  rows();
  if (problem) say((count.textContent = problem));
}

function draw() {
  if (!props.value) return;
  const value = JSON.parse(props.value.json);
  told = value;
  causes = value.causes;
  const read = (source) => (figures) => {
    const row = { source };
    value.fields.forEach((field, index) => (row[field] = figures[index]));
    row.text = text(row);
    row.is = Object.fromEntries(Object.entries(CHOICES).map(([name, [, of]]) => [name, of(row)]));
    return row;
  };
  all = [...value.stored.map(read("stored")), ...value.uploaded.map(read("uploaded"))];
  all.forEach((row, order) => (row.order = order));
  for (const [name, select] of Object.entries(choices)) {
    const kept = select.value;
    const values = [...new Set(all.map((row) => row.is[name]))].filter(Boolean).sort(collator.compare);
    select.replaceChildren(
      el("option", { value: "" }, "any"),
      ...values.map((one) => el("option", { value: one, selected: one === kept, title: causes[one] }, one)),
    );
  }
  empty.hidden = all.length > 0;
  empty.textContent = "No episode is stored yet. Finish one in the Play tab, or upload a file of episodes.";
  for (const part of parts) part.hidden = !all.length;
  root.classList.toggle("ec-uploads", value.uploaded.length > 0);
  forget.hidden = !value.uploaded.length;
  older.textContent = value.older
    ? `Only the newest ${plural(value.stored.length, "stored episode")} are listed; ${value.older} older ones are in the store.`
    : "";
  older.hidden = !value.older;
  root.dataset.count = all.length;
  const kept = page;
  filtered();
  page = kept;
  rows();
}
for (const part of parts) part.hidden = true;
watch("value", draw);
draw();
emit("inspector:where");
if (!props.value) trigger("input", {});
