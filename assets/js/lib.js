/* Helpers that every widget uses. Text from outside (titles, messages, uploaded files) only ever becomes a text
   node: no widget puts it into a template or into innerHTML, so markup in it stays text. */
window.ecom =
  window.ecom ||
  (() => {
    "use strict";

    function fill(node, attributes, children) {
      for (const [name, value] of Object.entries(attributes || {})) {
        if (value === undefined || value === null || value === false) continue;
        if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
        else if (name === "data") Object.assign(node.dataset, value);
        else node.setAttribute(name, value === true ? "" : String(value));
      }
      for (const child of children.flat(3)) {
        if (child === undefined || child === null || child === false) continue;
        node.append(child instanceof Node ? child : document.createTextNode(String(child)));
      }
      return node;
    }
    const el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
    const svg = (tag, attributes, ...children) =>
      fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

    // Widgets of one page talk to each other here; other tabs of the same browser never hear it.
    const bus = new EventTarget();
    const emit = (name, detail) => bus.dispatchEvent(new CustomEvent(name, { detail }));
    // A widget that has left the page hears nothing any more.
    const on = (element, name, listener) =>
      bus.addEventListener(name, (event) => element.isConnected && listener(event.detail));

    const money = (value) => (Number.isFinite(value) ? "$" + value.toFixed(2) : "");
    const signed = (value) => (Number.isFinite(value) ? (value < 0 ? "−" : "+") + Math.abs(value).toFixed(2) : "–");
    const plural = (n, one, many) => `${n} ${n === 1 ? one : many || one + "s"}`;

    // What belongs to this place in the history, so that "back" or a reload leads to what was left there. A reload may
    // be the page's own idea: it does so when its server has been started anew.
    const kept = {};
    function keepHere(values = {}) {
      Object.assign(kept, values);
      try {
        history.replaceState({ ...history.state, ...kept }, "");
      } catch {
        /* too much for this browser: it holds until the page is left */
      }
    }
    const found = history.state || {};
    // The log of the running episode. A page that is opened anew finds the last one in sessionStorage, which belongs to
    // one tab; localStorage would be shared, so that two tabs would overwrite each other's episode.
    const KEY = "ecomrlve.episode";
    function saveLog(log) {
      keepHere({ log });
      try {
        if (log) sessionStorage.setItem(KEY, JSON.stringify(log));
        else sessionStorage.removeItem(KEY);
      } catch {
        /* storage is full or forbidden: the episode still runs, it just cannot be restored */
      }
    }
    function readLog() {
      try {
        return (history.state && history.state.log) || JSON.parse(sessionStorage.getItem(KEY) || "null");
      } catch {
        return null;
      }
    }

    // What the browser remembers from one visit to the next.
    function recall(name, fallback) {
      try {
        return JSON.parse(localStorage.getItem(name)) ?? fallback;
      } catch {
        return fallback;
      }
    }
    function remember(name, value) {
      try {
        localStorage.setItem(name, JSON.stringify(value));
      } catch {
        /* storage is full or forbidden: it holds for this visit only */
      }
    }
    // Which endings it has shown, in whatever tab: who plays such an episode knows its goal. Without the difficulty:
    // one level up or down, the same seed often has the same goal.
    const ENDINGS = "ecomrlve.endings";
    const MOST_ENDINGS = 1000;
    const before = recall(ENDINGS, []);
    const endings = new Set(Array.isArray(before) ? before : []);
    const placeOf = ({ env_id: environment, seed }) => `${environment}|${seed}`;
    function noteEnding(episode) {
      endings.delete(placeOf(episode));
      endings.add(placeOf(episode));
      while (endings.size > MOST_ENDINGS) endings.delete(endings.values().next().value);
      remember(ENDINGS, [...endings]);
    }
    const sawEnding = (episode) => Boolean(episode) && endings.has(placeOf(episode));

    const query = () => Object.fromEntries(new URLSearchParams(location.search));
    function link(parameters) {
      const url = new URL(location.href);
      for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
      history.replaceState(history.state, "", url);
    }

    function save(name, text) {
      const address = URL.createObjectURL(new Blob([text], { type: "application/jsonl" }));
      const anchor = el("a", { href: address, download: name });
      document.body.append(anchor);
      anchor.click();
      anchor.remove();
      setTimeout(() => URL.revokeObjectURL(address), 10_000);
    }

    // Announces changes that happen away from the focus to screen readers.
    let live;
    function say(text) {
      if (!live)
        document.body.append((live = el("div", { class: "ec-hidden", role: "status", "aria-live": "polite" })));
      live.textContent = text;
    }

    // Ids that tools have shown, by kind, with a few words each: what the tool form can suggest.
    const seen = { orders: [], returns: [], pages: [] };
    // An id as something to press: it goes into the tool form.
    const idLink = (id, what, detail, enabled) =>
      el(
        "button",
        {
          type: "button",
          class: "ec-link ec-id-link",
          disabled: !enabled,
          title: "Put this id into the tool form",
          "aria-label": `${id}: put this ${what} into the tool form`,
          onclick: () => emit("use", detail),
        },
        id,
      );

    const visible = (node) => Boolean(node && node.offsetParent !== null);
    document.addEventListener("keydown", (event) => {
      if (!event.altKey || event.ctrlKey || event.metaKey) return;
      const target = { KeyR: "[data-hotkey=reset]", KeyS: "[data-hotkey=submit]" }[event.code];
      const button = target && document.querySelector(target);
      if (!visible(button)) return;
      event.preventDefault();
      button.click();
    });

    return {
      ...{ el, svg, emit, on, money, signed, plural, saveLog, readLog, query, link, save, say, visible, keepHere, found },
      ...{ seen, idLink, recall, remember, noteEnding, sawEnding },
    };
  })();
