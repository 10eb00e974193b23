/* The bar that starts a watch: task, difficulty, seed, agent. */
const { el } = window.ecom;
const root = element.querySelector(".ec-watch-chooser");
const SEEDS = 1_000_000;
const LEVELS = ["easy", "medium", "hard", "very hard", "very hard"];

const environment = el("select", { id: "ec-watch-env" });
const range = el("input", { id: "ec-watch-d", type: "range", min: 0, max: 12, step: 1, value: 0 });
const shown = el("output", { for: "ec-watch-d", class: "ec-d" });
const seed = el("input", {
  id: "ec-watch-seed",
  type: "text",
  inputmode: "numeric",
  autocomplete: "off",
  spellcheck: "false",
});
const dice = el(
  "button",
  { type: "button", class: "ec-icon", title: "Another random seed", "aria-label": "Random seed" },
  "⚄",
);
const agent = el("select", { id: "ec-watch-agent" });
const start = el("button", { type: "submit", class: "ec-button ec-primary", id: "ec-watch-start" }, "Start watching");

const field = (label, id, ...inputs) =>
  el("div", { class: "ec-field" }, el("label", { for: id }, label), el("div", { class: "ec-inline" }, inputs));
const form = el(
  "form",
  { autocomplete: "off", "aria-label": "Choose what to watch" },
  field("Shop task", "ec-watch-env", environment),
  field("Difficulty", "ec-watch-d", range, shown),
  field("Seed", "ec-watch-seed", seed, dice),
  field("Agent", "ec-watch-agent", agent),
  el("div", { class: "ec-actions" }, start),
);
root.append(form);

function showDifficulty() {
  const level = LEVELS[Math.floor(Number(range.value) / 3)];
  shown.replaceChildren(el("b", {}, range.value), " " + level);
  range.setAttribute("aria-valuetext", `${range.value}, ${level}`);
}
function offer(select, choices) {
  select.replaceChildren(...choices.map((choice) => el("option", { value: choice.id }, choice.label)));
}
function draw() {
  const value = props.value || {};
  offer(environment, value.environments || []);
  offer(agent, value.agents || []);
  if (value.env_id) environment.value = value.env_id;
  if (value.agent) agent.value = value.agent;
  if (value.difficulty !== undefined) range.value = value.difficulty;
  if (value.seed !== undefined) seed.value = value.seed;
  showDifficulty();
}

range.addEventListener("input", showDifficulty);
dice.addEventListener("click", () => {
  seed.value = Math.floor(Math.random() * SEEDS);
  seed.focus();
});
form.addEventListener("submit", (event) => {
  event.preventDefault();
  trigger("submit", {
    env_id: environment.value,
    difficulty: range.value,
    seed: seed.value,
    agent: agent.value,
  });
});
watch("value", draw);
draw();
