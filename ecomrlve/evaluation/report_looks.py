"""Style and script of the page of a report. Light or dark as the reader's system says; nothing comes from elsewhere."""

STYLE = """
:root {
  color-scheme: light dark;
  --ground: #f7f6f3; --panel: #ffffff; --ink: #21231f; --quiet: #5d6059; --line: #dedcd5;
  --accent: #176b62; --warn: #7a3d00; --warn-ground: #fbf0d9; --heat-low: #f6f1e8; --heat-high: #79c7b6;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #141513; --panel: #1d1f1c; --ink: #e9e8e3; --quiet: #a8aaa2; --line: #373a35;
    --accent: #7bc1b5; --warn: #f0cf92; --warn-ground: #3b2f17; --heat-low: #2b2925; --heat-high: #1f7568;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--ground); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "IBM Plex Sans", sans-serif;
}
main { max-width: 1180px; margin: 0 auto; padding: 20px 16px 60px; }
h1 { font-size: 26px; line-height: 1.2; margin: 8px 0 14px; letter-spacing: -0.01em; }
h2 { font-size: 19px; margin: 34px 0 6px; overflow-wrap: anywhere; }
h3 { font-size: 14px; margin: 14px 0 4px; overflow-wrap: anywhere; }
p, ul { margin: 6px 0; }
ul { padding-left: 20px; }
.quiet { color: var(--quiet); }
.warning {
  margin: 8px 0; padding: 10px 14px; border-left: 4px solid var(--warn); border-radius: 6px;
  background: var(--warn-ground); color: var(--warn); font-weight: 600; overflow-wrap: anywhere;
}
dl { display: grid; grid-template-columns: max-content 1fr; gap: 2px 18px; margin: 0; }
dt { color: var(--quiet); }
dd { margin: 0; overflow-wrap: anywhere; }
pre {
  background: var(--panel); border: 1px solid var(--line); border-radius: 8px; padding: 10px 12px;
  white-space: pre-wrap; overflow-wrap: anywhere; font-size: 13px;
}
.scroll { overflow-x: auto; background: var(--panel); border: 1px solid var(--line); border-radius: 8px; }
table { border-collapse: collapse; width: 100%; font-size: 13px; font-variant-numeric: tabular-nums; }
th, td { padding: 6px 10px; text-align: right; white-space: nowrap; border-bottom: 1px solid var(--line); }
th.text, td.text { text-align: left; }
td.long { white-space: normal; min-width: 220px; }
thead th {
  color: var(--quiet); font-weight: 600; white-space: normal; overflow-wrap: anywhere; min-width: 84px;
  vertical-align: bottom;
}
tbody tr:last-child > * { border-bottom: 0; }
tbody th { font-weight: 600; }
th:first-child { position: sticky; left: 0; background: var(--panel); }
tbody th:first-child { white-space: normal; overflow-wrap: anywhere; min-width: 150px; }
details { margin: 10px 0; }
summary { cursor: pointer; color: var(--accent); }
summary:focus-visible, .scroll:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.legend { display: flex; flex-wrap: wrap; gap: 4px 16px; padding: 0; margin: 8px 0; list-style: none; font-size: 13px; }
.legend li { display: flex; align-items: center; gap: 6px; overflow-wrap: anywhere; }
.legend i { width: 12px; height: 12px; border-radius: 3px; flex: none; }
.charts {
  display: grid; grid-template-columns: repeat(auto-fill, minmax(min(var(--width), 100%), 1fr));
  gap: 12px; margin: 8px 0 12px;
}
figure { margin: 0; min-width: 0; background: var(--panel); border: 1px solid var(--line); border-radius: 8px; }
figure.wide { grid-column: 1 / -1; }
figcaption { padding: 8px 12px 0; font-size: 13px; font-weight: 600; overflow-wrap: anywhere; }
@media (max-width: 600px) {
  dl { grid-template-columns: 1fr; }
  dd { margin-bottom: 6px; }
  tbody th:first-child { min-width: 118px; }
}
"""

# Fills every element with data-chart, one after the other so that the page stays alive, and again when the reader
# switches between light and dark; data-drawn then says for which all are there. What is drawn is data, the colours of
# axes and tiles come from the style.
SCRIPT = """
(() => {
  const figures = JSON.parse(document.getElementById("figures").textContent);
  const places = [...document.querySelectorAll("[data-chart]")];
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const axis = (own) => ({
    ...own, fixedrange: true, title: { ...own.title, standoff: 8, font: { size: 12, color: colour("--quiet") } },
    gridcolor: colour("--line"), linecolor: colour("--line"), zerolinecolor: colour("--quiet"),
  });
  const draw = (place) => {
    const figure = figures[Number(place.dataset.chart)];
    const data = figure.data.map((trace) => trace.type !== "heatmap" ? trace : {
      ...trace, textfont: { color: colour("--ink") },
      colorscale: [[0, colour("--heat-low")], [1, colour("--heat-high")]],
    });
    const names = place.clientWidth < 500 ? figure.short_names : figure.names;
    const layout = {
      ...figure.layout, xaxis: { ...axis(figure.layout.xaxis), tickangle: 0 },
      yaxis: { ...axis(figure.layout.yaxis), ...(names.length && { ticktext: names }) },
      height: figure.height, margin: { l: 48, r: 16, t: 12, b: 44 }, showlegend: false, dragmode: false,
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", hovermode: "closest",
      font: { family: "system-ui, sans-serif", size: 12, color: colour("--ink") },
    };
    return Plotly.react(place, data, layout, { responsive: true, displayModeBar: false });
  };
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const drawFrom = (number) => {
    if (number < places.length) Promise.resolve(draw(places[number])).then(() => setTimeout(drawFrom, 0, number + 1));
    else document.documentElement.dataset.drawn = dark.matches ? "dark" : "light";
  };
  drawFrom(0);
  dark.addEventListener("change", () => drawFrom(0));
})();
"""
