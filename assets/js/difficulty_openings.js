/* What the customer opens with, at two difficulties side by side: the same task and the same seed. */
const { charts, choosing, el, plural, query, say } = window.ecom;
const root = element.querySelector(".ec-openings");
const HIGHEST = 12;

const task = el("select", { id: "ec-openings-env" });
const [seed, dice] = choosing.seedBox("ec-openings-seed", "Another random seed to compare", (rolled) => {
  say(`Seed ${rolled}`);
  ask();
});
const sides = ["first", "second"].map((name) => {
  const id = `ec-openings-${name}`;
  return {
    range: el("input", { id, type: "range", min: 0, max: HIGHEST, step: 1, "aria-label": `The ${name} difficulty` }),
    shown: el("output", { for: id, class: "ec-big" }),
    body: el("div", { class: "ec-opening" }),
  };
});
const problem = el("p", { class: "ec-error", role: "alert" });
const columns = el(
  "div",
  { class: "ec-pair" },
  sides.map((side) =>
    el("section", {}, el("div", { class: "ec-pair-head" }, side.shown, side.range), side.body),
  ),
);

const form = el(
  "form",
  { class: "ec-chooser", autocomplete: "off", "aria-label": "Choose the openings to compare" },
  choosing.field("Shop task", "ec-openings-env", task),
  choosing.field("Seed", "ec-openings-seed", seed, dice),
);
root.append(
  el("h3", {}, "One seed, two difficulties"),
  el(
    "p",
    { class: "ec-desc" },
    "What an agent reads at the start of an episode: the same task and the same seed, once easy and once hard. The " +
      "wish is another one each time, since d takes part in drawing it.",
  ),
  form,
  problem,
  columns,
);

const [ask, answered] = charts.asker(() => {
  root.setAttribute("aria-busy", "true");
  trigger("submit", {
    env_id: task.value,
    seed: seed.value,
    difficulties: sides.map((side) => Number(side.range.value)),
  });
});
function opening(value, side) {
  if (!side) return [el("p", { class: "ec-empty" }, value.problem ? "" : "The customer is on the way …")];
  const play = `?${new URLSearchParams({ env: value.env_id, d: side.d, seed: value.seed })}`;
  return [
    el("blockquote", { class: "ec-speech ec-customer" }, el("b", {}, "Customer"), el("p", {}, side.opening)),
    el(
      "p",
      { class: "ec-note" },
      `${plural(side.opening.split(/\s+/).length, "word")}. You would have ${plural(side.turns, "turn")}, ` +
        `${plural(side.tool_budget, "tool call")} in each, and ${plural(side.tools, "tool")}. `,
      el("a", { class: "ec-link", href: play }, "Play this episode"),
    ),
  ];
}
function name(side) {
  side.shown.textContent = `d = ${side.range.value}`;
  side.range.setAttribute("aria-valuetext", `d = ${side.range.value}`);
}
function draw() {
  const value = props.value || {};
  // Only at first: later the visitor's own choices stand there, perhaps newer than these openings.
  if (task.options.length === 0 && value.environments) {
    task.replaceChildren(...value.environments.map((one) => el("option", { value: one.id }, one.label)));
    task.value = value.env_id;
    seed.value = value.seed;
    sides.forEach((side, i) => (side.range.value = value.difficulties[i]));
  }
  sides.forEach((side, i) => {
    name(side);
    side.body.replaceChildren(...opening(value, value.sides && value.sides[i]));
  });
  problem.textContent = value.problem || "";
  root.setAttribute("aria-busy", "false");
  root.dataset.shown = (value.sides || []).length;
  answered();
}

form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("change", ask);
for (const side of sides) {
  side.range.addEventListener("input", () => name(side));
  side.range.addEventListener("change", ask);
}
watch("value", draw);
draw();
// Nobody waits for openings that nobody sees. A link to a difficulty shows it here as well.
charts.whenSeen(root, () => {
  const { tab, d } = query();
  if (tab === "curriculum" && /^\d{1,2}$/.test(d || "") && Number(d) <= HIGHEST) sides[1].range.value = Number(d);
  name(sides[1]);
  if (!(props.value.sides || []).length) ask();
});
