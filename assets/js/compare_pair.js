/* Two episodes of one scenario side by side. The server sent both as a whole; stepping happens here. */
const { el, noteEnding, on, parts, plural, say, signed } = window.ecom;
const root = element.querySelector(".ec-cpair");
const SIGNS = ["●", "▲"];
let value = null;
let key = null;
let current = 0;
let asked = "";
let wanted = false; // a seed of the series was opened: bring it into view
on(root, "compare-asked", ({ one }) => (asked = one));
on(root, "compare-open", () => (wanted = true));

const button = (text, onclick, more) => el("button", { type: "button", class: "ec-button", onclick, ...more }, text);
const mark = (side) => el("span", { class: `ec-mark ec-side${side}`, "aria-hidden": "true" }, SIGNS[side]);
const player = (side) => [mark(side), "\u00a0", value.sides[side].name];

/* --- the score board --- */
function bar(amount) {
  const from = Math.max(-1, Math.min(0, amount)),
    to = Math.min(1, Math.max(0, amount));
  const place = `left:${(from + 1) * 50}%;width:${Math.max((to - from) * 50, 0.5)}%`;
  return el(
    "span",
    { class: "ec-cbar", "aria-hidden": "true" },
    el("i", { style: place, class: amount < 0 ? "ec-down" : "ec-up" }),
  );
}
const line = (name, title, cells, attributes) =>
  el(
    "tr",
    attributes,
    el("th", { scope: "row", title }, name),
    cells.map((cell) => el("td", {}, cell)),
  );
