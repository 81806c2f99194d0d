"""Checking a log from the file alone: chain, digests, deals, re-derivation, receipts.

Every check says passed, failed or not yet possible, with versions and reasons; nothing is ever just
"OK". Pure: hashing, HMAC and Ed25519 only. Source: contract, *The log*, `fairdeal verify`.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, Literal

import msgspec

from domain import shuffle
from domain.codec import EVENT_TYPES, UnreadableEvent, read_event
from domain.export import Export
from domain.game import Game
from domain.hand import HandDealt, HandStarted, PackCut, SeedRevealed
from domain.log import GENESIS, SALT_BYTES, Entry, digest, event_hash
from domain.receipts import PublicKey, Receipt, signature_problem
from domain.rederive import StillSealed, Unfollowable, differences, steps
from domain.registry import GAMES
from domain.shuffle import SEED_BYTES
from domain.table.events import GameCreated, GameEnded
from domain.times import format_at
from domain.visibility import ALL_TEXT

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
    keys = log.header.keys if anchor is None else anchor
    anchored = anchor is not None
    checks = [
        *check_form(log),
        *check_chain(game_id, entries),
        *check_commands(entries),
        *check_digests(entries),
        *check_deals(entries),
        *check_rederivation(game_id, entries, progress),
        *check_receipts("file", log.receipts, game_id, entries, keys, anchored),
        *check_receipts("kept", receipts, game_id, entries, keys, anchored),
    ]
    return Report(game_id, len(entries), tuple(checks))


Failure = tuple[int, str]
"""A version and what is wrong there."""

_FAILURES_TOLD: Final = 20


def _verdict(
    check: str, failures: Sequence[Failure], entries: Sequence[Entry], passed: str
) -> Iterator[Check]:
    for version, reason in failures[:_FAILURES_TOLD]:
        yield Check(check, "failed", (version,), f"version {version}: {reason}")
    if len(failures) > _FAILURES_TOLD:
        more = tuple([version for version, _ in failures[_FAILURES_TOLD:]])
        yield Check(check, "failed", (more[0], more[-1]), f"and {len(more)} failures more")
    if not failures:
        versions = (1, len(entries)) if entries else ()
        yield Check(check, "passed", versions, passed)


def check_form(log: Export) -> Iterator[Check]:
    """Every line in the log's form, and a header that says what the first event says."""
    for fault in log.faults:
        at = () if fault.version is None else (fault.version,)
        place = "a receipt" if fault.version is None else f"version {fault.version}"
        yield Check("form", "failed", at, f"{place} (line {fault.line}): {fault.reason}")
    failures: list[Failure] = []
    if log.entries:
        data = msgspec.json.decode(log.entries[0].data)
        for name in ("game", "rules_version"):
            says = getattr(log.header, name)
            if data.get(name) != says:
                failures.append((1, f"the header says {name} {says!r}, not {data.get(name)!r}"))
    if failures or not log.faults:
        read = f"{len(log.entries)} events and {len(log.receipts)} receipts"
        yield from _verdict("form", failures, log.entries, read)


def check_chain(game_id: str, entries: Sequence[Entry]) -> Iterator[Check]:
    """Versions without gaps, each event's `prev` and hash."""
    failures: list[Failure] = []
    prev = GENESIS
    for expected, entry in enumerate(entries, 1):
        if entry.version != expected:
            failures.append((expected, f"the event in its place says version {entry.version}"))
            break
        if entry.prev != prev:
            failures.append((entry.version, "prev is not the hash of the version before"))
        elif event_hash(game_id, entry) != entry.hash:
            failures.append((entry.version, "the hash does not fit the event"))
        prev = entry.hash
    if not entries:
        failures.append((0, "the log is empty"))
    yield from _verdict("chain", failures, entries, f"{len(entries)} events, unbroken")


def check_commands(entries: Sequence[Entry]) -> Iterator[Check]:
    """The events of a command stand together, with one time and one actor; time never runs back."""
    failures: list[Failure] = []
    seen: set[str] = set()
    before: Entry | None = None
    for entry in entries:
        if before is not None and entry.command == before.command:
            if (entry.at, entry.actor) != (before.at, before.actor):
                failures.append((entry.version, "a command has one time and one actor"))
        elif entry.command in seen:
            failures.append((entry.version, f"command {entry.command} has ended before"))
        elif before is not None and entry.at < before.at:
            failures.append((entry.version, "it is earlier than the version before"))
        seen.add(entry.command)
        before = entry
    detail = f"{len(seen)} commands one after another, time never running back"
    yield from _verdict("commands", failures, entries, detail)


