/* What the watched episode was worth and why, with three ways to go on. */
const { el, noteEnding, parts, say, signed, visible } = window.ecom;
const root = element.querySelector(".ec-watch-result");
let known = null;

function draw() {
  const value = props.value;
  root.hidden = !value;
  if (!value) {
    known = null;
    root.replaceChildren();
    return;
  }
  const way = (how, text, disabled) =>
    el(
      "button",
      { type: "button", class: "ec-button", data: { how }, disabled, onclick: () => trigger("select", { how }) },
      text,
    );
  // Folded, because the tables would push the conversation off the screen.
  const [tables, ...summary] = parts.result(value).reverse();
  root.replaceChildren(
    el(
      "div",
      { class: "ec-head" },
      el("h3", {}, "How the agent did"),
      el(
        "div",
        { class: "ec-actions" },
        way("again", "Watch it again"),
        way("next", "Next seed"),
        way("harder", "Harder (d + 1)", value.difficulty >= 12),
      ),
    ),
    ...summary.reverse(),
    el("details", {}, el("summary", {}, "The hidden goal, and what the customer said when"), tables),
  );
  if (known !== value.episode) {
    known = value.episode;
    noteEnding(value); // whoever plays this seed now knows its goal
    // Nobody clicked anything just now, so the focus stays where it is.
    say(`The episode is over: ${signed(value.total)}. ${value.headline}.`);
    if (visible(root)) root.scrollIntoView({ block: "nearest" });
  }
}
watch("value", draw);
draw();
