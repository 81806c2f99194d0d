// Who is who, for one viewer.

/** What the player at a seat is called. */
export function nameOf(view, seat) {
  const found = view.seats[seat];
  return (
    found?.name ??
    (found?.in === false && view.status === "waiting" ? "Open seat" : `Seat ${seat + 1}`)
  );
}

/** "You" for the viewer, else the name. */
export const who = (view, seat) => (view.viewer.seat === seat ? "You" : nameOf(view, seat));

/** "you" in the middle of a sentence. */
export const whom = (view, seat) => (view.viewer.seat === seat ? "you" : nameOf(view, seat));

/** A verb that goes with `who`: `does(view, 2, "play", "plays")`. */
export const does = (view, seat, mine, theirs) =>
  `${who(view, seat)} ${view.viewer.seat === seat ? mine : theirs}`;

/** "Anna", "Anna and Bert", "Anna, Bert and Cleo". */
export function list(names) {
  if (names.length < 2) return names.join("");
  return `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}

/** `1 chip`, `-2 chips`; `signed` puts a + before gains. */
export function chips(amount, signed = false) {
  const sign = signed && amount > 0 ? "+" : "";
  return `${sign}${String(amount).replace("-", "−")} ${Math.abs(amount) === 1 ? "chip" : "chips"}`;
}

/** `1 trick`, `2 tricks`. */
export const tricks = (count) => `${count} ${count === 1 ? "trick" : "tricks"}`;

/** `1 point`, `2 points`. */
export const points = (count) => `${count} ${count === 1 ? "point" : "points"}`;

/** A signed number as it is printed. */
export const signed = (amount) => `${amount > 0 ? "+" : ""}${String(amount).replace("-", "−")}`;
