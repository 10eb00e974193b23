/* A few lines of text, announced to screen readers. */
const { el } = window.ecom;
const root = element.querySelector(".ec-notice");
root.setAttribute("role", "status");
function draw() {
  const value = props.value || { lines: [] };
  root.dataset.tone = value.tone || "plain";
  root.replaceChildren(...value.lines.map((line) => el("p", {}, line)));
  root.hidden = !value.lines.length;
}
watch("value", draw);
draw();