const duration = (seconds) =>
  seconds < 1 ? `${Math.max(1, Math.round(1000 * seconds))} ms` : `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
const amount = ({ value: points, formula }) => [
  el("b", {}, signed(points)),
  " ",
  el("small", { class: "ec-formula" }, formula),
  bar(points),
];
function part(label) {
  const found = value.sides.map(({ figures }) => figures.parts.find((one) => one.label === label));
  const note = (found.find(Boolean) || {}).note;
  return line(
    label,
    note,
    found.map((one) => (one ? amount(one) : "–")),
  );
}
function outcome(figures) {
  return el(
    "span",
    { class: figures.correct ? "ec-good" : "ec-bad" },
    el("b", {}, figures.correct ? "✓ Correct" : "✗ Not correct"),
    el("small", {}, figures.reason),
  );
}
function why({ causes }) {
  if (!causes.length) return "–";
  return el(
    "ul",
    { class: "ec-plain" },
    causes.map(({ name, sentence }) => el("li", {}, el("b", {}, name), el("small", {}, sentence))),
  );
}
function board() {
  const figures = value.sides.map((side) => side.figures);
  const labels = [...new Set(figures.flatMap((one) => one.parts.map(({ label }) => label)))];
  const aside = (count, text) => (count ? el("small", {}, ` ${count} ${text}`) : "");
  const timed = figures.some((one) => one.seconds !== null);
  const seconds = (one) =>
    one.seconds === null ? el("small", {}, "not measured") : duration(one.seconds);
  return el(
    "table",
    { class: "ec-table ec-board ec-cpair-board" },
    el("caption", { class: "ec-hidden" }, "What the two episodes were worth"),
    el(
      "thead",
      {},
      el(
        "tr",
        {},
        el("td", {}),
        [0, 1].map((side) => el("th", { scope: "col" }, player(side))),
      ),
    ),
    el(
      "tbody",
      {},
      line(
        "Reward",
        "What the episode was worth, from −1 to +1",
        figures.map(({ total }) => [
          el("span", { class: "ec-totalnumber " + (total > 0 ? "ec-good" : "ec-bad") }, signed(total)),
          bar(total),
        ]),
        { class: "ec-boardtotal" },
      ),
      line("Outcome", "", figures.map(outcome)),
      labels.map(part),
      line("Turns", "Turns taken", figures.map((one) => [one.turns, aside(one.free, "not counted")])),
      line("Tool calls", "Calls of the shop's tools", figures.map((one) => [one.calls, aside(one.refused, "refused")])),
      timed && line("Time", "Of the player and the shop together, on this shared server", figures.map(seconds)),
      figures.some((one) => one.causes.length) && line("What went wrong", "", figures.map(why)),
    ),
  );
}

/* --- guessing --- */
function question() {
  if (!value.hidden) return null;
  const guess = (side) => () => trigger("select", { guess: side });
  const which = {
    person: "Which one is the person?",
    game: "Which one is the recorded game?",
    player: asked ? `Which one is the ${asked}?` : "Which one is your player one?",
  }[value.question];
  return el(
    "section",
    { class: "ec-guess", "aria-label": "Your guess" },
    el("b", {}, which),
    [0, 1].map((side) => button(player(side), guess(side), { data: { guess: side } })),
    el("button", { type: "button", class: "ec-link", onclick: guess(null) }, "just tell me"),
  );
}
function verdict() {
  if (!value.verdict) return null;
  const tone = { true: "good", false: "bad" }[value.verdict.right] || "plain";
  return el("p", { class: "ec-notice ec-verdict", data: { tone } }, value.verdict.text);
}

/* --- the turns --- */
function call({ name, summary, args, result, ms, refused }) {
  const box = el(
    "details",
    { class: "ec-toolcall" + (refused ? " ec-refused" : "") },
    el(
      "summary",
      {},
      el("code", {}, name),
      " ",
      el("span", {}, refused ? `refused: ${refused}` : summary),
      ms !== null && el("small", {}, ` ${ms} ms`),
    ),
  );
  const open = () =>
    box.append(el("h5", {}, "Arguments"), parts.json(args), el("h5", {}, "Result"), parts.json(result));
  box.addEventListener("toggle", open, { once: true });
  return box;
}
const speech = (kind, who, text) =>
  text ? el("div", { class: `ec-speech ${kind}` }, el("b", {}, who), el("p", {}, text)) : null;
function answer(fields) {
  if (!fields) return null;
  return el(
    "div",
    { class: "ec-canswer" },
    el("b", {}, "Answer handed in"),
    fields.length > 0 &&
      el(
        "dl",
        { class: "ec-parts" },
        fields.map(([name, text]) => [el("dt", {}, name.replaceAll("_", " ")), el("dd", {}, text)]),
      ),
  );
}
function cell(step, side) {
  const both = side === null;
  const who = both ? "Both" : player(side);
  if (!step) return el("div", { class: "ec-cell" }, el("p", { class: "ec-desc" }, who, " has finished already."));
  return el(
    "div",
    { class: both ? "ec-cell ec-both" : "ec-cell" },
    el("h4", {}, both ? [mark(0), mark(1), " Both"] : who),
    step.calls.map(call),
    speech(both ? "ec-agent" : `ec-agent ec-tint${side}`, "To the customer", step.message),
    step.unreadable && [el("h5", {}, "An output that is no action"), parts.json(step.unreadable)],
    answer(step.answer),
    speech("ec-customer", "Customer", step.reply),
    step.free && el("p", { class: "ec-badge" }, `Not counted: ${step.free}`),
  );
}
const opening = (text) => el("div", { class: "ec-cell ec-both" }, speech("ec-customer", "Customer", text));
const first = () => (value.first === null ? null : value.first + 1);
function row(index) {
  if (index === 0)
    return el(
      "li",
      { class: "ec-crow", data: { row: 0 } },
      el("header", {}, el("b", {}, "Opening")),
      el("div", { class: "ec-cells" }, value.opening.map(opening)),
    );
  const { turn, differs, sides } = value.rows[index - 1];
  const told = differs ? `differs: ${differs}` : "both alike";
  return el(
    "li",
    { class: differs ? "ec-crow ec-differs" : "ec-crow", data: { row: index } },
    el(
      "header",
      {},
      el("b", {}, `Turn ${turn}`),
      index === first() && el("span", { class: "ec-badge" }, "Here they part"),
      el("small", {}, told),
    ),
    el("div", { class: "ec-cells" }, sides.length === 1 ? cell(sides[0], null) : sides.map(cell)),
  );
}

/* --- stepping --- */
let rows, slider, back, forward, shown;
function stepper() {
  const end = value.rows.length;
  const icon = (label, sign, move) =>
    el("button", { type: "button", class: "ec-icon", "aria-label": label, onclick: () => go(current + move) }, sign);
  back = icon("Previous turn", "←", -1);
  forward = icon("Next turn", "→", 1);
  slider = el("input", {
    type: "range",
    min: 0,
    max: end,
    value: current,
    "aria-label": "Turn",
    oninput: (event) => go(Number(event.target.value)),
  });
  shown = el("output", {});
  return el(
    "div",
    { class: "ec-stepper" },
    back,
    slider,
    forward,
    shown,
    first() !== null && button("Where they part", () => go(first()), { id: "ec-cmp-part" }),
    el(
      "small",
      { class: "ec-keys" },
      ["←", "→", "Home", "End"].map((name) => [el("kbd", {}, name), " "]),
    ),
  );
}
function go(index) {
  const end = value.rows.length;
  current = Math.max(0, Math.min(end, index));
  root.dataset.step = current;
  for (const node of rows.children) {
    const here = Number(node.dataset.row) === current;
    node.classList.toggle("ec-on", here);
    if (here) node.setAttribute("aria-current", "step");
    else node.removeAttribute("aria-current");
  }
  slider.value = current;
  const name = current === 0 ? "Opening" : `Turn ${current}`;
  slider.setAttribute("aria-valuetext", name);
  shown.textContent = `${name} of ${end}`;
  if (current === 0) shown.textContent = name;
  back.disabled = current === 0;
  forward.disabled = current === end;
  rows.scrollTop = rows.children[current].offsetTop;
}
async function copy(event) {
  const address = new URL(value.link, location.href).href;
  const node = event.currentTarget;
  try {
    await navigator.clipboard.writeText(address);
    node.textContent = "Link copied";
    say("Link copied");
  } catch {
    // Not every page may write to the clipboard; then the visitor copies by hand.
    const box = el("input", { type: "text", readonly: true, value: address, "aria-label": "Link to this comparison" });
    node.replaceWith(box);
    box.select();
  }
}
function waiting() {
  const status = value ? value.status : "empty";
  if (status === "playing") {
    const told = `The two are playing${value.turns ? `: ${plural(value.turns, "turn")} so far` : ""} …`;
    return el(
      "p",
      { class: "ec-note", role: "status" },
      el("span", { class: "ec-spinner", "aria-hidden": "true" }),
      told,
      button("Stop", () => trigger("select", { stop: true })),
    );
  }
  if (status === "failed") return el("p", { class: "ec-error", role: "alert" }, value.note);
  const ways = [
    ["Compare", "shows two players turn by turn, and where they part."],
    ["Hide who is who", "makes it a game: you guess, then you are told."],
    ["Run a series", "plays many seeds and says whether one of two agents is really better."],
    ["Player one", "can also be you: choose the game that you finished last, or upload one."],
  ];
  return el(
    "ul",
    { class: "ec-ways" },
    ways.map(([what, text]) => el("li", {}, el("b", {}, what), ` ${text}`)),
  );
}
function draw() {
  value = props.value;
  root.dataset.status = value ? value.status : "empty";
  if (!value || value.status !== "done") {
    root.replaceChildren(waiting());
    return;
  }
  if (key !== value.key) current = first() ?? 0;
  const revealed = key === value.key && value.verdict;
  key = value.key;
  root.dataset.hidden = value.hidden;
  rows = el(
    "ol",
    { class: "ec-crows", tabindex: 0, "aria-label": "Turns" },
    [value.opening, ...value.rows].map((_, index) => row(index)),
  );
  root.replaceChildren(
    el(
      "header",
      { class: "ec-head" },
      el("h3", {}, value.title),
      value.link && button("Copy link", copy, { id: "ec-cmp-link" }),
    ),
    ...[question(), verdict()].filter(Boolean),
    el("div", { class: "ec-scroll" }, board()),
    ...value.notes.map((note) => el("p", { class: "ec-desc" }, note)),
    el("p", { class: "ec-told" }, value.told),
    stepper(),
    rows,
  );
  go(current);
  noteEnding(value); // whoever plays this seed in the Play tab now knows how it ends
  if (revealed) say(value.verdict.text);
  if (wanted) {
    wanted = false;
    root.scrollIntoView({ block: "start" });
    root.focus({ preventScroll: true });
  }
}
root.addEventListener("keydown", (event) => {
  if (!value || value.status !== "done" || event.altKey || event.ctrlKey || event.metaKey) return;
  if (event.target.matches("input[type=text]")) return;
  const end = value.rows.length;
  const steps = { ArrowRight: current + 1, j: current + 1, ArrowLeft: current - 1, k: current - 1, Home: 0, End: end };
  if (!Object.hasOwn(steps, event.key)) return;
  event.preventDefault();
  go(steps[event.key]);
});
watch("value", draw);
draw();
