/* The conversation that is watched. The page asks for each turn when it is due and says how many it has; while nobody
   looks at it, or the visitor has paused, it asks for none. */
const { el, found, keepHere, parts, visible } = window.ecom;
const root = element.querySelector(".ec-watch-talk");
const SPEEDS = { slow: ["Slow", 2500], normal: ["Normal", 1000], fast: ["Fast", 300], most: ["As fast as it goes", 0] };
const HIDDEN_WAIT = 400;
const SLOW_AGENT = 500;
const LOST_ANSWER = 30_000;

let key = null;
let turns = [];
let running = false;
let waiting = false; // for the answer to a request
let held = false; // paused while the agent thought; what it decided on waits on the server
let asked = 0;
let since = 0;
let due = 0;
let lost = 0;
let clock = 0;

let current = { watch: "", status: "empty", turns: [], from: 0, number: 0 };
const state = () => current;
const going = () => state().status === "going";
const log = () => ({
  ...state().log,
  agent: state().agent,
  actions: turns.map((turn) => turn.action),
  players: turns.map((turn) => turn.player),
});
const button = (id, text, onclick, kind = "") =>
  el("button", { type: "button", class: `ec-button ${kind}`, id, onclick }, text);

const line = el("span", { role: "status" });
const seconds = el("span", { "aria-hidden": "true" });
const pauseButton = button("ec-watch-pause", "Pause", () => (running ? pause() : goOn()), "ec-primary");
const stepButton = button("ec-watch-step", "Step", step);
const stopButton = button("ec-watch-stop", "Stop", stop);
const speed = el(
  "select",
  { id: "ec-watch-speed", onchange: schedule },
  Object.entries(SPEEDS).map(([name, [label]]) => el("option", { value: name, selected: name === "normal" }, label)),
);
const controls = el(
  "div",
  { class: "ec-actions ec-watch-controls", role: "group", "aria-label": "Playback" },
  pauseButton,
  stepButton,
  stopButton,
  el("span", { class: "ec-inline" }, el("label", { for: "ec-watch-speed" }, "Speed"), speed),
);
const list = el("div", { class: "ec-watch-list", role: "log", tabindex: 0, "aria-label": "Conversation" });
const takeButton = button("ec-watch-take", "Take over from here", () => takeOver(turns.length));
const keepButton = button("ec-watch-keep", "Keep this episode", () => ask("apply", {}));
const link = el("a", { class: "ec-link", id: "ec-watch-link" }, "Link to this watch");
const foot = el("div", { class: "ec-actions ec-watch-foot" }, takeButton, keepButton, link);
root.append(
  el("div", { class: "ec-head" }, el("h3", {}, "Conversation"), el("p", { class: "ec-watch-line" }, line, seconds)),
  controls,
  list,
  foot,
);

function ask(event, more) {
  trigger(event, { watch: key, tick: asked, have: turns.length, log: log(), ...more });
}
/* Asks for the next turn, or only for what this page lacks. */
function request(go) {
  clearTimeout(due);
  clearTimeout(lost);
  asked += 1;
  if (!waiting) since = performance.now();
  waiting = true;
  held = false;
  lost = setTimeout(() => waiting && !held && request(go), LOST_ANSWER);
  ask("tick", { go });
  setTimeout(show, SLOW_AGENT);
}
function schedule() {
  clearTimeout(due);
  if (running && going() && !waiting) due = setTimeout(next, SPEEDS[speed.value][1]);
}
function next() {
  if (!element.isConnected) return;
  if (!visible(root) || document.hidden) due = setTimeout(next, HIDDEN_WAIT);
  else request(true);
}
function pause() {
  running = false;
  clearTimeout(due);
  if (waiting) {
    held = true;
    ask("pause", {});
  }
  show();
}
function goOn() {
  running = true;
  if (!waiting || held) request(true);
  show();
}
function step() {
  running = false;
  if (!waiting || held) request(true);
  show();
}
function stop() {
  running = false;
  clearTimeout(due);
  ask("stop", {});
}
function takeOver(turn) {
  if (going()) pause();
  ask("select", { turn });
}

const speech = (who, text, side) =>
  text ? el("div", { class: `ec-speech ec-${side}` }, el("b", {}, who), el("p", {}, text)) : null;
const takeLink = (turn) =>
  el(
    "button",
    {
      type: "button",
      class: "ec-link ec-watch-from",
      "aria-label": turn ? `Take over from here, after turn ${turn}` : "Play it yourself from the opening",
      onclick: () => takeOver(turn),
    },
    turn ? "Take over from here" : "Play it yourself",
  );
