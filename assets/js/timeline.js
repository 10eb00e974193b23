/* One recorded episode, step by step. Stepping happens in the browser; the server sent the whole episode. */
const { el, money, parts, plural, save } = window.ecom;
const root = element.querySelector(".ec-timeline");
let current = 0;
let episode = null;

function shop(step) {
  const gone = step.sold_out;
  if (!step.cart.length && !step.returns.length && !gone.length) return null;
  return el(
    "section",
    { class: "ec-block" },
    el("h4", {}, "The shop after this turn"),
    el(
      "ul",
      { class: "ec-plain" },
      step.cart.map((line) =>
        el(
          "li",
          {},
          `In the cart: ${line.qty} × ${line.title}`,
          line.variant && el("span", { class: "ec-chip" }, line.variant),
          " ",
          money(line.price),
        ),
      ),
      step.returns.map((text) => el("li", {}, text)),
    ),
    gone.length > 0 &&
      el(
        "details",
        { class: "ec-raw" },
        el("summary", {}, `${plural(gone.length, "thing")} sold out by now`),
        el(
          "ul",
          { class: "ec-plain" },
          gone.map((title) => el("li", {}, title)),
        ),
      ),
  );
}
function speech(who, text, side, acts) {
  return text
    ? el(
        "div",
        { class: `ec-speech ec-${side}` },
        el("b", {}, who),
        acts && el("small", { title: "What the customer was doing" }, ` ${acts}`),
        el("p", {}, text),
      )
    : null;
}
function detail(value, index) {
  const end = value.steps.length + 1;
  if (index === 0) return [speech("Customer", value.opening, "customer")];
  if (index === end)
    return value.result
      ? parts.result(value.result)
      : [el("p", { class: "ec-empty" }, "This episode has no reward on record.")];
  const step = value.steps[index - 1];
  return [
    step.calls.map(parts.call),
    speech(value.agent, step.message, "agent"),
    step.raw && el("section", { class: "ec-block" }, el("h4", {}, "Raw output"), parts.json(step.raw)),
    step.answer && el("section", { class: "ec-block" }, el("h4", {}, "Answer"), parts.json(step.answer)),
    speech("Customer", step.customer, "customer", step.acts),
    step.discount && el("p", { class: "ec-badge" }, step.discount),
    shop(step),
    el(
      "details",
      { class: "ec-raw" },
      el("summary", {}, "Raw JSON of this step"),
      parts.json(value.raw.steps[index - 1]),
    ),
  ];
}

function draw(focus) {
  const value = props.value;
  if (!value) {
    root.replaceChildren(el("p", { class: "ec-empty" }, "Pick an episode in the table to walk through it."));
    episode = null;
    return;
  }
  const end = value.steps.length + 1;
  if (episode !== value.id) {
    episode = value.id;
    current = Math.min(value.start, end);
  }
  current = Math.max(0, Math.min(end, current));
  const names = ["Opening", ...value.steps.map((step) => `Turn ${step.turn}`), "Result"];
  const notes = [value.opening, ...value.steps.map((step) => step.summary), value.result ? value.result.headline : ""];
  const slider = el("input", {
    type: "range",
    min: 0,
    max: end,
    value: current,
    "aria-label": "Step",
    "aria-valuetext": names[current],
    oninput: (event) => go(Number(event.target.value)),
  });
  root.dataset.step = current;
  const list = el(
    "ol",
    { class: "ec-steps" },
    names.map((name, index) =>
      el(
        "li",
        {},
        el(
          "button",
          {
            type: "button",
            class: index === current ? "ec-on" : "",
            "aria-current": index === current ? "step" : undefined,
            onclick: () => go(index),
          },
          el("b", {}, name),
          el("span", {}, notes[index]),
        ),
      ),
    ),
  );
  root.replaceChildren(
    el(
      "header",
      { class: "ec-head" },
      el("h3", {}, value.title),
      el("span", { class: "ec-desc" }, value.subtitle),
      el(
        "div",
        { class: "ec-actions" },
        el(
          "button",
          {
            type: "button",
            class: "ec-button",
            id: "ec-verify",
            title: "Play it again and compare every byte",
            onclick: () => trigger("select", { key: value.key }),
          },
          "Verify by replay",
        ),
        el(
          "button",
          {
            type: "button",
            class: "ec-button",
            onclick: () => save(`${value.id || "episode"}.jsonl`, JSON.stringify(value.raw) + "\n"),
          },
          "Download",
        ),
      ),
    ),
    el(
      "div",
      { class: "ec-stepper" },
      el(
        "button",
        {
          type: "button",
          class: "ec-icon",
          "aria-label": "Previous step",
          disabled: current === 0,
          onclick: () => go(current - 1),
        },
        "←",
      ),
      slider,
      el(
        "button",
        {
          type: "button",
          class: "ec-icon",
          "aria-label": "Next step",
          disabled: current === end,
          onclick: () => go(current + 1),
        },
        "→",
      ),
      el("output", {}, `${names[current]} · ${current + 1} of ${end + 1}`),
      el(
        "small",
        {},
        el("kbd", {}, "←"),
        " ",
        el("kbd", {}, "→"),
        " or ",
        el("kbd", {}, "j"),
        " ",
        el("kbd", {}, "k"),
        ", ",
        el("kbd", {}, "Home"),
        " ",
        el("kbd", {}, "End"),
      ),
    ),
    list,
    el("div", { class: "ec-detail" }, detail(value, current)),
    el("details", { class: "ec-raw" }, el("summary", {}, "Raw JSON of the whole episode"), parts.json(value.raw)),
  );
  if (focus) focus(root);
  const on = list.querySelector(".ec-on");
  list.scrollTop = Math.max(0, on.offsetTop - list.offsetTop - 80);
}
function go(index) {
  // The controls are drawn anew with each step; the focus goes to the same control of the new drawing.
  const active = root.contains(document.activeElement) ? document.activeElement : null;
  const label = active && active.getAttribute("aria-label");
  const inList = active && active.closest(".ec-steps");
  current = index;
  draw((node) => {
    if (!active) return;
    const same = label && node.querySelector(`[aria-label="${label}"]:not(:disabled)`);
    (inList ? node.querySelector(".ec-on") : same || node).focus({ preventScroll: true });
  });
}
root.addEventListener("keydown", (event) => {
  if (!props.value || event.altKey || event.ctrlKey || event.metaKey) return;
  const end = props.value.steps.length + 1;
  const steps = { ArrowRight: current + 1, j: current + 1, ArrowLeft: current - 1, k: current - 1, Home: 0, End: end };
  if (!Object.hasOwn(steps, event.key)) return;
  event.preventDefault();
  go(Math.max(0, Math.min(end, steps[event.key])));
});
watch("value", () => draw());
draw();
