/* The tool form, made in the browser from the tools' JSON schemas. Switching tools costs no round trip, and what was
   typed for each tool is kept until another episode starts (its ids would mean nothing there). */
const { el, on, emit, say, filterEditor, seen } = window.ecom;
const root = element.querySelector(".ec-tools");

let episode = "";
let tool = "";
let drafts = {};
let state = window.ecom.now || { running: false, busy: false, turnsLeft: 0 };
const running = () => state.running && !state.busy;
const single = () => Boolean(window.ecom.play && window.ecom.play.options.single);
const fieldKeys = new Set(["category", "type", "brand", "price", "rating", "ship_days", "in_stock"]);

const tools = () => (props.value && props.value.tools) || [];
const named = (name) => tools().find((candidate) => candidate.function.name === name);
const draft = () => (drafts[tool] = drafts[tool] || {});

/* Optional values come as anyOf [X, null]; references point into $defs. */
function plain(schema, parameters) {
  if (schema.$ref) return plain((parameters.$defs || {})[schema.$ref.split("/").pop()] || {}, parameters);
  const choices = schema.anyOf || schema.oneOf;
  if (choices) {
    const real = choices.filter((choice) => choice.type !== "null");
    const object = real.find((choice) => choice.type === "object");
    return { ...plain(object || real[0] || {}, parameters), description: schema.description, default: schema.default };
  }
  if (Array.isArray(schema.type)) return { ...schema, type: schema.type.find((type) => type !== "null") };
  return schema;
}

function control(id, name, schema, required) {
  const values = draft();
  const keep = (event) => {
    values[name] = event.target.value;
    outdate(name);
  };
  const common = { id, name, "aria-required": required ? "true" : undefined, autocomplete: "off", spellcheck: "false" };
  const hint =
    schema.default === undefined || schema.default === null
      ? ""
      : `default ${JSON.stringify(schema.default).replaceAll('"', "")}`;
  if (schema.type === "object") {
    values[name] = typeof values[name] === "object" ? values[name] : {};
    return filterEditor(id, values[name], () => [...fieldKeys].sort());
  }
  if (schema.enum || schema.const || schema.type === "boolean") {
    const choices =
      schema.type === "boolean"
        ? ["true", "false"]
        : schema.enum
          ? schema.enum.filter((choice) => choice !== null)
          : [schema.const];
    const select = el(
      "select",
      { ...common, onchange: keep },
      // Nothing is chosen for the player: a reason that nobody meant would go into the call.
      el("option", { value: "" }, required ? "choose …" : hint || "—"),
      choices.map((choice) => el("option", { value: choice }, String(choice).replaceAll("_", " "))),
    );
    if (values[name] !== undefined) select.value = values[name];
    return select;
  }
  if (schema.type === "integer" || schema.type === "number") {
    if (values[name] === undefined && required && hint === "" && name === "qty") values[name] = "1";
    return el("input", {
      ...common,
      type: "number",
      min: schema.minimum,
      max: schema.maximum,
      step: schema.type === "integer" ? 1 : "any",
      placeholder: hint,
      value: values[name],
      oninput: keep,
    });
  }
  const placeholder = schema.type === "array" ? "several, separated by commas" : hint;
  const input = { ...common, type: "text", placeholder, value: values[name] };
  return Object.hasOwn(SEEN, name) ? withSeen(input, name) : el("input", { ...input, oninput: keep });
}

/* Another product has other variants, and another order other lines: what was typed for them goes. */
function outdate(name) {
  const orderOf = (line) => (seen.orders.find(({ lines }) => lines.some(({ id }) => id === line)) || {}).id;
  const values = draft();
  let other = null;
  if (name.endsWith("product_id")) other = name.replace("product_id", "variant_id");
  else if (name === "order_id" && orderOf(values.line_id) && orderOf(values.line_id) !== values.order_id)
    other = "line_id";
  const input = other && root.querySelector(`#ec-arg-${other}`);
  if (input) input.value = values[other] = "";
}

