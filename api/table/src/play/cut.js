// Where to cut the pack, and words of one's own that go into the shuffle.

import { freshId } from "../api.js";
import { button, el } from "../dom.js";

/** The form of the action `cut`; `act` gets the action with one place of its range. */
export function cutForm(action, act) {
  const { min, max } = action.at;
  const start = min + Math.floor((max - min) / 2);
  const shown = el("output", { for: "cut-at" }, String(start));
  const slider = el("input", {
    type: "range",
    id: "cut-at",
    min,
    max,
    value: String(start),
    "data-key": "cut",
    on: { input: () => (shown.textContent = slider.value) },
  });
  const nonce = el("input", {
    type: "text",
    id: "cut-nonce",
    maxlength: 64,
    autocomplete: "off",
    value: freshId().slice(0, 12),
  });
  return el(
    "form",
    {
      class: "cut",
      on: {
        submit: (event) => {
          event.preventDefault();
          act({ type: "cut", at: Number(slider.value), nonce: nonce.value });
        },
      },
    },
    el("label", { for: "cut-at" }, "Cards to take off: ", shown),
    slider,
    el("label", { for: "cut-nonce" }, "Your own words for the shuffle"),
    nonce,
    el(
      "small",
      {},
      "The service has already fixed its part; these words, which it could not foresee, go into the shuffle.",
    ),
    el("button", { type: "submit", class: "main" }, "Cut the pack"),
  );
}

/** A range that can be cut. */
export const isCut = (action) => action.type === "cut" && typeof action.at === "object";

/** A button that cuts in the middle at once. */
export const quickCut = (action, act) =>
  button(
    "Cut in the middle",
    () => act({ type: "cut", at: Math.floor((action.at.min + action.at.max) / 2) }),
    { "data-key": "cut-middle" },
  );
