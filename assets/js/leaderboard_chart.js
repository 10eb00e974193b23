/* Success by difficulty, with 95 % intervals, of the players that were picked in the table. */
const { el, svg, plural } = window.ecom;
const root = element.querySelector(".ec-board-chart");
const WIDTH = 460,
  HEIGHT = 250,
  LEFT = 38,
  RIGHT = 10,
  TOP = 10,
  BOTTOM = 32,
  HARDEST = 12;
const y = (part) => TOP + (1 - part) * (HEIGHT - TOP - BOTTOM);
const x = (d) => LEFT + 14 + (d / HARDEST) * (WIDTH - LEFT - RIGHT - 28);
const percent = (part) => `${Math.round(100 * part)} %`;
const share = (success, low, high) => `${percent(success)} (${Math.round(100 * low)}–${percent(high)})`;

const style = (line) => `ec-line ec-line-${line.series}`;

/* A shape for each line, so that nobody needs the colours to tell them apart. */
function marker(series, cx, cy) {
  const at = (points) => points.map(([dx, dy]) => `${cx + dx},${cy + dy}`).join(" ");
  if (series === 0) return svg("circle", { cx, cy, r: 4 });
  if (series === 1) return svg("rect", { x: cx - 4, y: cy - 4, width: 8, height: 8 });
  if (series === 2) return svg("polygon", { points: at([[0, -5], [5, 4], [-5, 4]]) });
  return svg("polygon", { points: at([[0, -5.5], [5.5, 0], [0, 5.5], [-5.5, 0]]) });
}
function frame() {
  const lines = [0, 0.25, 0.5, 0.75, 1].flatMap((part) => [
    svg("line", { x1: LEFT, x2: WIDTH - RIGHT, y1: y(part), y2: y(part), class: "ec-tick" }),
    svg("text", { x: LEFT - 5, y: y(part) + 4, "text-anchor": "end", class: "ec-axis" }, percent(part)),
  ]);
  for (let d = 0; d <= HARDEST; d += 1)
    lines.push(svg("text", { x: x(d), y: HEIGHT - 17, "text-anchor": "middle", class: "ec-axis" }, d));
  const middle = { x: (LEFT + WIDTH) / 2, y: HEIGHT - 2, "text-anchor": "middle", class: "ec-axis" };
  lines.push(svg("text", middle, "difficulty d"));
  return lines;
}
/* Lines stand a little beside each other, so that their bars do not hide one another. */
function series(line, index, count) {
  const shift = (index - (count - 1) / 2) * 5;
  const path = line.points.map(([d, success]) => `${x(d) + shift},${y(success)}`).join(" ");
  return svg(
    "g",
    { class: style(line) },
    svg("polyline", { points: path, class: "ec-path" }),
    line.points.map(([d, success, low, high, games]) =>
      svg(
        "g",
        {},
        svg("title", {}, `${line.name}, d = ${d}: ${share(success, low, high)}, ${plural(games, "game")}`),
        svg("line", { x1: x(d) + shift, x2: x(d) + shift, y1: y(low), y2: y(high), class: "ec-whisker" }),
        marker(line.series, x(d) + shift, y(success)),
      ),
    ),
  );
}
function legend(lines) {
  return el(
    "ul",
    { class: "ec-legend" },
    lines.map((line) =>
      el(
        "li",
        {},
        svg(
          "svg",
          { viewBox: "0 0 12 12", class: `ec-swatch-mark ${style(line)}`, "aria-hidden": "true" },
          marker(line.series, 6, 6),
        ),
        el("span", { class: "ec-playername" }, line.name),
        el("small", {}, line.kind === "human" ? "person" : "agent"),
      ),
    ),
  );
}
function numbers(lines) {
  const rows = lines.flatMap((line) =>
    line.points.map(([d, success, low, high, games]) => [line.name, d, share(success, low, high), games]),
  );
  const { block } = window.ecom.parts;
  return el(
    "details",
    { class: "ec-numbers" },
    el("summary", {}, "The same as numbers"),
    block({ title: "Success by difficulty", columns: ["Player", "d", "Success (95 %)", "Games"], rows }),
  );
}
function draw() {
  const now = props.value || { env: "", lines: [] };
  const opened = Boolean(root.querySelector(".ec-numbers[open]"));
  const { lines } = now;
  const title = el("h3", {}, "Success by difficulty ", el("small", {}, now.env || "all tasks"));
  if (!lines.length) {
    root.replaceChildren(title, el("p", { class: "ec-empty" }, "Tick players in the table to draw them here."));
    return;
  }
  const told = lines.map(
    (line) => `${line.name}: ${line.points.map(([d, success]) => `d ${d} ${percent(success)}`).join(", ")}`,
  );
  root.replaceChildren(
    title,
    svg(
      "svg",
      { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `Success by difficulty. ${told.join("; ")}` },
      frame(),
      lines.map((line, index) => series(line, index, lines.length)),
    ),
    legend(lines),
    el("p", { class: "ec-desc" }, "The thin bars are 95 % intervals: the fewer games, the longer."),
    numbers(lines),
  );
  root.querySelector(".ec-numbers").open = opened;
}
watch("value", draw);
draw();
