/* Looks at the page as it is drawn: which texts are too pale, which controls have no name. */
var parse = (text) => {
  const numbers = text.match(/[\d.]+/g).map(Number);
  const scale = text.startsWith("color(srgb") ? 255 : 1;
  return [...numbers.slice(0, 3).map((part) => part * scale), numbers[3] ?? 1];
};
var over = (top, under) => [0, 1, 2].map((i) => top[i] * top[3] + under[i] * (1 - top[3])).concat(1);
var luminance = (colour) => {
  const [r, g, b] = colour.slice(0, 3).map((value) => {
    const part = value / 255;
    return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
var ground = (node) => {
  const layers = [];
  for (let n = node; n; n = n.parentElement) layers.unshift(parse(getComputedStyle(n).backgroundColor));
  return layers.reduce((under, top) => over(top, under), [255, 255, 255, 1]);
};
var opacity = (node) => {
  let value = 1;
  for (let n = node; n; n = n.parentElement) value *= Number(getComputedStyle(n).opacity);
  return value;
};

/* Every visible text: its colour against the ground it really stands on, at least 4.5 to 1. */
var contrast = () => {
  const skip = "svg, script, style, option, :disabled, .ec-off textarea, .toast-wrap, footer";
  const poor = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode.textContent.trim();
    const node = walker.currentNode.parentElement;
    if (!text || node.closest(skip)) continue;
    if (!node.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    const below = ground(node);
    const ink = parse(getComputedStyle(node).color);
    const seen = over([ink[0], ink[1], ink[2], ink[3] * opacity(node)], below);
    const [high, low] = [luminance(seen), luminance(below)].sort((a, b) => b - a);
    const ratio = (high + 0.05) / (low + 0.05);
    if (ratio < 4.5) poor.push(`${ratio.toFixed(2)} ${node.tagName}.${node.className} ${text.slice(0, 40)}`);
  }
  return poor;
};

var unnamed = () =>
  [...document.querySelectorAll(".ec :is(input, select, textarea, button)")]
    .filter((node) => node.checkVisibility())
    .filter((node) => !node.getAttribute("aria-label") && !(node.labels && node.labels.length))
    .filter((node) => node.tagName !== "BUTTON" || !node.textContent.trim())
    .map((node) => node.outerHTML.slice(0, 120));