const block = (turn, title, ...contents) =>
  el("section", { class: "ec-watch-turn", data: { turn } }, el("h4", {}, title, takeLink(turn)), contents);

function drawTurn(turn) {
  const agent = turn.player === state().agent;
  const who = agent ? state().title : turn.player === "you" ? "You" : turn.player;
  return block(
    turn.number,
    agent ? `Turn ${turn.number}` : `Turn ${turn.number}, taken by ${who === "You" ? "you" : who}`,
    turn.calls.map(parts.call),
    turn.readable
      ? speech(who, turn.message, "agent")
      : el(
          "div",
          { class: "ec-watch-broken" },
          el("b", {}, "This is no action, so the episode ends:"),
          parts.json(turn.message),
        ),
    turn.answer &&
      el(
        "div",
        { class: "ec-watch-answer" },
        el("b", {}, "Answer submitted"),
        el(
          "dl",
          { class: "ec-parts" },
          turn.answer.map(([name, values]) => [
            el("dt", {}, name),
            el("dd", {}, values.length ? values.map((text) => el("div", {}, text)) : "nothing"),
          ]),
        ),
      ),
    speech("Customer", turn.customer, "customer"),
  );
}

const thinking = () => waiting && !held && going() && performance.now() - since >= SLOW_AGENT;
function status(value) {
  const count = turns.length;
  if (value.status === "failed") return `${value.title} cannot go on. ${value.problem}`;
  if (value.status === "finished") return "The conversation is over; what it was worth stands above.";
  if (value.status === "stopped") return `Stopped after turn ${count}.`;
  if (value.status !== "going") return "";
  if (!running && !(waiting && !held)) return count ? `Paused after turn ${count}.` : "Ready for the first turn.";
  return thinking() ? `${value.title} is thinking …` : `${value.title} plays.`;
}
/* What changes without a new turn: the line that says how it stands, and which buttons there are. */
function show() {
  const value = state();
  const text = status(value);
  if (line.textContent !== text) line.textContent = text;
  const passed = Math.floor((performance.now() - since) / 1000);
  seconds.textContent = thinking() && passed > 2 ? ` ${passed} s` : "";
  line.parentElement.classList.toggle("ec-bad", value.status === "failed");
  root.dataset.status = value.status;
  root.dataset.turns = turns.length;
  root.dataset.waiting = waiting;
  root.dataset.version = value.number;
  pauseButton.textContent = running || !going() ? "Pause" : "Go on";
  if (!going() && [pauseButton, stepButton, stopButton].includes(document.activeElement)) list.focus();
  for (const one of [pauseButton, stepButton, stopButton]) one.disabled = !going();
  controls.hidden = foot.hidden = !value.watch;
  takeButton.hidden = value.status === "finished";
  keepButton.hidden = value.status !== "finished";
  keepButton.disabled = Boolean(value.kept);
  keepButton.textContent = value.kept ? "Kept: see Trajectories" : "Keep this episode";
  clearTimeout(clock);
  if (waiting && !held && going() && element.isConnected) clock = setTimeout(show, 1000);
}

function begin(value) {
  key = value.watch;
  turns = [];
  running = value.run;
  asked = 0;
  clearTimeout(due);
  const { env_id: env, difficulty: d, seed } = value.log || {};
  if (key) link.href = "?" + new URLSearchParams({ tab: "watch", env, d, seed, agent: value.agent });
  list.replaceChildren(
    key
      ? block(0, "Opening", speech("Customer", value.opening, "customer"))
      : el(
          "p",
          { class: "ec-empty" },
          "Nobody plays yet. Here you will see an agent serve a customer, turn by turn: what it says, which tools it ",
          "calls, and what they return. You can pause at any turn, and take over from it.",
        ),
  );
}
function draw() {
  const value = props.value;
  if (!value || value.number < current.number) return; // a newer answer has overtaken this one
  current = value;
  if (value.watch !== key) begin(value);
  waiting = Boolean(value.busy);
  if (!waiting) {
    clearTimeout(lost);
    held = false;
  }
  if (value.from > turns.length) {
    request(false);
    show();
    return;
  }
  const atEnd = list.scrollHeight - list.scrollTop - list.clientHeight < 80;
  const fresh = value.turns.slice(turns.length - value.from);
  turns.push(...fresh);
  list.append(...fresh.map(drawTurn));
  if (fresh.length && atEnd) list.scrollTop = list.scrollHeight;
  if (key) keepHere({ watched: { watch: key, log: log() } });
  schedule();
  show();
}
watch("value", draw);
draw();
// A page that was reloaded goes on where it was, paused.
if (found.watched && !key) trigger("tick", { ...found.watched, tick: 0, have: 0, go: false });
