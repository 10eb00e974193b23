/* What the finished episode was worth and why, with three ways to go on. */
const { el, parts } = window.ecom;
const root = element.querySelector(".ec-result");
let known = null;

function draw() {
  const value = props.value;
  root.hidden = !value;
  if (!value) {
    known = null;
    root.replaceChildren();
    return;
  }
  const go = (how) => () => trigger("select", { how });
  root.replaceChildren(
    el(
      "div",
      { class: "ec-head" },
      el("h3", { tabindex: -1 }, "Episode finished"),
      el(
        "div",
        { class: "ec-actions" },
        el("button", { type: "button", class: "ec-button", id: "ec-again", onclick: go("again") }, "Same seed again"),
        el(
          "button",
          { type: "button", class: "ec-button ec-primary", id: "ec-next", onclick: go("next") },
          "Next seed",
        ),
        el(
          "button",
          {
            type: "button",
            class: "ec-button",
            id: "ec-harder",
            disabled: value.difficulty >= 12,
            onclick: go("harder"),
          },
          "Harder (d + 1)",
        ),
      ),
    ),
    ...parts.result(value),
  );
  if (known !== value.episode) {
    known = value.episode;
    root.scrollIntoView({ block: "nearest" });
    root.querySelector("h3").focus({ preventScroll: true });
  }
}
watch("value", draw);
draw();
