// The hash chain, the order of commands, and the sealed parts (docs/log.md, docs/proof.md).

import { canonical, encoded, fromBase64url, hex, sha256 } from "./bytes.js";

const ZEROS = "0".repeat(64);

/** The hash of an event as the log's form has it. */
async function hashOf(event) {
  const { actor, at, command, data, game, prev, schema, type, version } = event;
  const sealed = event.sealed.map((part) => ({ digest: part.digest, for: part.for }));
  return hex(
    await sha256(
      encoded(canonical({ actor, at, command, data, game, prev, schema, sealed, type, version })),
    ),
  );
}

/** Problems of the chain, `[version, reason]`. */
export async function chainProblems(id, events) {
  const problems = [];
  let prev = ZEROS;
  for (const [index, event] of events.entries()) {
    if (event.game !== id) problems.push([event.version, "the event is of another game"]);
    if (event.version !== index + 1)
      return [...problems, [index + 1, `the event in its place says version ${event.version}`]];
    if (event.prev !== prev)
      problems.push([event.version, "it does not follow from the event before"]);
    else if ((await hashOf(event)) !== event.hash)
      problems.push([event.version, "the hash does not fit what it says"]);
    prev = event.hash;
  }
  return problems;
}

/** The events of a command stand together, with one time and one actor, and time never runs back. */
export function orderProblems(events) {
  const problems = [];
  const seen = new Set();
  let last = null;
  for (const event of events) {
    if (last !== null && event.at < last.at)
      problems.push([event.version, "its time lies before that of the event before"]);
    if (event.command === last?.command) {
      if (event.at !== last.at || event.actor !== last.actor)
        problems.push([event.version, "time or actor differ within one command"]);
    } else if (seen.has(event.command)) problems.push([event.version, "its command was at an end"]);
    seen.add(event.command);
    last = event;
  }
  return problems;
}

/** The ranges of versions whose parts lie open to everyone. */
export const openRanges = (events) => events.map(({ data }) => data.opens).filter(Array.isArray);

async function partProblem(part, isOpen) {
  if (part.erased) return null;
  if (part.data === undefined && part.salt === undefined) {
    return isOpen && part.for !== "all" ? "was opened and is not shown" : null;
  }
  if (part.data === undefined || part.salt === undefined) return "is half given";
  try {
    const salt = fromBase64url(part.salt);
    const digest = hex(await sha256(salt, encoded(canonical(part.data))));
    return salt.length === 16 && digest === part.digest ? null : "does not fit its digest";
  } catch (error) {
    if (error instanceof TypeError) return "has no proper salt";
    throw error;
  }
}

/** Problems of the sealed parts, and the versions that hold parts still sealed to this reader. */
export async function digestProblems(events) {
  const opened = openRanges(events);
  const problems = [];
  const sealed = new Set();
  for (const { version, sealed: parts } of events) {
    const isOpen = opened.some(([first, last]) => first <= version && version <= last);
    for (const [index, part] of parts.entries()) {
      const problem = await partProblem(part, isOpen);
      if (problem) problems.push([version, `part ${index + 1} ${problem}`]);
      else if (part.data === undefined && !part.erased) sealed.add(version);
    }
  }
  return { problems, sealed: [...sealed] };
}
