// Packs, and what cards are called. A card is rank then suit: `TH`, in the German pack `OA`; the joker
// is `XX`. A viewer may have one pack shown in the other's suits; the game's own notation stays.

import { setting } from "../settings.js";

const SUITS = {
  french: { C: "clubs", D: "diamonds", H: "hearts", S: "spades" },
  german: { A: "acorns", L: "leaves", H: "hearts", B: "bells" },
};
const RANKS = {
  2: "Two",
  3: "Three",
  4: "Four",
  5: "Five",
  6: "Six",
  7: "Seven",
  8: "Eight",
  9: "Nine",
  T: "Ten",
  J: "Jack",
  Q: "Queen",
  U: "Unter",
  O: "Ober",
  K: "King",
  A: "Ace",
};
const TO_FRENCH = { suits: { A: "C", L: "S", H: "H", B: "D" }, ranks: { U: "J", O: "Q" } };
const TO_GERMAN = { suits: { C: "A", S: "L", H: "H", D: "B" }, ranks: { J: "U", Q: "O" } };

/** The games' packs, and their ranks from the lowest. */
const GAMES = {
  lodam: {
    pack: "french",
    order: (rules) => (rules?.ranking === "natural" ? "23456789TJQKA" : "23456789JQKTA"),
  },
  lorum: { pack: "german", order: () => "789TUOKA" },
  loc: { pack: "french", order: () => "23456789TJQKA" },
};
const of = (game) => GAMES[game] ?? GAMES.loc;

export const suitsOf = (game) => Object.keys(SUITS[of(game).pack]);
export const ranksOf = (game, rules) => [...of(game).order(rules)];

/** In which pack the viewer wants to see the cards of a game. */
export function shownPack(game) {
  return setting("suits") === "own" ? of(game).pack : setting("suits");
}

/** A suit of a game's notation as it is shown: `{pack, suit}`. */
export function shownSuit(game, suit) {
  const [own, pack] = [of(game).pack, shownPack(game)];
  if (own === pack) return { pack, suit };
  return { pack, suit: (pack === "french" ? TO_FRENCH : TO_GERMAN).suits[suit] };
}

/** A card as it is shown: `{joker}` or `{pack, suit, rank, label}`. */
export function face(game, card) {
  if (card === "XX") return { joker: true, pack: shownPack(game) };
  const { pack, suit } = shownSuit(game, card[1]);
  const mapped =
    of(game).pack === pack ? card[0] : (pack === "french" ? TO_FRENCH : TO_GERMAN).ranks[card[0]];
  const rank = mapped ?? card[0];
  return { pack, suit, rank, label: rank === "T" ? "10" : rank };
}

/** What a card is called: "Ten of hearts". */
export function cardName(game, card) {
  const shown = face(game, card);
  return shown.joker ? "Joker" : `${RANKS[shown.rank]} of ${SUITS[shown.pack][shown.suit]}`;
}

/** What a suit is called. */
export function suitName(game, suit) {
  const shown = shownSuit(game, suit);
  return SUITS[shown.pack][shown.suit];
}

/** A hand as it is held: by suit, the highest first, the joker at the end. */
export function sorted(game, rules, cards) {
  const [suits, ranks] = [inHand(game), ranksOf(game, rules)];
  const place = (card) =>
    card === "XX" ? 1000 : suits.indexOf(card[1]) * 100 - ranks.indexOf(card[0]);
  return [...cards].sort((a, b) => place(a) - place(b));
}

/** Suits in the order in which a hand shows them: colours alternate. */
const inHand = (game) => (of(game).pack === "german" ? ["A", "H", "L", "B"] : ["S", "H", "C", "D"]);
