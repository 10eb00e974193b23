/* One simulated learner under three schedules. The server sent the whole course; running through it is done here. */
const { charts, choosing, el, svg, say } = window.ecom;
const root = element.querySelector(".ec-learning");
const PER_SECOND = 60;
const RECENT = 20; // steps that the verdict looks back on
const TEACHING = 0.15; // share of useful groups from which on a schedule teaches
const SMOOTH = 10; // steps that a point of the first picture is the mean of
const PANELS = [
  {
    key: "success",
    title: `Correct in training, over ${SMOOTH} steps`,
    most: 1,
    ticks: [
      [0, "0 %"],
      [0.5, "50 %"],
      [0.9, "90 %"],
    ],
  },
  { key: "high", title: "Difficulty practised", most: 12, ticks: [0, 4, 8, 12].map((d) => [d, `${d}`]) },
  { key: "skill", title: "Skill: the d of which half is solved", most: 0, ticks: null },
];
const percent = (share) => `${Math.round(100 * share)} %`;

const { field } = choosing;
const skill = el("input", { id: "ec-learn-skill", type: "range", step: 1 });
const skillShown = el("output", { for: "ec-learn-skill", class: "ec-d" });
const speed = el("select", { id: "ec-learn-speed" });
const [seed, dice] = choosing.seedBox("ec-learn-luck", "Another random seed of luck", (luck) => {
  say(`Seed of luck ${luck}`);
  ask();
});
const form = el(
  "form",
  { class: "ec-chooser", autocomplete: "off", "aria-label": "Choose a learner" },
  field("Skill at the start", "ec-learn-skill", skill, skillShown),
  field("Learning speed", "ec-learn-speed", speed),
  field("Seed of luck", "ec-learn-luck", seed, dice),
);
const run = el("button", { type: "button", class: "ec-button ec-primary", id: "ec-learn-run" });
const now = el("input", { id: "ec-learn-step", type: "range", min: 0, step: 1, "aria-label": "Training step" });
const nowShown = el("output", { for: "ec-learn-step", class: "ec-big" });
const problem = el("p", { class: "ec-error", role: "alert" });
const pictures = el("div", { class: "ec-pictures" });
const table = el("div", { class: "ec-scroll" });
const how = el("div", {});
let movers = [];
let running = 0;

root.append(
  el("h3", {}, "Watch a learner climb"),
  el(
    "p",
    { class: "ec-desc" },
    "A learner gets better only where it sometimes succeeds and sometimes fails. Here is one, simulated, three times " +
      "over: with episodes that are always easy, always hard, or chosen by the adaptive curriculum, which adds one " +
      "difficulty whenever 9 in 10 of the hardest were correct.",
  ),
  form,
  problem,
  el("div", { class: "ec-runbar" }, run, now, nowShown),
  el("ul", { class: "ec-legend" }),
  pictures,
  table,
  el("details", { class: "ec-how" }, el("summary", {}, "How this is simulated, and what it leaves out"), how),
);
const legend = root.querySelector(".ec-legend");

const explanation = ({ groups, group_size: size, speeds, steps }) =>
  [
    "At difficulty d the learner is correct with probability 1 / (1 + e^(d − skill)). " +
      `Each of the ${steps} steps has ${groups} groups of ${size} episodes; those of one group share their d.`,
    "A group with a share q of correct episodes teaches rate · 4·q·(1 − q): most where half are correct, nothing " +
      "where all or none are, as in GRPO. A step adds the mean over its groups to the skill. The rates are " +
      `${Object.entries(speeds).map(([name, rate]) => `${rate} (${name})`).join(", ")}.`,
    `“Useful groups” are those that teach anything, over the last ${RECENT} steps. “Exam” is the expected share of ` +
      "correct episodes over all difficulties from 0 to 12 alike.",
    "Left out: skill is one number here, so that whatever is learned at one difficulty helps at all others, and " +
      "nothing is ever forgotten. A fixed difficulty that happens to fit a learner can serve it better for a while; " +
      "the curriculum needs nobody to know it beforehand. None of this predicts what a real model will do.",
  ].map((text) => el("p", {}, text));

// --- pictures ---
function panel(kind, courses, steps) {
  const holder = el("figure", { class: "ec-figure" }, el("figcaption", {}, kind.title), el("div", {}));
  // The last one is as high as it must be, in fourths.
  const most = kind.most || 4 * Math.ceil(Math.max(12, ...courses.flatMap((course) => course[kind.key])) / 4);
  const ticks = kind.ticks || [0, 1, 2, 3, 4].map((part) => (most * part) / 4).map((v) => [v, `${v}`]);
  const xs = Array.from({ length: steps }, (_, i) => i);
  const shown = (course) =>
    kind.key === "success" ? xs.map((step) => mean(course.success, step, SMOOTH)) : course[kind.key];
  const place = holder.lastChild;
  const mover = { move: () => {} };
  charts.fit(place, (width) => {
    const height = 190;
    const chart = charts.frame({
      ...{ width, height, x: [0, steps], y: [0, most], yTicks: ticks },
      xTicks: [0, steps / 2, steps].map((step) => [step, step === steps ? `step ${step}` : `${step}`]),
      label: `${kind.title}, by training step; the table below has the numbers`,
    });
    const paths = courses.map((course) => [
      kind.key === "high" && course.name === "adaptive"
        ? svg("path", { class: "ec-band", d: charts.band(xs, course.low, course.high, chart) })
        : null,
      svg("path", { class: `ec-track ec-${course.name}`, d: charts.line(xs, shown(course), chart) }),
    ]);
    const goal =
      kind.key === "success"
        ? svg("path", { class: "ec-goal", d: charts.line([0, steps], [0.9, 0.9], chart) })
        : null;
    const [group, show] = charts.upTo(chart, width, height, paths);
    const stem = svg("path", { class: "ec-playhead" });
    chart.node.append(...[goal, group, stem].filter(Boolean));
    mover.move = (step) => {
      show(step + 0.5);
      stem.setAttribute("d", `M${chart.across(step)} ${chart.upward(0)}V${chart.upward(most)}`);
    };
    mover.move(Number(now.value));
    place.replaceChildren(chart.node);
  });
  return [holder, mover];
}

