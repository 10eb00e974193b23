/* One recorded episode, step by step. Stepping happens in the browser; the server sent what to show and the record. */
const { el, emit, noteEnding, on, parts, plural, query, save, say, signed } = window.ecom;
const root = element.querySelector(".ec-timeline");
const LONGEST = 400_000; // characters of raw JSON that a page can show without stuttering
const MOST_OPEN = 5; // tables of a result
let value = null; // what the server made of the record
let record = null; // the record itself, read when something of it is wanted
let current = 0;
let end = 0;
const unfolded = new Set(); // kinds of raw JSON that stay open from step to step

const original = () => (record ??= JSON.parse(props.value.line));
const names = () => ["Opening", ...value.steps.map((step) => `Turn ${step.turn}`), "Result"];
const button = (label, onclick, attributes = {}) =>
  el("button", { type: "button", class: "ec-button", onclick, ...attributes }, label);

async function copy(text, told) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Without permission, or on a page that is not secure: as it was done before there was a clipboard to write to.
    const field = el("textarea", { class: "ec-hidden" });
    field.value = text;
    document.body.append(field);
    field.select();
    document.execCommand("copy");
    field.remove();
  }
  say(told);
}
function copyButton(label, text, told) {
  const node = button(label, async () => {
    await copy(text(), told);
    node.textContent = "Copied";
    setTimeout(() => (node.textContent = label), 1500);
  });
  return node;
}

/* JSON text over many lines, number by number as it stands there: parsing would round large seeds. */
function indented(text) {
  const pieces = [];
  let depth = 0;
  const line = () => "\n" + " ".repeat(Math.max(0, depth));
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{},:]|[^\s[\]{},:"]+/g)) {
    if (token === "{" || token === "[") {
      depth += 1;
      pieces.push(token, line());
    } else if (token === "}" || token === "]") {
      depth -= 1;
      pieces.push(line(), token);
    } else if (token === ",") pieces.push(token, line());
    else pieces.push(token === ":" ? ": " : token);
  }
  return pieces.join("").replace(/([[{])\n\s*([\]}])/g, "$1$2");
}
function pre(text) {
  const cut = text.length > LONGEST;
  return el(
    "pre",
    { class: "ec-json", tabindex: 0 },
    cut ? `${text.slice(0, LONGEST)}\n… ${text.length - LONGEST} more characters; Copy and Download have all of it.` : text,
  );
}
/* Folded JSON that is written only when somebody looks, since a step may hold thousands of lines of it. */
function folded(kind, title, text) {
  const node = el("details", { class: "ec-raw", open: unfolded.has(kind) }, el("summary", {}, title));
  const fill = () => node.append(el("div", { class: "ec-actions" }, copyButton("Copy", text, "Copied")), pre(text()));
  if (node.open) fill();
  node.addEventListener("toggle", () => {
    if (node.open) unfolded.add(kind);
    else unfolded.delete(kind);
    if (node.open && !node.querySelector("pre")) fill();
  });
  return node;
}

