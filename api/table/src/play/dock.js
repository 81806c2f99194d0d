// Below the table: what is asked, the actions as buttons, exactly those that the view lists.

import { button, el } from "../dom.js";
import { actionWords, groupWords } from "../words/actions.js";
import { cutForm, isCut } from "./cut.js";
import { byCard, cardChoices } from "./hand.js";

const MAIN = ["deal", "bet", "see_trump", "take"];

/** What differs between actions of one group is their card alone. */
const group = ({ card, ...rest }) => JSON.stringify(rest);

/** The actions that are not made by choosing a card of the hand. */
export function choices(view, act) {
  const inHand = new Set(byCard(view).values());
  const groups = new Map();
  for (const action of view.actions) {
    if (inHand.has(action)) continue;
    const key = group(action);
    groups.set(key, [...(groups.get(key) ?? []), action]);
  }
  const simple = [];
  const found = [];
  for (const actions of groups.values()) {
    const [action] = actions;
    if (isCut(action)) found.push(cutForm(action, act));
    else if (action.card) {
      const label = groupWords(view, action);
      found.push(
        el(
          "div",
          { class: "choices", role: "group", "aria-label": label },
          el("span", { class: "choices-label" }, label),
          cardChoices(view, actions, act, label),
        ),
      );
    } else {
      const main = MAIN.includes(action.type) || view.actions.length === 1;
      simple.push(
        button(actionWords(view, action), () => act(action), {
          class: main ? "main" : "",
          "data-key": JSON.stringify(action),
          "data-action": action.type,
        }),
      );
    }
  }
  return [...found, simple.length ? el("div", { class: "buttons" }, simple) : null];
}

/** Time that is left until a deadline, in words. */
export function timeLeft(deadline, now = Date.now()) {
  const seconds = Math.max(0, Math.ceil((Date.parse(deadline) - now) / 1000));
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const two = (n) => String(n).padStart(2, "0");
  return hours
    ? `${hours}:${two(minutes)}:${two(seconds % 60)}`
    : `${minutes}:${two(seconds % 60)}`;
}
