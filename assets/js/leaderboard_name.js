/* The visitor's own name. Name and key are kept in this browser; the server gets them whenever a page is opened. */
const { el, say } = window.ecom;
const root = element.querySelector(".ec-board-name");
const STORED = "ecomrlve.name";
let busy = false;

function remember(value) {
  try {
    if (value.status === "forgotten") localStorage.removeItem(STORED);
    else if (value.key) localStorage.setItem(STORED, JSON.stringify({ name: value.name, key: value.key }));
  } catch {
    /* storage is forbidden: the name is this page's until it is closed */
  }
}
const value = () => props.value || { status: "none", name: "", said: "" };
function send(wanted, more) {
  if (busy) return;
  busy = true;
  root.setAttribute("aria-busy", "true");
  trigger("submit", { do: wanted, name: value().name, key: value().key, ...more });
}
const button = (label, act, look = "") =>
  el("button", { type: "button", class: `ec-button ${look}`, onclick: act }, label);

/* What is kept where, before anybody agrees to anything. */
const TERMS = [
  "On this server: your name, and with each finished game its task, difficulty, seed, all that was said and done in " +
    "it, and its score. Everybody who opens this page can read that.",
  "No address, no e-mail, nothing about your device. In this browser: the name and a secret key that proves it is " +
    "yours. Clear the browser's data and nobody can prove it any more.",
  "Without a name your finished games are stored too, as those of “you”, and do not appear on the board.",
  "You can stop at any time, and erase your name and its games from this server.",
];
function terms({ hub }) {
  const elsewhere = hub
    ? `Stored games, with and without a name, are copied to the dataset ${hub} on the Hugging Face Hub. What is ` +
      "erased here stays in the history there."
    : "Nothing is sent to anywhere else.";
  return el(
    "details",
    { class: "ec-terms" },
    el("summary", {}, "What is stored, and where"),
    el("ul", { class: "ec-plain" }, [...TERMS, elsewhere].map((one) => el("li", {}, one))),
  );
}

const input = el("input", {
  id: "ec-nickname",
  type: "text",
  autocomplete: "nickname",
  spellcheck: "false",
  maxlength: 60,
  oninput: () => ready(),
});
const box = el("input", { type: "checkbox", id: "ec-agree", onchange: () => ready() });
const go = el("button", { type: "submit", class: "ec-button ec-primary" }, "Join");
function ready() {
  const named = value().signed_in || input.value.trim().length >= 2;
  go.disabled = !(named && box.checked);
}
function join(now) {
  const form = el(
    "form",
    {
      class: "ec-join",
      autocomplete: "off",
      onsubmit: (event) => {
        event.preventDefault();
        send("join", { agreed: box.checked, ...(now.signed_in ? {} : { name: input.value }) });
      },
    },
    now.signed_in
      ? el("p", { class: "ec-own-name" }, "Signed in as ", el("b", {}, now.name))
      : el("div", { class: "ec-field" }, el("label", { for: "ec-nickname" }, "Your name on the board"), input),
    el(
      "label",
      { class: "ec-agree", for: "ec-agree" },
      box,
      el("span", {}, "Keep my finished games under this name on this server's leaderboard"),
    ),
    go,
  );
  ready();
  return form;
}
function forget(now) {
  const confirm = el(
    "span",
    { class: "ec-actions", hidden: true },
    el("span", {}, `Erase ${now.name} and all its games from this server for good?`),
    button("Erase", () => send("forget"), "ec-danger"),
    button("Keep", () => {
      confirm.hidden = true;
      ask.hidden = false;
      ask.focus();
    }),
  );
  const ask = button("Forget my games …", () => {
    ask.hidden = true;
    confirm.hidden = false;
    confirm.querySelector("button").focus();
  });
  return [ask, confirm];
}
function member(now) {
  const on = now.status === "on";
  return el(
    "div",
    { class: "ec-member" },
    el(
      "p",
      { class: "ec-own-name" },
      on ? "You play as " : "Your name here is ",
      el("b", {}, now.name),
      el("small", {}, on ? " Your finished games are kept under this name." : " New games are kept without it."),
    ),
    el(
      "div",
      { class: "ec-actions" },
      on
        ? button("Stop keeping my games", () => send("stop"))
        : button("Keep my games again", () => send("join", { agreed: true }), "ec-primary"),
      forget(now),
    ),
  );
}
function draw() {
  const now = value();
  busy = false;
  root.removeAttribute("aria-busy");
  remember(now);
  root.dataset.status = now.status;
  if (now.longest) input.placeholder = `${now.shortest} to ${now.longest} letters or digits`;
  const own = now.status === "on" || now.status === "off";
  const elsewhere = now.login && !now.signed_in && !own;
  if (!own && !now.signed_in && now.name && !input.value) input.value = now.name;
  if (now.status === "forgotten") {
    input.value = "";
    box.checked = false;
  }
  const focused = root.contains(document.activeElement);
  root.replaceChildren(
    ...[
      el("h2", { class: "ec-hidden" }, "Leaderboard"),
      el("h3", { tabindex: -1 }, "Your place on the board"),
      now.said && el("p", { class: `ec-said ec-${now.tone}` }, now.said),
      own && member(now),
      elsewhere && el("p", {}, "Sign in below to appear here by your name on Hugging Face."),
      !own && !elsewhere && join(now),
      terms(now),
    ].filter(Boolean),
  );
  if (now.said) say(now.said);
  // What was pressed may be gone; whoever uses the keys goes on from the panel, or from the name to mend.
  if (focused) (now.tone === "bad" && input.isConnected ? input : root.querySelector("h3")).focus();
}
watch("value", draw);
draw();
