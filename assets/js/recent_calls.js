/* The last few different calls: one click puts a call into the tool form again, another one makes it again. */
const { el, on, emit } = window.ecom;
const root = element.querySelector(".ec-recent");
let state = window.ecom.now || { running: false, busy: false, recent: [] };

function row(call) {
  const words = Object.entries(call.args)
    .map(([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(" · ");
  const text = [call.name, words].filter(Boolean).join(" · ");
  return el(
    "li",
    {},
    el(
      "button",
      {
        type: "button",
        class: "ec-link ec-refill",
        title: `Put into the form: ${text}`,
        "aria-label": `Put into the form: ${text}`,
        onclick: () => emit("refill", call),
      },
      el("code", {}, call.name),
      ` ${words}`,
    ),
    el(
      "button",
      {
        type: "button",
        class: "ec-button ec-repeat",
        title: "Take a turn with this call",
        "aria-label": `Call again: ${text}`,
        onclick: () => emit("call", call),
      },
      "Call again",
    ),
  );
}
function draw() {
  root.hidden = !state.running || !state.recent.length;
  root.replaceChildren(el("h3", {}, "Recent calls"), el("ul", {}, state.recent.map(row)));
  enable();
}
function enable() {
  for (const button of root.querySelectorAll("button")) button.disabled = state.busy;
}
on(element, "state", (now) => {
  const same = now.running === state.running && JSON.stringify(now.recent) === JSON.stringify(state.recent);
  state = now;
  if (same) enable();
  else draw();
});
draw();
