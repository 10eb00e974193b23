/* How a person plays: two switches, which the browser remembers, and the menu of agents. */
const { el, on, emit, recall, remember } = window.ecom;
const root = element.querySelector(".ec-options");
const OPTIONS = "ecomrlve.options";

const kept = recall(OPTIONS, {});
const options = { single: kept.single === true, hints: kept.hints === true };
/* For the widgets of this tab, whichever of them comes to the page first. */
window.ecom.play = { options };

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
on(element, "state", (now) => {
  state = now;
  enable();
});
state = window.ecom.now || state;
enable();
watch("value", draw);
draw();
emit("options", options);
