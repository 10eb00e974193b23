/* The bar that starts a watch: task, difficulty, seed, agent. */
const { choosing, el } = window.ecom;
const root = element.querySelector(".ec-watch-chooser");

const place = choosing.place("ec-watch");
const agent = el("select", { id: "ec-watch-agent" });
const start = el("button", { type: "submit", class: "ec-button ec-primary", id: "ec-watch-start" }, "Start watching");
const form = el(
  "form",
  { autocomplete: "off", "aria-label": "Choose what to watch" },
  place.fields,
  choosing.field("Agent", "ec-watch-agent", agent),
  el("div", { class: "ec-actions" }, start),
);
root.append(el("h2", { class: "ec-hidden" }, "Watch an agent"), form);

function draw() {
  const value = props.value || {};
  place.draw(value);
  choosing.offer(agent, value.agents || []);
  if (value.agent) agent.value = value.agent;
}
form.addEventListener("submit", (event) => {
  event.preventDefault();
  trigger("submit", { ...place.chosen(), agent: agent.value });
});
watch("value", draw);
draw();
