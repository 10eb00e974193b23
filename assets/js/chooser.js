/* What all bars that start something share: the shop task, the difficulty, the seed. */
window.ecom.choosing = (() => {
  "use strict";
  const { el } = window.ecom;
  const SEEDS = 1_000_000;
  const LEVELS = ["easy", "medium", "hard", "very hard"];
  const HARDEST = 12;

  const randomSeed = () => Math.floor(Math.random() * SEEDS);
  const levelOf = (d) => LEVELS[Math.min(LEVELS.length - 1, Math.floor(d / 3))];
  const field = (label, id, ...inputs) =>
    el("div", { class: "ec-field" }, el("label", { for: id }, label), el("div", { class: "ec-inline" }, inputs));

  /* A box for a seed with a die beside it; `rolled` is called with what it shows. */
  function seedBox(id, name, rolled) {
    const box = el("input", { id, type: "text", inputmode: "numeric", autocomplete: "off", spellcheck: "false" });
    const roll = () => {
      box.value = randomSeed();
      rolled(box.value);
    };
    const die = { type: "button", class: "ec-icon ec-die", title: "Another random seed", "aria-label": name, onclick: roll };
    return [box, el("button", die, "⚄")];
  }

  /* Puts choices into a menu, each {id, label}; what was chosen stays so if it is still there. */
  function offer(menu, choices) {
    const before = menu.value;
    menu.replaceChildren(...choices.map(({ id, label }) => el("option", { value: id }, label)));
    if (choices.some(({ id }) => id === before)) menu.value = before;
  }

  /* The three inputs, whose ids begin with `prefix`. */
  function place(prefix) {
    const environment = el("select", { id: `${prefix}-env` });
    const range = el("input", { id: `${prefix}-d`, type: "range", min: 0, max: HARDEST, step: 1, value: 0 });
    const shown = el("output", { for: `${prefix}-d`, class: "ec-d" });
    const [seed, dice] = seedBox(`${prefix}-seed`, "Random seed", () => seed.focus());
    function showLevel() {
      const level = levelOf(Number(range.value));
      shown.replaceChildren(el("b", {}, range.value), ` ${level}`);
      range.setAttribute("aria-valuetext", `${range.value}, ${level}`);
    }
    function draw(value) {
      offer(environment, value.environments || []);
      if (value.env_id) environment.value = value.env_id;
      if (value.difficulty !== undefined) range.value = value.difficulty;
      if (value.seed !== undefined) seed.value = value.seed;
      showLevel();
    }
    range.addEventListener("input", showLevel);
    return {
      ...{ seed, shown, showLevel, draw },
      inputs: [environment, range, seed, dice],
      fields: [
        field("Shop task", `${prefix}-env`, environment),
        field("Difficulty", `${prefix}-d`, range, shown),
        field("Seed", `${prefix}-seed`, seed, dice),
      ],
      chosen: () => ({ env_id: environment.value, difficulty: range.value, seed: seed.value }),
    };
  }
  return { field, offer, place, randomSeed, seedBox };
})();
