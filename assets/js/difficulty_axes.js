/* One number, twelve axes: a slider, and for each axis its curve, where it stands and what it does. */
const { el, svg, query } = window.ecom;
const root = element.querySelector(".ec-axes");
const HIGHEST = 12;
const WIDTH = 240;
const HEIGHT = 52;
const EDGE = 5;

// ?tab=curriculum&d=6 opens the tab at d = 6; without the tab's name, d belongs to the episode.
function linked() {
  const { tab, d } = query();
  const fits = tab === "curriculum" && /^\d{1,2}$/.test(d || "") && Number(d) <= HIGHEST;
  return fits ? Number(d) : 6;
}

const range = el("input", { id: "ec-axes-d", type: "range", min: 0, max: HIGHEST, step: 1, value: linked() });
const shown = el("output", { for: "ec-axes-d", class: "ec-big" });
const link = el("a", { class: "ec-link" });

function place(points, d) {
  const most = Math.max(...points) || 1;
  const x = EDGE + ((WIDTH - 2 * EDGE) * d) / HIGHEST;
  return [x, HEIGHT - EDGE - ((HEIGHT - 2 * EDGE) * points[d]) / most];
}
function curve(axis) {
  const places = axis.points.map((_, d) => place(axis.points, d));
  const dot = svg("circle", { class: "ec-marker", r: 4.5 });
  const stem = svg("path", { class: "ec-playhead" });
  const picture = svg(
    "svg",
    {
      class: "ec-curve",
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      role: "img",
      "aria-label": `${axis.title}: ${axis.shown[0]} at d = 0, ${axis.shown[HIGHEST]} at d = ${HIGHEST}`,
    },
    svg("path", { class: "ec-gridline", d: `M${EDGE} ${HEIGHT - EDGE}H${WIDTH - EDGE}` }),
    stem,
    svg("path", { class: "ec-curveline", d: `M${places.map((spot) => spot.join(" ")).join("L")}` }),
    places.map(([cx, cy]) => svg("circle", { class: "ec-spot", cx, cy, r: 1.6 })),
    dot,
  );
  const move = (d) => {
    const [x, y] = places[d];
    dot.setAttribute("cx", x);
    dot.setAttribute("cy", y);
    stem.setAttribute("d", `M${x} ${HEIGHT - EDGE}V${y}`);
  };
  return [picture, move];
}
function card(axis) {
  const [picture, move] = curve(axis);
  const value = el("output", { for: "ec-axes-d", class: "ec-dial-value" });
  const node = el(
    "li",
    { class: "ec-dial", data: { axis: axis.name } },
    el("div", { class: "ec-dial-head" }, el("h4", {}, axis.title), value),
    picture,
    el("div", { class: "ec-dial-ends" }, el("small", {}, axis.shown[0]), el("small", {}, axis.shown[HIGHEST])),
    el("p", {}, axis.effect),
    el(
      "p",
      { class: "ec-dial-facts" },
      el("code", {}, `${axis.name} = ${axis.formula}`),
      el("small", {}, `changes ${axis.reaches.join(", ")}`),
    ),
  );
  return [
    node,
    (d) => {
      value.textContent = axis.shown[d];
      move(d);
    },
  ];
}

let movers = [];
function move() {
  const d = Number(range.value);
  root.dataset.d = d;
  shown.textContent = `d = ${d}`;
  range.setAttribute("aria-valuetext", `d = ${d}`);
  link.textContent = `Link to d = ${d}`;
  link.href = `?tab=curriculum&d=${d}`;
  for (const one of movers) one(d);
}
function draw() {
  const cards = ((props.value || {}).axes || []).map(card);
  movers = cards.map(([, mover]) => mover);
  root.replaceChildren(
    el("h2", { class: "ec-hidden" }, "Difficulty and curriculum"),
    el("h3", {}, "One number, twelve dials"),
    el(
      "p",
      { class: "ec-desc" },
      "The difficulty d goes from 0 to 12 and turns twelve dials at once. Move it, and see where each dial stands " +
        "and what it does to the conversation.",
    ),
    el(
      "div",
      { class: "ec-axes-bar" },
      el("label", { for: "ec-axes-d" }, "Difficulty"),
      el("span", { class: "ec-muted", "aria-hidden": "true" }, "0"),
      range,
      el("span", { class: "ec-muted", "aria-hidden": "true" }, HIGHEST),
      shown,
      link,
    ),
    el(
      "ul",
      { class: "ec-axes-grid" },
      cards.map(([node]) => node),
    ),
    el(
      "p",
      { class: "ec-note" },
      "σ(x) = 1 / (1 + e⁻ˣ), ⌊x⌋ rounds down. The line under each curve is 0. A problem that would not fit its " +
        "turns and calls is made less hard until it does, so that every one can be solved.",
    ),
  );
  move();
}
range.addEventListener("input", move);
watch("value", draw);
draw();
