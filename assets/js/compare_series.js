/* Two agents over a series of seeds: how far it is, what it says, and one line per seed. */
const { el, emit, plural, say, signed, svg } = window.ecom;
const root = element.querySelector(".ec-cseries");
const SIGNS = ["●", "▲"];
let chosen = null;
let told = "";
let ran = false;

const mark = (side) => el("span", { class: `ec-mark ec-side${side}`, "aria-hidden": "true" }, SIGNS[side]);
const button = (text, sent, more) =>
  el("button", { type: "button", class: "ec-button", onclick: () => trigger("select", sent), ...more }, text);
const share = (value) => `${Math.round(100 * value)} %`;
function points(value) {
  const rounded = Math.round(100 * value);
  return `${rounded < 0 ? "−" : rounded > 0 ? "+" : ""}${Math.abs(rounded)} points`;
}
// A p-value is never 0.
function chance(p) {
  const text = p < 0.001 ? "less than 0.1" : (100 * p).toFixed(p < 0.1 ? 1 : 0);
  return el("small", {}, `a split so uneven between equals: ${text} %`);
}
const difference = ({ totals }) => totals[0] - totals[1];

/* Every pair is a dot at its difference; above them the mean with its interval. */
function picture(value) {
  const all = value.rows.map(difference);
  const [mean, low, high] = value.figures.difference;
  const reach = Math.max(0.2, ...all.map(Math.abs), Math.abs(low ?? 0), Math.abs(high ?? 0)) * 1.06;
  const WIDTH = 640,
    FLOOR = 88,
    DOT = 9;
  const x = (amount) => ((amount / reach + 1) / 2) * WIDTH;
  const drawing = svg("svg", {
    viewBox: `0 0 ${WIDTH} ${FLOOR + 2}`,
    role: "img",
    class: "ec-dotplot",
    "aria-label": `Differences of ${plural(all.length, "pair")}, on average ${signed(mean)}`,
  });
  drawing.append(
    svg("line", { x1: 0, x2: WIDTH, y1: FLOOR, y2: FLOOR, class: "ec-tick" }),
    svg("line", { x1: x(0), x2: x(0), y1: 4, y2: FLOOR, class: "ec-zero" }),
  );
  const heights = new Map();
  for (const amount of all) {
    const bin = Math.round(x(amount) / DOT);
    const height = heights.get(bin) || 0;
    heights.set(bin, height + 1);
    // A column that is full stays full: its dots lie on top of each other.
    const y = FLOOR - 5 - Math.min(height, 6) * DOT;
    const tone = amount > 0 ? "ec-fill0" : amount < 0 ? "ec-fill1" : "ec-none";
    drawing.append(svg("circle", { cx: bin * DOT, cy: y, r: 3.6, class: tone }));
  }
  if (low !== null) drawing.append(svg("line", { x1: x(low), x2: x(high), y1: 14, y2: 14, class: "ec-interval" }));
  drawing.append(svg("circle", { cx: x(mean), cy: 14, r: 5, class: "ec-mean" }));
  return el(
    "figure",
    {},
    drawing,
    el(
      "figcaption",
      { class: "ec-ends" },
      el("span", {}, mark(1), `\u00a0${value.labels[1]} better`),
      el("span", {}, `${value.labels[0]} better\u00a0`, mark(0)),
    ),
  );
}

function figures(value) {
  const { pairs, means, success, wins, ties, losses } = value.figures;
  const between = ([amount, low, high], form) =>
    low === null ? form(amount) : [form(amount), el("small", {}, `95 % interval ${form(low)} to ${form(high)}`)];
  const right = ({ correct, share: part, low, high }) => [
    `${correct} of ${pairs} (${share(part)})`,
    el("small", {}, `95 % interval ${share(low)} to ${share(high)}`),
  ];
  const line = (name, ...cells) =>
    el("tr", {}, el("th", { scope: "row" }, name), cells.map((cell) => el("td", {}, cell)));
  return el(
    "table",
    { class: "ec-table ec-board" },
    el(
      "thead",
      {},
      el(
        "tr",
        {},
        el("td", {}),
        value.labels.map((label, side) => el("th", { scope: "col" }, mark(side), "\u00a0", label)),
        el("th", { scope: "col" }, "Difference"),
      ),
    ),
    el(
      "tbody",
      {},
      line("Mean reward", ...means.map((mean) => el("b", {}, signed(mean))), between(value.figures.difference, signed)),
      line("Correct", ...success.map(right), [
        between(value.figures.success_difference, points),
        chance(value.figures.success_p_value),
      ]),
      line("Better reward", plural(wins, "time"), plural(losses, "time"), [
        plural(ties, "tie"),
        chance(value.figures.p_value),
      ]),
    ),
  );
}

