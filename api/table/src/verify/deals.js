// Whether each hand was dealt as its seed, nonce and cut give (docs/log.md, A hand's deal).

import { canonical, fromHex, hex, sha256 } from "./bytes.js";
import { Drawing, shuffled } from "./draw.js";

const pack = (suits, ranks) => [...suits].flatMap((suit) => [...ranks].map((rank) => rank + suit));
const FRENCH = pack("CDHS", "23456789TJQKA");
const PACKS = { lodam: FRENCH, lorum: pack("ALHB", "789TUOKA"), loc: [...FRENCH, "XX"] };

/**
 * A finding for each hand: `{hand, versions, problems}`, `problems` null while it is sealed.
 * A game without a pack that is known here gives none.
 */
export async function dealFindings(events) {
  const created = events.find(({ type }) => type === "GameCreated");
  const cards = PACKS[created?.data.game];
  if (!cards) return [];
  const ended = events.some(({ type }) => type === "GameEnded");
  const findings = [];
  for (const started of events.filter(({ type }) => type === "HandStarted")) {
    const { hand } = started.data;
    const ofHand = (type) =>
      events.find((event) => event.type === type && event.data.hand === hand);
    const [revealed, cut, dealt] = [ofHand("SeedRevealed"), ofHand("PackCut"), ofHand("HandDealt")];
    const versions = [started.version, dealt?.version ?? started.version];
    if (revealed) {
      const problems = await handProblems(cards, created, { started, revealed, cut, dealt });
      findings.push({ hand, versions, problems });
    } else {
      const problems = ended ? [[started.version, "the hand was never opened"]] : null;
      findings.push({ hand, versions, problems });
    }
  }
  return findings;
}

async function handProblems(cards, created, { started, revealed, cut, dealt }) {
  const deal = created.data.deal_id;
  const { hand } = started.data;
  let seed;
  try {
    seed = fromHex(revealed.data.server_seed);
  } catch {
    return [[revealed.version, "the seed is no seed"]];
  }
  const problems = [];
  if (seed.length !== 32 || hex(await sha256(seed)) !== started.data.commitment) {
    problems.push([revealed.version, "the seed is not the one that was committed to"]);
  }
  const sealed = started.sealed[0]?.data?.server_seed;
  if (sealed !== undefined && sealed !== revealed.data.server_seed) {
    problems.push([started.version, "another seed was sealed than the one revealed"]);
  }
  if (started.data.by_lot) {
    const lot = await (
      await Drawing.from(seed, `${deal}:0:dealer`)
    ).below(created.data.seats.length);
    if (lot !== started.data.dealer)
      problems.push([started.version, "the lot makes another seat the dealer"]);
  }
  if (!cut) return problems;
  const { at, nonce, auto } = cut.data;
  if (!(at >= 1 && at < cards.length)) return [...problems, [cut.version, "there is no such cut"]];
  if (auto) {
    const place =
      1 + (await (await Drawing.from(seed, `${deal}:${hand}:cut`)).below(cards.length - 1));
    if (at !== place || nonce !== "") problems.push([cut.version, "the server’s cut is another"]);
  }
  if (dealt)
    problems.push(
      ...(await dealtProblems(cards, seed, `${deal}:${hand}:${nonce}`, at, started, dealt)),
    );
  return problems;
}

async function dealtProblems(cards, seed, message, at, started, dealt) {
  const order = await shuffled(cards, seed, message);
  const stock = [...order.slice(at), ...order.slice(0, at)];
  const hands = new Map(started.data.seats.map((seat) => [seat, []]));
  const { counts } = dealt.data;
  for (let left = Math.max(...counts); left > 0; left--) {
    for (const seat of started.data.seats) hands.get(seat).push(stock.shift());
  }
  const problems = [];
  const right = counts.map((_, seat) => hands.get(seat)?.length ?? 0);
  if (canonical([right, stock.length]) !== canonical([counts, dealt.data.stock])) {
    problems.push([dealt.version, "the numbers of cards do not add up"]);
  }
  for (const part of dealt.sealed) {
    const given = part.for.length === 0 ? stock : hands.get(part.for[0]);
    if (part.data !== undefined && canonical(part.data.cards) !== canonical(given)) {
      problems.push([
        dealt.version,
        part.for.length
          ? `seat ${part.for[0] + 1} was dealt other cards`
          : "the stock holds other cards",
      ]);
    }
  }
  return problems;
}
