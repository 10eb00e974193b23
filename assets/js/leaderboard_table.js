/* The board: who is how good at what. Filtering happens on the server, which knows all games. */
const { el, plural, signed, say, visible } = window.ecom;
const root = element.querySelector(".ec-board");
const POLL = 700;
const STALE = 2000;
const percent = (share) => `${Math.round(100 * share)} %`;
const value = () => props.value || null;
let timer = null;
let picked = false; // whether the visitor has chosen whom the chart shows
let asked = { at: 0 }; // the newest question: the answer to an older one must not set the filters back

const choose = (label, name) => el("select", { "aria-label": label, name, onchange: () => ask() });
const environment = choose("Environment", "env");
const difficulty = choose("Difficulty", "d");
const kind = choose("Kind of player", "kind");
const status = el("small", { role: "status" });
const address = el("input", {
  class: "ec-board-address",
  readonly: true,
  hidden: true,
  "aria-label": "Link to this view",
});
const share = el("button", { type: "button", class: "ec-button", onclick: copy }, "Copy link");
const problem = el("p", { class: "ec-error", role: "alert" });
const body = el("div", { class: "ec-board-body" });
root.append(
  el("div", { class: "ec-head" }, el("h3", {}, "Leaderboard ", status), share),
  address,
  el("div", { class: "ec-board-filters" }, environment, difficulty, kind),
  problem,
  body,
);

/* `key`: a player to put into the chart, or to take out of it. */
function ask(key) {
  const chosen = new Set((value() && value().chosen) || []);
  if (key !== undefined) {
    picked = true;
    if (!chosen.delete(key)) chosen.add(key);
  }
  const view = { env: environment.value, d: difficulty.value, kind: kind.value };
  asked = { ...view, at: Date.now() };
  trigger("select", picked ? { ...view, chosen: [...chosen] } : view);
}
async function copy() {
  const link = new URL(location.pathname, location.href);
  link.searchParams.set("tab", "leaderboard");
  for (const select of [environment, difficulty]) if (select.value) link.searchParams.set(select.name, select.value);
  try {
    await navigator.clipboard.writeText(link.href);
    share.textContent = "Copied";
    say("The link was copied.");
  } catch {
    /* no clipboard here: the visitor copies it by hand */
    address.value = link.href;
    address.hidden = false;
    address.select();
  }
}

function options(select, first, choices, chosen) {
  select.replaceChildren(
    ...[["", first], ...choices].map(([id, label]) => el("option", { value: id, selected: id === chosen }, label)),
  );
}
function bar({ success, low, high }) {
  return el(
    "div",
    { class: "ec-interval", "aria-hidden": "true" },
    el("i", { style: `left:${100 * low}%;width:${100 * (high - low)}%` }),
    el("b", { style: `left:${100 * success}%` }),
  );
}
const span = ([from, to]) => (from === to ? `d = ${from}` : `d = ${from}–${to}`);
function facts(row) {
  const trials = row.problems < row.games ? ` of ${plural(row.problems, "episode")}` : "";
  return [`${plural(row.games, "game")}${trials}`, span(row.d), row.note].filter(Boolean).join(" · ");
}
function player(row) {
  return el(
    "td",
    { class: "ec-who" },
    el("span", { class: "ec-playername" }, row.name),
    " ",
    el("span", { class: `ec-kind ec-kind-${row.kind}` }, row.kind === "human" ? "person" : "agent"),
    row.own && el("span", { class: "ec-kind ec-kind-own" }, "you"),
    el("small", {}, facts(row)),
  );
}
function line(row) {
  const place = value().chosen.indexOf(row.key);
  const full = place < 0 && value().chosen.length >= value().most_chosen;
  const total = `95 % interval ${signed(row.total_low)} to ${signed(row.total_high)}`;
  return el(
    "tr",
    { class: row.own ? "ec-on" : "", data: { player: row.key } },
    el("td", { class: "ec-rank" }, row.rank || "–"),
    player(row),
    el(
      "td",
      { class: "ec-success" },
      el("b", {}, percent(row.success)),
      el("small", {}, `${Math.round(100 * row.low)}–${percent(row.high)}`),
      bar(row),
    ),
    el("td", { class: "ec-total-cell", title: total }, signed(row.total)),
    el(
      "td",
      { class: "ec-pick" },
      el("input", {
        type: "checkbox",
        checked: place >= 0,
        disabled: full,
        title: full ? `The chart shows up to ${value().most_chosen} players` : "Show in the chart",
        "aria-label": `Show ${row.name} in the chart`,
        data: { key: row.key, series: place < 0 ? "" : place },
        onchange: () => ask(row.key),
      }),
    ),
  );
}
function table(rows, label) {
  const heads = [
    ["#", "Rank"],
    ["Player", ""],
    ["Success", "Share of episodes that were solved, with its 95 % interval"],
    ["Reward", "Mean reward, from −1 to +1"],
    ["Chart", "Show in the chart"],
  ];
  return el(
    "table",
    { class: "ec-table ec-boardtable", "aria-label": label },
    el("thead", {}, el("tr", {}, heads.map(([text, title]) => el("th", { scope: "col", title: title || null }, text)))),
    el("tbody", {}, rows.map(line)),
  );
}
const more = (count) => count > 0 && el("p", { class: "ec-desc" }, `… and ${plural(count, "more player")}.`);

