// Where one can jump to in a log: hands, and tricks or runs within them.

/** Events after which a trick, run or showing is complete. */
const ENDS = { TrickTaken: "Trick", RunCompleted: "Run", CardsShown: "Trick" };
/** Events before which the cards of the trick still lie on the table. */
const AFTER = ["TrickTaken", "RunCompleted"];

/** The hands: `[{hand, from, to, tricks: [{label, version}]}]`. */
export function hands(events) {
  const found = [];
  for (const { type, version, data } of events) {
    if (type === "HandStarted")
      found.push({ hand: data.hand, from: version, to: version, tricks: [] });
    const hand = found.at(-1);
    if (!hand) continue;
    hand.to = version;
    if (type in ENDS) {
      const at = AFTER.includes(type) ? version - 1 : version;
      hand.tricks.push({ label: `${ENDS[type]} ${hand.tricks.length + 1}`, version: at });
    }
  }
  return found;
}

/** The hand that a version belongs to. */
export const handAt = (places, version) => places.findLast(({ from }) => from <= version) ?? null;