/* Ids that tools have shown, for the arguments that take one. */
const products = () => seen.products || [];
const variantsOf = (product) => {
  const own = products().find(({ id }) => id === product);
  return own ? own.variants : products().flatMap(({ variants }) => variants);
};
const SEEN = {
  product_id: products,
  new_product_id: products,
  variant_id: () => variantsOf(draft().product_id),
  new_variant_id: () => variantsOf(draft().new_product_id),
  order_id: () => seen.orders,
  line_id: () =>
    seen.orders.filter((order) => !draft().order_id || order.id === draft().order_id).flatMap((order) => order.lines),
  return_id: () => seen.returns,
  policy_id: () => seen.pages,
};
/* An input that suggests them. It still takes whatever is typed, as the tool itself does. */
function withSeen(attributes, name) {
  const list = el("datalist", { id: `${attributes.id}-seen` });
  const refresh = () =>
    list.replaceChildren(...SEEN[name]().map((entry) => el("option", { value: entry.id }, entry.label)));
  const type = (event) => {
    draft()[name] = event.target.value;
    outdate(name);
    const order = name === "line_id" && seen.orders.find(({ lines }) => lines.some(({ id }) => id === draft().line_id));
    const other = root.querySelector("#ec-arg-order_id");
    // A line says which order it is in.
    if (order && other && !draft().order_id) other.value = draft().order_id = order.id;
  };
  refresh();
  return [el("input", { ...attributes, list: list.id, onfocus: refresh, oninput: type }), list];
}

function draw() {
  const value = props.value || {};
  if (value.episode !== episode) {
    episode = value.episode;
    drafts = {};
    const remembered = named(tool);
    tool = remembered ? tool : tools().length ? tools()[0].function.name : "";
  }
  if (!tools().length) {
    root.replaceChildren(
      el(
        "p",
        { class: "ec-empty" },
        "The shop's tools appear here once an episode runs: search, product details, the cart.",
      ),
    );
    return;
  }
  const { description, parameters } = named(tool).function;
  const required = new Set(parameters.required || []);
  const picker = el(
    "select",
    {
      id: "ec-tool",
      onchange: (event) => {
        tool = event.target.value;
        draw();
        root.querySelector("#ec-tool").focus();
      },
    },
    tools().map(({ function: { name } }) => el("option", { value: name, selected: name === tool }, name)),
  );
  const fields = Object.entries(parameters.properties || {}).map(([name, raw]) => {
    const schema = plain(raw, parameters);
    const id = `ec-arg-${name}`;
    const wide = schema.type === "object" || schema.type === "array" || name === "query";
    return el(
      "div",
      { class: "ec-field" + (wide ? " ec-wide" : "") },
      el(
        "label",
        { for: id, title: raw.description || schema.description },
        name,
        required.has(name) && el("span", { class: "ec-required", title: "required" }, " *"),
      ),
      control(id, name, schema, required.has(name)),
      // The filter editor explains itself; its description is about JSON, and stays in the label's tooltip.
      schema.type !== "object" &&
        (raw.description || schema.description) &&
        el("small", {}, raw.description || schema.description),
    );
  });
  const form = el(
    "form",
    {
      autocomplete: "off",
      "aria-label": `Call ${tool}`,
      onsubmit: (event) => {
        event.preventDefault();
        send("call");
      },
      onkeydown: (event) => {
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
          event.preventDefault();
          send("call");
        }
      },
    },
    el("div", { class: "ec-field" }, el("label", { for: "ec-tool" }, "Tool"), picker),
    el("p", { class: "ec-desc" }, (description || "").split("\n")[0]),
    el(
      "div",
      { class: "ec-grid" },
      fields.length ? fields : el("p", { class: "ec-empty ec-wide" }, "This tool needs no arguments."),
    ),
    el("p", { class: "ec-error ec-form-error", role: "alert" }),
    el(
      "div",
      { class: "ec-actions" },
      el(
        "button",
        { type: "submit", class: "ec-button ec-primary ec-call", title: "Take a turn with just this call" },
        "Call now ",
        el("kbd", {}, "Ctrl+Enter"),
      ),
      el(
        "button",
        {
          type: "button",
          class: "ec-button ec-collect",
          hidden: single(),
          title: "Collect several calls, then send them as one turn",
          onclick: () => send("collect"),
        },
        "Add to turn",
      ),
      el("p", { class: "ec-cost" }),
    ),
  );
  root.replaceChildren(form);
  enable();
}

function enable() {
  for (const button of root.querySelectorAll(".ec-call, .ec-collect")) button.disabled = !running();
  const add = root.querySelector(".ec-collect");
  if (add) add.hidden = single();
  const cost = root.querySelector(".ec-cost");
  const left = state.turnsLeft;
  const turn = left === 1 ? "your last turn" : `1 of your ${left} turns left`;
  if (cost) cost.textContent = state.running ? `A call now takes ${turn}.` : "";
}

