/* The windows of a real training run, one pair of small charts per environment. */
const { charts, el, plural, svg } = window.ecom;
const root = element.querySelector(".ec-runlog");
const EXAMPLE = '{"step": 120, "env_id": "E_CART", "low": 2, "high": 6, "success": 0.91}';

function picture(run, kind, width) {
  const windows = kind === "window";
  const last = run.step[run.step.length - 1];
  const chart = charts.frame({
    ...{ width, height: windows ? 130 : 90, x: [run.step[0], last], y: windows ? [0, 12] : [0, 1] },
    xTicks: run.step[0] === last ? [[last, `step ${last}`]] : [run.step[0], last].map((step) => [step, `step ${step}`]),
    yTicks: windows ? [0, 4, 8, 12].map((d) => [d, `d ${d}`]) : [[0, "0 %"], [0.5, "50 %"], [0.9, "90 %"]],
    label: windows ? `Window of difficulties of ${run.env_id} by step` : `Success of ${run.env_id} at the hardest d`,
  });
  // A single point is no line: a dot shows it.
  const dots = (values) =>
    run.step.length === 1 && Number.isFinite(values[0])
      ? svg("circle", { class: "ec-dot", cx: chart.across(last), cy: chart.upward(values[0]), r: 3 })
      : null;
  const values = windows ? run.high : run.success;
  chart.node.append(
    ...[
      windows ? svg("path", { class: "ec-band", d: charts.band(run.step, run.low, run.high, chart) }) : null,
      svg("path", { class: "ec-track ec-adaptive", d: charts.line(run.step, values, chart) }),
      dots(values),
    ].filter(Boolean),
  );
  return chart.node;
}
function card(run) {
  const end = run.step.length - 1;
  const known = run.success.filter((value) => value !== null);
  const latest = known.length ? `${Math.round(100 * known[known.length - 1])} % correct at the hardest` : "none at it yet";
  const place = el("div", {});
  charts.fit(place, (width) => place.replaceChildren(picture(run, "window", width), picture(run, "success", width)));
  return el(
    "li",
    { class: "ec-figure", data: { env: run.env_id } },
    el("h4", {}, run.env_id),
    el("small", {}, `d ${run.low[end]} to ${run.high[end]} at step ${run.step[end]}; ${latest}`),
    place,
  );
}
function empty() {
  return [
    el(
      "p",
      { class: "ec-empty" },
      "No run yet. A training run writes curriculum.jsonl, one line per step and environment. Upload it here to see " +
        "how far each environment has got; nobody else will see it. A line is like this:",
    ),
    el("p", {}, el("code", {}, EXAMPLE)),
  ];
}
let shown = {};
function draw() {
  const arrived = props.value || {};
  // What the widget asks for by itself may arrive late: it does not take the place of a log that somebody uploaded.
  const value = arrived.by_itself && shown.source ? shown : arrived;
  shown = value;
  const runs = value.runs || [];
  root.replaceChildren(
    ...[
      el(
        "div",
        { class: "ec-head" },
        el("h3", {}, "A real training run"),
        value.from_server &&
          el("button", { type: "button", class: "ec-button", id: "ec-run-again", onclick: ask }, "Read the log again"),
      ),
      runs.length
        ? el(
            "p",
            { class: "ec-desc" },
            `From ${value.source}: ${plural(runs.length, "environment")}. The band is the window that episodes were ` +
              "drawn from; below it, the share of correct ones at the hardest d, of which 90 % add one difficulty.",
          )
        : empty(),
      (value.problems || []).length
        ? el(
            "ul",
            { class: "ec-problems", role: "status" },
            value.problems.map((text) => el("li", { class: "ec-bad" }, text)),
          )
        : null,
      el("ul", { class: "ec-runs" }, runs.map(card)),
    ]
      .flat()
      .filter(Boolean),
  );
  root.dataset.runs = runs.length;
}
const ask = () => trigger("submit", {});
const askByItself = () => trigger("submit", { by_itself: true });
watch("value", draw);
draw();
charts.whenSeen(root, () => {
  if (props.value.from_server && !props.value.source) askByItself();
});
