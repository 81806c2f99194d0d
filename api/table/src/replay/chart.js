// A chart of the scores over the hands, as lines, with the same figures as a table for those who do not
// see it.

import { el, svg } from "../dom.js";

const [WIDTH, HEIGHT] = [720, 300];
const EDGE = { left: 46, right: 16, top: 14, bottom: 34 };
const DASHES = ["", "7 4", "2 3", "10 3 2 3", "", "7 4", "2 3", "10 3 2 3", "", "7 4"];

/** What is counted: chips where they moved, else lives, else points; each as it stood after each hand. */
function series({ seats, hands }, start) {
  const last = hands.at(-1);
  const running = (values, from = 0) =>
    seats.map((_, seat) => {
      let sum = from;
      return [sum, ...hands.map((hand) => (sum += values(hand)[seat] ?? 0))];
    });
  if (last.lives) {
    return [
      { title: "Lives", lines: running((hand) => hand.lives, start.lives ?? 0) },
      { title: "Points", lines: running((hand) => hand.points) },
    ];
  }
  return [{ title: "Chips", lines: running((hand) => hand.chips, start.chips ?? 0) }];
}

function steps(low, high) {
  const rough = Math.max(1, (high - low) / 5);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = Math.max(
    1,
    [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough),
  );
  const found = [];
  for (let at = Math.ceil(low / step) * step; at <= high; at += step) found.push(at);
  return found;
}

function drawn({ title, lines }, names, jump, hands) {
  const all = lines.flat();
  const [low, high] = [Math.min(0, ...all), Math.max(1, ...all)];
  const count = lines[0].length - 1;
  const x = (i) => EDGE.left + ((WIDTH - EDGE.left - EDGE.right) * i) / Math.max(1, count);
  const y = (value) =>
    HEIGHT - EDGE.bottom - ((HEIGHT - EDGE.top - EDGE.bottom) * (value - low)) / (high - low);
  const every = Math.ceil((count + 1) / 15);
  const parts = [
    ...steps(low, high).flatMap((value) => [
      svg("path", {
        d: `M${EDGE.left} ${y(value)}H${WIDTH - EDGE.right}`,
        class: value === 0 ? "axis" : "grid",
      }),
      svg(
        "text",
        { x: EDGE.left - 8, y: y(value) + 4, class: "tick y" },
        String(value).replace("-", "−"),
      ),
    ]),
    ...Array.from({ length: count + 1 }, (_, i) => i)
      .filter((i) => i % every === 0)
      .map((i) =>
        svg(
          "text",
          { x: x(i), y: HEIGHT - 12, class: "tick x" },
          i === 0 ? "start" : String(hands[i - 1].hand),
        ),
      ),
    ...lines.map((values, seat) =>
      svg("path", {
        d: values
          .map((value, i) => `${i ? "L" : "M"}${x(i).toFixed(1)} ${y(value).toFixed(1)}`)
          .join(""),
        class: `line seat-${seat}`,
        "stroke-dasharray": DASHES[seat],
      }),
    ),
    ...lines.flatMap((values, seat) =>
      values.map((value, i) =>
        svg(
          "circle",
          {
            cx: x(i).toFixed(1),
            cy: y(value).toFixed(1),
            r: count > 20 ? 2.5 : 3.5,
            class: `dot seat-${seat}`,
          },
          svg(
            "title",
            {},
            `${names[seat]}, ${i ? `hand ${hands[i - 1].hand}` : "start"}: ${value}`,
          ),
        ),
      ),
    ),
    ...hands.map((hand, i) =>
      svg("rect", {
        x: x(i + 1) - x(0.5) + x(0),
        y: 0,
        width: x(1) - x(0),
        height: HEIGHT,
        class: "hit",
        on: { click: () => jump(hand.hand) },
      }),
    ),
  ];
  return el(
    "figure",
    { class: "chart" },
    el("figcaption", {}, title),
    svg(
      "svg",
      {
        viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
        role: "img",
        "aria-label": `${title} of each player after each hand; the table below has the figures`,
      },
      ...parts,
    ),
  );
}

const key = (names) =>
  el(
    "ul",
    { class: "chart-key plain-list" },
    names.map((name, seat) =>
      el(
        "li",
        {},
        svg(
          "svg",
          { viewBox: "0 0 34 10", class: "key-line", "aria-hidden": "true" },
          svg("path", {
            d: "M1 5H33",
            class: `line seat-${seat}`,
            "stroke-dasharray": DASHES[seat],
          }),
        ),
        name,
      ),
    ),
  );

function figures({ title, lines }, names, hands) {
  return el(
    "details",
    {},
    el("summary", {}, `${title} in figures`),
    el(
      "div",
      { class: "scroll", tabindex: "0", role: "group", "aria-label": `${title} in figures` },
      el(
        "table",
        {},
        el(
          "thead",
          {},
          el(
            "tr",
            {},
            el("th", { scope: "col" }, "Hand"),
            names.map((name) => el("th", { scope: "col" }, name)),
          ),
        ),
        el(
          "tbody",
          {},
          hands.map((hand, i) =>
            el(
              "tr",
              {},
              el("th", { scope: "row" }, String(hand.hand)),
              lines.map((values) => el("td", {}, String(values[i + 1]))),
            ),
          ),
        ),
      ),
    ),
  );
}

/**
 * The chart of a game's scores (`/scores`). `start` has what everybody started with, `jump(hand)` is
 * called where a hand is chosen.
 */
export function chart(scores, names, start, jump) {
  const head = el("h2", {}, "Scores");
  if (!scores.hands.length)
    return el(
      "section",
      { class: "panel scores" },
      head,
      el("p", { class: "quiet" }, "No hand has been finished yet."),
    );
  const found = series(scores, start);
  return el(
    "section",
    { class: "panel scores" },
    head,
    key(names),
    el(
      "div",
      { class: "charts" },
      found.map((one) => drawn(one, names, jump, scores.hands)),
    ),
    found.map((one) => figures(one, names, scores.hands)),
  );
}
