/* The form of the Compare tab: the scenario, the two players, and what to start. */
const { choosing, el, emit } = window.ecom;
const root = element.querySelector(".ec-csetup");
// Instead of an agent's name: the server knows which game is meant.
const GAME = "@game",
  LAST_GAME = "@last";

const place = choosing.place("ec-cmp");
const one = el("select", { id: "ec-cmp-one" });
const other = el("select", { id: "ec-cmp-other" });
const blind = el("input", { id: "ec-cmp-blind", type: "checkbox" });
const count = el("select", { id: "ec-cmp-count", "aria-label": "How many seeds the series has" });
const compare = el("button", { type: "submit", class: "ec-button ec-primary", id: "ec-cmp-start" }, "Compare");
const series = el("button", { type: "button", class: "ec-button", id: "ec-cmp-series" }, "Run a series");
const hint = el("p", { class: "ec-desc ec-cmp-hint", role: "status" });

const form = el(
  "form",
  { autocomplete: "off", "aria-label": "Choose a scenario and two players" },
  el("div", { class: "ec-cmp-line" }, place.fields),
  el(
    "div",
    { class: "ec-cmp-line ec-cmp-players" },
    choosing.field("Player one", "ec-cmp-one", one),
    el("span", { class: "ec-cmp-versus", "aria-hidden": "true" }, "against"),
    choosing.field("Player two", "ec-cmp-other", other),
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
root.append(el("h2", { class: "ec-hidden" }, "Compare two players"), form);

const recorded = () => one.value === GAME || one.value === LAST_GAME;
/* A recorded game brings its scenario along, and it was played once only. */
function adapt() {
  const fixed = recorded();
  for (const input of place.inputs) input.disabled = fixed;
  series.disabled = count.disabled = fixed;
  if (one.value === LAST_GAME) place.shown.replaceChildren("–");
  else place.showLevel();
  hint.textContent = {
    [LAST_GAME]: "The agent plays the very game that you finished last in the Play tab.",
    [GAME]: "The agent plays the same game. Choose who, then press Compare.",
  }[one.value] || "";
  hint.hidden = !fixed;
}
function draw() {
  const value = props.value;
  if (!value) return;
  place.draw(value);
  const agents = value.agents.map(({ name, label }) => ({ id: name, label }));
  const games = [
    ...(value.game ? [{ id: GAME, label: value.game.label }] : []),
    { id: LAST_GAME, label: "You: your last game in the Play tab" },
  ];
  choosing.offer(one, [...agents, ...games]);
  choosing.offer(other, agents);
  choosing.offer(count, value.counts.map((n) => ({ id: String(n), label: `${n} seeds` })));
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
    ...place.chosen(),
    one: one.value,
    other: other.value,
    blind: blind.checked,
    count: count.value,
  });
}

one.addEventListener("change", adapt);
form.addEventListener("submit", (event) => {
  event.preventDefault();
  submit("pair");
});
series.addEventListener("click", () => submit("series"));
watch("value", draw);
draw();