function empty() {
  const { env, d, kind: wanted } = value();
  if (env || d !== null || wanted)
    return el(
      "div",
      { class: "ec-board-empty" },
      el("p", {}, "Nobody has games that count here yet."),
      el(
        "button",
        {
          type: "button",
          class: "ec-button",
          onclick: () => {
            environment.value = difficulty.value = kind.value = "";
            ask();
          },
        },
        "Show everything",
      ),
    );
  return el(
    "div",
    { class: "ec-board-empty" },
    el("p", {}, el("b", {}, "Nobody is here yet. Be the first!")),
    el(
      "ol",
      {},
      el("li", {}, "Choose a name above."),
      el("li", {}, "Play episodes in the Play tab: each finished one counts by itself."),
      el("li", {}, `After ${value().minimum} different episodes you get a rank.`),
    ),
  );
}
const RULES = [
  "This server has played every game again from its actions. Only what came out the same counts.",
  "Players are ranked by the lower end of the 95 % interval of their success (Wilson's), so that a short lucky " +
    "streak does not beat a long good record.",
  "Of a person, the first game of a task and seed counts, whatever its difficulty; a game with the guide, with an " +
    "agent's help, or after the goal was shown does not.",
  "Everybody chooses what to play. To compare fairly, pick one task and one difficulty.",
  "The check shows that the actions lead to these scores. Who chose them, and what they had seen elsewhere, it " +
    "cannot show.",
];
function rules() {
  const { minimum, left_out: out } = value();
  const all = [...RULES, `A rank takes ${minimum} different episodes in the chosen view.`];
  const count = out.reduce((sum, [games]) => sum + games, 0);
  return el(
    "details",
    { class: "ec-board-rules" },
    el("summary", {}, "How games are counted", count > 0 && ` (${count} left out)`),
    el("ul", { class: "ec-plain" }, all.map((rule) => el("li", {}, rule))),
    out.length > 0 && el("h5", {}, "Left out"),
    out.length > 0 &&
      el("ul", { class: "ec-plain ec-left-out" }, out.map(([games, why]) => el("li", {}, `${games} · ${why}`))),
  );
}

function told() {
  const { working, games } = value();
  if (!working) return games ? `${plural(games, "game")} counted` : "";
  const [loading, done, of, submitted] = working;
  if (loading) return "The shop is being loaded; games are checked after that …";
  if (of) return `Checking games: ${done} of ${of} …`;
  return submitted ? "Checking a submitted run …" : "Looking for new games …";
}
/* As long as the server works, ask now and then; a page that nobody looks at does not ask. */
function poll() {
  clearTimeout(timer);
  if (!value() || !value().working) return;
  timer = setTimeout(() => {
    if (!element.isConnected) return;
    if (visible(root) && document.visibilityState === "visible") ask();
    else poll();
  }, POLL);
}
function draw() {
  const now = value();
  root.setAttribute("aria-busy", String(!now || Boolean(now.working)));
  if (!now) {
    body.replaceChildren(el("p", { class: "ec-empty" }, "Loading the board …"));
    return;
  }
  const level = now.d === null ? "" : String(now.d);
  const older = now.env !== asked.env || level !== asked.d || now.kind !== asked.kind;
  if (older && Date.now() - asked.at < STALE) return;
  const focused = root.contains(document.activeElement) ? document.activeElement.dataset.key : null;
  const opened = Boolean(body.querySelector(".ec-board-rules[open]"));
  options(environment, "All tasks", now.environments, now.env);
  const levels = [...Array(13).keys()].map((d) => [String(d), `d = ${d}`]);
  options(difficulty, "All difficulties", levels, level);
  options(kind, "Everybody", now.kinds, now.kind);
  status.textContent = told();
  problem.textContent = now.problem;
  share.textContent = "Copy link";
  address.hidden = true;
  const first = now.ranked.length > 0;
  body.replaceChildren(
    ...[
      first && table(now.ranked, "Ranked players"),
      first && more(now.more_ranked),
      now.unranked.length > 0 &&
        el("h4", {}, "Not yet ranked ", el("small", {}, `fewer than ${now.minimum} different episodes in this view`)),
      now.unranked.length > 0 && table(now.unranked, "Players not yet ranked"),
      more(now.more_unranked),
      !first && !now.unranked.length && !now.working && empty(),
      rules(),
    ].filter(Boolean),
  );
  body.querySelector(".ec-board-rules").open = opened;
  if (focused) {
    const again = [...body.querySelectorAll("[data-key]")].find((node) => node.dataset.key === focused);
    if (again) again.focus();
  }
  poll();
}
watch("value", draw);
draw();
