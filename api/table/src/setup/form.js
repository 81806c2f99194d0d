// A new game: who plays, by which options, and whether a clock runs.

import { command, get } from "../api.js";
import { button, el, notice } from "../dom.js";
import { hostKey, remember, setHostKey } from "../keys.js";
import { OptionsForm } from "./options.js";

const KINDS = [
  ["person", "A person"],
  ["careful", "Careful bot"],
  ["random", "Random bot"],
  ["open", "Open seat"],
];
const NAMES = ["Ada", "Bruno", "Clara", "Dario", "Edda", "Felix", "Greta", "Hugo", "Ida", "Jonas"];

/** The screen on which a game is set up. */
export class SetupScreen {
  constructor(root, top, game) {
    Object.assign(this, { root, top, game });
  }

  async open() {
    try {
      this.rules = await get(`/v1/rules/${encodeURIComponent(this.game)}`);
    } catch (problem) {
      this.root.replaceChildren(el("p", { class: "notice problem" }, problem.message));
      return;
    }
    if (this.left) return;
    this.top.show({
      title: `New game of ${this.rules.title}`,
      tools: [el("a", { class: "button", href: `#rules=${this.game}` }, "Rules")],
    });
    this.#draw();
  }

  leave() {
    this.left = true;
  }

  #draw() {
    const { rules } = this;
    this.seats = el("ol", { class: "seat-rows" });
    this.options = new OptionsForm(rules);
    this.add = button("Add a player", () => this.#addSeat("careful"));
    const key = el("input", {
      type: "password",
      id: "host-key",
      autocomplete: "off",
      required: true,
    });
    this.seconds = el("input", {
      type: "number",
      id: "clock-seconds",
      min: 1,
      max: 86400,
      step: 1,
      placeholder: "no clock",
    });
    this.timeout = el(
      "select",
      { id: "clock-timeout" },
      el("option", { value: "bot" }, "a bot plays on"),
      el("option", { value: "forfeit" }, "the player resigns"),
    );
    this.root.replaceChildren(
      el(
        "form",
        {
          class: "page setup",
          on: { submit: (event) => (event.preventDefault(), this.#start(key)) },
        },
        el("h1", {}, `New game of ${rules.title}`),
        el("p", { class: "lead" }, rules.summary),
        el(
          "fieldset",
          {},
          el("legend", {}, "Who plays"),
          this.seats,
          this.add,
          el(
            "p",
            { class: "quiet" },
            "You get a link for every person; you take the first seat. Open seats are filled later.",
          ),
        ),
        el("fieldset", {}, el("legend", {}, "Rules"), this.options.element),
        el(
          "fieldset",
          {},
          el("legend", {}, "Clock"),
          el(
            "div",
            { class: "fields" },
            el(
              "div",
              { class: "field" },
              el("label", { for: "clock-seconds" }, "Seconds a turn"),
              this.seconds,
            ),
            el(
              "div",
              { class: "field" },
              el("label", { for: "clock-timeout" }, "When time is up"),
              this.timeout,
            ),
          ),
        ),
        hostKey()
          ? null
          : el(
              "fieldset",
              {},
              el("legend", {}, "Host key"),
              el(
                "label",
                { for: "host-key" },
                "The key that the service printed when it first started",
              ),
              key,
            ),
        el(
          "p",
          { class: "buttons" },
          el("button", { type: "submit", class: "main big" }, "Start the game"),
        ),
      ),
    );
    const count = Math.max(rules.min_players, Math.min(4, rules.max_players));
    this.#addSeat("person", "You");
    while (this.seats.childElementCount < count) this.#addSeat("careful");
  }

  #addSeat(kind, name = this.#freeName()) {
    const { min_players: min, max_players: max } = this.rules;
    const number = this.seats.childElementCount + 1;
    const text = el("input", {
      type: "text",
      maxlength: 64,
      autocomplete: "off",
      "aria-label": `Name at seat ${number}`,
      class: "seat-name",
      value: name,
      placeholder: "Name",
    });
    const adapt = (chosen) => {
      text.disabled = chosen === "open";
      text.required = chosen === "person";
      text.placeholder =
        chosen === "person" ? "Name" : chosen === "open" ? "filled later" : "its own name";
    };
    const select = el(
      "select",
      {
        "aria-label": `Who sits at seat ${number}`,
        class: "seat-kind",
        on: { change: () => adapt(select.value) },
      },
      KINDS.map(([value, label]) => el("option", { value, selected: value === kind }, label)),
    );
    adapt(kind);
    const remove = button(
      "Remove",
      () => {
        if (this.seats.childElementCount > min) row.remove();
        this.#number();
      },
      { class: "plain remove" },
    );
    const row = el("li", {}, el("span", { class: "inline" }, select, text, remove));
    this.seats.append(row);
    this.#number();
    this.add.hidden = this.seats.childElementCount >= max;
  }

  #freeName() {
    const used = [...this.seats.querySelectorAll(".seat-name")].map(({ value }) => value);
    return NAMES.find((name) => !used.includes(name)) ?? "";
  }

  #number() {
    const { min_players: min, max_players: max } = this.rules;
    const rows = [...this.seats.children];
    for (const [i, row] of rows.entries()) {
      row.querySelector(".seat-kind").setAttribute("aria-label", `Who sits at seat ${i + 1}`);
      row.querySelector(".seat-name").setAttribute("aria-label", `Name at seat ${i + 1}`);
      const remove = row.querySelector(".remove");
      remove.setAttribute("aria-label", `Remove seat ${i + 1}`);
      remove.hidden = rows.length <= min;
    }
    this.add.hidden = rows.length >= max;
  }

  #body() {
    const rows = [...this.seats.children].map((row) => ({
      kind: row.querySelector(".seat-kind").value,
      name: row.querySelector(".seat-name").value.trim(),
    }));
    const players = rows
      .filter(({ kind }) => kind !== "open")
      .map(({ kind, name }) =>
        kind === "person" ? { name } : { bot: kind, ...(name ? { name } : {}) },
      );
    return {
      game: this.game,
      players,
      open_seats: rows.length - players.length,
      rules: this.options.values(),
      ...(this.seconds.value
        ? { clock: { turn_seconds: Number(this.seconds.value), on_timeout: this.timeout.value } }
        : {}),
    };
  }

  async #start(key) {
    if (!hostKey()) setHostKey(key.value.trim());
    try {
      const made = await command("/v1/games", hostKey(), this.#body());
      const seats = made.seats
        .filter(({ token }) => token)
        .map(({ seat, name, token }) => ({ seat, name, token }));
      remember(made.id, { seats, token: seats[0]?.token, receipt: made.receipt });
      location.hash = `#game=${made.id}${seats.length > 1 || made.status === "waiting" ? "&links=1" : ""}`;
    } catch (problem) {
      if (problem.status === 401) {
        setHostKey(null);
        this.root.querySelector("#host-key")?.focus();
      }
      notice(
        problem.errors
          ?.map(({ path, message }) => `${path.replace(/^\$\.(rules\.)?/, "")}: ${message}`)
          .join("; ") || problem.message,
        "problem",
      );
    }
  }
}
