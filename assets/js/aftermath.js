/* What the reference agent did from the same seed. It is asked for when an episode is over, after its reward is
   there. */
const { el, on, plural, readLog, signed } = window.ecom;
const root = element.querySelector(".ec-aftermath");
let asked = "";

const words = (value) => (typeof value === "string" ? value : JSON.stringify(value));
const call = ({ name, args, error }) =>
  el(
    "li",
    { class: error ? "ec-refused" : "" },
    el("code", {}, name),
    " ",
    el(
      "span",
      {},
      error
        ? `refused: ${error}`
        : Object.entries(args)
            .map(([key, value]) => `${key}: ${words(value)}`)
            .join(" · "),
    ),
  );
const speech = (who, side, text) => el("div", { class: `ec-speech ec-${side}` }, el("b", {}, who), el("p", {}, text));

function turn({ number, calls, message, answer, customer }) {
  const fields = Object.entries(answer || {}).map(([name, value]) => `${name}: ${words(value)}`);
  return el(
    "li",
    { class: "ec-reference-turn" },
    el("h5", {}, `Turn ${number}`),
    calls.length > 0 && el("ul", { class: "ec-calls" }, calls.map(call)),
    message && speech("Reference agent", "agent", message),
    answer && el("p", { class: "ec-answered" }, el("b", {}, "Answer submitted"), ` ${fields.join(" · ")}`),
    customer && speech("Customer", "customer", customer),
  );
}

// An answer may come when the visitor has gone on to another episode.
const running = () => Boolean(window.ecom.now && window.ecom.now.running);

function draw() {
  const value = props.value;
  root.hidden = !value || running();
  if (!value) {
    asked = "";
    root.replaceChildren();
    return;
  }
  const title = el("h3", {}, "The reference agent from the same seed");
  if (value.pending) {
    root.replaceChildren(title, el("p", { class: "ec-note", role: "status" }, "It is playing …"));
    if (asked !== value.episode) trigger("submit", { episode: value.episode, log: readLog() });
    asked = value.episode;
    return;
  }
  const took = plural(value.turns.length, "turn");
  root.replaceChildren(
    title,
    el(
      "p",
      { class: "ec-versus" },
      el("b", { data: { total: value.total } }, signed(value.total)),
      ` in ${took}${value.correct ? "" : ", not correct"}. You: `,
      el("b", {}, signed(value.your_total)),
      ` in ${plural(value.your_turns, "turn")}.`,
    ),
    el(
      "p",
      { class: "ec-desc" },
      "It sees what you saw, but reads what the customer said as values instead of words, so it never misunderstands. " +
        "It does not know the hidden goal.",
    ),
    el(
      "details",
      { class: "ec-raw" },
      el("summary", {}, `What it did, ${took}`),
      el("ol", { class: "ec-reference" }, value.turns.map(turn)),
    ),
  );
}
on(element, "state", () => {
  root.hidden = !props.value || running();
});
watch("value", draw);
draw();