// --- numbers ---
function mean(values, step, over = RECENT) {
  const last = values.slice(Math.max(0, step + 1 - over), step + 1);
  return last.reduce((sum, value) => sum + value, 0) / last.length;
}
function verdict(course, step) {
  if (mean(course.useful, step) >= TEACHING) return ["good", "learning"];
  if (mean(course.success, step) < 0.5) return ["bad", "starved: too hard to teach anything"];
  if (course.high[step] === 12) return ["good", "at the top: nothing harder is left"];
  return ["warn", "saturated: too easy to teach anything"];
}
const range = (course, step) =>
  course.low[step] === course.high[step] ? `${course.high[step]}` : `${course.low[step]} to ${course.high[step]}`;
function numbers(courses, step) {
  const head = ["Schedule", "d", "Correct", "Useful groups", "Skill", "Exam"];
  const titles = {
    "Useful groups": "Neither all correct nor all failed: only from these can anything be learned",
    Exam: "Expected share of correct episodes over all difficulties from 0 to 12",
  };
  return el(
    "table",
    { class: "ec-table" },
    el("caption", { class: "ec-hidden" }, `The three schedules at step ${step}`),
    el(
      "thead",
      {},
      el(
        "tr",
        {},
        head.map((name) => el("th", { scope: "col", title: titles[name] }, name)),
      ),
    ),
    el(
      "tbody",
      {},
      courses.map((course) => {
        const [tone, words] = verdict(course, step);
        const cells = [
          range(course, step),
          percent(course.success[step]),
          percent(mean(course.useful, step)),
          course.skill[step].toFixed(1),
          percent(course.exam[step]),
        ];
        return el(
          "tr",
          { data: { schedule: course.name } },
          el(
            "th",
            { scope: "row" },
            el("i", { class: `ec-key ec-${course.name}` }),
            course.label,
            el("span", { class: `ec-verdict ec-${tone}` }, words),
          ),
          cells.map((text) => el("td", {}, text)),
        );
      }),
    ),
  );
}

// --- time ---
function show(step) {
  now.value = step;
  root.dataset.step = step;
  nowShown.textContent = `step ${step}`;
  for (const mover of movers) mover.move(step);
  const courses = (props.value || {}).courses || [];
  table.replaceChildren(courses.length ? numbers(courses, step) : "");
}
function stop() {
  cancelAnimationFrame(running);
  running = 0;
  run.textContent = "▶ Run the training";
}
function start() {
  const last = Number(now.max);
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) return show(last);
  const first = Number(now.value) >= last ? 0 : Number(now.value);
  let began;
  run.textContent = "❚❚ Pause";
  const tick = (time) => {
    if (!root.isConnected) return;
    began = began === undefined ? time : began;
    const step = Math.min(last, first + Math.floor(((time - began) / 1000) * PER_SECOND));
    if (step !== Number(now.value)) show(step);
    if (step < last) running = requestAnimationFrame(tick);
    else stop();
  };
  running = requestAnimationFrame(tick);
}

const [ask, answered] = charts.asker(() => {
  stop();
  root.setAttribute("aria-busy", "true");
  trigger("submit", { skill: Number(skill.value), speed: speed.value, seed: seed.value });
});

function draw() {
  const value = props.value || {};
  stop();
  // Only at first: later the visitor's own choices stand there, perhaps newer than this course.
  if (speed.options.length === 0 && value.speeds) {
    speed.replaceChildren(...Object.keys(value.speeds).map((name) => el("option", { value: name }, name)));
    skill.min = value.lowest;
    skill.max = value.highest;
    skill.value = value.skill;
    speed.value = value.speed;
    seed.value = value.seed;
    how.replaceChildren(...explanation(value));
  }
  problem.textContent = value.problem || "";
  const courses = value.courses || [];
  name();
  now.max = value.steps - 1;
  legend.replaceChildren(
    ...courses.map((course) => el("li", {}, el("i", { class: `ec-key ec-${course.name}` }), course.label)),
  );
  const panels = courses.length ? PANELS.map((kind) => panel(kind, courses, value.steps)) : [];
  movers = panels.map(([, mover]) => mover);
  pictures.replaceChildren(...panels.map(([holder]) => holder));
  show(Number(now.max));
  root.setAttribute("aria-busy", "false");
  root.dataset.number = value.number;
  answered();
}
function name() {
  skillShown.textContent = skill.value;
  skill.setAttribute("aria-valuetext", `solves half of the episodes at d = ${skill.value}`);
}

form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("change", ask);
skill.addEventListener("input", name);
now.addEventListener("input", () => {
  stop();
  show(Number(now.value));
});
run.addEventListener("click", () => (running ? stop() : start()));
watch("value", draw);
draw();
