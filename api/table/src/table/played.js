// Cards that lie on the table, each with who played it.

import { cardFace } from "../cards/card.js";
import { el } from "../dom.js";
import { nameOf } from "../words/people.js";
import { place } from "./seats.js";

/** A trick, each card towards its player. `marked` is a seat whose card stands out. */
export function trick(view, cards, { marked = null, label = "Trick" } = {}) {
  if (!cards.length) return null;
  return el(
    "ol",
    { class: "trick", "aria-label": label, vars: { n: cards.length } },
    cards.map(({ seat, card }) => {
      const { x, y } = place(view, seat);
      return el(
        "li",
        { class: seat === marked ? "played marked" : "played", vars: { x, y } },
        cardFace(view.game, card),
        el(
          "span",
          { class: "by" },
          nameOf(view, seat),
          seat === marked ? el("span", { class: "unseen" }, " (highest)") : null,
        ),
      );
    }),
  );
}

/** A row of cards in the order in which they were played. */
export function row(view, cards, label) {
  return el(
    "ol",
    { class: "run", "aria-label": label },
    cards.map(({ seat, card }) =>
      el(
        "li",
        { class: "played" },
        cardFace(view.game, card),
        el("span", { class: "by" }, nameOf(view, seat)),
      ),
    ),
  );
}
