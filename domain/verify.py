"""Checking a log from the file alone: chain, digests, deals, re-derivation, receipts.

Every check says passed, failed or not yet possible, with versions and reasons; nothing is ever just
"OK". Pure: hashing, HMAC and Ed25519 only. Source: contract, *The log*, `fairdeal verify`.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, Literal

import msgspec

from domain import shuffle
from domain.codec import UnreadableEvent, read_event
from domain.export import Export
from domain.game import Game
from domain.hand import HandDealt, HandStarted, PackCut, SeedRevealed
from domain.log import GENESIS, Entry, digest, event_hash
from domain.receipts import PublicKey, Receipt, signature_problem
from domain.rederive import StillSealed, differences, steps
from domain.registry import GAMES
from domain.table.events import GameCreated

Status = Literal["passed", "failed", "not_yet_possible"]


class Check(msgspec.Struct, frozen=True):
    """One finding: what was checked, how it came out, over or at which versions, and why."""

    check: str
    status: Status
    versions: tuple[int, ...]
    detail: str


class Report(msgspec.Struct, frozen=True):
    """All findings about one log."""

    game: str
    versions: int
    checks: tuple[Check, ...]

    @property
    def failed(self) -> bool:
        """Whether anything failed."""
        return any(check.status == "failed" for check in self.checks)


Progress = Callable[[int], None]


def verify(
    log: Export,
    receipts: Sequence[Receipt] = (),
    anchor: Sequence[PublicKey] | None = None,
    progress: Progress = lambda _: None,
) -> Report:
    """Check everything that can be checked of a log.

    - `receipts`: kept by players, beside those of the file: the log must continue them.
    - `anchor`: keys known from elsewhere; without them signatures are not anchored.
    - `progress`: told the number of events re-derived so far.
    """
    entries = log.entries
    game_id = log.header.id
    checks = [
        *check_chain(game_id, entries),
        *check_digests(entries),
        *check_deals(entries),
        *check_rederivation(game_id, entries, progress),
        *_receipts(log, receipts, anchor),
    ]
    return Report(game_id, len(entries), tuple(checks))


def _verdict(
    check: str, failures: list[tuple[int, str]], entries: Sequence[Entry], passed: str
) -> Iterator[Check]:
    for version, reason in failures:
        yield Check(check, "failed", (version,), f"version {version}: {reason}")
    if not failures:
        versions = (1, len(entries)) if entries else ()
        yield Check(check, "passed", versions, passed)


def check_chain(game_id: str, entries: Sequence[Entry]) -> Iterator[Check]:
    """Versions without gaps, each event's `prev` and hash."""
    failures: list[tuple[int, str]] = []
    prev = GENESIS
    for expected, entry in enumerate(entries, 1):
        if entry.version != expected:
            failures.append((entry.version, f"version {expected} was expected here"))
            break
        if entry.prev != prev:
            failures.append((entry.version, "prev is not the hash of the version before"))
        elif event_hash(game_id, entry) != entry.hash:
            failures.append((entry.version, "the hash does not fit the event"))
        prev = entry.hash
    if not entries:
        failures.append((0, "the log is empty"))
    yield from _verdict("chain", failures, entries, f"{len(entries)} events, unbroken")


def check_digests(entries: Sequence[Entry]) -> Iterator[Check]:
    """Every opened part against its digest."""
    failures: list[tuple[int, str]] = []
    opened, sealed, erased = 0, [], 0
    for entry in entries:
        for index, part in enumerate(entry.sealed):
            if part.body is None and part.salt is None:
                if part.audience == '"all"':
                    erased += 1
                else:
                    sealed.append(entry.version)
            elif part.body is None or part.salt is None:
                failures.append((entry.version, f"sealed part {index} is half given"))
            elif digest(part.salt, part.body) != part.digest:
                failures.append((entry.version, f"sealed part {index} does not fit its digest"))
            else:
                opened += 1
    gone = f", {erased} erased" if erased else ""
    yield from _verdict("digests", failures, entries, f"{opened} parts fit their digests{gone}")
    if sealed:
        versions = tuple(dict.fromkeys(sealed))
        yield Check("digests", "not_yet_possible", versions, f"{len(sealed)} parts are sealed")


class _Hand(msgspec.Struct):
    """The events of one hand that fix its deal."""

    started: tuple[Entry, HandStarted]
    cut: tuple[Entry, PackCut] | None = None
    dealt: tuple[Entry, HandDealt] | None = None
    revealed: tuple[Entry, SeedRevealed] | None = None


def check_deals(entries: Sequence[Entry]) -> Iterator[Check]:
    """Every hand's commitment, lot, cut and cards from its revealed seed."""
    created: GameCreated | None = None
    hands: dict[int, _Hand] = {}
    try:
        for entry in entries:
            if entry.type not in _DEAL_TYPES:
                continue
            match event := read_event(entry):
                case GameCreated():
                    created = event
                case HandStarted():
                    hands[event.hand] = _Hand((entry, event))
                case PackCut():
                    hands[event.hand].cut = (entry, event)
                case HandDealt():
                    hands[event.hand].dealt = (entry, event)
                case SeedRevealed():
                    hands[event.hand].revealed = (entry, event)
                case _:
                    pass
    except (UnreadableEvent, KeyError) as error:
        yield Check("deals", "failed", (), f"the deals cannot be read: {error}")
        return
    if created is None or created.game not in GAMES:
        yield Check("deals", "failed", (), "the log does not say which game it is")
        return
    for number, hand in hands.items():
        started = hand.started[0].version
        if hand.revealed is None:
            yield Check("deals", "not_yet_possible", (started,), f"hand {number} is still sealed")
            continue
        problems = list(_deal_problems(created, hand))
        for version, reason in problems:
            yield Check("deals", "failed", (version,), f"version {version}: {reason}")
        if not problems:
            last = hand.dealt[0].version if hand.dealt else started
            yield Check("deals", "passed", (started, last), f"hand {number} deals out as recorded")