def check_digests(entries: Sequence[Entry]) -> Iterator[Check]:
    """Every opened part against its digest, and that what the log has opened is shown."""
    failures: list[Failure] = []
    openings = _openings(entries)
    opened, sealed, erased = 0, [], 0
    for entry in entries:
        for index, part in enumerate(entry.sealed):
            if part.body is None and part.salt is None:
                by = _opened_by(openings, entry.version)
                if part.audience == ALL_TEXT:
                    erased += 1
                elif by is None:
                    sealed.append(entry.version)
                else:
                    reason = f"sealed part {index} was opened by version {by} and is not shown"
                    failures.append((entry.version, reason))
            elif part.body is None or part.salt is None:
                failures.append((entry.version, f"sealed part {index} is half given"))
            elif len(part.salt) != SALT_BYTES:
                failures.append(
                    (entry.version, f"the salt of sealed part {index} has a wrong size")
                )
            elif digest(part.salt, part.body) != part.digest:
                failures.append((entry.version, f"sealed part {index} does not fit its digest"))
            else:
                opened += 1
    gone = f", {erased} erased or left out" if erased else ""
    yield from _verdict("digests", failures, entries, f"{opened} parts fit their digests{gone}")
    if sealed:
        versions = tuple(dict.fromkeys(sealed))
        yield Check("digests", "not_yet_possible", versions, f"{len(sealed)} parts are sealed")


def _openings(entries: Sequence[Entry]) -> list[tuple[int, int, int]]:
    """What the log has opened: first and last version, and the version that says so."""
    found = []
    for entry in entries:
        kind = EVENT_TYPES.get(entry.type)
        if kind is not None and "opens" in kind.__struct_fields__:
            try:
                first, last = msgspec.json.decode(entry.data, type=_Opening).opens
            except msgspec.MsgspecError:
                continue  # Re-derivation says that this is no such event.
            found.append((first, last, entry.version))
    return found


class _Opening(msgspec.Struct):
    opens: tuple[int, int]


def _opened_by(openings: Sequence[tuple[int, int, int]], version: int) -> int | None:
    return next((by for first, last, by in openings if first <= version <= last), None)


class _Hand(msgspec.Struct):
    """The events of one hand that fix its deal."""

    started: tuple[int, HandStarted]
    cut: tuple[int, PackCut] | None = None
    dealt: tuple[int, HandDealt] | None = None
    revealed: tuple[int, SeedRevealed] | None = None


def check_deals(entries: Sequence[Entry], hand: int | None = None) -> Iterator[Check]:
    """Every hand's commitment, lot, cut and cards from its revealed seed; or those of one hand."""
    created: GameCreated | None = None
    ended: int | None = None
    hands: dict[int, _Hand] = {}
    for entry in entries:
        version = entry.version
        if entry.type not in _DEAL_TYPES:
            continue
        try:
            match event := read_event(entry):
                case GameCreated():
                    created = event
                case HandStarted():
                    if event.hand in hands:
                        raise ValueError(f"hand {event.hand} starts twice")
                    hands[event.hand] = _Hand((version, event))
                case PackCut():
                    hands[event.hand].cut = (version, event)
                case HandDealt():
                    hands[event.hand].dealt = (version, event)
                case SeedRevealed():
                    hands[event.hand].revealed = (version, event)
                case GameEnded():
                    ended = version
                case _:
                    pass
        except (UnreadableEvent, KeyError, ValueError) as error:
            detail = f"version {version}: no deal can be read from it: {error}"
            yield Check("deals", "failed", (version,), detail)
    if created is None or created.game not in GAMES:
        yield Check("deals", "failed", (1,), "version 1: it does not say which game this is")
        return
    for number, of in hands.items():
        if hand is None or number == hand:
            yield from _check_deal(created, number, of, ended)


_DEAL_TYPES: Final = {
    kind.__name__
    for kind in (GameCreated, HandStarted, PackCut, HandDealt, SeedRevealed, GameEnded)
}


def _check_deal(
    created: GameCreated, number: int, hand: _Hand, ended: int | None
) -> Iterator[Check]:
    started = hand.started[0]
    if hand.revealed is None and ended is None:
        yield Check("deals", "not_yet_possible", (started,), f"hand {number} is still sealed")
        return
    problems: list[Failure] = []
    if hand.revealed is None:
        problems.append((started, f"the game is over, and hand {number} was never opened"))
    else:
        try:
            problems += _deal_problems(created, hand, hand.revealed)
        except (ValueError, LookupError, TypeError, OverflowError) as error:
            problems.append((started, f"hand {number} cannot be dealt again: {error}"))
    for version, reason in problems:
        yield Check("deals", "failed", (version,), f"version {version}: {reason}")
    if not problems:
        last = hand.dealt[0] if hand.dealt else started
        yield Check("deals", "passed", (started, last), f"hand {number} deals out as recorded")


