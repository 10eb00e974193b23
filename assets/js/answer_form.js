/* The answer as it is put together on the desk: a list of products and the fields that the environment asks for. In a
   journey an answer is for one wish; what was entered is kept for each kind of wish apart, for no kind comes twice. */
window.ecom.answerForm = (() => {
  "use strict";
  const { el, say } = window.ecom;
  const LIST = "recommended_product_ids";

  /* What was typed, as the type that the field has. */
  function typed(text, type) {
    if (type === "array")
      return text
        .split(",")
        .map((part) => part.trim())
        .filter(Boolean);
    if (type === "boolean") return text === "true";
    if ((type === "number" || type === "integer") && Number.isFinite(Number(text))) return Number(text);
    return text;
  }

  /* Builds the form in `box`; `changed` is called after every drawing. */
  function answerForm(box, changed) {
    let kinds = [];
    let chosen = "";
    let running = false;
    let drafts = {};

    const kind = () => kinds.find((one) => one.id === chosen) || kinds[0] || { id: "", fields: [] };
    const draft = (id = kind().id) => (drafts[id] = drafts[id] || { list: [], values: {} });
    const asksFor = (one, name) => one.fields.some((field) => field.name === name);
    const fields = () => kind().fields.filter((field) => field.name !== LIST);
    // Whether the list is all there is to the answer.
    const isList = () => asksFor(kind(), LIST) && !fields().length;

    /* The chosen kind if it has the field, else the first one that has it. */
    function turnTo(name) {
      if (asksFor(kind(), name)) return true;
      const other = kinds.find((one) => asksFor(one, name));
      if (other) chosen = other.id;
      return Boolean(other);
    }

    function move(index, by) {
      const { list } = draft();
      const [entry] = list.splice(index, 1);
      list.splice(index + by, 0, entry);
      render();
      const row = box.querySelectorAll(".ec-list li")[index + by];
      const button = row && row.querySelector(by < 0 ? ".ec-up" : ".ec-down");
      if (button) (button.disabled ? row.querySelector("button:not(:disabled)") : button).focus();
    }
    const icon = (sign, label, name, onclick, disabled = false) =>
      el("button", { type: "button", class: `ec-icon ${name}`, disabled, "aria-label": label, onclick }, sign);

    function list() {
      const entries = draft().list;
      const most = kind().most || Infinity;
      const note = Number.isFinite(most) && (most === 1 ? " one at most" : ` the first ${most} count`);
      return [
        el("h4", {}, kind().list_title || "Products", note && el("small", {}, note)),
        !entries.length && el("p", { class: "ec-empty" }, "Empty so far. Use “Recommend” on a product card."),
        el(
          "ol",
          { class: "ec-list" },
          entries.map((entry, index) =>
            el(
              "li",
              { class: index >= most ? "ec-beyond" : "", title: index >= most ? "Beyond what is scored" : "" },
              el("span", { class: "ec-title" }, entry.title || entry.product_id),
              el("code", {}, entry.product_id),
              icon("↑", "Move up", "ec-up", () => move(index, -1), index === 0),
              icon("↓", "Move down", "ec-down", () => move(index, 1), index === entries.length - 1),
              icon("×", "Remove from the list", "ec-remove", () => {
                entries.splice(index, 1);
                render();
              }),
            ),
          ),
        ),
      ];
    }
    function field({ name, type, choices, description }) {
      const id = `ec-answer-${name}`;
      const { values } = draft();
      const keep = (event) => {
        values[name] = event.target.value.trim();
      };
      const options = choices.length ? choices.map((choice) => [choice, choice.replaceAll("_", " ")]) : [];
      if (type === "boolean") options.push(["true", "yes"], ["false", "no"]);
      const input = options.length
        ? el(
            "select",
            { id, onchange: keep },
            el("option", { value: "" }, "—"),
            options.map(([value, label]) => el("option", { value, selected: value === values[name] }, label)),
          )
        : el("input", { id, type: "text", autocomplete: "off", value: values[name], oninput: keep });
      return el(
        "div",
        { class: "ec-field" },
        el("label", { for: id }, name),
        input,
        description && el("small", {}, description),
      );
    }
    function picker() {
      const select = el(
        "select",
        {
          id: "ec-answer-kind",
          onchange: (event) => {
            chosen = event.target.value;
            render();
            box.querySelector("#ec-answer-kind").focus();
          },
        },
        kinds.map((one) => el("option", { value: one.id, selected: one.id === kind().id }, one.label)),
      );
      return el("div", { class: "ec-field ec-answer-for" }, el("label", { for: "ec-answer-kind" }, "I answer:"), select);
    }

    function render() {
      box.replaceChildren();
      if (running) {
        if (kinds.length > 1) box.append(picker());
        if (asksFor(kind(), LIST)) box.append(...list().filter(Boolean));
        if (fields().length) box.append(el("div", { class: "ec-grid" }, fields().map(field)));
        if (kinds.length > 1 && !kind().fields.length)
          box.append(el("p", { class: "ec-empty" }, "Nothing to fill in: the cart as it stands is the answer."));
      }
      changed();
    }

    return {
      isList,
      draw(value) {
        kinds = value.kinds || [];
        running = value.running;
        render();
      },
      /* Another episode: nothing that was entered means anything any more. */
      reset() {
        drafts = {};
        chosen = "";
      },
      /* A sentence about what an answer can hardly do without, or "". */
      missing() {
        const { list: entries, values } = draft();
        if (isList()) return entries.length ? "" : "Your list is empty: use “Recommend” on a product.";
        const empty = fields().length > 0 && !fields().some(({ name }) => values[name]);
        return empty ? "Your answer is empty: fill in what stands above." : "";
      },
      read() {
        const { list: entries, values } = draft();
        const answer = {};
        if (isList() || entries.length) answer[LIST] = entries.map((entry) => entry.product_id);
        for (const { name, type } of fields()) if (values[name]) answer[name] = typed(values[name], type);
        return answer;
      },
      recommend(product) {
        if (!turnTo(LIST)) return;
        const { list: entries } = draft();
        if (entries.some((entry) => entry.product_id === product.product_id)) {
          say("Already in your list");
          return;
        }
        entries.push(product);
        render();
        say("Added to your list");
      },
      /* Puts an order's id, and that of a line, into the answer. */
      choose({ order_id: order, line_id: line, title }) {
        if (!turnTo(line ? "selected_line_id" : "selected_order_id")) return;
        const { values } = draft();
        if (values.selected_order_id !== order) delete values.selected_line_id;
        values.selected_order_id = order;
        if (line) values.selected_line_id = line;
        render();
        say(`${title || order} put into the answer`);
      },
    };
  }
  return answerForm;
})();
