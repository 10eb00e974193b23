/* How a person plays: two switches and the menu of agents. What the browser remembers from one visit to the next is
   kept here: the switches, and which endings it has shown, for whoever plays an episode again knows its goal. */
const { el, on, emit } = window.ecom;
const root = element.querySelector(".ec-options");
const OPTIONS = "ecomrlve.options";
const ENDINGS = "ecomrlve.endings";
const MOST_ENDINGS = 1000;

function recall(name, fallback) {
  try {
    return JSON.parse(localStorage.getItem(name)) ?? fallback;
  } catch {
    return fallback;
  }
}
function remember(name, value) {
  try {
    localStorage.setItem(name, JSON.stringify(value));
  } catch {
    /* storage is full or forbidden: it holds for this visit only */
  }
}

const kept = recall(OPTIONS, {});
const options = { single: kept.single === true, hints: kept.hints === true };
const list = recall(ENDINGS, []);
const endings = new Set(Array.isArray(list) ? list : []);
// Without the difficulty: one level up or down, the same seed often has the same goal.
const place = ({ env_id: environment, seed }) => `${environment}|${seed}`;

function noteEnding(episode) {
  endings.delete(place(episode));
  endings.add(place(episode));
  while (endings.size > MOST_ENDINGS) endings.delete(endings.values().next().value);
  remember(ENDINGS, [...endings]);
}
/* For the widgets of this tab, whichever of them comes to the page first. */
window.ecom.play = { options, sawEnding: (log) => Boolean(log) && endings.has(place(log)) };

function toggle(name, label, title) {
  const box = el("input", {
    type: "checkbox",
    id: `ec-option-${name}`,
    checked: options[name],
    onchange: () => {
      options[name] = box.checked;
      remember(OPTIONS, options);
      emit("options", options);
    },
  });
  return el("label", { class: "ec-check", title }, box, label);
}

let state = { running: false, busy: false, log: null };
const menu = el("select", { id: "ec-agent" });
const hand = el(
  "button",
  {
    type: "button",
    class: "ec-button",
    id: "ec-hand-over",
    title: "The agent goes on from here, in the Watch tab",
    onclick: () => trigger("submit", { agent: menu.value, log: state.log }),
  },
  "Hand over",
);
const agents = el(
  "div",
  { class: "ec-inline ec-takeover" },
  el("label", { for: "ec-agent" }, "Let an agent take over:"),
  menu,
  hand,
);
root.append(
  el(
    "div",
    { class: "ec-inline ec-toggles" },
    toggle("single", "One thing per turn", "Simpler: each call, message or answer is sent at once, as a turn of its own"),
    toggle("hints", "Hints", "Advice that follows from the rules and from what you have seen"),
  ),
  agents,
);

function draw() {
  const choices = (props.value && props.value.agents) || [];
  agents.hidden = !choices.length;
  menu.replaceChildren(...choices.map(([name, label]) => el("option", { value: name }, label)));
}
function enable() {
  hand.disabled = menu.disabled = !state.running || state.busy;
}
on(element, "ending", noteEnding);
on(element, "state", (now) => {
  state = now;
  enable();
});
state = window.ecom.now || state;
enable();
watch("value", draw);
draw();
emit("options", options);
