/* The bar that starts episodes: environment, difficulty, seed, and three buttons. */
const { choosing, el } = window.ecom;
const root = element.querySelector(".ec-controls");

const place = choosing.place("ec");
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
const form = el(
  "form",
  { autocomplete: "off", "aria-label": "Choose an episode" },
  place.fields,
  el("div", { class: "ec-actions" }, start, lucky, guided),
);
root.append(el("h2", { class: "ec-hidden" }, "Play"), form);

form.addEventListener("submit", (event) => {
  event.preventDefault();
  trigger("submit", place.chosen());
});
lucky.addEventListener("click", () => {
  // The first game of a newcomer is an easy one; whoever has moved the slider keeps the difficulty.
  place.seed.value = choosing.randomSeed();
  trigger("submit", place.chosen());
});
const draw = () => place.draw(props.value || {});
watch("value", draw);
draw();
