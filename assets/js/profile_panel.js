/* The customer's account as the tool returned it. */
const { el } = window.ecom;
const root = element.querySelector(".ec-profile");

function draw() {
  const value = props.value || { facts: [], hidden: true };
  root.hidden = Boolean(value.hidden);
  root.replaceChildren(
    el("h3", {}, "Profile"),
    value.facts.length
      ? el(
          "dl",
          { class: "ec-parts" },
          value.facts.map(([name, text]) => [el("dt", {}, name), el("dd", {}, text)]),
        )
      : el(
          "p",
          { class: "ec-empty" },
          "Nothing known yet: ",
          el("code", {}, "user_get_profile"),
          " shows the customer's account here.",
        ),
  );
}
watch("value", draw);
draw();
