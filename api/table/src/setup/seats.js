// Who sits where in a new game: a row for each seat.

import { button, el } from "../dom.js";

const KINDS = [
  ["person", "A person"],
  ["careful", "Careful bot"],
  ["random", "Random bot"],
  ["open", "Open seat"],
];
const NAMES = ["Ada", "Bruno", "Clara", "Dario", "Edda", "Felix", "Greta", "Hugo", "Ida", "Jonas"];
const HINTS = { person: "Name", open: "filled later" };

/** The rows for the seats of a game that takes `min` to `max` players. */
export class SeatRows {
  constructor({ min_players: min, max_players: max }) {
    Object.assign(this, { min, max });
    this.list = el("ol", { class: "seat-rows" });
    this.more = button("Add a player", () => this.#add("careful"));
    this.#add("person", "You");
    while (this.list.childElementCount < Math.max(min, Math.min(4, max))) this.#add("careful");
  }

  /** What a new game is asked for with; bots take `delay` ms for each action. */
  players(delay) {
    const rows = [...this.list.children].map((row) => ({
      kind: row.querySelector(".seat-kind").value,
      name: row.querySelector(".seat-name").value.trim(),
    }));
    const taken = rows.filter(({ kind }) => kind !== "open");
    return {
      players: taken.map(({ kind, name }) =>
        kind === "person"
          ? { name }
          : { bot: kind, ...(name ? { name } : {}), ...(delay ? { delay_ms: delay } : {}) },
      ),
      open_seats: rows.length - taken.length,
    };
  }

  #add(kind, name = this.#freeName()) {
    const field = el("input", {
      type: "text",
      maxlength: 64,
      autocomplete: "off",
      class: "seat-name",
      value: name,
    });
    const adapt = () => {
      field.disabled = choice.value === "open";
      field.required = choice.value === "person";
      field.placeholder = HINTS[choice.value] ?? "its own name";
    };
    const choice = el(
      "select",
      { class: "seat-kind", on: { change: adapt } },
      KINDS.map(([value, label]) => el("option", { value, selected: value === kind }, label)),
    );
    adapt();
    const remove = button(
      "Remove",
      () => {
        row.remove();
        this.#number();
      },
      { class: "plain remove" },
    );
    const row = el("li", {}, el("span", { class: "inline" }, choice, field, remove));
    this.list.append(row);
    this.#number();
  }

  #freeName() {
    const used = [...this.list.querySelectorAll(".seat-name")].map(({ value }) => value);
    return NAMES.find((name) => !used.includes(name)) ?? "";
  }

  #number() {
    const rows = [...this.list.children];
    for (const [i, row] of rows.entries()) {
      const name = (part, label) => row.querySelector(part).setAttribute("aria-label", label);
      name(".seat-kind", `Who sits at seat ${i + 1}`);
      name(".seat-name", `Name at seat ${i + 1}`);
      name(".remove", `Remove seat ${i + 1}`);
      row.querySelector(".remove").hidden = rows.length <= this.min;
    }
    this.more.hidden = rows.length >= this.max;
  }
}
