/* What the tools have shown to the agent so far, in few words each, the newest first. */
const { el, money, swatch } = window.ecom;
const root = element.querySelector(".ec-watch-seen");
const closed = new Set();

function section(name, count, rows, hint) {
  return el(
    "details",
    {
      open: !closed.has(name),
      ontoggle: (event) => (event.target.open ? closed.delete(name) : closed.add(name)),
    },
    el("summary", {}, el("h4", {}, name, count > 0 && el("small", {}, ` ${count}`))),
    rows.length ? el("ul", {}, rows) : el("p", { class: "ec-empty" }, hint),
    count > rows.length && el("p", { class: "ec-desc" }, `and ${count - rows.length} more, in the conversation`),
  );
}
function product(one) {
  return el(
    "li",
    { class: "ec-watch-product", data: { pid: one.product_id } },
    el("span", { class: "ec-watch-picture" }, swatch(one)),
    el("span", { class: "ec-watch-name" }, one.title, el("code", {}, ` ${one.product_id}`)),
    el(
      "span",
      { class: "ec-watch-facts" },
      one.price !== null && el("b", {}, money(one.price)),
      one.rating !== null && el("span", {}, `★ ${one.rating}`),
      one.in_stock === false && el("span", { class: "ec-bad" }, "sold out"),
      el("small", {}, one.source),
    ),
  );
}
function order(one) {
  return el(
    "li",
    { data: { order: one.order_id } },
    el(
      "span",
      { class: "ec-watch-facts" },
      el("code", {}, one.order_id),
      one.status && el("span", { class: `ec-pill ec-tone-${one.tone}` }, one.status),
      Number.isFinite(one.total) && el("b", {}, money(one.total)),
      one.dates.map(([name, date]) => el("span", {}, `${name} ${date}`)),
      el("small", {}, one.source),
    ),
    el("span", { class: "ec-watch-name" }, one.lines.join("; ")),
  );
}
function sentBack(one) {
  return el(
    "li",
    {},
    el(
      "span",
      { class: "ec-watch-facts" },
      el("span", { class: `ec-pill ec-tone-${one.state[1]}` }, one.state[0]),
      el("small", {}, one.source),
    ),
    el("span", { class: "ec-watch-name" }, one.title, one.about && el("small", {}, ` ${one.about}`)),
  );
}
function helpPage(one) {
  return el("li", {}, el("span", { class: "ec-watch-name" }, one.title, el("small", {}, ` ${one.source}`)));
}

function draw() {
  const value = props.value || {};
  root.hidden = !value.episode;
  const shown = [];
  const none = "None yet: no tool has shown one.";
  if (value.products)
    shown.push(section("Products", value.products.count, value.products.rows.map(product), none));
  if (value.orders)
    shown.push(section("Orders", value.orders.count, value.orders.rows.map(order), "The agent has not looked yet."));
  if (value.returns)
    shown.push(section("Returns", value.returns.length, value.returns.map(sentBack), "Nothing was sent back."));
  if (value.pages)
    shown.push(section("Help pages", value.pages.length, value.pages.map(helpPage), "The agent has read none yet."));
  root.replaceChildren(el("h3", {}, "What the agent has seen"), ...shown);
}
watch("value", draw);
draw();
