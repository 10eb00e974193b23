/* What the finished episode was worth and why, with ways to go on. */
const { choosing, el, noteEnding, parts } = window.ecom;
const root = element.querySelector(".ec-result");
const HARDEST = 12;
let known = null;

function draw() {
  const value = props.value;
  root.hidden = !value;
  if (!value) {
    known = null;
    root.replaceChildren();
    return;
  }
  // Another seed, drawn here, for all but the same one again.
  const go = (how) => () => trigger("select", { how, seed: choosing.randomSeed() });
  const button = (id, text, onclick, more) =>
    el("button", { type: "button", class: "ec-button", id, onclick, ...more }, text);
  root.replaceChildren(
    el(
      "div",
      { class: "ec-head" },
      el("h3", { tabindex: -1 }, "Episode finished"),
      el(
        "div",
        { class: "ec-actions" },
        button("ec-replay", "Replay", () => trigger("play", { episode: value.episode }), {
          title: "Walk through this episode in the Trajectories tab",
        }),
        button("ec-again", "Same seed again", go("again"), {
          title: "The same customer. The record will say that you had seen the goal",
        }),
        button("ec-harder", `Harder (d ${value.difficulty + 1})`, go("harder"), {
          hidden: value.difficulty >= HARDEST,
          title: "Another customer, one level up",
        }),
        button("ec-another", "Another", go("another"), {
          class: "ec-button ec-primary",
          title: "Another customer at this difficulty",
        }),
      ),
    ),
    ...parts.result(value),
  );
  if (known !== value.episode) {
    known = value.episode;
    noteEnding(value);
    root.scrollIntoView({ block: "nearest" });
    root.querySelector("h3").focus({ preventScroll: true });
  }
}
watch("value", draw);
draw();
