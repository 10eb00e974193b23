/* The agent's desk: message, collected tool calls, answer, raw action. It is the only widget that talks to the
   episode; the others hand it their wishes over the bus. Every request carries the version it was made on and the
   log of the episode, so that a stale click does nothing and a restarted server can replay the log first. */
const { el, on, emit, say, plural, saveLog, link, sawEnding, answerForm } = window.ecom;
const root = element.querySelector(".ec-desk");

let tray = [];
let episode = "";
let busy = false;
let sent = null;
let wakeup = 0;

const state = () => props.value || { running: false, version: 0, kinds: [] };
const options = () => (window.ecom.play ? window.ecom.play.options : { single: false, hints: false });
const message = el("textarea", {
  id: "ec-message",
  rows: 2,
  "aria-label": "Message to the customer",
  placeholder: "Say something to the customer … (Enter sends, Shift+Enter starts a new line)",
});
const task = el("p", { class: "ec-desc" });
const hint = el("p", { class: "ec-error", role: "alert" });
const calls = el("ul", { class: "ec-tray", "aria-label": "Calls collected for this turn" });
const count = el("p", { class: "ec-count" });
const cost = el("p", { class: "ec-cost", id: "ec-cost" });
const hints = el("div", { class: "ec-hints", role: "status" });
const answerBox = el("div", { class: "ec-answer" });
const answer = answerForm(answerBox, () => {
  delete submitButton.dataset.sure;
  submitButton.firstChild.textContent = answer.isList() ? "Submit list " : "Submit answer ";
});
const raw = el("textarea", {
  id: "ec-raw",
  rows: 4,
  spellcheck: "false",
  "aria-label": "Raw action",
  placeholder: '{"assistant_message": "…", "tool_calls": [{"name": "cart_view", "args": {}}]}',
});
const sendButton = el(
  "button",
  { type: "button", class: "ec-button ec-primary", id: "ec-send", onclick: () => send(false) },
  "Send turn ",
  el("kbd", {}, "Enter"),
);
const submitButton = el(
  "button",
  { type: "button", class: "ec-button", id: "ec-submit", data: { hotkey: "submit" }, onclick: () => send(true) },
  "Submit answer ",
  el("kbd", {}, "Alt+S"),
);
const rawButton = el(
  "button",
  { type: "button", class: "ec-button", id: "ec-raw-send", onclick: sendRaw },
  "Send raw action",
);

root.append(
  task,
  hints,
  el("div", { class: "ec-compose" }, message, hint),
  el("div", { class: "ec-collected" }, calls, count),
  answerBox,
  el("div", { class: "ec-actions" }, sendButton, submitButton, cost),
  el(
    "details",
    { class: "ec-raw" },
    el("summary", {}, "Raw action: type what a model would write"),
    el(
      "p",
      { class: "ec-desc" },
      "Goes to the environment as it stands: JSON, ",
      el("code", {}, "<tool_call>"),
      " blocks or plain prose. Text that is broken JSON ends the episode with −1.",
    ),
    raw,
    rawButton,
  ),
);
message.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    send(false);
  }
});

/* Sends an action once; the buttons rest until the answer has come. */
function dispatch(action, clears) {
  if (busy || !state().running) {
    hint.textContent = busy ? "" : "Start an episode first.";
    return;
  }
  busy = true;
  sent = { version: state().version, clears };
  hint.textContent = "";
  show();
  clearTimeout(wakeup);
  wakeup = setTimeout(() => {
    busy = false;
    show();
  }, 20_000);
  const { version, log } = state();
  // Whoever has seen this goal before does not play it for the first time.
  trigger("submit", { version, action, log, seen: sawEnding(log) });
}

function send(final) {
  const text = message.value.trim();
  if (!final && !text && !tray.length) {
    hint.textContent = "Write a message, or add a tool call to this turn first.";
    message.focus();
    return;
  }
  const action = {};
  if (text) action.assistant_message = text;
  if (tray.length) action.tool_calls = tray;
  if (final) {
    const missing = answer.missing();
    if (missing && submitButton.dataset.sure !== "yes") {
      submitButton.dataset.sure = "yes";
      hint.textContent = `${missing} Submit again to answer with nothing.`;
      return;
    }
    action.answer = { done: true, ...answer.read() };
  }
  dispatch(action, true);
}
function sendRaw() {
  if (!raw.value.trim()) {
    hint.textContent = "The raw action is empty.";
    return;
  }
  dispatch(raw.value, true);
}

