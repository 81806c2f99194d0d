// All the checks of a game that a page can make from its log alone, and what each of them found.
// Whether each action followed from the rules needs the rules: that is `fairdeal verify`.

import { canHash } from "./bytes.js";
import { chainProblems, digestProblems, orderProblems } from "./chain.js";
import { dealFindings } from "./deals.js";
import { receiptFinding } from "./receipts.js";

/** @typedef {{check: string, status: "passed"|"failed"|"not_yet_possible", versions: number[], detail: string}} Finding */

const MOST = 20; // More failures than so many of one check are summed up.

/** One finding for each problem, or one that says that there is none. */
function verdict(check, problems, versions, passed) {
  if (problems.length === 0) return [{ check, status: "passed", versions, detail: passed }];
  const told = problems.slice(0, MOST).map(([version, reason]) => ({
    check,
    status: "failed",
    versions: [version],
    detail: `version ${version}: ${reason}`,
  }));
  if (problems.length > MOST) {
    told.push({
      check,
      status: "failed",
      versions: [problems[MOST][0], problems.at(-1)[0]],
      detail: `and ${problems.length - MOST} more`,
    });
  }
  return told;
}

/**
 * Check a log as its reader has it.
 * @param {string} id the game
 * @param {object[]} events from version 1 on
 * @param {{receipt: object, name: string}[]} receipts
 * @param {object[]} keys the service's public keys (JWK)
 * @returns {Promise<Finding[]>}
 */
export async function check(id, events, receipts, keys) {
  const all = [1, events.length];
  if (!canHash()) {
    const detail = "this browser lets a page hash only over https or on this machine";
    return [{ check: "everything", status: "not_yet_possible", versions: all, detail }];
  }
  if (!events.length)
    return [{ check: "chain", status: "failed", versions: [0], detail: "the log is empty" }];
  const findings = verdict(
    "chain",
    await chainProblems(id, events),
    all,
    `${events.length} events, each bound to the one before`,
  );
  findings.push(
    ...verdict(
      "commands",
      orderProblems(events),
      all,
      "every action’s events stand together, in order of time",
    ),
  );
  const digests = await digestProblems(events);
  findings.push(
    ...verdict("digests", digests.problems, all, "every part that you may see is what was sealed"),
  );
  if (digests.sealed.length) {
    findings.push({
      check: "digests",
      status: "not_yet_possible",
      versions: digests.sealed,
      detail: `${digests.sealed.length} events hold parts that are sealed to you`,
    });
  }
  for (const { hand, versions, problems } of await dealFindings(events)) {
    findings.push(
      ...(problems === null
        ? [
            {
              check: `deal of hand ${hand}`,
              status: "not_yet_possible",
              versions,
              detail: "its seed is sealed until the hand is opened",
            },
          ]
        : verdict(
            `deal of hand ${hand}`,
            problems,
            versions,
            "commitment, cut and cards are as the seed gives them",
          )),
    );
  }
  for (const { receipt, name } of receipts) {
    const { status, detail } = await receiptFinding(id, events, receipt, keys);
    findings.push({
      check: `receipt (${name})`,
      status,
      versions: [receipt.version],
      detail: `version ${receipt.version}: ${detail}`,
    });
  }
  return findings;
}

/** The state of each event's own hash and parts, by version: "failed", "sealed", "erased" or "passed". */
export async function marks(id, events) {
  const found = new Map();
  if (!canHash()) return found;
  const digests = await digestProblems(events);
  for (const { version, sealed } of events)
    found.set(version, sealed.some(({ erased }) => erased) ? "erased" : "passed");
  for (const version of digests.sealed) found.set(version, "sealed");
  for (const [version] of [...digests.problems, ...(await chainProblems(id, events))])
    found.set(version, "failed");
  return found;
}