/* Puts a call that was made into the form. */
function refill(call) {
  if (!named(call.name)) return;
  const { parameters } = named(call.name).function;
  tool = call.name;
  drafts[tool] = {};
  for (const [name, value] of Object.entries(call.args)) {
    const property = (parameters.properties || {})[name];
    const kind = property && plain(property, parameters).type;
    if (kind === "object") drafts[tool][name] = filterEditor.draft(value);
    else if (Array.isArray(value)) drafts[tool][name] = value.join(", ");
    else drafts[tool][name] = String(value);
  }
  draw();
  root.querySelector("#ec-tool").focus();
  say(`${tool} is in the form again`);
}

/* Reads the typed values as the schema's types. Throws with a sentence that names the field. */
function collect() {
  const { parameters } = named(tool).function;
  const required = new Set(parameters.required || []);
  const values = draft();
  const args = {};
  for (const [name, raw] of Object.entries(parameters.properties || {})) {
    const schema = plain(raw, parameters);
    let value = values[name];
    if (schema.type === "object") value = filterEditor.read(value);
    else if (value === undefined || String(value).trim() === "") value = undefined;
    else if (schema.type === "integer" || schema.type === "number") {
      value = Number(value);
      const input = root.querySelector(`#ec-arg-${name}`);
      if (!Number.isFinite(value) || (input && !input.checkValidity()))
        throw new Error(`${name}: ${(input && input.validationMessage) || "a number is needed"}`);
    } else if (schema.type === "boolean") value = value === "true";
    else if (schema.type === "array")
      value = value
        .split(",")
        .map((part) => part.trim())
        .filter(Boolean);
    else value = String(value).trim();
    if (value !== undefined) args[name] = value;
    else if (required.has(name)) throw new Error(`${name} is needed`);
  }
  return { name: tool, args };
}

function send(how) {
  const error = root.querySelector(".ec-form-error");
  error.textContent = "";
  if (!running()) {
    error.textContent = "Start an episode first.";
    return;
  }
  try {
    emit(how, collect());
  } catch (problem) {
    error.textContent = problem.message;
  }
}

/* Whether a tool has an argument of this name. */
function takes(name, field) {
  const found = named(name);
  return Boolean(found && Object.hasOwn(found.function.parameters.properties || {}, field));
}

/* Where an id goes when the open tool has no place for it. */
const HOME = {
  line_id: ["return_check_eligibility", "order_get"],
  order_id: ["order_track", "order_get"],
  return_id: ["return_cancel"],
  policy_id: ["policy_get"],
  variant_id: ["cart_add", "return_exchange"],
  product_id: ["catalog_get_variants", "catalog_get_product"],
};
function use(ids) {
  const { product_id: product, variant_id: variant, title } = ids;
  const field = Object.keys(HOME).find((name) => ids[name]);
  const fits = { product_id: ["product_id", "product_ids", "new_product_id"], variant_id: ["variant_id", "new_variant_id"] };
  if (!(fits[field] || [field]).some((name) => takes(tool, name)))
    tool = HOME[field].find((name) => named(name) && takes(name, field)) || tool;
  const values = draft();
  const prefix = takes(tool, "new_product_id") ? "new_" : "";
  if (!product) {
    // A line of another order than the one that stands there would be no line at all.
    if (ids.order_id && values.order_id !== ids.order_id && takes(tool, "line_id")) values.line_id = "";
    for (const [name, id] of Object.entries(ids)) if (takes(tool, name)) values[name] = id;
  } else if (takes(tool, "product_ids")) {
    const known = (values.product_ids || "")
      .split(",")
      .map((part) => part.trim())
      .filter(Boolean);
    values.product_ids = [...known.filter((id) => id !== product), product].join(", ");
  } else if (takes(tool, prefix + "product_id")) {
    if (values[prefix + "product_id"] !== product) values[prefix + "variant_id"] = "";
    values[prefix + "product_id"] = product;
    if (variant) values[prefix + "variant_id"] = variant;
  } else return;
  draw();
  say(`${title || ids[field]} put into ${tool}`);
}

on(element, "use", use);
on(element, "refill", refill);
on(element, "keys", (names) => names.forEach((name) => fieldKeys.add(name)));
on(element, "state", (now) => {
  state = now;
  enable();
});
on(element, "options", enable);
watch("value", draw);
draw();
