// A second opinion on a log, in plain JavaScript: form, chain, digests, deals and receipts, written
// from docs/log.md and docs/proof.md alone. It knows no rule of any game but which pack is used.
//
//   node verify.mjs [--keys JWKS] FILE...
//
// Prints a line for each file: {file, code, checks: [{check, status, versions, detail}]}, where code is
// 0 where nothing failed, 1 where something did, and 2 where the file is no log, with an `error`. Exits
// with the highest of them.

import { createHash, createHmac, createPublicKey, verify as verifySignature } from "node:crypto";
import { readFileSync } from "node:fs";

const FORMAT = "fairdeal-log/1";

const FRENCH = [..."CDHS"].flatMap((suit) => [..."23456789TJQKA"].map((rank) => rank + suit));
const GERMAN = [..."ALHB"].flatMap((suit) => [..."789TUOKA"].map((rank) => rank + suit));
const PACKS = { lodam: FRENCH, lorum: GERMAN, loc: [...FRENCH, "XX"] };

class NoLog extends Error {}

const sha256 = (...parts) => {
  const hash = createHash("sha256");
  parts.forEach((part) => hash.update(part));
  return hash.digest();
};

/** RFC 8785: JSON.stringify is what the RFC builds on, but for the order of members. */
function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const members = Object.keys(value).sort();
  return `{${members.map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`).join(",")}}`;
}

function strictBase64url(text) {
  const raw = Buffer.from(text, "base64url");
  if (raw.toString("base64url") !== text) throw new Error(`not base64url: ${text}`);
  return raw;
}

/** The words of HMAC-SHA256(key, "{message}:{counter}"), and unbiased numbers drawn from them. */
class Drawing {
  constructor(key, message) {
    Object.assign(this, { key, message, counter: 0, words: [] });
  }

  below(m) {
    const limit = 2 ** 32 - (2 ** 32 % m);
    for (;;) {
      if (this.words.length === 0) {
        const block = createHmac("sha256", this.key)
          .update(`${this.message}:${this.counter++}`, "utf8")
          .digest();
        this.words = Array.from({ length: 8 }, (_, i) => block.readUInt32BE(4 * i));
      }
      const word = this.words.shift();
      if (word < limit) return word % m;
    }
  }
}

function shuffled(pack, seed, message) {
  const cards = [...pack];
  const drawing = new Drawing(seed, message);
  for (let i = cards.length - 1; i > 0; i--) {
    const j = drawing.below(i + 1);
    [cards[i], cards[j]] = [cards[j], cards[i]];
  }
  return cards;
}

class Report {
  checks = [];

  add(check, status, versions, detail) {
    this.checks.push({ check, status, versions, detail });
  }

  /** One failed check for each problem, or one that passed. */
  verdict(check, problems, versions, passed) {
    for (const [version, reason] of problems) {
      this.add(check, "failed", [version], `version ${version}: ${reason}`);
    }
    if (problems.length === 0) this.add(check, "passed", versions, passed);
  }
}

const HASH = /^[0-9a-f]{64}$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/;
const isPlain = (text) => typeof text === "string" && JSON.stringify(text) === `"${text}"`;
const isSeat = (value) => Number.isInteger(value) && value >= 0;

function onlyWholeNumbers(value) {
  if (typeof value === "number") return Number.isSafeInteger(value);
  if (value === null || typeof value !== "object") return true;
  return Object.values(value).every(onlyWholeNumbers);
}

function formProblem(event, game) {
  if (typeof event !== "object" || event === null) return "it is no object";
  if (event.game !== game) return "it is of another game";
  if (!Number.isInteger(event.version) || event.version < 1) return "version";
  if (!Number.isInteger(event.schema) || event.schema < 1) return "schema";
  if (!isPlain(event.type) || !isPlain(event.command)) return "type or command";
  if (typeof event.at !== "string" || !TIME.test(event.at)) return "at";
  const at = new Date(`${event.at.slice(0, 23)}Z`);
  if (Number.isNaN(at.getTime()) || at.toISOString().slice(0, 23) !== event.at.slice(0, 23)) {
    return "at";
  }
  if (event.actor !== null && !isSeat(event.actor)) return "actor";
  if (!HASH.test(event.prev) || !HASH.test(event.hash)) return "prev or hash";
  if (typeof event.data !== "object" || event.data === null || Array.isArray(event.data)) {
    return "data";
  }
  if (!Array.isArray(event.sealed)) return "sealed";
  for (const part of event.sealed) {
    const seats = part.for;
    const ascending = Array.isArray(seats) && seats.every((s, i) => isSeat(s) && !(seats[i - 1] >= s));
    if (seats !== "all" && seats !== "table" && !ascending) return "for";
    if (!HASH.test(part.digest)) return "digest";
    if (part.salt !== undefined) {
      try {
        strictBase64url(part.salt);
      } catch {
        return "salt";
      }
    }
  }
  return onlyWholeNumbers(event) ? null : "a number that is not whole";
}

function read(text) {
  const log = { header: null, events: [], receipts: [], faults: [] };
  text.split("\n").forEach((line, index) => {
    if (line.trim() === "") return;
    let found;
    try {
      found = JSON.parse(line);
    } catch (error) {
      throw new NoLog(`line ${index + 1}: ${error.message}`);
    }
    if (log.header === null) {
      if (found.header?.format !== FORMAT) throw new NoLog("the header is missing");
      log.header = found.header;
    } else if (found.event !== undefined) {
      const problem = formProblem(found.event, log.header.id);
      if (problem === null) log.events.push(found.event);
      else log.faults.push([log.events.length + log.faults.length + 1, problem]);
    } else if (found.receipt !== undefined) {
      log.receipts.push(found.receipt);
    } else {
      throw new NoLog(`line ${index + 1}: neither event nor receipt`);
    }
  });
  if (log.header === null) throw new NoLog("the header is missing");
  return log;
}

function checkChain(report, events) {
  const problems = [];
  let prev = "0".repeat(64);
  for (const [index, event] of events.entries()) {
    if (event.version !== index + 1) {
      problems.push([index + 1, `the event in its place says version ${event.version}`]);
      break;
    }
    const { actor, at, command, data, game, schema, type, version } = event;
    const sealed = event.sealed.map((part) => ({ digest: part.digest, for: part.for }));
    const hashed = { actor, at, command, data, game, prev: event.prev, schema, sealed, type, version };
    if (event.prev !== prev) problems.push([version, "prev does not fit"]);
    else if (sha256(canonical(hashed)).toString("hex") !== event.hash) {
      problems.push([version, "the hash does not fit"]);
    }
    prev = event.hash;
  }
  if (events.length === 0) problems.push([0, "the log is empty"]);
  report.verdict("chain", problems, [1, events.length], `${events.length} events`);
}

function checkDigests(report, events) {
  const opened = events
    .filter((event) => Array.isArray(event.data.opens))
    .map((event) => event.data.opens);
  const problems = [];
  const sealed = new Set();
  for (const { version, sealed: parts } of events) {
    for (const [index, part] of parts.entries()) {
      if (part.data === undefined && part.salt === undefined) {
        if (part.for === "all") continue;
        if (opened.some(([first, last]) => first <= version && version <= last)) {
          problems.push([version, `part ${index} was opened and is not shown`]);
        } else {
          sealed.add(version);
        }
      } else if (part.data === undefined || part.salt === undefined) {
        problems.push([version, `part ${index} is half given`]);
      } else {
        const salt = strictBase64url(part.salt);
        const digest = sha256(salt, canonical(part.data)).toString("hex");
        if (salt.length !== 16 || digest !== part.digest) {
          problems.push([version, `part ${index} does not fit its digest`]);
        }
      }
    }
  }
  report.verdict("digests", problems, [1, events.length], "every open part fits");
  if (sealed.size > 0) report.add("digests", "not_yet_possible", [...sealed], "sealed");
}

function checkDeals(report, events) {
  const created = events.find((event) => event.type === "GameCreated");
  const pack = PACKS[created?.data.game];
  if (pack === undefined) {
    report.add("deals", "failed", [1], "version 1: no game that is known");
    return;
  }
  const ended = events.some((event) => event.type === "GameEnded");
  const ofHand = (type, hand) => events.find((e) => e.type === type && e.data.hand === hand);
  for (const started of events.filter((event) => event.type === "HandStarted")) {
    const hand = started.data.hand;
    const revealed = ofHand("SeedRevealed", hand);
    const [cut, dealt] = [ofHand("PackCut", hand), ofHand("HandDealt", hand)];
    if (revealed === undefined) {
      if (ended) report.add("deals", "failed", [started.version], `version ${started.version}`);
      else report.add("deals", "not_yet_possible", [started.version], "sealed");
      continue;
    }
    const problems = dealProblems(pack, created, { started, revealed, cut, dealt });
    const last = dealt?.version ?? started.version;
    report.verdict("deals", problems, [started.version, last], `hand ${hand}`);
  }
}

function dealProblems(pack, created, { started, revealed, cut, dealt }) {
  const problems = [];
  const { hand, seats } = started.data;
  const deal = created.data.deal_id;
  const seed = Buffer.from(revealed.data.server_seed, "hex");
  if (seed.length !== 32 || sha256(seed).toString("hex") !== started.data.commitment) {
    problems.push([revealed.version, "the seed does not fit the commitment"]);
  }
  const sealedSeed = started.sealed[0]?.data?.server_seed;
  if (sealedSeed !== undefined && sealedSeed !== revealed.data.server_seed) {
    problems.push([started.version, "the sealed seed is another"]);
  }
  const lot = new Drawing(seed, `${deal}:0:dealer`).below(created.data.seats.length);
  if (started.data.by_lot && started.data.dealer !== lot) {
    problems.push([started.version, "the lot makes another the dealer"]);
  }
  if (cut === undefined) return problems;
  const { at, nonce, auto } = cut.data;
  if (!(at >= 1 && at < pack.length)) return [...problems, [cut.version, "no such cut"]];
  const place = 1 + new Drawing(seed, `${deal}:${hand}:cut`).below(pack.length - 1);
  if (auto && (at !== place || nonce !== "")) problems.push([cut.version, "the server cuts so not"]);
  if (dealt === undefined) return problems;
  const order = shuffled(pack, seed, `${deal}:${hand}:${nonce}`);
  const stock = [...order.slice(at), ...order.slice(0, at)];
  const hands = new Map(seats.map((seat) => [seat, []]));
  for (let round = Math.max(...dealt.data.counts); round > 0; round--) {
    for (const seat of seats) hands.get(seat).push(stock.shift());
  }
  const counts = created.data.seats.map((_, seat) => hands.get(seat)?.length ?? 0);
  if (canonical([counts, stock.length]) !== canonical([dealt.data.counts, dealt.data.stock])) {
    problems.push([dealt.version, "the counts do not add up"]);
  }
  for (const part of dealt.sealed) {
    const right = part.for.length === 0 ? stock : hands.get(part.for[0]);
    if (part.data !== undefined && canonical(part.data.cards) !== canonical(right)) {
      problems.push([dealt.version, `other cards were dealt to ${canonical(part.for)}`]);
    }
  }
  return problems;
}

function checkReceipts(report, log, keys) {
  for (const receipt of log.receipts) {
    const { signature, ...signed } = receipt;
    const event = log.events.find(({ version }) => version === receipt.version);
    const key = keys?.find(({ x }) => {
      const thumbprint = sha256(canonical({ crv: "Ed25519", kty: "OKP", x }));
      return thumbprint.toString("base64url") === receipt.key;
    });
    const fits =
      event?.hash === receipt.hash && event?.at === receipt.at && receipt.game === log.header.id;
    let status = fits ? "not_yet_possible" : "failed";
    if (fits && keys !== null) status = key && signs(key, signed, signature) ? "passed" : "failed";
    report.add("receipt (file)", status, [receipt.version], `version ${receipt.version}`);
  }
}

function signs({ x }, signed, signature) {
  const key = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
  return verifySignature(null, Buffer.from(canonical(signed)), key, strictBase64url(signature));
}

function verifyFile(file, keys) {
  const report = new Report();
  try {
    const log = read(readFileSync(file, "utf8"));
    report.verdict("form", log.faults, [1, log.events.length], "every line");
    checkChain(report, log.events);
    checkDigests(report, log.events);
    checkDeals(report, log.events);
    checkReceipts(report, log, keys);
  } catch (error) {
    if (error instanceof NoLog) return { file, code: 2, error: error.message, checks: [] };
    throw error;
  }
  const failed = report.checks.some(({ status }) => status === "failed");
  return { file, code: failed ? 1 : 0, checks: report.checks };
}

function main(words) {
  const anchored = words[0] === "--keys";
  const keys = anchored ? JSON.parse(readFileSync(words[1], "utf8")).keys : null;
  const reports = words.slice(anchored ? 2 : 0).map((file) => verifyFile(file, keys));
  reports.forEach((report) => console.log(JSON.stringify(report)));
  return Math.max(2 * (reports.length === 0), ...reports.map(({ code }) => code));
}

process.exitCode = main(process.argv.slice(2));
