/* What the episode would have been worth at each step, as a line over the steps; it follows the inspector. */
const { el, svg, emit, on, signed } = window.ecom;
const root = element.querySelector(".ec-running");
const WIDTH = 400,
  HEIGHT = 150,
  LEFT = 34,
  RIGHT = 12,
  TOP = 10,
  BOTTOM = 28;
let step = 0;
let key = "";
let shown = null;

const points = () => (shown && shown.points) || [];
const x = (index) => LEFT + (points().length < 2 ? 0 : (index / (points().length - 1)) * (WIDTH - LEFT - RIGHT));
const y = (value) => TOP + ((1 - value) / 2) * (HEIGHT - TOP - BOTTOM);
const name = (index) => (index === 0 ? "opening" : `turn ${index}`);
// The result is a step of the inspector, but no turn: it shows what the last turn was worth.
const now = () => Math.min(step, points().length - 1);

function chart() {
  const all = points();
  const every = Math.ceil(all.length / 12);
  const picture = svg("svg", {
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    role: "img",
    class: "ec-course",
    "aria-label": "Worth by turn: " + all.map((point, index) => `${name(index)} ${signed(point.total)}`).join(", "),
    onclick: (event) => {
      const box = picture.getBoundingClientRect();
      const share = (((event.clientX - box.left) / box.width) * WIDTH - LEFT) / (WIDTH - LEFT - RIGHT);
      emit("inspector:go", { step: Math.max(0, Math.min(all.length - 1, Math.round(share * (all.length - 1)))) });
    },
  });
  for (const tick of [1, 0, -1])
    picture.append(
      svg("line", { x1: LEFT, x2: WIDTH - RIGHT, y1: y(tick), y2: y(tick), class: tick ? "ec-tick" : "ec-zero" }),
      svg("text", { x: LEFT - 6, y: y(tick) + 4, "text-anchor": "end" }, tick > 0 ? "+1" : tick ? "−1" : "0"),
    );
  picture.append(
    svg("line", { x1: x(now()), x2: x(now()), y1: TOP, y2: HEIGHT - BOTTOM, class: "ec-now" }),
    svg("polyline", { points: all.map((point, index) => `${x(index)},${y(point.total)}`).join(" "), class: "ec-line" }),
  );
  all.forEach((point, index) => {
    const is = index === now();
    picture.append(
      svg(
        "circle",
        { cx: x(index), cy: y(point.total), r: is ? 6 : 3.5, class: is ? "ec-point ec-on" : "ec-point" },
        svg("title", {}, `${name(index)}: ${signed(point.total)}`),
      ),
      index % every === 0 &&
        svg("text", { x: x(index), y: HEIGHT - 6, "text-anchor": "middle" }, index === 0 ? "start" : index),
    );
  });
  return picture;
}
function sentence() {
  const all = points(),
    index = now(),
    point = all[index];
  const last = index === all.length - 1;
  const counted = point.task > 0 || point.efficiency < 0;
  return [
    el(
      "p",
      { class: "ec-worth", data: { total: point.total } },
      last ? "At the end it is worth " : `Ended after ${index ? name(index) : "the opening"}, it would be worth `,
      el("b", { class: point.total > 0 ? "ec-good" : "ec-bad" }, signed(point.total)),
      ".",
    ),
    el(
      "p",
      { class: "ec-desc" },
      `Task ${signed(point.task)} · efficiency ${signed(point.efficiency)}${counted ? "" : " (does not count yet)"} · ` +
        `made-up ids ${point.hallucination ? signed(point.hallucination) : "none"}. ${point.reason}`,
    ),
  ];
}
const explained = el(
  "details",
  { class: "ec-raw" },
  el("summary", {}, "What this means"),
  el(
    "p",
    { class: "ec-desc" },
    "The engine has just played the recorded actions again and judged the shop after each turn as if the episode had " +
      "ended right there: by what the customer had said so far, with an empty answer for every wish that had no " +
      "accepted one. A cart counts as it stands; lists, orders and policies earn nothing before their answer, so that " +
      "their line jumps at the end. Nobody who plays gets to see this.",
  ),
);
function draw() {
  const title = el("h3", {}, "Worth, if it ended here");
  root.hidden = !shown;
  if (!shown) return;
  root.dataset.state = shown.waiting ? "waiting" : shown.points ? "ready" : "none";
  if (shown.waiting) root.replaceChildren(title, el("p", { class: "ec-empty" }, "Playing the episode again …"));
  else if (!points().length) root.replaceChildren(title, el("p", { class: "ec-empty" }, shown.problem || ""));
  else root.replaceChildren(title, chart(), ...sentence(), explained);
}
on(root, "inspector:step", (at) => {
  step = at.step;
  if (at.key !== key) {
    key = at.key;
    shown = props.value && props.value.key === key ? props.value : { waiting: true };
    if (shown.waiting) trigger("submit", { key });
  }
  draw();
});
watch("value", () => {
  // What comes late may belong to an episode that is not shown any more.
  if (!props.value || props.value.key !== key) return;
  shown = props.value;
  draw();
});
draw();
emit("inspector:where");
