// What the table of Loc shows: the bank, who has laid a card, and the latest cards shown.

import { cardFace } from "../cards/card.js";
import { el } from "../dom.js";
import { chips, who } from "../words/people.js";
import { trick } from "./played.js";

function outcome(view) {
  const { shown, highest, won } = view.table;
  if (!shown.length || highest === null) return null;
  const mine = view.viewer.seat === highest;
  const words = won
    ? `${who(view, highest)} ${mine ? "take" : "takes"} ${chips(won)}.`
    : `${who(view, highest)} ${mine ? "are" : "is"} excused.`;
  return el("p", { class: "banner" }, words);
}

export const loc = {
  chips: () => true,
  counters: () => [],
  badges: (view, seat) => {
    if (!view.table.laid.includes(seat)) return [];
    return view.table.trick ? [] : [["passed", "Discarded", "Has laid a card aside"]];
  },
  laid: (view, seat) =>
    view.table.trick > 0 && view.hand?.phase === "playing" && view.table.laid.includes(seat),

  plate(view) {
    const { table } = view;
    if (!view.hand) return [];
    const when =
      view.hand.phase === "betting"
        ? "Stakes"
        : table.trick
          ? `Trick ${table.trick} of 5`
          : "Discarding";
    return [
      el(
        "p",
        { class: "pot big-pot" },
        el("strong", {}, chips(table.pot)),
        " ",
        el("small", {}, "in the bank"),
      ),
      el("p", { class: "pot" }, `Hand ${view.hand.number} of ${table.hands} · ${when}`),
      outcome(view),
    ];
  },

  middle: (view) =>
    trick(view, view.table.shown, { marked: view.table.highest, label: "The latest cards shown" }),

  /** Beside the table: all the tricks of the hand. */
  more(view) {
    const { tricks } = view.table;
    if (tricks.length < 2) return null;
    return el(
      "section",
      { class: "panel" },
      el("h2", {}, "Tricks of this hand"),
      el(
        "ol",
        { class: "small-tricks" },
        tricks.map((cards) =>
          el(
            "li",
            {},
            cards.map(({ card }) => cardFace(view.game, card)),
          ),
        ),
      ),
    );
  },
};