def _deal_problems(
    created: GameCreated, hand: _Hand, revealed: tuple[int, SeedRevealed]
) -> Iterator[Failure]:
    """Where a hand's records do not follow from its seed, nonce and cut."""
    game: Game[Any] = GAMES[created.game]
    version, started = hand.started
    seed = bytes.fromhex(revealed[1].server_seed)
    number = started.hand
    if len(seed) != SEED_BYTES or shuffle.commitment(seed).hex() != started.commitment:
        yield revealed[0], "the seed does not fit the commitment"
    if started.seed is not None and started.seed.server_seed != seed.hex():
        yield version, "the sealed seed is not the one revealed"
    lot = shuffle.dealer_lot(seed, created.deal_id, len(created.seats))
    if started.by_lot and started.dealer != lot:
        yield version, f"the lot makes seat {lot} the dealer, not seat {started.dealer}"
    if hand.cut is None:
        return
    version, cut = hand.cut
    if not 1 <= cut.at < len(game.pack):
        yield version, f"no pack can be cut at {cut.at}"
        return
    at = shuffle.auto_cut(game.pack, seed, created.deal_id, number)
    if cut.auto and (cut.at, cut.nonce) != (at, ""):
        yield version, f"the server cuts at {at} with an empty nonce"
    if hand.dealt is None:
        return
    version, dealt = hand.dealt
    for reason in _wrong_cards(game, created, started, cut, dealt, seed):
        yield version, reason


def _wrong_cards(
    game: Game[Any],
    created: GameCreated,
    started: HandStarted,
    cut: PackCut,
    dealt: HandDealt,
    seed: bytes,
) -> Iterator[str]:
    cards = shuffle.cut(
        shuffle.shuffled(game.pack, seed, created.deal_id, started.hand, cut.nonce), cut.at
    )
    hands, stock = shuffle.deal(cards, started.seats, max(dealt.counts))
    counts = tuple([len(hands.get(seat, ())) for seat in range(len(created.seats))])
    if (counts, len(stock)) != (dealt.counts, dealt.stock):
        yield "the counts do not add up to the pack"
    for seat, part in dealt.hands.items():
        right = game.pack.texts(hands.get(seat, ()))
        if part is not None and part.cards != right:
            yield f"seat {seat} was dealt {' '.join(right)} by seed, nonce and cut"
    if dealt.rest is not None and dealt.rest.cards != game.pack.texts(stock):
        yield "the stock is another by seed, nonce and cut"


def check_rederivation(
    game_id: str, entries: Sequence[Entry], progress: Progress = lambda _: None
) -> Iterator[Check]:
    """The recorded actions through the rules again: the same events, parts and scores."""
    failures: list[Failure] = []
    done = 0
    sealed: StillSealed | None = None
    try:
        for step in steps(game_id, entries):
            failures += differences(step)
            done += len(step.entries)
            progress(done)
    except StillSealed as error:
        sealed = error
    except Unfollowable as error:
        failures.append((error.version, str(error)))
    if failures or done:
        detail = f"the recorded actions yield exactly these {done} events"
        yield from _verdict("rederivation", failures, entries[:done], detail)
    if sealed is not None and done < len(entries):
        versions = (sealed.version, len(entries))
        yield Check("rederivation", "not_yet_possible", versions, str(sealed))


def check_receipts(
    origin: str,
    receipts: Sequence[Receipt],
    game_id: str,
    entries: Sequence[Entry],
    keys: Sequence[PublicKey],
    anchored: bool,
) -> Iterator[Check]:
    """Every receipt's signature by one of the keys, and that the log continues it. `anchored`: the
    keys are known from elsewhere than the file, without which no signature passes."""
    by_version = {entry.version: entry for entry in entries}
    for receipt in receipts:
        at = (receipt.version,)
        problem = _discontinuity(receipt, game_id, by_version)
        if problem is None and (keys or anchored):
            problem = signature_problem(receipt, keys)
        if problem is not None:
            status: Status = "failed"
            detail = f"version {receipt.version}: {problem}"
        elif not anchored:
            status = "not_yet_possible"
            detail = "continued by this log; signature not anchored: no keys from elsewhere"
        else:
            status = "passed"
            detail = "signed by an anchored key and continued by this log"
        yield Check(f"receipt ({origin})", status, at, detail)


def _discontinuity(receipt: Receipt, game_id: str, entries: dict[int, Entry]) -> str | None:
    """Why the log does not continue what a receipt says it once was."""
    if receipt.game != game_id:
        return f"the receipt is of game {receipt.game}"
    entry = entries.get(receipt.version)
    if entry is None:
        return f"the log ends at version {max(entries, default=0)}: its tail was cut"
    if entry.hash.hex() != receipt.hash:
        return "it had another hash when the receipt was given: history was rewritten"
    if format_at(entry.at) != receipt.at:
        return f"the receipt says that it happened at {receipt.at}"
    return None
