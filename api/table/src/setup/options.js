// A form for the options of a game, made from the JSON Schema that the service gives.

import { el } from "../dom.js";

const FIRST = ["profile"];
const LAST = ["first_dealer", "cut", "deal", "auto_forced", "disclosure", "seed", "deal_id"];

const words = (name) => name.charAt(0).toUpperCase() + name.slice(1).replaceAll("_", " ");

/** The kind that a property has, and whether it may be null. */
function kindOf(schema) {
  if (!schema.anyOf) return { ...schema, nullable: false };
  const kind = schema.anyOf.find(({ type }) => type !== "null") ?? {};
  return { ...schema, ...kind, nullable: true };
}

function field(name, schema) {
  const kind = kindOf(schema);
  const id = `option-${name}`;
  const help = schema.description ? `${id}-help` : null;
  const common = { id, name, "aria-describedby": help };
  let input;
  if (kind.type === "boolean") {
    input = el("input", { type: "checkbox", ...common });
  } else if (kind.enum) {
    input = el(
      "select",
      common,
      kind.enum.map((value) => el("option", { value }, String(value).replaceAll("_", " "))),
    );
  } else if (kind.type === "integer") {
    input = el("input", {
      type: "number",
      step: 1,
      min: kind.minimum,
      max: kind.maximum,
      required: !kind.nullable,
      ...common,
    });
  } else {
    input = el("input", {
      type: "text",
      autocomplete: "off",
      minlength: kind.minLength,
      maxlength: kind.maxLength,
      pattern: kind.pattern?.replace(/^\^|\$$/g, ""),
      ...common,
    });
  }
  const row = el(
    "div",
    { class: kind.type === "boolean" ? "field check" : "field" },
    el("label", { for: id }, words(name)),
    input,
    help ? el("small", { id: help }, schema.description.replaceAll("`", "")) : null,
  );
  return { name, kind, input, row };
}

/** Put a value into a field, or take it out. */
function put({ kind, input }, value) {
  if (kind.type === "boolean") input.checked = Boolean(value);
  else input.value = value ?? "";
}

function taken({ kind, input }) {
  if (kind.type === "boolean") return input.checked;
  if (input.value === "" && kind.nullable) return null;
  return kind.type === "integer" ? Number(input.value) : input.value;
}

/** The options of a game as a form part: `element`, and `values()`, those that are not the defaults. */
export class OptionsForm {
  constructor({ options, profiles }) {
    this.defaults = Object.fromEntries(
      Object.entries(options.properties).map(([name, schema]) => [name, schema.default]),
    );
    this.profiles = profiles;
    const names = Object.keys(options.properties);
    const middle = names.filter((name) => !FIRST.includes(name) && !LAST.includes(name));
    const made = (some) =>
      some
        .filter((name) => names.includes(name))
        .map((name) => field(name, options.properties[name]));
    const [first, main, last] = [made(FIRST), made(middle), made(LAST)];
    this.fields = [...first, ...main, ...last];
    this.#reset();
    first[0]?.input.addEventListener("change", () => this.#reset(first[0].input.value));
    const rows = (fields) =>
      el(
        "div",
        { class: "fields" },
        fields.map(({ row }) => row),
      );
    this.element = el(
      "div",
      {},
      rows([...first, ...main]),
      el("details", {}, el("summary", {}, "The deal, and what is shown when"), rows(last)),
    );
  }

  #base(profile) {
    return { ...this.defaults, ...this.profiles[profile], ...(profile ? { profile } : {}) };
  }

  #reset(profile = this.defaults.profile) {
    const base = this.#base(profile);
    for (const one of this.fields) put(one, base[one.name]);
  }

  values() {
    const all = Object.fromEntries(this.fields.map((one) => [one.name, taken(one)]));
    const base = this.#base(all.profile);
    return Object.fromEntries(
      Object.entries(all).filter(
        ([name, value]) =>
          value !== base[name] || (name === "profile" && value !== this.defaults.profile),
      ),
    );
  }
}
