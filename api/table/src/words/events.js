// The log in words, one event at a time, as its reader may see it. An event of a type that is not known
// here is told by its name.

import { cardName } from "../cards/names.js";
import { CONTRACTS } from "./contracts.js";
import { chips, does, list, nameOf, signed, who, whom } from "./people.js";

const KINDS = { coat: "a coat for a coat", card: "a card for a card" };
const REASONS = {
  stake: "The stakes go into the pool",
  pool: "The pool is paid out",
  penalties: "Penalties are paid",
  cards_left: "Cards left are paid for",
  pass: "Passing costs",
  payout: "The pot is paid out",
  pot_shared: "The pot is shared out",
  joker: "The joker takes the bank",
  ace: "The ace takes the bank",
  last_trick: "The last trick takes the bank",
  trick: "for the trick",
  refresh: "to fill the bank again",
  ante: "as ante",
};

const TELL = {
  GameCreated: () => "The game is set up.",
  SeatTaken: (v, d) => `${does(v, d.seat, "take", "takes")} a seat.`,
  SeatTokenIssued: (v, d) =>
    d.generation > 1
      ? `The token of ${whom(v, d.seat)} is issued anew: earlier ones are no longer valid.`
      : `A token is issued for ${whom(v, d.seat)}.`,
  SpectatorTokenIssued: () => "A token for a spectator is issued.",
  HandStarted: (v, d) =>
    `${handWord(v)} ${d.hand} begins; ${does(v, d.dealer, "deal", "deals")}${d.by_lot ? ", by lot" : ""}.`,
  PackCut: (v, d, e) =>
    d.auto
      ? `The server cuts at ${d.at}.`
      : `${who(v, e.actor)} cut${v.viewer.seat === e.actor ? "" : "s"} at ${d.at}${d.nonce ? `, adding “${d.nonce}”` : ""}.`,
  HandDealt: () => "The cards are dealt.",
  SeedRevealed: (v, d) => `${handWord(v)} ${d.hand} is opened.`,
  PlayerResigned: (v, d) => `${does(v, d.seat, "resign", "resigns")}.`,
  ClockStarted: () => "The clock starts.",
  BotTimed: (v, d) => `${nameOf(v, d.seat)} takes its time.`,
  GameAbandoned: (v, d) => `The game is abandoned${d.reason ? `: ${d.reason}` : ""}.`,
  PlayerErased: (v, d) => `Seat ${d.seat + 1}: the name is erased.`,
  GameEnded: (v, d) =>
    `The game ends: ${d.winners.length ? `${list(d.winners.map((s) => whom(v, s)))} won` : "nobody won"}.`,
  CardPlayed: (v, d) => `${does(v, d.seat, "play", "plays")} the ${cardName(v.game, d.card)}.`,
  Passed: (v, d) => `${does(v, d.seat, "pass", "passes")}.`,
  ChipsMoved: (v, d) => `${REASONS[d.reason] ?? `Chips move (${d.reason})`}: ${moved(v, d)}.`,
  TrickTaken: (v, d, e) =>
    `${does(v, d.seat, "take", "takes")} trick ${d.trick}${open(e).swallowed ? ", swallowing it" : ""}.`,
  TradeOffered: (v, d, e) =>
    `${does(v, d.seat, "offer", "offers")} ${KINDS[d.kind] ?? d.kind}${open(e).card ? ` (the ${cardName(v.game, open(e).card)})` : ""}.`,
  TradeDeclined: (v, d) => `${does(v, d.seat, "decline", "declines")}.`,
  TradeWithdrawn: (v, d) => `${does(v, d.seat, "take", "takes")} the offer back.`,
  TradeLapsed: (v, d) =>
    v.viewer.seat === d.seat ? "Your offer lapses." : `The offer of ${nameOf(v, d.seat)} lapses.`,
  TradeConcluded: (v, d, e) => {
    const [from, to] = d.seats.map((seat) => whom(v, seat));
    const cards = open(e).offered
      ? ` (the ${cardName(v.game, open(e).offered)} for the ${cardName(v.game, open(e).card)})`
      : "";
    return d.annulled
      ? `The trade of ${from} and ${to} is annulled${cards}.`
      : `${list([from, to])} trade${cards}.`;
  },
  TrumpTurned: (v, d, e) =>
    `The trump is turned up${open(e).card ? `: the ${cardName(v.game, open(e).card)}` : ""}.`,
  TrumpSeen: (v, d) => `${does(v, d.seat, "have", "has")} seen the trump.`,
  TrumpCovered: () => "The trump is turned down again.",
  TrickLeft: (v, d, e) =>
    `${does(v, d.seat ?? e.actor, "say", "says")} that ${whom(v, d.named)} trumped: ${d.believed ? "so it is" : "that is not so"}.`,
  Announced: (v, d) => `${does(v, d.seat, "announce", "announces")} 31.`,
  ChallengeDecided: (v, d) =>
    `${does(v, d.seat, "challenge", "challenges")} ${whom(v, d.challenged)}: ${d.upheld ? "upheld" : "rejected"} (${d.points.join(" against ")} points).`,
  HandScored: (v, d) => {
    const lost = d.lost.flatMap((n, seat) => (n ? [whom(v, seat)] : []));
    return `The hand counts ${points(v, d.points)}; ${lost.length ? `${list(lost)} lose${lost.length === 1 && lost[0] !== "you" ? "s" : ""} a life` : "nobody loses a life"}.`;
  },
  ContractAnnounced: (v, d) => `Contract: ${CONTRACTS[d.contract]?.title ?? d.contract}.`,
  RunCompleted: (v, d) => `The run is complete; ${does(v, d.seat, "lead", "leads")}.`,
  RoundScored: (v, d) => `The round brings ${points(v, d.chips, signed)}.`,
  BetPlaced: (v, d) =>
    `${does(v, d.seat, "put", "puts")} in ${chips(d.amount)} ${REASONS[d.reason] ?? d.reason}${d.short ? " (all that is left)" : ""}.`,
  CardDiscarded: (v, d, e) =>
    `${does(v, d.seat, "discard", "discards")}${open(e).card ? ` the ${cardName(v.game, open(e).card)}` : ""}.`,
  CardLaid: (v, d, e) =>
    `${does(v, d.seat, "lay", "lays")} a card face down${open(e).card ? ` (the ${cardName(v.game, open(e).card)})` : ""}.`,
  CardsShown: (v, d) =>
    `The cards are shown; the highest is ${whom(v, d.highest)}’s.`.replace("you’s", "yours"),
  HandSettled: (v, d) => `The hand brings ${points(v, d.chips, signed)}.`,
};

/** The data of the parts that lie open, together. */
const open = (event) => Object.assign({}, ...event.sealed.map((part) => part.data ?? {}));

const handWord = (view) => (view.game === "lorum" ? "Round" : "Hand");

const points = (view, amounts, print = String) =>
  list(
    amounts.flatMap((n, seat) => (view.seats[seat] ? [`${nameOf(view, seat)} ${print(n)}`] : [])),
  );

function moved(view, { changes, pot }) {
  const parts = changes.flatMap((n, seat) => (n ? [`${nameOf(view, seat)} ${signed(n)}`] : []));
  return [...parts, ...(pot ? [`pot ${signed(pot)}`] : [])].join(", ") || "nothing";
}

/** An event in a sentence. */
export function eventWords(view, event) {
  const tell = TELL[event.type];
  const words = tell ? tell(view, event.data, event) : event.type.replace(/(?<=.)([A-Z])/g, " $1");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Whether an event is worth telling to somebody who plays. */
export const worthTelling = (event) =>
  ![
    "SeatTokenIssued",
    "SpectatorTokenIssued",
    "ClockStarted",
    "BotTimed",
    "HandDealt",
    "TrumpSeen",
  ].includes(event.type);
