/* The form of the Compare tab: the scenario, the two players, and what to start. */
const { el, emit } = window.ecom;
const root = element.querySelector(".ec-csetup");
const SEEDS = 1_000_000;
const LEVELS = ["easy", "medium", "hard", "very hard"];
// Instead of an agent's name: the server knows which game is meant.
const GAME = "@game",
  LAST_GAME = "@last";

const environment = el("select", { id: "ec-cmp-env" });
const range = el("input", { id: "ec-cmp-d", type: "range", min: 0, max: 12, step: 1 });
const level = el("output", { for: "ec-cmp-d", class: "ec-d" });
const seed = el("input", {
  id: "ec-cmp-seed",
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
const one = el("select", { id: "ec-cmp-one" });
const other = el("select", { id: "ec-cmp-other" });
const blind = el("input", { id: "ec-cmp-blind", type: "checkbox" });
const count = el("select", { id: "ec-cmp-count", "aria-label": "How many seeds the series has" });
const compare = el("button", { type: "submit", class: "ec-button ec-primary", id: "ec-cmp-start" }, "Compare");
const series = el("button", { type: "button", class: "ec-button", id: "ec-cmp-series" }, "Run a series");
const hint = el("p", { class: "ec-desc ec-cmp-hint", role: "status" });

const field = (label, id, ...inputs) =>
  el("div", { class: "ec-field" }, el("label", { for: id }, label), el("div", { class: "ec-inline" }, inputs));
const mark = (sign, side) => el("span", { class: `ec-mark ec-side${side}`, "aria-hidden": "true" }, sign);
const form = el(
  "form",
  { autocomplete: "off", "aria-label": "Choose a scenario and two players" },
  el(
    "div",
    { class: "ec-cmp-line" },
    field("Shop task", "ec-cmp-env", environment),
    field("Difficulty", "ec-cmp-d", range, level),
    field("Seed", "ec-cmp-seed", seed, dice),
  ),
  el(
    "div",
    { class: "ec-cmp-line ec-cmp-players" },
    field("Player one", "ec-cmp-one", one),
    el("span", { class: "ec-cmp-versus", "aria-hidden": "true" }, "against"),
    field("Player two", "ec-cmp-other", other),
  ),
  el(
    "div",
    { class: "ec-actions" },
    compare,
    el("label", { class: "ec-cmp-check" }, blind, " Hide who is who, and let me guess"),
    el("span", { class: "ec-cmp-series" }, series, el("label", {}, "over ", count)),
  ),
  hint,
);
root.append(form);

const recorded = () => one.value === GAME || one.value === LAST_GAME;
function options(select, entries) {
  const before = select.value;
  select.replaceChildren(...entries.map(({ name, label }) => el("option", { value: name }, label)));
  if (entries.some(({ name }) => name === before)) select.value = before;
}
/* A recorded game brings its scenario along, and it was played once only. */
function adapt() {
  const fixed = recorded();
  for (const input of [environment, range, seed, dice]) input.disabled = fixed;
  series.disabled = count.disabled = fixed;
  const steps = Math.min(LEVELS.length - 1, Math.floor(Number(range.value) / 3));
  level.replaceChildren(...(one.value === LAST_GAME ? ["–"] : [el("b", {}, range.value), ` ${LEVELS[steps]}`]));
  hint.textContent = {
    [LAST_GAME]: "The agent plays the very game that you finished last in the Play tab.",
    [GAME]: "The agent plays the same game. Choose who, then press Compare.",
  }[one.value] || "";
  hint.hidden = !fixed;
}
function draw() {
  const value = props.value;
  if (!value) return;
  options(environment, value.environments.map(({ id, label }) => ({ name: id, label })));
  const games = [
    ...(value.game ? [{ name: GAME, label: value.game.label }] : []),
    { name: LAST_GAME, label: "You: your last game in the Play tab" },
  ];
  options(one, [...value.agents, ...games]);
  options(other, value.agents);
  options(count, value.counts.map((n) => ({ name: String(n), label: `${n} seeds` })));
  environment.value = value.env_id;
  range.value = value.difficulty;
  seed.value = value.seed;
  one.value = value.one;
  other.value = value.other;
  adapt();
}
function submit(what) {
  // Who was asked for is known here anyway; the sides hear it from here, and never from the server while it is hidden.
  const chosen = one.selectedOptions[0];
  emit("compare-asked", { one: chosen ? chosen.textContent.replace(/ \(.*/, "") : "" });
  trigger("submit", {
    what,
    env_id: environment.value,
    difficulty: range.value,
    seed: seed.value,
    one: one.value,
    other: other.value,
    blind: blind.checked,
    count: count.value,
  });
}

range.addEventListener("input", adapt);
one.addEventListener("change", adapt);
dice.addEventListener("click", () => {
  seed.value = Math.floor(Math.random() * SEEDS);
});
form.addEventListener("submit", (event) => {
  event.preventDefault();
  submit("pair");
});
series.addEventListener("click", () => submit("series"));
watch("value", draw);
draw();
