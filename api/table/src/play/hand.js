// The viewer's own cards. Those that can be played are buttons, the others lie there dimmed.

import { cardBack, cardButton, cardFace } from "../cards/card.js";
import { cardName, sorted } from "../cards/names.js";
import { el } from "../dom.js";

const FROM_HAND = ["play", "discard"];

/** The actions that are made by choosing a card of the hand, by card. */
export function byCard(view) {
  const found = new Map();
  for (const action of view.actions) {
    if (FROM_HAND.includes(action.type)) found.set(action.card, action);
  }
  return found;
}

/** Arrow keys go from card to card, Home and End to the ends. */
function walk(event) {
  const cards = [...event.currentTarget.querySelectorAll("button.card:not(:disabled)")];
  const at = cards.indexOf(document.activeElement);
  const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: cards.length - 1 }[event.key];
  if (at < 0 || to === undefined) return;
  event.preventDefault();
  cards[(to + cards.length) % cards.length].focus();
}

/** The hand; `act(action)` is called with the action of the card that was chosen. */
export function hand(view, act) {
  if (!view.private) return null;
  const { game, rules } = view;
  const actions = byCard(view);
  const choosing = actions.size > 0;
  const cards = sorted(game, rules, view.private.cards);
  const word = [...actions.values()][0]?.type === "discard" ? "Discard" : "Play";
  const laid = view.private.laid ?? null;
  return el(
    "div",
    { class: "own" },
    laid
      ? el("div", { class: "own-laid" }, cardFace(game, laid), el("small", {}, "Laid face down"))
      : null,
    el(
      "ul",
      { class: "hand", "aria-label": "Your cards", on: { keydown: walk } },
      cards.map((card) => {
        const action = actions.get(card);
        return el(
          "li",
          {},
          action
            ? cardButton(game, card, () => act(action), {
                "data-key": card,
                "aria-label": `${word} ${cardName(game, card)}`,
                class: "playable",
              })
            : cardFace(game, card, { class: choosing ? "dimmed" : "" }),
        );
      }),
    ),
    cards.length === 0 && view.status === "playing" && view.hand?.phase === "cutting"
      ? cardBack("The pack")
      : null,
  );
}

/** The cards that a set of actions differ in, as small buttons. */
export const cardChoices = (view, actions, act, label) =>
  actions.map((action) =>
    cardButton(view.game, action.card, () => act(action), {
      class: "choice",
      "data-key": `${action.type}-${action.card}`,
      "aria-label": `${label} ${cardName(view.game, action.card)}`,
    }),
  );
