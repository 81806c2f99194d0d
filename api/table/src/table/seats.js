// The seats round the table: who sits there, how they stand, whose turn it is.

import { cardBack, cardFace } from "../cards/card.js";
import { sorted } from "../cards/names.js";
import { el } from "../dom.js";
import { chips, nameOf } from "../words/people.js";

/**
 * Where a seat is on an ellipse: the viewer at the bottom, the player on their left to the left.
 * @returns {{x: number, y: number}} in -1 … 1, y downwards
 */
export function place(view, seat) {
  const count = view.seats.length;
  const from = view.viewer.seat ?? 0;
  const angle = Math.PI / 2 + (2 * Math.PI * ((seat - from + count) % count)) / count;
  return { x: Math.cos(angle).toFixed(3), y: Math.sin(angle).toFixed(3) };
}

/** The seats in the order of the table, from the viewer's left on, the viewer last. */
function round(view) {
  const count = view.seats.length;
  const from = view.viewer.seat ?? -1;
  return view.seats.map((_, i) => (from + 1 + i + count) % count);
}

const badge = ([kind, text, title]) => el("span", { class: `badge ${kind}`, title }, text);

/** Lives as tokens, with the number for those who do not see them. */
function lives(count) {
  const tokens = count > 5 ? `♥ × ${count}` : "♥".repeat(count) || "—";
  return el(
    "span",
    { class: "lives", role: "img", "aria-label": `${count} ${count === 1 ? "life" : "lives"}` },
    tokens,
  );
}

function counters(view, seat, rules) {
  const score = view.scores[seat];
  const usesChips = rules.chips(view);
  return el(
    "span",
    { class: "counters" },
    score.lives === null ? null : lives(score.lives),
    usesChips ? el("span", {}, chips(score.chips)) : null,
    rules.counters(view, seat).map((text) => el("span", {}, text)),
    view.seats[seat].kind === "bot"
      ? el("span", { class: "bot", title: `A bot (${view.seats[seat].bot})` }, "bot")
      : null,
  );
}

function opened(view, seat) {
  const cards = view.opened?.hands[seat] ?? [];
  if (cards.length === 0) return null;
  const shown = sorted(view.game, view.rules, cards);
  return el(
    "span",
    { class: "opened-hand" },
    shown.map((card) => cardFace(view.game, card)),
  );
}

function one(view, seat, rules, showAll) {
  const seated = view.seats[seat];
  const { x, y } = place(view, seat);
  const turn = view.status === "playing" && view.to_act.includes(seat);
  const me = view.viewer.seat === seat;
  const empty = seated.name === null && !seated.in;
  const badges = [
    view.hand?.dealer === seat && view.status === "playing"
      ? ["dealer", "Dealer", "Deals this hand"]
      : null,
    ...(empty ? [] : rules.badges(view, seat)),
    seated.resigned ? ["gone", "Resigned", "A bot plays on"] : null,
    !seated.in && !empty ? ["gone", "Out", "Out of the game"] : null,
  ].filter(Boolean);
  const state = [
    turn ? "turn" : "",
    me ? "me" : "",
    Math.abs(x) < 0.1 ? "upright" : "",
    seated.in ? "" : "out",
  ].join(" ");
  return el(
    "li",
    { class: `seat ${state}`, vars: { x, y }, "data-seat": seat },
    el(
      "span",
      { class: "who" },
      turn ? el("span", { class: "turn-mark", "aria-hidden": "true" }, "▸") : null,
      el("span", { class: "name" }, nameOf(view, seat)),
      me ? el("span", { class: "you" }, "you") : null,
      turn ? el("span", { class: "unseen" }, ", to act") : null,
    ),
    counters(view, seat, rules),
    badges.length ? el("span", { class: "badges" }, badges.map(badge)) : null,
    rules.laid?.(view, seat) ? cardBack("A card laid face down", { class: "laid" }) : null,
    showAll ? opened(view, seat) : null,
  );
}

/** All the seats. `rules` is the game's own part of the table (see felt.js). */
export function seats(view, rules, showAll) {
  return el(
    "ol",
    { class: "seats", "aria-label": "Players" },
    round(view).map((seat) => one(view, seat, rules, showAll)),
  );
}
