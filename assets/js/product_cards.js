/* Everything that the tools have shown in this episode, newest first. */
const { el, on, emit, money, plural, swatch, seen } = window.ecom;
const root = element.querySelector(".ec-cards");
// A phone shows them one below the other.
const PAGE = window.innerWidth < 640 ? 8 : 24;
let episode = "";
let limit = PAGE;
let running = false;
let needle = "";

const chips = (attributes) =>
  Object.entries(attributes || {}).map(([name, value]) =>
    el(
      "span",
      { class: "ec-chip" },
      el("i", {}, name.replaceAll("_", " ")),
      " " + (Array.isArray(value) ? value.join(", ") : String(value)),
    ),
  );
const stockNote = (item) =>
  item.in_stock === false
    ? el("span", { class: "ec-bad" }, "sold out")
    : Number.isFinite(item.stock)
      ? el("span", {}, `${item.stock} in stock`)
      : null;

function variantRow(card, variant) {
  return el(
    "li",
    {},
    el("span", {}, variant.label),
    variant.price !== null && el("span", {}, money(variant.price)),
    stockNote(variant),
    el("code", {}, variant.variant_id),
    el(
      "button",
      {
        type: "button",
        class: "ec-link ec-use-variant",
        data: { vid: variant.variant_id },
        disabled: !running,
        title: "Put both ids into the tool form",
        "aria-label": `Use ${variant.label}`,
        onclick: () =>
          emit("use", { product_id: card.product_id, variant_id: variant.variant_id, title: variant.label }),
      },
      "Use",
    ),
  );
}
function article(card, recommends) {
  const facts = [
    card.price !== null && el("b", {}, money(card.price)),
    card.rating !== null && el("span", {}, `★ ${card.rating}`),
    card.ship_days !== null && el("span", {}, `ships in ${plural(card.ship_days, "day")}`),
    Number.isFinite(card.similarity) &&
      el("span", { class: "ec-similar" }, `similarity ${card.similarity.toFixed(3)}`),
    stockNote(card),
  ].filter(Boolean);
  return el(
    "article",
    { class: "ec-card", data: { pid: card.product_id }, "aria-label": card.title },
    el("div", { class: "ec-picture" }, swatch(card)),
    el(
      "div",
      { class: "ec-about" },
      el("h4", {}, card.title),
      el("p", { class: "ec-facts" }, facts),
      el("p", { class: "ec-chips" }, chips(card.attributes)),
      card.variants.length > 0 &&
        el(
          "ul",
          { class: "ec-variants", "aria-label": "Variants" },
          card.variants.map((variant) => variantRow(card, variant)),
        ),
      el(
        "div",
        { class: "ec-foot" },
        el("code", {}, card.product_id),
        el("span", { class: "ec-from" }, card.source),
        el(
          "button",
          {
            type: "button",
            class: "ec-link ec-use",
            disabled: !running,
            title: "Put this id into the tool form",
            "aria-label": `Use id of ${card.title}`,
            onclick: () => emit("use", { product_id: card.product_id, title: card.title }),
          },
          "Use id",
        ),
        recommends &&
          el(
            "button",
            {
              type: "button",
              class: "ec-link ec-recommend",
              disabled: !running,
              title: "Append to your recommendations",
            "aria-label": `Recommend ${card.title}`,
              onclick: () => emit("recommend", { product_id: card.product_id, title: card.title }),
            },
            "Recommend",
          ),
      ),
    ),
  );
}

function draw() {
  const value = props.value || { cards: [] };
  root.hidden = Boolean(value.hidden);
  if (value.episode !== episode) {
    episode = value.episode;
    limit = PAGE;
    needle = "";
  }
  const keys = new Set();
  for (const card of value.cards) for (const name of Object.keys(card.attributes || {})) keys.add(name);
  emit("keys", [...keys]);
  // What the tool form can offer where it asks for a product or a variant.
  seen.products = value.cards.map((card) => ({
    id: card.product_id,
    label: [card.title, money(card.price)].filter(Boolean).join(" · "),
    variants: card.variants.map((variant) => ({
      id: variant.variant_id,
      label: [variant.label, variant.in_stock ? "" : "sold out", card.title].filter(Boolean).join(" · "),
    })),
  }));
  if (!value.cards.length) {
    root.replaceChildren(
      el("h3", {}, "Products seen"),
      el(
        "p",
        { class: "ec-empty" },
        "Nothing yet. Call ",
        el("code", {}, "catalog_search"),
        " with a few words from what the customer said.",
      ),
    );
    return;
  }
  const search = el("input", {
    type: "search",
    class: "ec-find",
    placeholder: "find among these",
    "aria-label": "Find among the products seen",
    value: needle,
    oninput: (event) => {
      needle = event.target.value;
      grid();
    },
  });
  const box = el("div", { class: "ec-card-grid", tabindex: 0, role: "region", "aria-label": "Products seen" });
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
    const found = value.cards.filter((card) => {
      const text = `${card.title} ${card.product_id} ${JSON.stringify(card.attributes)}`.toLowerCase();
      return words.every((word) => text.includes(word));
    });
    box.replaceChildren(...found.slice(0, limit).map((card) => article(card, value.recommends)));
    more.hidden = found.length <= limit;
    more.textContent = `Show ${Math.min(PAGE, found.length - limit)} more of ${found.length}`;
  }
  root.replaceChildren(
    el(
      "div",
      { class: "ec-head" },
      el("h3", {}, "Products seen", el("small", {}, ` ${value.cards.length}, newest first`)),
      search,
    ),
    box,
    more,
  );
  grid();
}
running = Boolean(window.ecom.now && window.ecom.now.running);
on(element, "state", (state) => {
  const now = state.running;
  if (now === running) return;
  running = now;
  draw();
});
watch("value", draw);
draw();
