/* The browser's own buttons: each tab that a visitor turned to is a place to go back to, and a page that is loaded
   again, or come back to, opens the tab that was open there. */
(() => {
  "use strict";
  const WRAPPER = "#tabs > .tab-wrapper";
  // A narrow page keeps some of them in a menu, where they have nothing but their text.
  const BUTTONS = `${WRAPPER} :is([role=tablist], .overflow-dropdown) > button`;
  const { ecom } = window;
  let here = "";

  function open(name) {
    const button = [...document.querySelectorAll(BUTTONS)].find((one) => one.textContent === name);
    if (button) button.click();
  }
  function note() {
    const button = document.querySelector(`${BUTTONS}.selected`);
    const tab = button ? button.textContent : "";
    if (!tab || tab === here) return;
    // What the page did by itself when it was opened is no place of its own.
    const turned = here && navigator.userActivation && navigator.userActivation.hasBeenActive;
    if (turned) history.pushState(history.state, "");
    ecom.keepHere({ tab });
    here = tab;
  }
  window.addEventListener("popstate", ({ state }) => {
    if (!state || !state.tab) return;
    here = state.tab;
    // The games went on after this place was left.
    ecom.keepHere({ tab: here });
    open(here);
  });
  const waiting = new MutationObserver(() => {
    const wrapper = document.querySelector(WRAPPER);
    if (!wrapper || !document.querySelector(BUTTONS)) return;
    waiting.disconnect();
    if (ecom.found.tab) {
      here = ecom.found.tab;
      ecom.keepHere({ tab: here });
      open(here);
    } else note();
    new MutationObserver(note).observe(wrapper, { subtree: true, childList: true, attributeFilter: ["class"] });
  });
  waiting.observe(document.documentElement, { subtree: true, childList: true });
})();
