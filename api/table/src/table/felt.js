// The table itself, for any game: the seats, what lies in the middle, and the plate that says what is
// played. What each game adds is in a file of its own, an object with:
//   chips(view)            whether chips count
//   counters(view, seat)   [text] beside a name
//   badges(view, seat)     [[kind, text, title]] under a name
//   laid(view, seat)       whether a face-down card lies before the seat (may be left out)
//   plate(view)            nodes in the centre
//   middle(view)           the cards on the table
//   more(view)             a panel beside the table

import { el } from "../dom.js";
import { loc } from "./loc.js";
import { lodam } from "./lodam.js";
import { lorum } from "./lorum.js";
import { seats } from "./seats.js";

const plain = {
  chips: () => true,
  counters: () => [],
  badges: () => [],
  plate: () => [],
  middle: (view) => el("pre", { class: "quiet" }, JSON.stringify(view.table, null, 1)),
  more: () => null,
};

export const rulesOf = (game) => ({ lodam, lorum, loc })[game] ?? plain;

/** What the felt is drawn from: it is drawn again where one of these has changed. */
export const feltValues = (view, showAll) => [
  view.table,
  view.seats,
  view.scores,
  view.to_act,
  view.hand,
  view.status,
  view.rules,
  view.viewer,
  view.private?.points,
  showAll ? view.opened : null,
];

/** The table as a view has it. */
export function felt(view, showAll = false) {
  const rules = rulesOf(view.game);
  return el(
    "div",
    {
      class: `felt ${view.game} seats-${view.seats.length}${showAll && view.opened ? " all-open" : ""}`,
      role: "group",
      "aria-label": "The table",
    },
    seats(view, rules, showAll),
    el(
      "div",
      { class: "middle" },
      el("div", { class: "plate" }, rules.plate(view)),
      rules.middle(view),
    ),
  );
}
