// What the service finds wrong with what somebody has filled in, in their words. What is not known here
// is told as the service says it.

const FIELDS = { name: "the name", ref: "the reference" };

const MEASURES = [
  [/`str` of length >= 1$/, () => "must not be empty"],
  [/`str` of length >= (\d+)$/, (n) => `needs at least ${n} characters`],
  [/`str` of length <= (\d+)$/, (n) => `may have ${n} characters at most`],
  [/`str` matching regex/, () => "holds characters that are not allowed there"],
  [/`int` >= (-?\d+)$/, (n) => `must be ${n} or more`],
  [/`int` <= (-?\d+)$/, (n) => `must be ${n} or less`],
];

function place(path) {
  const [, player, field] = /^\$(?:\.players\[(\d+)\])?\.(?:rules\.)?(.+)$/.exec(path) ?? [];
  if (!field) return path === "$" ? "" : path;
  const words = FIELDS[field] ?? field.replaceAll("_", " ");
  return player === undefined ? words : `player ${Number(player) + 1}, ${words}`;
}

function sentence({ path, message }) {
  const where = place(path);
  for (const [form, words] of MEASURES) {
    const found = form.exec(message);
    if (found) return `${where || "the value"} ${words(found[1])}`;
  }
  return where ? `${where}: ${message}` : message;
}

/** A problem for people: every field that is wrong, or else what the service says. */
export function complaint(problem) {
  const words = (problem.errors ?? []).map(sentence).join("; ") || problem.message;
  return words.charAt(0).toUpperCase() + words.slice(1);
}
