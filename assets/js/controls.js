/* The bar that starts episodes: environment, difficulty, seed, and three buttons. */
const { el } = window.ecom;
const root = element.querySelector(".ec-controls");
const SEEDS = 1_000_000;

const environment = el("select", { id: "ec-env", name: "env" });
const range = el("input", { id: "ec-d", type: "range", min: 0, max: 12, step: 1, value: 0 });
const shown = el("output", { for: "ec-d", class: "ec-d" });
const seed = el("input", {
  id: "ec-seed",
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
const start = el(
  "button",
  { type: "submit", class: "ec-button", data: { hotkey: "reset" } },
  "Reset episode ",
  el("kbd", {}, "Alt+R"),
);
const lucky = el("button", { type: "button", class: "ec-button ec-primary", id: "ec-random" }, "Play a random episode");
const guided = el(
  "button",
  {
    type: "button",
    class: "ec-button",
    id: "ec-guided",
    title: "An easy episode, explained step by step",
    onclick: () => trigger("submit", { guided: true }),
  },
  "Guided first episode (2 minutes)",
);

const field = (label, id, ...inputs) =>
  el("div", { class: "ec-field" }, el("label", { for: id }, label), el("div", { class: "ec-inline" }, inputs));
const form = el(
  "form",
  { autocomplete: "off", "aria-label": "Choose an episode" },
  field("Shop task", "ec-env", environment),
  field("Difficulty", "ec-d", range, shown),
  field("Seed", "ec-seed", seed, dice),
  el("div", { class: "ec-actions" }, start, lucky, guided),
);
root.append(form);

function showDifficulty() {
  const names = [
    "easy",
    "easy",
    "easy",
    "medium",
    "medium",
    "medium",
    "hard",
    "hard",
    "hard",
    "very hard",
    "very hard",
    "very hard",
    "very hard",
  ];
  shown.replaceChildren(el("b", {}, range.value), " " + names[Number(range.value)]);
}

function draw() {
  const value = props.value || {};
  const choices = value.environments || [];
  if (environment.options.length !== choices.length) {
    environment.replaceChildren(...choices.map((choice) => el("option", { value: choice.id }, choice.label)));
  }
  if (value.env_id) environment.value = value.env_id;
  if (value.difficulty !== undefined) range.value = value.difficulty;
  if (value.seed !== undefined) seed.value = value.seed;
  showDifficulty();
}

const chosen = () => ({ env_id: environment.value, difficulty: range.value, seed: seed.value });
const randomSeed = () => Math.floor(Math.random() * SEEDS);
range.addEventListener("input", showDifficulty);
dice.addEventListener("click", () => {
  seed.value = randomSeed();
  seed.focus();
});
form.addEventListener("submit", (event) => {
  event.preventDefault();
  trigger("submit", chosen());
});
lucky.addEventListener("click", () => {
  // The first game of a newcomer is an easy one; whoever has moved the slider keeps the difficulty.
  seed.value = randomSeed();
  trigger("submit", chosen());
});
watch("value", draw);
draw();
