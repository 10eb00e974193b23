/* Pieces that the play result and the trajectory inspector share. */
window.ecom.parts = (() => {
  "use strict";
  const { el, svg, signed } = window.ecom;

  function cell(value) {
    if (value === null || value === undefined) return el("td", {}, "");
    if (typeof value !== "object") return el("td", {}, value);
    return el(
      "td",
      { class: value.tone ? `ec-${value.tone}` : "" },
      value.text,
      value.sub && el("small", {}, value.sub),
    );
  }
  function block({ title, note, columns, rows }) {
    return el(
      "section",
      { class: "ec-block" },
      el("h4", {}, title),
      note && el("p", { class: "ec-desc" }, note),
      rows.length
        ? el(
            "div",
            { class: "ec-scroll", tabindex: 0, role: "region", "aria-label": title },
            el(
              "table",
              { class: columns.length > 4 ? "ec-table ec-many" : "ec-table" },
              el(
                "thead",
                {},
                el(
                  "tr",
                  {},
                  columns.map((name) => (name ? el("th", { scope: "col" }, name) : el("td", {}))),
                ),
              ),
              el(
                "tbody",
                {},
                rows.map((row) => el("tr", {}, row.map(cell))),
              ),
            ),
          )
        : el("p", { class: "ec-empty" }, "Nothing here."),
    );
  }

  /* Bars on the axis from −1 to +1; each starts where the one before ended, the last one is the total. */
  function waterfall(bars) {
    const WIDTH = 400,
      ROW = 28,
      LEFT = 112,
      RIGHT = 52;
    const x = (value) => LEFT + ((Math.max(-1, Math.min(1, value)) + 1) / 2) * (WIDTH - LEFT - RIGHT);
    const height = bars.length * ROW + 20;
    const picture = svg("svg", {
      viewBox: `0 0 ${WIDTH} ${height}`,
      role: "img",
      class: "ec-waterfall",
      "aria-label": bars.map((bar) => `${bar.label} ${signed(bar.value)}`).join(", "),
    });
    for (const tick of [-1, -0.5, 0, 0.5, 1]) {
      picture.append(
        svg("line", { x1: x(tick), x2: x(tick), y1: 0, y2: height - 16, class: tick === 0 ? "ec-zero" : "ec-tick" }),
        svg(
          "text",
          { x: x(tick), y: height - 4, "text-anchor": "middle", class: "ec-axis" },
          tick > 0 ? `+${tick}` : String(tick).replace("-", "−"),
        ),
      );
    }
    bars.forEach((bar, index) => {
      const y = index * ROW + 5;
      const from = x(Math.min(bar.start, bar.end)),
        to = x(Math.max(bar.start, bar.end));
      const tone = bar.end === bar.start ? "ec-none" : bar.end > bar.start ? "ec-up" : "ec-down";
      picture.append(
        svg(
          "g",
          { class: bar.total ? "ec-total" : "" },
          svg("title", {}, bar.note || bar.label),
          svg("text", { x: 0, y: y + 9, class: "ec-label" }, bar.label),
          bar.formula && svg("text", { x: 0, y: y + 20, class: "ec-formula" }, bar.formula),
          svg("rect", { x: from, y: y + 1, width: Math.max(to - from, 1.5), height: 14, rx: 2, class: tone }),
          index + 1 < bars.length &&
            svg("line", { x1: x(bar.end), x2: x(bar.end), y1: y + 1, y2: y + ROW + 15, class: "ec-joint" }),
          svg("text", { x: WIDTH, y: y + 13, "text-anchor": "end", class: "ec-number" }, signed(bar.value)),
        ),
      );
    });
    return picture;
  }

  function result(value) {
    const score = el(
      "div",
      { class: "ec-score" },
      el(
        "span",
        {
          class: "ec-totalnumber " + (value.total > 0 ? "ec-good" : "ec-bad"),
          id: undefined,
          data: { total: value.total },
        },
        signed(value.total),
      ),
      el("div", {}, el("b", {}, value.headline), el("p", {}, value.reason)),
    );
    const facts = value.parts.length
      ? el(
          "dl",
          { class: "ec-parts" },
          value.parts.map(([name, number]) => [el("dt", {}, name), el("dd", {}, number)]),
        )
      : null;
    return [
      score,
      el(
        "div",
        { class: "ec-reward" },
        waterfall(value.bars),
        el(
          "div",
          {},
          value.notes.map((note) => el("p", { class: "ec-desc" }, note)),
          facts,
        ),
      ),
      el("div", { class: "ec-blocks" }, value.blocks.map(block)),
    ];
  }

  const json = (value) =>
    el("pre", { class: "ec-json", tabindex: 0 }, typeof value === "string" ? value : JSON.stringify(value, null, 1));
  function call({ name, args, result: answer, ms, error }) {
    const short = Object.entries(args || {})
      .map(([key, value]) => `${key}: ${typeof value === "string" ? value : JSON.stringify(value)}`)
      .join(" · ");
    return el(
      "details",
      { class: "ec-toolcall" + (error ? " ec-refused" : "") },
      el(
        "summary",
        {},
        el("code", {}, name),
        " ",
        el("span", {}, error ? `refused: ${error}` : short),
        ms !== null && ms !== undefined && el("small", {}, ` ${ms} ms`),
      ),
      el("h5", {}, "Arguments"),
      json(args),
      el("h5", {}, "Result"),
      json(answer),
    );
  }
  return { block, waterfall, result, call, json };
})();
