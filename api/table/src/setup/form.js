// A new game: who plays, by which options, and in what time.

import { command, freshId, get } from "../api.js";
import { el, notice } from "../dom.js";
import { hostKey, remember, setHostKey } from "../keys.js";
import { complaint } from "../words/complaints.js";
import { OptionsForm } from "./options.js";
import { SeatRows } from "./seats.js";

const TIMEOUTS = [
  ["bot", "a bot plays on"],
  ["forfeit", "the player resigns"],
];
const DELAYS = [
  [0, "at once"],
  [500, "after half a second"],
  [1000, "after a second"],
  [2000, "after two seconds"],
];

const choice = (id, choices) =>
  el(
    "select",
    { id },
    choices.map(([value, label]) => el("option", { value }, label)),
  );

const field = (label, input) =>
  el("div", { class: "field" }, el("label", { for: input.id }, label), input);

const part = (title, ...content) => el("fieldset", {}, el("legend", {}, title), ...content);

/** The screen on which a game is set up. */
export class SetupScreen {
  constructor(root, top, game) {
    Object.assign(this, { root, top, game });
  }

  async open() {
    let rules;
    try {
      rules = await get(`/v1/rules/${encodeURIComponent(this.game)}`);
    } catch (problem) {
      this.root.replaceChildren(el("p", { class: "notice problem" }, problem.message));
      return;
    }
    if (this.left) return;
    this.top.show({
      title: `New game of ${rules.title}`,
      tools: [el("a", { class: "button", href: `#rules=${this.game}` }, "Rules")],
    });
    this.#draw(rules);
  }

  leave() {
    this.left = true;
  }

  #draw(rules) {
    this.seats = new SeatRows(rules);
    this.options = new OptionsForm(rules);
    this.delay = choice("bot-delay", DELAYS);
    this.seconds = el("input", {
      type: "number",
      id: "clock-seconds",
      min: 1,
      max: 86400,
      step: 1,
      placeholder: "no clock",
    });
    this.timeout = choice("clock-timeout", TIMEOUTS);
    this.key = el("input", {
      type: "password",
      id: "host-key",
      autocomplete: "off",
      required: true,
    });
    const submit = (event) => {
      event.preventDefault();
      this.#start();
    };
    this.root.replaceChildren(
      el(
        "form",
        { class: "page setup", on: { submit } },
        el("h1", {}, `New game of ${rules.title}`),
        el("p", { class: "lead" }, rules.summary),
        part(
          "Who plays",
          this.seats.list,
          this.seats.more,
          el(
            "p",
            { class: "quiet" },
            "You get a link for every person; you take the first seat. Open seats are filled later.",
          ),
        ),
        part("Rules", this.options.element),
        part(
          "Time",
          el(
            "div",
            { class: "fields" },
            field("Bots act", this.delay),
            field("Seconds a turn", this.seconds),
            field("When time is up", this.timeout),
          ),
        ),
        hostKey()
          ? null
          : part(
              "Host key",
              field("The key that the service printed when it first started", this.key),
            ),
        el(
          "p",
          { class: "buttons" },
          (this.button = el("button", { type: "submit", class: "main big" }, "Start the game")),
        ),
      ),
    );
  }

  #body() {
    const seconds = Number(this.seconds.value);
    return {
      game: this.game,
      ...this.seats.players(Number(this.delay.value)),
      rules: this.options.values(),
      ...(seconds ? { clock: { turn_seconds: seconds, on_timeout: this.timeout.value } } : {}),
    };
  }

  /** The game that is asked for: the same form sent again, after no answer came, is the same game. */
  #request() {
    const body = this.#body();
    const said = JSON.stringify([hostKey(), body]);
    if (this.order?.said !== said) this.order = { said, body, key: freshId() };
    return this.order;
  }

  async #start() {
    if (this.button.disabled) return;
    this.button.disabled = true;
    if (!hostKey()) setHostKey(this.key.value.trim());
    try {
      const { body, key } = this.#request();
      const made = await command("/v1/games", hostKey(), body, { key });
      const seats = made.seats
        .filter(({ token }) => token)
        .map(({ seat, name, token }) => ({ seat, name, token }));
      remember(made.id, { seats, token: seats[0]?.token, receipt: made.receipt });
      const invite = seats.length > 1 || made.status === "waiting";
      location.hash = `#game=${made.id}${invite ? "&links=1" : ""}`;
    } catch (problem) {
      this.button.disabled = false;
      this.button.focus();
      if (!problem.passing) this.order = null;
      if (problem.status === 401) {
        setHostKey(null);
        this.root.querySelector("#host-key")?.focus();
      }
      notice(complaint(problem), "problem");
    }
  }
}
