/* The cart as the tools last returned it. */
const { el, money } = window.ecom;
const root = element.querySelector(".ec-cart");

function draw() {
  const value = props.value || { lines: [], known: false };
  root.hidden = Boolean(value.hidden);
  const title = el("h3", {}, "Cart");
  if (!value.lines.length) {
    root.replaceChildren(
      title,
      el(
        "p",
        { class: "ec-empty" },
        value.known ? "The cart is empty." : "Nothing known yet: cart tools show it here.",
      ),
    );
    return;
  }
  root.replaceChildren(
    title,
    el(
      "table",
      { class: "ec-table" },
      el(
        "thead",
        {},
        el(
          "tr",
          {},
          ["Item", "Qty", "Price"].map((name) => el("th", { scope: "col" }, name)),
        ),
      ),
      el(
        "tbody",
        {},
        value.lines.map((line) =>
          el(
            "tr",
            {},
            el(
              "td",
              {},
              line.title,
              line.variant && el("span", { class: "ec-chip" }, line.variant),
              el("br"),
              el("code", {}, line.product_id + (line.variant_id ? ` · ${line.variant_id}` : "")),
            ),
            el("td", {}, line.qty),
            el("td", {}, money(line.price)),
          ),
        ),
      ),
      value.total !== null &&
        el("tfoot", {}, el("tr", {}, el("td", { colspan: 2 }, "Total"), el("td", {}, money(value.total)))),
    ),
  );
}
watch("value", draw);
draw();