function seeds(value) {
  const tick = (right) => {
    const label = right ? "correct" : "not correct";
    return el("span", { class: right ? "ec-good" : "ec-bad", role: "img", "aria-label": label }, right ? "✓" : "✗");
  };
  const link = (seed) => {
    const attributes = { type: "button", class: "ec-link", "aria-label": `Look at seed ${seed}` };
    return el("button", { ...attributes, onclick: () => open(seed) }, seed);
  };
  const line = (row) =>
    el(
      "tr",
      { class: row.seed === chosen ? "ec-on" : "", data: { seed: row.seed } },
      el("td", {}, link(row.seed)),
      [0, 1].map((side) => el("td", {}, tick(row.correct[side]), " ", signed(row.totals[side]))),
      el("td", {}, difference(row) === 0 ? "equal" : signed(difference(row))),
      el("td", {}, `${row.turns[0]} / ${row.turns[1]}`),
    );
  const player = (side) => [mark(side), "\u00a0", value.labels[side]];
  const heads = ["Seed", player(0), player(1), "Difference", "Turns"];
  return el(
    "div",
    { class: "ec-scroll ec-seeds", tabindex: 0, role: "region", "aria-label": "One line per seed" },
    el(
      "table",
      { class: "ec-table" },
      el(
        "thead",
        {},
        el(
          "tr",
          {},
          heads.map((head) => el("th", { scope: "col" }, head)),
        ),
      ),
      el("tbody", {}, value.rows.map(line)),
    ),
  );
}
function open(seed) {
  chosen = seed;
  emit("compare-open", { seed });
  trigger("select", { seed });
  for (const row of root.querySelectorAll("tr[data-seed]")) row.classList.toggle("ec-on", row.dataset.seed === seed);
}

function progress(value) {
  const mean = value.rows.reduce((sum, row) => sum + difference(row), 0) / (value.rows.length || 1);
  const sofar = value.rows.length ? `, difference so far ${signed(mean)}` : "";
  return el(
    "div",
    { class: "ec-actions" },
    el("progress", { max: value.count, value: value.tried, "aria-label": "Seeds played" }),
    el("span", {}, `${value.tried} of ${plural(value.count, "seed")}${sofar}`),
    button("Stop", { stop: true }, { id: "ec-cmp-stop" }),
  );
}
function closing() {
  const close = () => trigger("select", { close: true });
  return el("button", { type: "button", class: "ec-icon", "aria-label": "Close the series", onclick: close }, "✕");
}
function draw() {
  const value = props.value;
  root.hidden = !value;
  if (!value) return;
  root.dataset.status = value.status;
  root.dataset.tried = value.tried;
  const running = value.status === "running";
  if (running) chosen = null;
  const notes = [value.note];
  if (value.skipped.length) notes.push(`No episode could be made for seed ${value.skipped.join(", ")}.`);
  const top = root.querySelector(".ec-seeds")?.scrollTop || 0;
  root.replaceChildren(
    ...[
      el(
        "header",
        { class: "ec-head" },
        el(
          "h3",
          {},
          `A series: ${value.labels.join(" against ")} `,
          el("small", {}, `${value.env_id}, difficulty ${value.difficulty}`),
        ),
        !running && closing(),
      ),
      running && progress(value),
      value.conclusion && el("p", { class: "ec-told", id: "ec-cmp-conclusion" }, value.conclusion),
      value.figures &&
        el("div", { class: "ec-cfigures" }, el("div", { class: "ec-scroll" }, figures(value)), picture(value)),
      ...notes.filter(Boolean).map((note) => el("p", { class: "ec-desc" }, note)),
      value.caution && el("p", { class: "ec-desc" }, value.caution),
      value.rows.length > 0 && seeds(value),
    ].filter(Boolean),
  );
  const list = root.querySelector(".ec-seeds");
  if (list) list.scrollTop = running ? list.scrollHeight : ran ? 0 : top;
  ran = running;
  if (value.conclusion && value.conclusion !== told) say(value.conclusion);
  told = value.conclusion;
}
watch("value", draw);
draw();
