// What the table of Losing Lodam shows.

import { cardBack, cardFace } from "../cards/card.js";
import { shownSuit, suitName } from "../cards/names.js";
import { suitIcon } from "../cards/suits.js";
import { el } from "../dom.js";
import { list, nameOf, points, tricks, who } from "../words/people.js";
import { trick } from "./played.js";

const KINDS = { coat: "a coat for a coat", card: "a card for a card" };

function suit(view, letter) {
  const { pack, suit: shown } = shownSuit(view.game, letter);
  return suitIcon(pack, shown, suitName(view.game, letter));
}

function trump(view) {
  const { table, rules } = view;
  if (table.trump_card) {
    return el(
      "div",
      { class: "trump open" },
      cardFace(view.game, table.trump_card),
      el("span", {}, "Trump"),
    );
  }
  if (!table.stock) return null;
  const words = table.trump_turned
    ? rules.trump === "memory"
      ? "Trump turned down"
      : "Trump turned"
    : `Stock of ${table.stock}`;
  return el("div", { class: "trump" }, cardBack(words), el("span", {}, words));
}

function offer(view) {
  const { offer: standing } = view.table;
  if (!standing) return null;
  const declined = standing.declined.map((seat) => nameOf(view, seat));
  return el(
    "p",
    { class: "banner" },
    `${who(view, standing.seat)}: “${KINDS[standing.kind] ?? standing.kind}?”`,
    declined.length ? el("small", {}, ` Declined by ${list(declined)}.`) : null,
  );
}

export const lodam = {
  chips: (view) => view.rules.stake > 0,

  counters(view, seat) {
    const taken = view.table.taken[seat] ?? 0;
    const score = view.scores[seat].points;
    return [
      view.hand ? tricks(taken) : null,
      view.rules.scoring === "cumulative" && score !== null ? `score ${score}` : null,
      view.viewer.seat === seat && view.private && view.hand ? points(view.private.points) : null,
    ].filter(Boolean);
  },

  badges(view, seat) {
    const { due, safe, take_only: only, passed } = view.table;
    const passing = ["trading", "reckoning"].includes(view.hand?.phase);
    return [
      due.includes(seat) ? ["due", "Due", "Due to lose a life"] : null,
      safe.includes(seat) ? ["safe", "Safe", "Safe for the rest of the hand"] : null,
      only.includes(seat)
        ? ["only", "Takes only", "Has named the wrong player: may only take"]
        : null,
      passing && passed.includes(seat) ? ["passed", "Passed", "Has passed"] : null,
    ].filter(Boolean);
  },

  plate(view) {
    const { table } = view;
    return [
      trump(view),
      offer(view),
      table.led ? el("p", { class: "led" }, "Led: ", suit(view, table.led)) : null,
      table.trump && view.rules.trump === "open"
        ? el("p", { class: "led" }, "Trumps: ", suit(view, table.trump))
        : null,
    ];
  },

  middle: (view) => trick(view, view.table.trick),

  /** Beside the table: the challenges of the hand. */
  more(view) {
    if (!view.table.challenges.length) return null;
    return el(
      "section",
      { class: "panel" },
      el("h2", {}, "Challenges"),
      el(
        "ul",
        { class: "plain-list" },
        view.table.challenges.map((c) =>
          el(
            "li",
            {},
            `${nameOf(view, c.seat)} challenged ${nameOf(view, c.challenged)}: `,
            el("strong", {}, c.upheld ? "upheld" : "rejected"),
            ` (${c.points[0]} against ${c.points[1]} points).`,
          ),
        ),
      ),
    );
  },
};
