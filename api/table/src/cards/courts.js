// The courts, drawn by us: a half figure in a frame of 64 by 50, mirrored below for the other half.

import { svg } from "../dom.js";

const path = (d, kind) => svg("path", { d, class: kind });

/** Shoulders, collar and head, which all have in common. */
const figure = () => [
  path("M4 50C6 36 18 30 32 30S58 36 60 50Z", "cloth"),
  path("M24 31L32 44L40 31L36 28H28Z", "collar"),
  path("M32 44V50M14 50C15 44 17 40 20 37M50 50C49 44 47 40 44 37", "seam"),
  path("M23 15C23 25 27 31 32 31S41 25 41 15Z", "skin"),
];

const eyes = () => [
  svg("circle", { cx: 28.5, cy: 20, r: 1, class: "line-fill" }),
  svg("circle", { cx: 35.5, cy: 20, r: 1, class: "line-fill" }),
  path("M32 20V23.500H30.800M29.500 26.500Q32 28 34.500 26.500", "line"),
];

const FIGURES = {
  king: () => [
    ...figure(),
    path("M22 19C21 30 26 37 32 37S43 30 42 19C40 26 36 25 32 25S24 26 22 19Z", "hair"),
    ...eyes(),
    path("M20 16L17 3L25.500 9L32 1L38.500 9L47 3L44 16Z", "gold"),
    path("M20 16H44V13H20Z", "trim"),
    svg("circle", { cx: 32, cy: 7.5, r: 1.7, class: "jewel" }),
  ],
  queen: () => [
    path(
      "M20 14C15 24 17 34 21 37C24 33 23 22 25 16H39C41 22 40 33 43 37C47 34 49 24 44 14Z",
      "hair",
    ),
    ...figure(),
    ...eyes(),
    path("M22 15C20 9 25 5 32 5S44 9 42 15Q32 11 22 15Z", "gold"),
    ...[24, 28, 32, 36, 40].map((cx, i) =>
      svg("circle", { cx, cy: 5.5 - [0, 2, 2.6, 2, 0][i], r: 1.8, class: "jewel" }),
    ),
  ],
  jack: () => [
    path("M21 15C18 22 19 28 21 30L25 18H39L43 30C45 28 46 22 43 15Z", "hair"),
    ...figure(),
    ...eyes(),
    path("M19 15C19 7 26 4 33 4S46 8 45 15Q32 11 19 15Z", "cap"),
    path("M43 9C50 6 53 1 52 -2C46 0 42 3 40 7Z", "gold"),
    path("M19 15Q32 11 45 15", "trim-line"),
  ],
  ober: () => [
    path("M21 15C18 22 19 28 21 30L25 18H39L43 30C45 28 46 22 43 15Z", "hair"),
    ...figure(),
    ...eyes(),
    path("M14 15C20 11 24 4 32 4S44 11 50 15Q32 12 14 15Z", "cap"),
    path("M24 11Q32 8 40 11", "trim-line"),
    path("M32 27C30 32 31 34 32 36C33 34 34 32 32 27Z", "hair"),
  ],
  unter: () => [
    path("M22 15C20 20 20 24 22 27L25 17H39L42 27C44 24 44 20 42 15Z", "hair"),
    ...figure(),
    ...eyes(),
    path("M21 16C19 8 24 5 30 6C40 2 46 6 43 16Q32 12 21 16Z", "cap"),
    path("M22 15.500Q32 11.500 42 15.500", "trim-line"),
  ],
};

const BY_RANK = { K: "king", Q: "queen", J: "jack", O: "ober", U: "unter" };

export const isCourt = (rank) => rank in BY_RANK;

/** The two halves of a court card, on a card of 100 by 140. */
export function court(rank) {
  const half = () => FIGURES[BY_RANK[rank]]();
  return [
    svg("rect", { x: 20, y: 18, width: 60, height: 104, rx: 3, class: "frame" }),
    svg("g", { transform: "translate(18 20)" }, ...half()),
    svg("g", { transform: "rotate(180 50 70) translate(18 20)" }, ...half()),
    svg("path", { d: "M20 70H80", class: "belt" }),
  ];
}
