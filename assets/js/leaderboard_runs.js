/* Evaluation runs that visitors submitted, and how far the visitor's own submission is. */
const { el, plural, signed } = window.ecom;
const root = element.querySelector(".ec-board-runs");
const percent = (share) => `${(100 * share).toFixed(1)} %`;
const range = ([from, to]) => (from === to ? `d = ${from}` : `d = ${from}–${to}`);

function mine(one) {
  if (!one) return null;
  const tone = { accepted: "good", refused: "bad", gone: "bad" }[one.status] || "plain";
  const lines = {
    waiting: ["Your files wait to be checked; this goes on when you leave the tab."],
    checking: [one.of ? `Playing your episodes again: ${one.done} of ${one.of}` : "Reading your files …"],
  }[one.status];
  return el(
    "div",
    { class: "ec-submission", data: { tone, status: one.status }, role: "status" },
    (lines || one.lines).map((line) => el("p", {}, line)),
    one.status === "checking" &&
      one.of > 0 &&
      el("progress", { max: one.of, value: one.done, "aria-label": "Episodes played again" }),
  );
}
function run(one) {
  const [success, low, high] = one.success;
  const [total, least, most] = one.total;
  const trials = one.trials > 1 ? `, ${one.trials} trials each` : "";
  return el(
    "li",
    { class: "ec-run" },
    el(
      "div",
      { class: "ec-run-head" },
      el("b", { class: "ec-playername" }, one.agent),
      el("span", { class: "ec-kind ec-kind-checked" }, "recomputed ✓"),
      el("small", {}, `${one.made} · ${one.split}, first ${plural(one.seeds, "seed")}${trials} · ${range(one.d)}`),
    ),
    el(
      "p",
      {},
      `${percent(success)} correct (95 %: ${percent(low)} – ${percent(high)}), mean reward ${signed(total)} `,
      `(${signed(least)} to ${signed(most)}), ${plural(one.episodes, "episode")} in ${one.environments.join(", ")}`,
    ),
    el(
      "details",
      {},
      el("summary", {}, one.commands.length ? "Commands" : "No command was handed in"),
      one.commands.map((command) => el("pre", { class: "ec-json", tabindex: 0 }, command)),
      el("p", { class: "ec-desc" }, "Checksum of all actions: ", el("code", {}, one.actions), " …"),
    ),
  );
}
function draw() {
  const now = props.value || { runs: [], mine: null, limits: [64, 5000] };
  const opened = new Set([...root.querySelectorAll("details[open]")].map((node) => node.dataset.key));
  const [megabytes, episodes] = now.limits;
  root.replaceChildren(
    ...[
      el("h3", {}, "Evaluation runs ", el("small", {}, now.runs.length ? `${now.runs.length} submitted` : "")),
      el(
        "p",
        { class: "ec-desc" },
        "Have you measured an agent over held seeds? Submit the run's folder: its ",
        el("code", {}, "traj-*.jsonl"),
        " files, and ",
        el("code", {}, "run-*.json"),
        ` for the commands. Every episode is played again here first. Up to ${megabytes} MB and ` +
          `${episodes.toLocaleString("en")} episodes; the scores and the agent's name become public, the files are ` +
          "not kept.",
      ),
      el(
        "div",
        { class: "ec-actions" },
        el(
          "button",
          {
            type: "button",
            class: "ec-button",
            id: "ec-submit-run",
            disabled: Boolean(now.mine && ["waiting", "checking"].includes(now.mine.status)),
            onclick: () => document.querySelector(now.input).click(),
          },
          "Submit an evaluation run",
        ),
      ),
      mine(now.mine),
      now.runs.length > 0 && el("ul", { class: "ec-run-list" }, now.runs.map(run)),
    ].filter(Boolean),
  );
  root.querySelectorAll("details").forEach((node, index) => {
    node.dataset.key = now.runs[index].actions;
    node.open = opened.has(node.dataset.key);
  });
}
watch("value", draw);
draw();
