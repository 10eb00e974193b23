/* What was known at a step of an episode: the wishes, the cart against the goal, what the customer had said, what the
   tools had shown. Everything carries the turn from which on it holds, so that any step can be drawn from one value. */
const { el, emit, on, parts } = window.ecom;
const root = element.querySelector(".ec-known");
let value = null;
let at = { key: "", step: 0, end: 0 };
const folded = new Set();

// The result comes after the last turn, and shows what was known by then.
const turn = () => Math.min(at.step, Math.max(0, at.end - 1));
const moment = () => (turn() === 0 ? "after the opening" : `after turn ${turn()}`);
const when = (number) => (number === 0 ? "opening" : `turn ${number}`);

function line(known, text, sub, note) {
  return el(
    "li",
    { class: known ? "ec-got" : "ec-notyet" },
    el("span", { class: "ec-mark", "aria-hidden": "true" }, known ? "✓" : "○"),
    el("span", {}, text, sub && el("small", {}, ` ${sub}`)),
    el("small", { class: "ec-when" }, note),
  );
}
/* A list that scrolls where it is long, also by keyboard. */
const scrolled = (title, lines) =>
  el(
    "div",
    { class: "ec-knownlist", tabindex: 0, role: "region", "aria-label": title },
    el("ul", { class: "ec-plain" }, lines),
  );
function list(title, total, got, lines) {
  if (!total) return null;
  const node = el(
    "details",
    { class: "ec-raw", open: !folded.has(title) },
    el("summary", {}, `${title}: ${got} of ${total}`),
    scrolled(title, lines),
  );
  node.addEventListener("toggle", () => (node.open ? folded.delete(title) : folded.add(title)));
  return node;
}
function said(slots) {
  const told = slots.map((slot) => ({ slot, last: slot.said.filter(([number]) => number <= turn()).pop() }));
  return list(
    "Said by the customer",
    told.length,
    told.filter((one) => one.last).length,
    told.map(({ slot, last }) =>
      last
        ? line(true, last[1] || slot.text, slot.item, when(last[0]))
        : line(false, slot.text, slot.item, slot.said.length ? "not said yet" : "never said"),
    ),
  );
}
function shown(targets) {
  const is = (target) => target.at !== null && target.at <= turn();
  return list(
    "Shown by the tools, of what fits",
    targets.length,
    targets.filter(is).length,
    targets.map((target) =>
      line(
        is(target),
        target.text,
        target.sub,
        is(target) ? when(target.at) : target.at === null ? "never shown" : "not yet",
      ),
    ),
  );
}
function wishes(all) {
  const state = ({ raised, answered, right }) => {
    if (answered !== null && answered <= turn()) return [true, `answered in ${when(answered)}${right ? "" : ", wrongly"}`];
    if (raised !== null && raised <= turn()) return [false, "open"];
    return [false, "not raised yet"];
  };
  return el(
    "section",
    { class: "ec-block" },
    el("h4", {}, "Wishes"),
    scrolled(
      "Wishes",
      all.map((wish, index) => {
        const [done, note] = state(wish);
        return line(done, `${index + 1}. ${wish.name}`, "", note);
      }),
    ),
  );
}
/* In a journey, the wish that the last turn was about: the one raised last that was open before it. */
function current(all) {
  const open = all
    .map((wish, index) => ({ ...wish, index }))
    .filter(({ raised, answered }) => raised !== null && raised <= turn() && (answered === null || answered > turn()));
  const last = open.sort((a, b) => a.raised - b.raised).pop();
  return last ? last.index : all.length - 1;
}
function group({ title, targets, said: slots }) {
  return el("section", { class: "ec-block" }, title && el("h4", {}, title), said(slots), shown(targets));
}
function draw() {
  // The panels get their values one after the other.
  root.hidden = !value || value.key !== at.key;
  if (root.hidden) return;
  const about = value.wishes[value.cart_wish];
  const due = !about || (about.raised !== null && about.raised <= turn());
  // Before the wish for a cart is raised, nothing can be missing from it.
  const cart = value.carts.filter((one) => one.at <= turn() && (due || one.filled)).pop();
  const groups = value.wishes.length ? [value.groups[current(value.wishes)]] : value.groups;
  root.dataset.turn = turn();
  root.replaceChildren(
    el("h3", {}, `What was known ${moment()}`),
    el("p", { class: "ec-desc" }, "Held against the goal as it was in the end, which nobody saw while playing."),
    value.wishes.length ? wishes(value.wishes) : "",
    cart ? parts.block(cart) : "",
    ...groups.map(group),
  );
}
on(root, "inspector:step", (step) => {
  at = step;
  draw();
});
watch("value", () => {
  value = props.value ? JSON.parse(props.value.json) : null;
  draw();
});
value = props.value ? JSON.parse(props.value.json) : null;
draw();
emit("inspector:where");
