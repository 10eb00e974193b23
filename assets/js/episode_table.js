/* The stored episodes: filtered and sorted in the browser. */
const { el, plural, signed, save } = window.ecom;
const root = element.querySelector(".ec-episodes");
const PAGE = 50;
const COLUMNS = [
  ["env_id", "Environment"],
  ["difficulty", "d"],
  ["seed", "Seed"],
  ["player", "Player"],
  ["turns", "Turns"],
  ["total", "Total"],
  ["correct", "Correct"],
  ["source", "Source"],
];
let sort = { key: "order", down: true };
let limit = PAGE;
let chosen = null;
const filter = { text: "", env: "", correct: "" };

const text = el("input", {
  type: "search",
  placeholder: "player, seed or id",
  "aria-label": "Filter by player, seed or id",
  oninput: (event) => {
    filter.text = event.target.value.toLowerCase();
    rows();
  },
});
const env = el("select", {
  "aria-label": "Filter by environment",
  onchange: (event) => {
    filter.env = event.target.value;
    rows();
  },
});
const correct = el(
  "select",
  {
    "aria-label": "Filter by outcome",
    onchange: (event) => {
      filter.correct = event.target.value;
      rows();
    },
  },
  el("option", { value: "" }, "any outcome"),
  el("option", { value: "yes" }, "correct"),
  el("option", { value: "no" }, "not correct"),
);
const head = el("tr", {});
const body = el("tbody", {});
const count = el("span", { class: "ec-desc", role: "status" });
const more = el(
  "button",
  {
    type: "button",
    class: "ec-button",
    onclick: () => {
      limit += PAGE;
      rows();
    },
  },
  "Show more",
);
const empty = el(
  "p",
  { class: "ec-empty" },
  "No episode is stored yet. Finish one in the Play tab, or upload a JSONL file.",
);
const table = el("div", { class: "ec-scroll" }, el("table", { class: "ec-table" }, el("thead", {}, head), body));
const download = el(
  "button",
  {
    type: "button",
    class: "ec-button",
    id: "ec-download-all",
    onclick: async () => save("trajectories.jsonl", await server.export_all()),
  },
  "Download all stored",
);
const tools = el("div", { class: "ec-filterbar" }, text, env, correct, count, download);
root.append(tools, table, more, empty);

function header() {
  head.replaceChildren(
    ...COLUMNS.map(([key, name]) =>
      el(
        "th",
        { scope: "col", "aria-sort": sort.key === key ? (sort.down ? "descending" : "ascending") : "none" },
        el(
          "button",
          {
            type: "button",
            onclick: () => {
              sort = { key, down: sort.key === key ? !sort.down : false };
              header();
              rows();
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
function rows() {
  const all = (props.value && props.value.episodes) || [];
  const found = all.filter(
    (row) =>
      (!filter.env || row.env_id === filter.env) &&
      (!filter.correct || row.correct === (filter.correct === "yes")) &&
      (!filter.text || `${row.player} ${row.seed} ${row.id}`.toLowerCase().includes(filter.text)),
  );
  const order = sort.down ? -1 : 1;
  found.sort((a, b) => {
    const x = a[sort.key],
      y = b[sort.key];
    return order * (typeof x === "string" ? x.localeCompare(y) : Number(x) - Number(y));
  });
  body.replaceChildren(
    ...found.slice(0, limit).map((row) =>
      el(
        "tr",
        { class: row.key === chosen ? "ec-on" : "", data: { key: row.key }, onclick: () => pick(row) },
        el(
          "td",
          {},
          el(
            "button",
            {
              type: "button",
              class: "ec-link",
              "aria-label": `Open ${row.env_id}, difficulty ${row.difficulty}, seed ${row.seed}`,
            },
            row.env_id,
          ),
        ),
        el("td", {}, row.difficulty),
        el("td", {}, row.seed),
        el("td", {}, row.player),
        el("td", {}, row.turns),
        el("td", { class: row.total > 0 ? "ec-good" : "ec-bad" }, signed(row.total)),
        el("td", {}, row.correct ? "yes" : "no"),
        el("td", {}, row.source),
      ),
    ),
  );
  more.hidden = found.length <= limit;
  count.textContent =
    found.length === all.length ? plural(all.length, "episode") : `${found.length} of ${plural(all.length, "episode")}`;
}
function pick(row) {
  chosen = row.key;
  for (const line of body.children) line.classList.toggle("ec-on", line.dataset.key === chosen);
  trigger("select", { key: row.key });
}
function draw() {
  const all = (props.value && props.value.episodes) || [];
  if (props.value && props.value.chosen) chosen = props.value.chosen;
  const names = [...new Set(all.map((row) => row.env_id))].sort();
  env.replaceChildren(
    el("option", { value: "" }, "all environments"),
    ...names.map((name) => el("option", { value: name, selected: name === filter.env }, name)),
  );
  if (!names.includes(filter.env)) filter.env = "";
  empty.hidden = all.length > 0;
  table.hidden = tools.hidden = !all.length;
  header();
  rows();
}
watch("value", draw);
draw();
