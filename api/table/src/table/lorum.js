// What the table of Lorum shows: a trick, a run or the layout, as the contract has it.

import { cardFace } from "../cards/card.js";
import { ranksOf, suitName, suitsOf } from "../cards/names.js";
import { el } from "../dom.js";
import { CONTRACTS } from "../words/contracts.js";
import { chips, tricks } from "../words/people.js";
import { row, trick } from "./played.js";

function layout(view) {
  const { layout: laid } = view.table;
  const ranks = ranksOf(view.game, view.rules);
  if (!laid.start) return el("p", { class: "quiet" }, "The layout is empty.");
  const first = ranks.indexOf(laid.start);
  const order = ranks.map((_, i) => ranks[(first + i) % ranks.length]);
  return el(
    "div",
    { class: "layout", role: "group", "aria-label": "The layout" },
    suitsOf(view.game).map((suit) => {
      const count = laid[suit] ? order.indexOf(laid[suit].high) + 1 : 0;
      return el(
        "ol",
        {
          class: "layout-row",
          "aria-label": count
            ? suitName(view.game, suit)
            : `${suitName(view.game, suit)}, not begun`,
        },
        order.map((rank, i) =>
          i < count
            ? el("li", {}, cardFace(view.game, rank + suit))
            : el("li", { class: "slot", "aria-hidden": "true" }),
        ),
      );
    }),
  );
}

const penaltyContracts = ["hearts", "obers", "no_tricks", "hairy_monkey"];

export const lorum = {
  chips: () => true,

  counters(view, seat) {
    const { contract, taken, penalties, passes } = view.table;
    if (!view.hand) return [];
    if (penaltyContracts.includes(contract)) {
      return [tricks(taken[seat]), penalties[seat] ? `costing ${penalties[seat]}` : null].filter(
        Boolean,
      );
    }
    return passes[seat] ? [`passed ${passes[seat]} ×`] : [];
  },

  badges: () => [],

  plate(view) {
    const { contract, round, pot } = view.table;
    if (!contract) return [];
    return [
      el(
        "p",
        { class: "contract" },
        el("strong", {}, CONTRACTS[contract]?.title ?? contract),
        el("small", {}, CONTRACTS[contract]?.words),
      ),
      el("p", { class: "pot" }, `Round ${round} of ${view.rules.rounds} · Pot ${chips(pot)}`),
    ];
  },

  middle(view) {
    const { table } = view;
    if (table.layout) return layout(view);
    if (table.run)
      return table.run.length
        ? row(view, table.run, "Run")
        : el("p", { class: "quiet" }, "A new run is to be led.");
    return trick(view, table.trick ?? []);
  },

  more: () => null,
};