_DEAL_TYPES: Final = {
    kind.__name__ for kind in (GameCreated, HandStarted, PackCut, HandDealt, SeedRevealed)
}


def _deal_problems(created: GameCreated, hand: _Hand) -> Iterator[tuple[int, str]]:
    """Where a hand's records do not follow from its seed, nonce and cut."""
    game: Game[Any] = GAMES[created.game]
    entry, started = hand.started
    assert hand.revealed is not None
    version = entry.version
    seed = bytes.fromhex(hand.revealed[1].server_seed)
    number = started.hand
    if shuffle.commitment(seed).hex() != started.commitment:
        yield hand.revealed[0].version, "the seed does not fit the commitment"
    if started.seed is not None and started.seed.server_seed != seed.hex():
        yield version, "the sealed seed is not the one revealed"
    lot = shuffle.dealer_lot(seed, created.deal_id, len(created.seats))
    if started.by_lot and started.dealer != lot:
        yield version, f"the lot makes seat {lot} the dealer, not seat {started.dealer}"
    if hand.cut is None:
        return
    entry, cut = hand.cut
    if not 1 <= cut.at < len(game.pack):
        yield entry.version, f"no pack can be cut at {cut.at}"
        return
    at = shuffle.auto_cut(game.pack, seed, created.deal_id, number)
    if cut.auto and (cut.at, cut.nonce) != (at, ""):
        yield entry.version, f"the server cuts at {at} with an empty nonce"
    if hand.dealt is None:
        return
    entry, dealt = hand.dealt
    yield from _wrong_cards(game, created, started, cut, dealt, entry, seed)


def _wrong_cards(
    game: Game[Any],
    created: GameCreated,
    started: HandStarted,
    cut: PackCut,
    dealt: HandDealt,
    entry: Entry,
    seed: bytes,
) -> Iterator[tuple[int, str]]:
    cards = shuffle.cut(
        shuffle.shuffled(game.pack, seed, created.deal_id, started.hand, cut.nonce), cut.at
    )
    each = max(dealt.counts)
    hands, stock = shuffle.deal(cards, started.seats, each)
    counts = tuple([len(hands.get(seat, ())) for seat in range(len(created.seats))])
    if (counts, len(stock)) != (dealt.counts, dealt.stock):
        yield entry.version, "the counts do not add up to the pack"
    for seat, part in dealt.hands.items():
        if part is not None and part.cards != game.pack.texts(hands.get(seat, ())):
            right = " ".join(game.pack.texts(hands.get(seat, ())))
            yield entry.version, f"seat {seat} was dealt {right} by seed, nonce and cut"
    if dealt.rest is not None and dealt.rest.cards != game.pack.texts(stock):
        yield entry.version, "the stock is another by seed, nonce and cut"


def check_rederivation(
    game_id: str, entries: Sequence[Entry], progress: Progress
) -> Iterator[Check]:
    failures: list[tuple[int, str]] = []
    done = 0
    sealed: StillSealed | None = None
    try:
        for step in steps(game_id, entries):
            failures += differences(step)
            done = step.entries[-1].version
            progress(done)
    except StillSealed as error:
        sealed = error
    except (UnreadableEvent, KeyError, ValueError, AssertionError, IndexError) as error:
        failures.append((done + 1, f"the log cannot be followed any further: {error}"))
    if sealed is None and done < len(entries) and not failures:
        failures.append((done + 1, "the log cannot be followed any further"))
    until = entries[:done]
    if failures or done:
        detail = f"the recorded actions yield exactly these {done} events"
        yield from _verdict("rederivation", failures, until, detail)
    if sealed is not None:
        versions = (sealed.version, len(entries))
        yield Check("rederivation", "not_yet_possible", versions, str(sealed))


def _receipts(
    log: Export, kept: Sequence[Receipt], anchor: Sequence[PublicKey] | None
) -> Iterator[Check]:
    keys = log.header.keys if anchor is None else anchor
    for origin, receipts in (("file", log.receipts), ("kept", kept)):
        for receipt in receipts:
            at = (receipt.version,)
            problem = signature_problem(receipt, keys) or _discontinuity(log, receipt)
            if problem is not None:
                yield Check(f"receipt ({origin})", "failed", at, problem)
            elif anchor is None:
                detail = "continued by this log; signature not anchored: no keys from elsewhere"
                yield Check(f"receipt ({origin})", "not_yet_possible", at, detail)
            else:
                detail = "signed by an anchored key and continued by this log"
                yield Check(f"receipt ({origin})", "passed", at, detail)


def _discontinuity(log: Export, receipt: Receipt) -> str | None:
    """Why the log does not continue what a receipt says it once was."""
    if receipt.game != log.header.id:
        return f"the receipt is of game {receipt.game}"
    if receipt.version > len(log.entries):
        return f"the log ends at version {len(log.entries)}: its tail was cut"
    if log.entries[receipt.version - 1].hash.hex() != receipt.hash:
        return f"version {receipt.version} had another hash: history was rewritten"
    return None