function drawTray() {
  const budget = state().tool_budget || 0;
  calls.replaceChildren(
    ...tray.map((call, index) =>
      el(
        "li",
        { class: index >= budget ? "ec-over" : "" },
        el("code", {}, call.name),
        el(
          "span",
          {},
          Object.entries(call.args)
            .map(([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`)
            .join(" · "),
        ),
        el(
          "button",
          {
            type: "button",
            class: "ec-icon",
            "aria-label": `Remove ${call.name}`,
            title: "Remove this call",
            onclick: () => {
              tray.splice(index, 1);
              drawTray();
            },
          },
          "×",
        ),
      ),
    ),
  );
  count.hidden = !tray.length;
  const over = tray.length - budget;
  count.textContent =
    `${tray.length} of ${plural(budget, "call")} for this turn` +
    (over > 0 ? `: the shop will refuse the last ${over === 1 ? "one" : over}` : "");
  count.classList.toggle("ec-over", over > 0);
  drawCost();
  emit("tray", tray);
}

/* What sending costs, in sight all the time. */
function drawCost() {
  const { running, turns_left: left, wish_turns_left: wish } = state();
  // What was collected before the switch was set still goes together.
  const single = options().single && !tray.length;
  const what = single ? "A message or an answer takes" : "Sending takes";
  const all = single ? "" : ", whatever it holds";
  const rest = left === 1 ? "your last turn" : `1 of your ${left} turns left${all}`;
  const forWish = Number.isInteger(wish) && wish < left ? ` (${plural(wish, "turn")} for this wish)` : "";
  cost.textContent = running ? `${what} ${rest}${forWish}.` : "";
  sendButton.firstChild.textContent = single ? "Send message " : "Send turn ";
}
function drawHints() {
  const shown = options().hints && state().running ? state().hints || [] : [];
  hints.hidden = !shown.length;
  hints.replaceChildren(...shown.map((text) => el("p", {}, el("b", {}, "Hint "), text)));
}

function show() {
  const value = state();
  for (const button of [sendButton, submitButton, rawButton]) button.disabled = busy || !value.running;
  message.disabled = !value.running;
  raw.disabled = !value.running;
  root.classList.toggle("ec-off", !value.running);
  root.setAttribute("aria-busy", busy ? "true" : "false");
  const { running, turns_left: turnsLeft, recent, log } = value;
  // For a widget that comes to the page later than this one, too.
  window.ecom.now = { running, busy, turnsLeft, recent: recent || [], log };
  emit("state", window.ecom.now);
}

function draw() {
  const value = state();
  busy = false;
  clearTimeout(wakeup);
  if (value.episode !== episode) {
    episode = value.episode;
    tray = [];
    answer.reset();
    message.value = "";
    raw.value = "";
    if (value.log) link({ env: value.log.env_id, d: value.log.difficulty, seed: value.log.seed });
  } else if (sent && value.version !== sent.version && sent.clears) {
    tray = [];
    message.value = "";
    raw.value = "";
  }
  sent = null;
  hint.textContent = "";
  if (value.version) saveLog(value.log);
  task.textContent = !value.episode ? "" : value.running ? value.task : "This episode is over: its result is above.";
  drawTray();
  drawHints();
  answer.draw(value);
  show();
}

on(element, "call", (call) => dispatch({ tool_calls: [call] }, false));
on(element, "collect", (call) => {
  tray.push(call);
  drawTray();
  say(`${call.name} added to the turn`);
});
on(element, "write", (text) => {
  message.value = text;
  message.focus();
});
on(element, "options", () => {
  drawCost();
  drawHints();
});
on(element, "recommend", answer.recommend);
on(element, "choose", answer.choose);
watch("value", draw);
draw();
// Once more for the widgets that come to the page right after this one.
requestAnimationFrame(() => emit("state", window.ecom.now));
