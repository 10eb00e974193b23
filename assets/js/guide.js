/* The guide of the first episode. The server says what there is to do; this follows what has been done of it on the
   page, outlines the place of the next thing, and explains it. It presses nothing itself. */
const { el, on, emit } = window.ecom;
const root = element.querySelector(".ec-guide");

const card = ({ product }) => `.ec-card[data-pid="${CSS.escape(product)}"]`;
const PLACES = {
  chat: () => "#chat",
  tool: () => "#ec-tool",
  argument: ({ name }) => `#ec-arg-${CSS.escape(name)}`,
  call: () => ".ec-call",
  collect: () => ".ec-collect",
  cards: () => "#cards .ec-cards",
  card: (point) => `${card(point)} .ec-use`,
  variant: ({ variant }) => `.ec-use-variant[data-vid="${CSS.escape(variant)}"]`,
  message: () => "#ec-message",
  send: () => "#ec-send",
  submit: () => "#ec-submit",
  single: () => "label:has(> #ec-option-single)",
  score: () => "#result .ec-score",
  waterfall: () => "#result .ec-reward",
  goal: () => "#result .ec-blocks",
  another: () => "#ec-another",
};
const valueOf = (selector) => (document.querySelector(selector) || { value: "" }).value.trim();
const single = () => Boolean(window.ecom.play && window.ecom.play.options.single);
/* Whether one condition of a point holds. */
const HOLDS = {
  read: (number) => read >= number,
  tool: (name) => valueOf("#ec-tool") === name,
  argument: ([name, value]) => valueOf(`#ec-arg-${CSS.escape(name)}`) === value,
  another: ([name, before]) => !["", before].includes(valueOf(`#ec-arg-${CSS.escape(name)}`)),
  written: () => valueOf("#ec-message") !== "",
  collected: (name) => [...document.querySelectorAll(".ec-tray code")].some((code) => code.textContent === name),
  several: () => !single(),
};

let read = 0;
let open = true;
let shown = "";
let found = "";
let lit = null;
let known = "";
let planned = 0;

const step = el("b", { class: "ec-guide-step" });
const aside = el("p", { class: "ec-desc ec-guide-aside" });
const text = el("p", { class: "ec-guide-text" });
const next = el("button", { type: "button", class: "ec-button ec-primary ec-guide-next", onclick: () => forward() }, "Next");
const write = el("button", { type: "button", class: "ec-button ec-guide-write", onclick: () => emit("write", current().write) });
const find = el("button", { type: "button", class: "ec-link ec-guide-find", onclick: () => take(true) }, "Take me there");
const leave = el("button", { type: "button", class: "ec-link ec-guide-leave", onclick: () => turn(!open) }, "Skip the guide");
const body = el("div", { class: "ec-guide-body", role: "status" }, aside, text);
const actions = el("div", { class: "ec-actions" }, next, write, find);
root.append(el("div", { class: "ec-guide-head" }, step, leave), body, actions);

const value = () => props.value || { hidden: true };
const points = () => value().points.filter(({ only }) => !only || only === (single() ? "single" : "several"));
const conditions = ({ done }) => Object.entries(done);
const isDone = (point) => conditions(point).length > 0 && conditions(point).every(([name, what]) => HOLDS[name](what));
const isRead = ({ done }) => Object.hasOwn(done, "read");

/* The first point that is not done; who acts before everything was read has read enough. */
function current() {
  const all = points();
  const acted = all.findLastIndex((point) => !isRead(point) && isDone(point));
  return all.find((point, index) => !isDone(point) && !(isRead(point) && index < acted)) || all.at(-1);
}
function forward() {
  read = current().done.read;
  draw();
}
function turn(now) {
  open = now;
  draw();
  leave.focus();
}

/* Names of tools stand between backticks. */
const spoken = (words) => words.split("`").map((part, index) => (index % 2 ? el("code", {}, part) : part));

function light(node) {
  if (node === lit && (!node || node.classList.contains("ec-lit"))) return;
  if (lit) lit.classList.remove("ec-lit");
  lit = node;
  if (lit) lit.classList.add("ec-lit");
}
const placeOf = (point) => document.querySelector(PLACES[point.at](point));
/* Brings the place into view, and with `focus` the keyboard as well. */
function take(focus) {
  const place = placeOf(current());
  if (!place) return;
  const box = place.getBoundingClientRect();
  const covered = root.getBoundingClientRect();
  const low = window.innerWidth < 760 ? covered.top : window.innerHeight;
  const high = window.innerWidth < 760 ? 0 : covered.bottom;
  const fits = box.top >= high && box.bottom <= low;
  if (!fits || focus) place.scrollIntoView({ block: box.height > (low - high) * 0.8 ? "start" : "center" });
  if (focus) place.focus({ preventScroll: true });
}

function draw() {
  const now = value();
  root.hidden = now.hidden;
  if (now.hidden) {
    light(null);
    shown = known = "";
    return;
  }
  const key = `${now.episode} ${now.turn}`;
  if (key !== known) {
    if (!known.startsWith(now.episode)) open = true;
    known = key;
    read = 0;
  }
  const point = current();
  const over = now.stage === now.stages;
  step.textContent = `Step ${now.stage} of ${now.stages}: ${now.title}`;
  leave.textContent = open ? (over ? "Close the guide" : "Skip the guide") : "Open the guide";
  root.classList.toggle("ec-folded", !open);
  body.hidden = actions.hidden = !open;
  next.hidden = !isRead(point);
  write.hidden = !point.write;
  write.textContent = point.write ? `Write “${point.write}”` : "";
  aside.hidden = !now.aside;
  light(open ? placeOf(point) : null);
  find.hidden = !lit;
  const words = `${now.aside} ${point.text}`;
  if (shown !== words) {
    shown = words;
    found = "";
    aside.replaceChildren(...spoken(now.aside));
    text.replaceChildren(...spoken(point.text));
  }
  // The place may come to the page a little later than the words.
  if (lit && found !== words) {
    found = words;
    take(false);
  }
}
/* Other widgets draw themselves anew; the outline must find its place again. */
function soon() {
  if (!planned && !value().hidden && root.isConnected) planned = requestAnimationFrame(() => ((planned = 0), draw()));
}
for (const name of ["state", "options", "tray"]) on(element, name, soon);
for (const name of ["input", "change", "click"]) document.addEventListener(name, soon);
new MutationObserver(soon).observe(document.body, { childList: true, subtree: true });
watch("value", draw);
draw();
