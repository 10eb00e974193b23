/* The editor of a `filters` object: rows of key, operator and value, or the same as JSON. */
window.ecom.filterEditor = (() => {
  "use strict";
  const { el } = window.ecom;
  const OPERATORS = [
    ["eq", "is"],
    ["le", "at most"],
    ["ge", "at least"],
    ["in", "one of"],
  ];

  // Numbers and true/false are meant as such; quotes keep text that looks like a number.
  function parse(text) {
    const word = text.trim();
    if (/^-?\d+(\.\d+)?$/.test(word)) return Number(word);
    if (word === "true" || word === "false") return word === "true";
    const quoted = /^"(.*)"$/.exec(word);
    return quoted ? quoted[1] : word;
  }
  function print(value) {
    if (Array.isArray(value)) return value.map(print).join(", ");
    return typeof value === "string" && typeof parse(value) !== "string" ? `"${value}"` : String(value);
  }
  const split = (text) =>
    text
      .split(",")
      .map((part) => part.trim())
      .filter(Boolean)
      .map(parse);

  function toObject(rows) {
    const result = {};
    for (const { key, op, value } of rows) {
      const name = key.trim();
      if (!name && !value.trim()) continue;
      if (!name) throw new Error("a filter has a value but no key");
      if (!value.trim()) throw new Error(`the filter ${name} has no value`);
      const parsed = op === "in" ? split(value) : parse(value);
      const before = Object.hasOwn(result, name) ? result[name] : undefined;
      if (op === "eq" && before === undefined) result[name] = parsed;
      else {
        const merged =
          before !== null && typeof before === "object" && !Array.isArray(before)
            ? before
            : before === undefined
              ? {}
              : { eq: before };
        result[name] = { ...merged, [op]: parsed };
      }
    }
    return result;
  }
  function toRows(object) {
    const rows = [];
    for (const [key, value] of Object.entries(object || {})) {
      if (value !== null && typeof value === "object" && !Array.isArray(value)) {
        for (const [op, inner] of Object.entries(value)) rows.push({ key, op, value: print(inner) });
      } else rows.push({ key, op: Array.isArray(value) ? "in" : "eq", value: print(value) });
    }
    return rows;
  }

  /* Builds an editor. draft = {rows, json, raw}: what is typed, kept by the caller so that it survives. */
  function filterEditor(id, draft, suggestions) {
    draft.rows = draft.rows || [];
    const list = el("datalist", { id: `${id}-keys` });
    const body = el("div", { class: "ec-filter-rows" });
    const root = el("div", { class: "ec-filters", id }, body, list);

    function row(entry) {
      const key = el("input", {
        type: "text",
        list: list.id,
        value: entry.key,
        placeholder: "key, e.g. price",
        "aria-label": "Filter key",
        autocomplete: "off",
        oninput: (e) => {
          entry.key = e.target.value;
        },
      });
      const op = el(
        "select",
        {
          "aria-label": "Filter operator",
          onchange: (e) => {
            entry.op = e.target.value;
          },
        },
        OPERATORS.map(([value, label]) => el("option", { value, selected: value === entry.op }, label)),
      );
      const value = el("input", {
        type: "text",
        value: entry.value,
        placeholder: "value",
        "aria-label": "Filter value",
        autocomplete: "off",
        oninput: (e) => {
          entry.value = e.target.value;
        },
      });
      const remove = el(
        "button",
        {
          type: "button",
          class: "ec-icon",
          "aria-label": "Remove this filter",
          title: "Remove this filter",
          onclick: () => {
            draft.rows.splice(draft.rows.indexOf(entry), 1);
            draw();
          },
        },
        "×",
      );
      return el("div", { class: "ec-filter-row" }, key, op, value, remove);
    }
    function fillKeys() {
      list.replaceChildren(...suggestions().map((key) => el("option", { value: key })));
    }
    function toggle(raw) {
      try {
        if (raw) {
          const object = toObject(draft.rows);
          draft.json = Object.keys(object).length ? JSON.stringify(object, null, 1) : "";
        } else draft.rows = toRows(draft.json && draft.json.trim() ? JSON.parse(draft.json) : {});
        draft.raw = raw;
        draw();
      } catch (problem) {
        note.textContent = raw ? problem.message : "This is not JSON yet; mend it before going back to rows.";
      }
    }
    const note = el("p", { class: "ec-error", role: "alert" });
    function draw() {
      note.textContent = "";
      if (draft.raw) {
        body.replaceChildren(
          el(
            "textarea",
            {
              rows: 3,
              "aria-label": "Filters as JSON",
              spellcheck: "false",
              placeholder: '{"price": {"le": 25}, "brand": "…"}',
              oninput: (e) => {
                draft.json = e.target.value;
              },
            },
            draft.json || "",
          ),
          el("button", { type: "button", class: "ec-link", onclick: () => toggle(false) }, "Edit as rows"),
          note,
        );
        return;
      }
      body.replaceChildren(
        ...draft.rows.map(row),
        el(
          "div",
          { class: "ec-filter-foot" },
          el(
            "button",
            {
              type: "button",
              class: "ec-link ec-add-filter",
              onclick: () => {
                draft.rows.push({ key: "", op: "eq", value: "" });
                draw();
                [...body.querySelectorAll(".ec-filter-row")].at(-1).querySelector("input").focus();
              },
            },
            "+ Add a filter",
          ),
          el("button", { type: "button", class: "ec-link", onclick: () => toggle(true) }, "Edit as JSON"),
        ),
        note,
      );
    }
    root.addEventListener("focusin", fillKeys);
    draw();
    return root;
  }

  /* A draft of filters that are known already. */
  filterEditor.draft = (object) => ({ rows: toRows(object) });

  /* What the draft stands for; undefined when nothing is typed. Throws with a sentence for people. */
  filterEditor.read = (draft) => {
    if (!draft) return undefined;
    if (draft.raw) {
      if (!draft.json || !draft.json.trim()) return undefined;
      let value;
      try {
        value = JSON.parse(draft.json);
      } catch {
        throw new Error("the filters are not valid JSON");
      }
      if (value === null || typeof value !== "object" || Array.isArray(value))
        throw new Error("the filters must be a JSON object");
      return value;
    }
    const object = toObject(draft.rows || []);
    return Object.keys(object).length ? object : undefined;
  };
  return filterEditor;
})();
