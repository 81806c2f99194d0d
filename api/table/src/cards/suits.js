// The signs of the suits, drawn by us on a square of 100 by 100.

import { svg } from "../dom.js";

const SPADE =
  "M50 5C60 24 92 40 92 64A21 21 0 0 1 57 78C58 86 62 92 69 97H31C38 92 42 86 43 78A21 21 0 0 1 8 64C8 40 40 24 50 5Z";
const HEART = "M50 94C38 76 6 60 6 33A23 23 0 0 1 50 23A23 23 0 0 1 94 33C94 60 62 76 50 94Z";
const DIAMOND = "M50 3C57 22 70 38 86 50C70 62 57 78 50 97C43 78 30 62 14 50C30 38 43 22 50 3Z";
const CLUB =
  "M50 4A21 21 0 0 1 66 39A21 21 0 1 1 57 75C58 84 62 91 69 96H31C38 91 42 84 43 75A21 21 0 1 1 34 39A21 21 0 0 1 50 4Z";

const path = (d, kind) => svg("path", { d, class: kind });

const FRENCH = {
  S: () => [path(SPADE, "ink")],
  H: () => [path(HEART, "ink")],
  D: () => [path(DIAMOND, "ink")],
  C: () => [path(CLUB, "ink")],
};

const GERMAN = {
  H: () => [path(HEART, "ink"), path("M24 32A11 11 0 0 1 38 22", "shine")],
  A: () => [
    path("M50 97C34 88 26 70 27 48H73C74 70 66 88 50 97Z", "acorn"),
    path("M39 55C38 67 40 78 45 86", "shine"),
    path("M20 46C20 27 34 18 50 18S80 27 80 46C80 51 76 52 72 52H28C24 52 20 51 20 46Z", "cup"),
    path("M30 30L44 50M46 20L62 50M62 21L74 46M70 30L56 50M54 20L38 50M38 22L27 46", "weave"),
    path("M50 18C50 11 53 6 60 3", "stalk"),
  ],
  L: () => [
    path(
      "M50 6C66 22 92 36 88 60C86 76 70 82 54 76L55 97H45L46 76C30 82 14 76 12 60C8 36 34 22 50 6Z",
      "leaf",
    ),
    path("M50 22V76M50 44L70 34M50 58L76 52M50 44L30 34M50 58L24 52", "vein"),
  ],
  B: () => [
    path("M43 12A7 7 0 1 1 57 12V18H43Z", "bell"),
    svg("circle", { cx: 50, cy: 54, r: 38, class: "bell" }),
    path("M12 50C30 40 70 40 88 50V60C70 50 30 50 12 60Z", "band"),
    path("M50 66V90", "slit"),
    svg("circle", { cx: 50, cy: 66, r: 6, class: "hole" }),
    path("M24 36A30 30 0 0 1 42 22", "shine"),
  ],
};

/** The sign of a suit as a nested SVG of a size at a place. */
export function suitSign(pack, suit, { x = 0, y = 0, size = 100, turned = false } = {}) {
  const signs = pack === "german" ? GERMAN : FRENCH;
  const turn = turned ? `rotate(180 ${x + size / 2} ${y + size / 2}) ` : "";
  const scale = `${turn}translate(${x} ${y}) scale(${size / 100})`;
  return svg("g", { transform: scale, class: `sign ${pack}-${suit}` }, ...signs[suit]());
}

/** The sign of a suit to stand in a line of text. */
export function suitIcon(pack, suit, label) {
  const props = { viewBox: "0 0 100 100", class: "suit-icon", role: "img", "aria-label": label };
  return svg("svg", props, suitSign(pack, suit));
}
