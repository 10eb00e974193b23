/* Files may be dropped anywhere while this tab is open. They go through the upload button, as if they had been chosen
   there; what is too large is told at once and not sent. */
const { el, visible } = window.ecom;
const root = element.querySelector(".ec-drop");
const { most, input: button } = props.value;
const limit = `${Math.round(most / 2 ** 20)} MB`;

const problem = el("p", { class: "ec-error", role: "alert" });
const veil = el(
  "div",
  { class: "ec-veil", hidden: true, "aria-hidden": "true" },
  el("p", {}, "Drop the file to read its episodes"),
);
root.append(
  el(
    "p",
    { class: "ec-desc" },
    "Every finished episode is kept here, with all that was said and done. Pick one to walk through it. Or drop a JSONL " +
      `file anywhere on this page (up to ${limit}), from an evaluation or from a download: only you will see it.`,
  ),
  problem,
);
document.body.append(veil);

const chooser = () => document.querySelector(button).parentElement.querySelector("input[type=file]");
const here = () => visible(root);
const carriesFiles = (event) => [...((event.dataTransfer && event.dataTransfer.types) || [])].includes("Files");

const size = (file) => `${Math.round(file.size / 2 ** 20)} MB`;
/* Says what is wrong with files that cannot be taken, and gives the others. */
function usable(files) {
  const large = files.filter((file) => file.size > most);
  const others = files.filter((file) => !/\.jsonl?$/i.test(file.name));
  const told = [
    ...others.map((file) => `${file.name} was not read: episodes come in files that end in .jsonl or .json.`),
    ...large.map((file) => `${file.name} was not read: it has ${size(file)}, and up to ${limit} can be uploaded. Split it.`),
  ];
  problem.textContent = told.join(" ");
  return files.filter((file) => !large.includes(file) && !others.includes(file));
}
function hand(files) {
  const target = chooser();
  const carried = new DataTransfer();
  for (const file of files) carried.items.add(file);
  target.files = carried.files;
  target.dispatchEvent(new Event("change", { bubbles: true }));
}

// A drag enters and leaves every element that it passes; the veil stays as long as it entered more than it left.
let depth = 0;
function veiled(change) {
  depth = change === 0 ? 0 : Math.max(0, depth + change);
  veil.hidden = depth === 0;
}
function listen(name, act) {
  document.addEventListener(name, (event) => {
    if (!root.isConnected || !here() || !carriesFiles(event)) return;
    event.preventDefault();
    act(event);
  });
}
listen("dragenter", () => veiled(+1));
listen("dragover", (event) => (event.dataTransfer.dropEffect = "copy"));
listen("dragleave", () => veiled(-1));
listen("drop", (event) => {
  veiled(0);
  const files = usable([...event.dataTransfer.files]);
  if (files.length) hand(files);
});
// The same for files that are chosen: caught before Gradio sees them.
document.addEventListener(
  "change",
  (event) => {
    const target = event.target;
    if (!(target instanceof HTMLInputElement) || target !== chooser() || !target.files) return;
    const files = [...target.files];
    const fine = usable(files);
    if (fine.length === files.length) return;
    event.stopImmediatePropagation();
    if (fine.length) hand(fine);
    else target.value = "";
  },
  true,
);
