/* Returns and exchanges that were made in this episode, and what was found out about lines. */
const { el, on, money, idLink, plural, seen } = window.ecom;
const root = element.querySelector(".ec-returns");
let running = false;

function title(value, line) {
  return value.titles[line] ? [value.titles[line], " ", el("code", {}, line)] : el("code", {}, line);
}
function made(value, one) {
  const how = [
    one.reason && `reason: ${one.reason}`,
    one.method && `money back by ${one.method}`,
    Number.isFinite(one.refund) && money(one.refund),
    one.new && `for ${one.new}`,
  ].filter(Boolean);
  return el(
    "li",
    { class: one.cancelled ? "ec-cancelled" : "", data: { return: one.return_id } },
    one.cancelled && el("span", { class: "ec-pill ec-tone-warn" }, "cancelled"),
    el(
      one.cancelled ? "s" : "div",
      {},
      el("b", {}, one.kind),
      " of ",
      title(value, one.line_id),
      how.length > 0 && el("small", {}, ` ${how.join(", ")}`),
    ),
    el(
      "span",
      { class: "ec-foot" },
      idLink(one.return_id, "return", { return_id: one.return_id }, running && !one.cancelled),
      el("span", { class: "ec-from" }, `turn ${one.turn}`),
    ),
  );
}
function check(value, one) {
  const days = Number.isFinite(one.days) ? `delivered ${plural(one.days, "day")} ago` : "not delivered";
  return el(
    "li",
    {},
    el(
      "span",
      { class: `ec-pill ec-tone-${one.returnable ? "good" : "bad"}` },
      one.returnable ? "may go back" : one.already ? "already on its way back" : "may not go back",
    ),
    el("div", {}, title(value, one.line_id)),
    el("small", {}, one.reasons.length ? `${days}; for these reasons: ${one.reasons.join(", ")}` : days),
  );
}

function draw() {
  const value = props.value || { made: [], checks: [], titles: {}, hidden: true };
  root.hidden = Boolean(value.hidden);
  seen.returns = value.made.filter((one) => !one.cancelled).map((one) => ({ id: one.return_id, label: one.kind }));
  root.replaceChildren(
    ...[
      el("h3", {}, "Returns"),
      value.made.length
        ? el(
            "ul",
            { class: "ec-made", "aria-label": "Returns and exchanges" },
            value.made.map((one) => made(value, one)),
          )
        : el("p", { class: "ec-empty" }, "Nothing was sent back so far."),
      value.checks.length > 0 && el("h4", {}, "Checked"),
      value.checks.length > 0 &&
        el(
          "ul",
          { class: "ec-made ec-checks" },
          value.checks.map((one) => check(value, one)),
        ),
    ].filter(Boolean),
  );
}
on(element, "state", (now) => {
  if (now.running === running) return;
  running = now.running;
  draw();
});
watch("value", draw);
draw();
