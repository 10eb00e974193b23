/* The customer's orders as the order tools returned them, those of the newest turn first. */
const { el, on, emit, money, idLink, seen } = window.ecom;
const root = element.querySelector(".ec-orders");
const PAGE = 10;
let episode = "";
let limit = PAGE;
let running = false;
let needle = "";

const state = () => props.value || { orders: [], usable: [], hidden: true };
// Something to press only where a tool of this environment takes such an id.
const idOf = (id, what, detail) =>
  state().usable.includes(`${what}_id`) ? idLink(id, what, detail, running) : el("code", {}, id);
const choose = (label, detail) =>
  el(
    "button",
    {
      type: "button",
      class: "ec-link ec-choose",
      disabled: !running,
      title: "Put this into the answer",
      "aria-label": `${label} is the one that is meant: put it into the answer`,
      onclick: () => emit("choose", detail),
    },
    "Choose",
  );

function lineRow(order, line) {
  const facts = Object.entries(line.facts).map(([name, value]) =>
    el(
      "span",
      { class: "ec-chip" },
      el("i", {}, name.replaceAll("_", " ")),
      " " + (Array.isArray(value) ? value.join(", ") : String(value)),
    ),
  );
  const ids = { order_id: order.order_id, line_id: line.line_id, title: line.title };
  return el(
    "li",
    { data: { line: line.line_id } },
    el(
      "p",
      { class: "ec-facts" },
      el("b", {}, `${line.qty} × ${line.title}`),
      line.variant && el("span", { class: "ec-chip" }, line.variant),
      el("span", {}, money(line.price)),
      line.returned && el("span", { class: "ec-pill ec-tone-warn" }, "returned"),
    ),
    facts.length > 0 && el("p", { class: "ec-chips" }, facts),
    el(
      "div",
      { class: "ec-foot" },
      el("span", {}, "line ", idOf(line.line_id, "line", ids)),
      line.product_id &&
        el(
          "span",
          {},
          "product ",
          idOf(line.product_id, "product", { product_id: line.product_id, title: line.title }),
        ),
      state().selects_lines && choose(`Line ${line.line_id}`, ids),
    ),
  );
}
function article(order) {
  return el(
    "article",
    { class: "ec-order", data: { order: order.order_id }, "aria-label": `Order ${order.order_id}` },
    el(
      "div",
      { class: "ec-facts" },
      el("span", {}, "order ", idOf(order.order_id, "order", { order_id: order.order_id })),
      order.status && el("span", { class: `ec-pill ec-tone-${order.tone}` }, order.status),
      order.total !== null && el("b", {}, money(order.total)),
      order.dates.map(([name, date]) => el("span", {}, el("span", { class: "ec-muted" }, name), ` ${date}`)),
      order.facts.length > 0 && el("span", { class: "ec-muted" }, order.facts.join(", ")),
      el("span", { class: "ec-from" }, order.source),
      state().selects && !state().selects_lines && choose(`Order ${order.order_id}`, { order_id: order.order_id }),
    ),
    order.events.length > 0 &&
      el(
        "ol",
        { class: "ec-events", "aria-label": "Tracking" },
        order.events.map((event) => el("li", {}, el("time", {}, event.date), ` ${event.text}`)),
      ),
    order.lines.length > 0 &&
      el(
        "ul",
        { class: "ec-lines", "aria-label": "Lines" },
        order.lines.map((line) => lineRow(order, line)),
      ),
  );
}

function draw() {
  const value = state();
  root.hidden = Boolean(value.hidden);
  seen.orders = value.orders.map((order) => ({
    id: order.order_id,
    label: [order.status, ...order.dates.slice(0, 1).flat(), money(order.total)].filter(Boolean).join(" "),
    lines: order.lines.map((line) => ({ id: line.line_id, label: line.title })),
  }));
  if (value.episode !== episode) {
    episode = value.episode;
    limit = PAGE;
    needle = "";
  }
  if (!value.orders.length) {
    root.replaceChildren(
      el("h3", {}, "Orders"),
      el("p", { class: "ec-empty" }, "None seen yet. Call ", el("code", {}, "order_list"), " to see them."),
    );
    return;
  }
  const search = el("input", {
    type: "search",
    class: "ec-find",
    placeholder: "find among these",
    "aria-label": "Find among the orders seen",
    value: needle,
    oninput: (event) => {
      needle = event.target.value;
      grid();
    },
  });
  const box = el("div", { class: "ec-order-list" });
  const more = el("button", {
    type: "button",
    class: "ec-button",
    onclick: () => {
      limit += PAGE;
      grid();
    },
  });
  function grid() {
    const words = needle.toLowerCase().split(/\s+/).filter(Boolean);
    const found = value.orders.filter((order) => {
      const text = JSON.stringify([order, money(order.total)]).toLowerCase();
      return words.every((word) => text.includes(word));
    });
    box.replaceChildren(...found.slice(0, limit).map(article));
    more.hidden = found.length <= limit;
    more.textContent = `Show ${Math.min(PAGE, found.length - limit)} more of ${found.length}`;
  }
  root.replaceChildren(
    el(
      "div",
      { class: "ec-head" },
      el("h3", {}, "Orders", el("small", {}, ` ${value.orders.length} seen, newest turn first`)),
      search,
    ),
    box,
    more,
  );
  grid();
}
on(element, "state", (now) => {
  if (now.running === running) return;
  running = now.running;
  draw();
});
watch("value", draw);
draw();
