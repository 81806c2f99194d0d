// What the actions are called, and what the game waits for.

import { cardName, suitName } from "../cards/names.js";
import { list, nameOf, who } from "./people.js";

const KINDS = { coat: "a coat for a coat", card: "a card for a card" };

/** The words on the button of an action. An action that is not known here is told as it is. */
export function actionWords(view, action) {
  const card = action.card && cardName(view.game, action.card);
  switch (action.type) {
    case "bet":
      return `Put in ${view.rules.stake}`;
    case "deal":
      return "Deal";
    case "cut":
      return "Cut the pack";
    case "play":
      return `Play ${card}`;
    case "discard":
      return `Discard ${card}`;
    case "pass":
      return "Pass";
    case "offer_trade":
      return `Offer ${card}, ${KINDS[action.kind] ?? action.kind}`;
    case "accept_trade":
      return `Give ${card}`;
    case "decline_trade":
      return "Decline";
    case "withdraw_trade":
      return "Take the offer back";
    case "see_trump":
      return "I have seen it";
    case "take":
      return "Take the trick";
    case "leave":
      return `Leave it to ${nameOf(view, action.seat)}`;
    case "announce":
      return "Announce 31";
    case "challenge":
      return `Challenge ${nameOf(view, action.seat)}`;
    default: {
      const { type, ...more } = action;
      const words = Object.entries(more).map(([name, value]) => `${name} ${JSON.stringify(value)}`);
      return [type.replaceAll("_", " "), ...words].join(", ");
    }
  }
}

/** What a group of actions that differ in their card only is headed by. */
export function groupWords(view, action) {
  switch (action.type) {
    case "offer_trade":
      return action.kind === "coat" ? "“A coat for a coat?” Offer" : "“A card for a card?” Offer";
    case "accept_trade":
      return "Accept, and give";
    default:
      return action.type.replaceAll("_", " ");
  }
}

const PHASES = {
  cutting: "Cutting",
  dealing: "Dealing",
  betting: "Betting",
  trading: "Trading",
  discarding: "Discarding",
  playing: "Play",
  trump_shown: "The trump is shown",
  taking: "Whose trick?",
  reckoning: "Reckoning",
  over: "Over",
};

export const phaseWords = (phase) => PHASES[phase] ?? phase.replaceAll("_", " ");

/** What the viewer is asked to do, or whom the game waits for. */
export function prompt(view) {
  if (view.status === "waiting") {
    const open = view.seats.filter((seat) => seat.name === null && !seat.in).length;
    return open === 1 ? "Waiting for one more player." : `Waiting for ${open} more players.`;
  }
  if (view.status === "abandoned") return "The game was abandoned.";
  if (view.status === "finished") return winners(view);
  const me = view.viewer.seat;
  if (me !== null && view.to_act.includes(me)) return mine(view);
  const others = view.to_act.filter((seat) => seat !== me).map((seat) => nameOf(view, seat));
  const free = me !== null && view.actions.length ? " You may act as well." : "";
  return others.length
    ? `Waiting for ${list(others)}.${free}`
    : `The next step is the server’s.${free}`;
}

/** Who has won, in words. */
export function winners(view) {
  const won = view.result?.winners ?? [];
  if (won.length === 0) return "The game is over; nobody has won.";
  const verb = won.length === 1 && won[0] !== view.viewer.seat ? "wins" : "win";
  const reason = view.result.reason === "resigned" ? " (there were resignations)" : "";
  return `${list(won.map((seat) => who(view, seat)))} ${verb} the game${reason}.`;
}

function mine(view) {
  const types = new Set(view.actions.map((action) => action.type));
  switch (view.hand?.phase) {
    case "cutting":
      return "Cut the pack.";
    case "dealing":
      return "The pack is cut: deal.";
    case "betting":
      return `Put in your stake of ${view.rules.stake}.`;
    case "discarding":
      return "Lay one card aside, face down.";
    case "trump_shown":
      return `Remember the trump: ${view.table.trump ? suitName(view.game, view.table.trump) : "look at the card"}.`;
    case "taking":
      return "Is this trick yours, or did somebody trump you?";
    case "reckoning":
      return types.size > 1
        ? "The last trick is gone. Announce, challenge or pass."
        : "The last trick is gone. Pass.";
    case "trading":
      if (types.has("decline_trade")) return "An offer stands: accept it or decline.";
      return types.has("offer_trade") ? "Offer a trade, or pass." : "Pass, to begin the play.";
    default:
      return playing(view, types);
  }
}

function playing(view, types) {
  if (!types.has("play"))
    return types.has("decline_trade") ? "Answer the offer before you lead." : "It is your turn.";
  const { table, game } = view;
  if (game === "loc") return `Lay a card face down for trick ${table.trick}.`;
  if (table.layout)
    return table.layout.start
      ? "Lay a card that fits."
      : "Lay the first card: it sets the start rank.";
  if (table.run) return table.run.length ? "Play the next card in order." : "Lead any card.";
  if (!table.trick?.length) return "Your lead: play any card.";
  const led = table.trick[0].card[1];
  const follow = view.actions.some((action) => action.type === "play" && action.card[1] === led);
  const suit = suitName(game, led);
  return follow ? `Your turn: follow ${suit}.` : `You have no ${suit}: play any card.`;
}