function call({ at, name, ms, error, gist }, step) {
  const { args, result } = original().steps[step.at].tool_results[at];
  const short = Object.entries(args && typeof args === "object" ? args : {})
    .map(([key, one]) => `${key}: ${typeof one === "string" ? one : JSON.stringify(one)}`)
    .join(" · ");
  const node = el(
    "details",
    { class: "ec-toolcall" + (error ? " ec-refused" : "") },
    el(
      "summary",
      {},
      el("code", {}, name),
      " ",
      el("span", {}, short.slice(0, 300)),
      (error || gist) && el("span", { class: "ec-gist" }, error ? ` → refused: ${error}` : ` → ${gist}`),
      ms !== null && el("small", {}, ` ${ms} ms`),
    ),
  );
  node.addEventListener("toggle", () => {
    if (!node.open || node.querySelector("pre")) return;
    node.append(
      el("h5", {}, "Arguments"),
      pre(JSON.stringify(args, null, 1) ?? "none"),
      el("h5", {}, "Result"),
      pre(JSON.stringify(result, null, 1) ?? "none"),
    );
  });
  return node;
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
function answer(fields) {
  return el(
    "section",
    { class: "ec-block ec-given" },
    el("h4", {}, "Answer handed in"),
    fields.length
      ? el(
          "dl",
          { class: "ec-parts" },
          fields.map(([name, text]) => [el("dt", {}, name.replaceAll("_", " ")), el("dd", {}, text || "—")]),
        )
      : el("p", { class: "ec-desc" }, "It has no fields: what counts is the shop as it stands."),
  );
}
function shop({ returns, sold_out: gone }) {
  if (!returns.length && !gone.length) return null;
  return el(
    "section",
    { class: "ec-block" },
    el("h4", {}, "The shop after this turn"),
    el(
      "ul",
      { class: "ec-plain" },
      returns.map((text) => el("li", {}, text)),
    ),
    gone.length > 0 &&
      el(
        "details",
        { class: "ec-raw" },
        el("summary", {}, `${plural(gone.length, "thing")} sold out in this turn`),
        el(
          "ul",
          { class: "ec-plain" },
          gone.map((title) => el("li", {}, title)),
        ),
      ),
  );
}
/* The result as the Play tab shows it, with tables that fold where there are many. */
function result() {
  if (!value.result) return [el("p", { class: "ec-empty" }, "No reward is on record.")];
  noteEnding(original()); // whoever plays this seed in the Play tab now knows its goal
  const nodes = parts.result(value.result);
  const blocks = nodes.flatMap((node) => [...node.querySelectorAll(".ec-blocks > .ec-block")]);
  blocks.forEach((block, index) => {
    const fold = el("details", { class: "ec-block ec-fold", open: index === 0 || blocks.length <= MOST_OPEN });
    block.replaceWith(fold);
    fold.append(el("summary", {}, block.querySelector("h4")), ...block.childNodes);
  });
  return nodes;
}
function detail() {
  if (current === 0) return [speech("Customer", value.opening, "customer")];
  if (current === end) return result();
  const step = value.steps[current - 1];
  return [
    step.calls.map((one) => call(one, step)),
    speech(value.agent, step.message, "agent"),
    step.raw && el("section", { class: "ec-block" }, el("h4", {}, "Raw output"), pre(step.raw)),
    step.answer && answer(step.answer),
    speech("Customer", step.customer, "customer", step.acts),
    step.discount && el("p", { class: "ec-badge" }, step.discount),
    shop(step),
    folded("step", "Raw JSON of this step", () => JSON.stringify(original().steps[step.at], null, 1)),
  ];
}

/* What stays the same from step to step is made once per episode. */
const title = el("h3", {});
const verdict = el("span", { class: "ec-badge" });
const facts = el("p", { class: "ec-desc" });
const why = el("ul", { class: "ec-plain ec-why" });
const ask = (by) => () => emit("inspector:episode", { by });
const [earlier, later] = [button("↑ Episode before", ask(-1)), button("↓ Next episode", ask(1))];
const header = el(
  "header",
  { class: "ec-head" },
  el("div", { class: "ec-title-line" }, title, verdict),
  el("div", { class: "ec-actions" }, earlier, later),
  facts,
  why,
  el(
    "div",
    { class: "ec-actions" },
    button("Verify by replay", () => trigger("select", { key: value.key }), {
      id: "ec-verify",
      title: "Play it again and compare every byte",
    }),
    button("Download", () => save(`${value.id || "episode"}.jsonl`, props.value.line + "\n"), { id: "ec-download" }),
    copyButton("Copy link", link, "A link to this step is copied"),
  ),
);
const [back, forth] = [
  ["Previous step", "←", -1],
  ["Next step", "→", 1],
].map(([label, text, by]) =>
  el("button", { type: "button", class: "ec-icon", "aria-label": label, onclick: () => go(current + by) }, text),
);
const slider = el("input", {
  type: "range",
  min: 0,
  "aria-label": "Step",
  oninput: () => go(Number(slider.value)),
});
const where = el("output", {});
const keys = ["←", "→", "j", "k", "Home", "End"].map((key) => [el("kbd", {}, key), " "]);
const stepper = el("div", { class: "ec-stepper" }, back, slider, forth, where, el("small", {}, keys));
const list = el("ol", { class: "ec-steps" });
const view = el("div", { class: "ec-detail" });
const whole = el("div", { class: "ec-whole" });
const empty = el("p", { class: "ec-empty" }, "Pick an episode in the table to walk through it.");

function link() {
  const url = new URL(location.pathname, location.href);
  url.search = new URLSearchParams({ tab: "trajectories", episode: value.id, step: current });
  return url.href;
}
function open() {
  value = props.value ? JSON.parse(props.value.view) : null;
  record = null;
  if (!value) {
    root.replaceChildren(empty);
    return;
  }
  end = value.steps.length + 1;
  current = Math.min(value.start, end);
  title.textContent = value.title;
  verdict.hidden = value.total === null;
  verdict.dataset.tone = value.correct ? "good" : "bad";
  verdict.textContent = `${value.correct ? "Correct" : "Not correct"} · ${signed(value.total)}`;
  facts.textContent = value.facts.join(" · ");
  why.replaceChildren(
    ...value.failures.map(([cause, text], index) =>
      el("li", {}, index === 0 && "Why it failed: ", el("b", {}, cause), text && `. ${text}`),
    ),
  );
  slider.max = end;
  const notes = [value.opening, ...value.steps.map((step) => step.summary), value.result ? value.result.headline : ""];
  list.replaceChildren(
    ...names().map((name, index) =>
      el(
        "li",
        {},
        el("button", { type: "button", onclick: () => go(index) }, el("b", {}, name), el("span", {}, notes[index])),
      ),
    ),
  );
  whole.replaceChildren(
    value.left_out ? el("p", { class: "ec-desc" }, `${value.left_out} further steps cannot be shown.`) : "",
    folded("whole", "Raw JSON of the whole episode", () => indented(props.value.line)),
  );
  root.replaceChildren(header, stepper, list, view, whole);
  show();
  // Far below the table, or on a small screen, it would not be seen.
  if (root.getBoundingClientRect().top > window.innerHeight * 0.7) root.scrollIntoView({ block: "start" });
}
function show() {
  root.dataset.step = current;
  slider.value = current;
  slider.setAttribute("aria-valuetext", names()[current]);
  back.disabled = current === 0;
  forth.disabled = current === end;
  where.textContent = `${names()[current]} · ${current + 1} of ${end + 1}`;
  view.replaceChildren(...detail().flat(2).filter(Boolean));
  [...list.querySelectorAll("button")].forEach((one, index) => {
    one.classList.toggle("ec-on", index === current);
    if (index === current) one.setAttribute("aria-current", "step");
    else one.removeAttribute("aria-current");
  });
  const chosen = list.children[current];
  list.scrollTop = Math.max(0, chosen.offsetTop - 80);
  tell();
}
const tell = () => emit("inspector:step", { key: value.key, step: current, end });
function go(index) {
  const inList = list.contains(document.activeElement);
  current = Math.max(0, Math.min(end, index));
  show();
  if (inList) list.querySelector(".ec-on").focus({ preventScroll: true });
  // A button that is switched off loses the focus, and the keys with it.
  else if (document.activeElement === document.body && (back.disabled || forth.disabled)) root.focus({ preventScroll: true });
}
root.addEventListener("keydown", (event) => {
  if (!value || event.altKey || event.ctrlKey || event.metaKey) return;
  const steps = { ArrowRight: current + 1, j: current + 1, ArrowLeft: current - 1, k: current - 1, Home: 0, End: end };
  if (!Object.hasOwn(steps, event.key)) return;
  event.preventDefault();
  go(steps[event.key]);
});
// Panels that come onto the page later ask where it stands.
on(root, "inspector:where", () => value && tell());
on(root, "inspector:go", ({ step }) => value && go(step));
on(root, "inspector:neighbours", (there) => {
  earlier.disabled = !there.before;
  later.disabled = !there.after;
});
watch("value", open);
open();
// Asked for by the page and not sent along with it: what comes before there is a widget to draw it may get lost.
const asked = query();
if (!value && asked.tab === "trajectories" && asked.episode) trigger("input", { episode: asked.episode, step: asked.step });
