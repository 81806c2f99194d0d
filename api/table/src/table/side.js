// Beside the table: what has just gone, payments, the tricks one has taken, the standings.

import { cardFace } from "../cards/card.js";
import { el } from "../dom.js";
import { nameOf, points, signed } from "../words/people.js";
import { rulesOf } from "./felt.js";

const small = (view, cards) =>
  el(
    "span",
    { class: "small-cards" },
    cards.map((card) => cardFace(view.game, card)),
  );

/** The last trick or run that has gone, and the payments of the last hand. */
export function previous(view) {
  const gone = view.previous;
  if (!gone) return null;
  const onTable = JSON.stringify(gone.trick) === JSON.stringify(view.table.shown);
  const paid = gone.payments.filter(({ chips, lives }) => chips || lives);
  if (onTable && !paid.length) return null;
  return el(
    "section",
    { class: "panel" },
    el(
      "h2",
      {},
      onTable ? "Last hand" : view.table.run || view.table.layout ? "Just gone" : "Last trick",
    ),
    onTable
      ? null
      : el(
          "ol",
          { class: "last-trick" },
          gone.trick.map(({ seat, card }) =>
            el("li", {}, cardFace(view.game, card), el("small", {}, nameOf(view, seat))),
          ),
        ),
    onTable || gone.taker === null ? null : el("p", {}, `Taken by ${nameOf(view, gone.taker)}.`),
    paid.length
      ? el(
          "p",
          { class: "payments" },
          `Hand ${gone.payments_hand} brought `,
          paid.map(
            ({ seat, chips, lives }, i) =>
              `${i ? ", " : ""}${nameOf(view, seat)} ${[chips ? signed(chips) : null, lives ? `${signed(lives)} ${Math.abs(lives) === 1 ? "life" : "lives"}` : null].filter(Boolean).join(" and ")}`,
          ),
          ".",
        )
      : null,
  );
}

/** The viewer's own tricks. */
export function taken(view) {
  const tricks = view.private?.tricks ?? [];
  if (!tricks.length) return null;
  return el(
    "details",
    { class: "panel", "data-key": "taken" },
    el(
      "summary",
      {},
      `Your tricks (${tricks.length})${view.private.points ? `, ${points(view.private.points)}` : ""}`,
    ),
    el(
      "ol",
      { class: "small-tricks" },
      tricks.map((cards) => el("li", {}, small(view, cards))),
    ),
  );
}

/** Where everybody stands. */
export function standings(view) {
  const rules = rulesOf(view.game);
  const columns = [
    view.scores.some(({ lives }) => lives !== null) ? ["Lives", (s) => s.lives] : null,
    rules.chips(view) ? ["Chips", (s) => signed(s.chips)] : null,
    view.scores.some((score) => score.points !== null) ? ["Points so far", (s) => s.points] : null,
  ].filter(Boolean);
  const won = view.result?.winners ?? [];
  return el(
    "section",
    { class: "panel" },
    el("h2", { id: "standings" }, "Standings"),
    el(
      "table",
      { "aria-labelledby": "standings" },
      el(
        "thead",
        {},
        el(
          "tr",
          {},
          el("th", { scope: "col" }, "Player"),
          columns.map(([title]) => el("th", { scope: "col" }, title)),
        ),
      ),
      el(
        "tbody",
        {},
        view.scores.map((score) =>
          el(
            "tr",
            { class: won.includes(score.seat) ? "winner" : "" },
            el(
              "th",
              { scope: "row" },
              nameOf(view, score.seat),
              won.includes(score.seat) ? " ★" : "",
              won.includes(score.seat) ? el("span", { class: "unseen" }, " (winner)") : null,
            ),
            columns.map(([, value]) => el("td", {}, String(value(score) ?? "–"))),
          ),
        ),
      ),
    ),
  );
}
