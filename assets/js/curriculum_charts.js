/* Small line charts, drawn in the pixels there are: on a phone they are smaller, their letters are not. */
window.ecom.charts =
  window.ecom.charts ||
  (() => {
    "use strict";
    const { svg } = window.ecom;
    const MARGIN = { left: 38, right: 8, top: 8, bottom: 20 };
    let clips = 0;

    // Calls draw(width) as soon as the holder has a width, and again when it gets another one. Returns a function that
    // draws once more.
    function fit(holder, draw) {
      let known = 0;
      new ResizeObserver(() => {
        const width = Math.floor(holder.clientWidth);
        if (!width || width === known) return;
        known = width;
        draw(width);
      }).observe(holder);
      return () => known && draw(known);
    }

    // Calls back once, when the element has come into view.
    function whenSeen(element, call) {
      const watcher = new IntersectionObserver((entries) => {
        if (!entries.some((entry) => entry.isIntersecting)) return;
        watcher.disconnect();
        call();
      });
      watcher.observe(element);
    }

    // One question at a time: of what is asked meanwhile, only the last is sent. Returns what asks, and what to call
    // when an answer has come. A question that stays without an answer blocks nothing for long.
    const PATIENCE = 10_000;
    function asker(send) {
      let since = -Infinity;
      let again = false;
      const ask = () => {
        again = performance.now() - since < PATIENCE;
        if (again) return;
        since = performance.now();
        send();
      };
      const answered = () => {
        since = -Infinity;
        if (again) ask();
      };
      return [ask, answered];
    }

    // An empty chart. x and y are [lowest, highest]; ticks are [value, label].
    function frame({ width, height, x, y, xTicks, yTicks, label }) {
      const right = width - MARGIN.right;
      const bottom = height - MARGIN.bottom;
      const across = (value) => MARGIN.left + ((right - MARGIN.left) * (value - x[0])) / (x[1] - x[0] || 1);
      const upward = (value) => bottom - ((bottom - MARGIN.top) * (value - y[0])) / (y[1] - y[0] || 1);
      const node = svg(
        "svg",
        { class: "ec-chart", viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label },
        yTicks.map(([value, text]) => [
          svg("path", { class: "ec-gridline", d: `M${MARGIN.left} ${upward(value)}H${right}` }),
          svg("text", { x: MARGIN.left - 6, y: upward(value), "text-anchor": "end", dy: "0.35em" }, text),
        ]),
        xTicks.map(([value, text]) =>
          svg("text", { x: across(value), y: height - 5, "text-anchor": anchor(value, x) }, text),
        ),
      );
      return { node, across, upward };
    }
    const anchor = (value, [low, high]) => (value === low ? "start" : value === high ? "end" : "middle");

    // A path through the points; where there is no value, the line is broken.
    function line(xs, ys, chart) {
      let text = "";
      let broken = true;
      ys.forEach((value, i) => {
        const known = Number.isFinite(value);
        if (known) text += `${broken ? "M" : "L"}${spot(xs[i], value, chart)}`;
        broken = !known;
      });
      return text;
    }
    const spot = (x, y, chart) => `${chart.across(x).toFixed(1)} ${chart.upward(y).toFixed(1)}`;

    // The area between two lines.
    function band(xs, lows, highs, chart) {
      const there = xs.map((x, i) => spot(x, highs[i], chart));
      const back = xs.map((x, i) => spot(x, lows[i], chart)).reverse();
      return xs.length ? `M${[...there, ...back].join("L")}Z` : "";
    }

    // A group that shows only what lies left of a place, and the function that moves that place.
    function upTo(chart, width, height, children) {
      const id = `ec-clip-${++clips}`;
      const shown = svg("rect", { x: 0, y: 0, width, height });
      const group = svg("g", {}, svg("clipPath", { id }, shown), svg("g", { "clip-path": `url(#${id})` }, children));
      return [group, (value) => shown.setAttribute("width", Math.max(0, chart.across(value)))];
    }

    return { asker, fit, whenSeen, frame, line, band, upTo };
  })();
