/* The shop's help pages that were read. The newest is open; each opens and closes by itself. */
const { el, on, idLink, seen } = window.ecom;
const root = element.querySelector(".ec-pages");
let running = false;
let episode = "";
let touched = {};

function part({ kind, mark, text }) {
  if (kind === "heading") return el("h5", {}, text);
  if (kind === "rule") return el("p", { class: "ec-rule" }, el("b", {}, mark), el("span", {}, text));
  return el("p", {}, text);
}
function page(one, index, usable) {
  const open = touched[one.policy_id] === undefined ? index === 0 : touched[one.policy_id];
  const id = one.policy_id;
  return el(
    "details",
    {
      class: "ec-page",
      open,
      data: { page: id },
      ontoggle: (event) => {
        if (event.target.open !== open) touched[id] = event.target.open;
      },
    },
    el("summary", {}, el("b", {}, one.title), el("small", {}, ` ${one.source}`)),
    one.parts.map(part),
    el("p", { class: "ec-foot" }, "page ", usable ? idLink(id, "page", { policy_id: id, title: one.title }, running) : el("code", {}, id)),
  );
}

function draw() {
  const value = props.value || { pages: [], hidden: true };
  root.hidden = Boolean(value.hidden);
  if (value.episode !== episode) {
    episode = value.episode;
    touched = {};
  }
  seen.pages = value.pages.map((one) => ({ id: one.policy_id, label: one.title }));
  root.replaceChildren(
    el("h3", {}, "Help pages", value.pages.length > 0 && el("small", {}, ` ${value.pages.length} read`)),
    value.pages.length
      ? el("div", { class: "ec-page-list" }, value.pages.map((one, index) => page(one, index, value.usable)))
      : el(
          "p",
          { class: "ec-empty" },
          "None read yet. Call ",
          el("code", {}, "policy_search"),
          " with what the question is about.",
        ),
  );
}
on(element, "state", (now) => {
  if (now.running === running) return;
  running = now.running;
  draw();
});
watch("value", draw);
draw();
