// A card to look at: SVG of 100 by 140, large index for small screens, pips and courts for large ones.

import { el, svg } from "../dom.js";
import { setting } from "../settings.js";
import { court, isCourt } from "./courts.js";
import { cardName, face } from "./names.js";
import { suitSign } from "./suits.js";

const [L, M, R] = [33, 50, 67];
/** Where the pips are, by rank: x, y, and the lower ones upside down. */
const PIPS = {
  2: [
    [M, 30],
    [M, 110],
  ],
  3: [
    [M, 30],
    [M, 70],
    [M, 110],
  ],
  4: [
    [L, 30],
    [R, 30],
    [L, 110],
    [R, 110],
  ],
  5: [
    [L, 30],
    [R, 30],
    [M, 70],
    [L, 110],
    [R, 110],
  ],
  6: [
    [L, 30],
    [R, 30],
    [L, 70],
    [R, 70],
    [L, 110],
    [R, 110],
  ],
  7: [
    [L, 30],
    [R, 30],
    [M, 50],
    [L, 70],
    [R, 70],
    [L, 110],
    [R, 110],
  ],
  8: [
    [L, 30],
    [R, 30],
    [M, 50],
    [L, 70],
    [R, 70],
    [M, 90],
    [L, 110],
    [R, 110],
  ],
  9: [
    [L, 28],
    [R, 28],
    [L, 56],
    [R, 56],
    [M, 70],
    [L, 84],
    [R, 84],
    [L, 112],
    [R, 112],
  ],
  T: [
    [L, 28],
    [R, 28],
    [M, 42],
    [L, 56],
    [R, 56],
    [L, 84],
    [R, 84],
    [M, 98],
    [L, 112],
    [R, 112],
  ],
};

function middle({ pack, suit, rank }) {
  if (isCourt(rank)) {
    // The suit of an Ober stands high and that of an Unter low: so they are told apart of old.
    const low = rank === "U";
    const sign = (turned) => suitSign(pack, suit, { x: 62, y: low ? 48 : 22, size: 15, turned });
    return [...court(rank), sign(false), svg("g", { transform: "rotate(180 50 70)" }, sign(false))];
  }
  if (rank === "A") {
    return [
      svg("circle", { cx: 50, cy: 70, r: 31, class: "ring" }),
      suitSign(pack, suit, { x: 28, y: 48, size: 44 }),
    ];
  }
  return PIPS[rank].map(([x, y]) =>
    suitSign(pack, suit, { x: x - 9, y: y - 9, size: 18, turned: y > 70 && pack === "french" }),
  );
}

function corner({ pack, suit, label }) {
  return [
    svg("text", { x: 11, y: 21, class: label.length > 1 ? "index wide" : "index" }, label),
    suitSign(pack, suit, { x: 4, y: 25, size: 14 }),
  ];
}

/** What a narrow card shows instead of its corners and pips: rank and suit at its left edge, which
 * the next card leaves free. */
function large({ pack, suit, label }) {
  return [
    svg("text", { x: 6, y: 46, class: label.length > 1 ? "big wide" : "big" }, label),
    suitSign(pack, suit, { x: 8, y: 54, size: 34 }),
    suitSign(pack, suit, { x: 44, y: 80, size: 50 }),
  ];
}

function joker() {
  return [
    svg("path", {
      d: "M22 66C14 44 24 28 34 30C38 18 62 18 66 30C76 28 86 44 78 66L66 50L58 66L50 46L42 66L34 50Z",
      class: "jester",
    }),
    svg("path", { d: "M24 72H76V80H24Z", class: "gold" }),
    ...[
      [22, 68],
      [42, 68],
      [58, 68],
      [78, 68],
    ].map(([cx, cy]) => svg("circle", { cx, cy, r: 4, class: "gold" })),
    svg("text", { x: 50, y: 112, class: "joker-word" }, "JOKER"),
  ];
}

const paper = () => svg("rect", { x: 1, y: 1, width: 98, height: 138, rx: 9, class: "paper" });

function drawing(game, card) {
  const shown = face(game, card);
  if (shown.joker) return [paper(), ...joker()];
  const both = [...corner(shown), svg("g", { transform: "rotate(180 50 70)" }, ...corner(shown))];
  return [
    paper(),
    svg("g", { class: "fine" }, ...middle(shown), ...both),
    svg("g", { class: "coarse" }, ...large(shown)),
  ];
}

const picture = (parts) =>
  svg("svg", { viewBox: "0 0 100 140", "aria-hidden": "true", focusable: "false" }, ...parts);

/** The colour class of a card. */
function colour(game, card) {
  const { joker: isJoker, pack, suit } = face(game, card);
  return isJoker
    ? "joker"
    : `${pack} ${pack}-${suit} ${setting("colours") === "four" ? "four" : "two"}`;
}

/** A card that lies there. `props.class` adds classes. */
export function cardFace(game, card, props = {}) {
  const kind = `card ${colour(game, card)} ${props.class ?? ""}`;
  return el(
    "span",
    { role: "img", "aria-label": cardName(game, card), ...props, class: kind, "data-card": card },
    picture(drawing(game, card)),
  );
}

/** A card that can be played or chosen. */
export function cardButton(game, card, act, props = {}) {
  const kind = `card ${colour(game, card)} ${props.class ?? ""}`;
  return el(
    "button",
    {
      type: "button",
      "aria-label": cardName(game, card),
      ...props,
      class: kind,
      "data-card": card,
      on: { click: act },
    },
    picture(drawing(game, card)),
  );
}

/** The back of a card. */
export function cardBack(label, props = {}) {
  const lattice = [];
  for (let at = -130; at < 100; at += 10) {
    lattice.push(`M${at} 6L${at + 128} 134`, `M${at + 128} 6L${at} 134`);
  }
  const parts = [
    paper(),
    svg(
      "svg",
      { x: 7, y: 7, width: 86, height: 126, viewBox: "7 7 86 126" },
      svg("rect", { x: 7, y: 7, width: 86, height: 126, rx: 5, class: "back" }),
      svg("path", { d: lattice.join(""), class: "lattice" }),
    ),
    svg("circle", { cx: 50, cy: 70, r: 17, class: "back-plate" }),
    svg("path", {
      d: "M50 56C53 64 60 68 60 74A6.500 6.500 0 0 1 52 78C52 81 53 83 55 85H45C47 83 48 81 48 78A6.500 6.500 0 0 1 40 74C40 68 47 64 50 56Z",
      class: "back-sign",
    }),
  ];
  const known = label ? { role: "img", "aria-label": label } : { "aria-hidden": "true" };
  return el(
    "span",
    { ...known, ...props, class: `card facedown ${props.class ?? ""}` },
    picture(parts),
  );
}
