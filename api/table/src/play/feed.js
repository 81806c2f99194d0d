// What happened, as far as the table shows it, in the words that its reader may still be told: a card
// that was turned down again is forgotten here as well.

import { el } from "../dom.js";
import { eventWords, worthTelling } from "../words/events.js";

const KEPT = 60; // Events that are kept in memory.
const SHOWN = 30;

/** An event without what lay open to the table for a while only. */
const covered = (event) => ({
  ...event,
  sealed: event.sealed.map((part) => {
    if (part.for !== "table") return part;
    const { data: _, salt: __, ...rest } = part;
    return rest;
  }),
});

/** Whether a turned trump is to be remembered by now: the view does not show it any more. */
const isTurnedDown = ({ rules, table }) =>
  rules.trump === "memory" && table.trump_turned && !table.trump_card;

/** The latest events of a game. */
export class Feed {
  #events = [];
  #told = null;
  #isDown = false;

  /** The version up to which events are read (null before the first). */
  read = null;

  /** The version after which a page that opens reads the events. */
  static start = (view) => Math.max(0, view.version - KEPT);

  /**
   * Keep what has happened, and forget what has been covered since.
   * @returns {boolean} whether something has just been covered
   */
  take(view, news) {
    const all = [...this.#events, ...news.filter(worthTelling)];
    const down = news.findLast(({ type }) => type === "TrumpCovered")?.version ?? 0;
    const isDown = isTurnedDown(view);
    const upto = isDown ? view.version : down;
    this.#events = all
      .map((event) => (event.version <= upto ? covered(event) : event))
      .slice(-KEPT);
    this.#told ??= view.version;
    const turned = down > 0 || (isDown && !this.#isDown);
    this.#isDown = isDown;
    return turned;
  }

  /** The sentences for what a view shows and none before it showed. */
  news(view) {
    const from = this.#told ?? view.version;
    this.#told = Math.max(from, view.version);
    return this.#upto(view)
      .filter(({ version }) => version > from)
      .map((event) => eventWords(view, event));
  }

  /** What the panel of a view is drawn from. */
  values(view) {
    return this.#upto(view).map((event) => eventWords(view, event));
  }

  /** The panel: the latest first, none that the table does not show yet. */
  panel(view) {
    const lines = this.values(view).slice(-SHOWN).reverse();
    if (!lines.length) return null;
    return el(
      "section",
      { class: "panel" },
      el("h2", {}, "What happened"),
      el(
        "ol",
        {
          class: "feed plain-list",
          tabindex: "0",
          "aria-label": "What happened, the latest first",
        },
        lines.map((line) => el("li", {}, line)),
      ),
    );
  }

  #upto(view) {
    return this.#events.filter(({ version }) => version <= view.version);
  }
}
