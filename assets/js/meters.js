/* One line that says where the episode stands. data-version is the counter that tests and tools can wait for. */
const { el, plural } = window.ecom;
const root = element.querySelector(".ec-meters");

function dots(used, total, label) {
  // A long journey has more turns than there is room for dots: then each stands for several.
  const length = Math.min(total, 20);
  const filled = Math.round((used * length) / total);
  const marks = Array.from({ length }, (_, i) => el("i", { class: i < filled ? "on" : "" }));
  return el("span", { class: "ec-dots", role: "img", "aria-label": label }, marks);
}
const item = (name, title, ...content) =>
  el(
    "div",
    { class: "ec-meter", title },
    el("span", { class: "ec-name" }, name),
    el("span", { class: "ec-value" }, content),
  );

function draw() {
  const value = props.value || { status: "loading", version: 0 };
  root.dataset.version = value.version;
  root.dataset.status = value.status;
  if (value.status === "loading" || value.status === "empty" || value.status === "failed") {
    const wait = value.status === "loading" && el("span", { class: "ec-spinner", "aria-hidden": "true" });
    root.replaceChildren(el("p", { class: "ec-note", role: "status" }, wait, value.note || "loading the shop …"));
    return;
  }
  const over = value.status === "finished";
  const turn = over
    ? `Finished after ${plural(value.turn, "turn")} of ${value.turn_budget}`
    : `Turn ${value.turn} of ${value.turn_budget}`;
  root.replaceChildren(
    ...[
      el(
        "div",
        { class: "ec-meter ec-turn" },
        el("b", {}, turn),
        dots(value.turn, value.turn_budget, turn),
      ),
      Number.isInteger(value.wish_turns) &&
        item("This wish", "Turns left for the customer's present wish", `${plural(value.wish_turns, "turn")} left`),
      item("Tool calls", "Tool calls that one turn may hold", `${value.tool_budget} per turn`),
      value.show_list && item("List", "Longest list of recommendations that is scored (k)", `k = ${value.list_size}`),
      value.search_depth && item("Search depth", "Most results that one page of a search may hold", value.search_depth),
      item("Today", "The date inside this episode", value.today),
      el(
        "div",
        { class: "ec-meter ec-id" },
        el("code", {}, `${value.env_id} · d ${value.difficulty} · seed ${value.seed}`),
      ),
    ].filter(Boolean),
  );
}
watch("value", draw);
draw();
