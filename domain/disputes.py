"""Disputes about an event of a game: what the log says of a claim, from the log alone.

A finding is computed from what everyone may see of the game now, so it can tell nobody what they
may not know; what is still sealed leaves it pending, to be found again when the hand is opened.
The dispute itself, a stream of its own, is in `dispute_stream`. Source: contract, *Disputes*.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final, Literal

import msgspec

from domain.hand import HandStarted
from domain.log import Entry, redacted
from domain.receipts import PublicKey, Receipt
from domain.rederive import (
    StillSealed,
    Unfollowable,
    command_at,
    derived,
    differences,
    state_after,
)
from domain.seats import Seat
from domain.table.state import Table
from domain.tricks import TrickTaken
from domain.verify import (
    Check,
    check_chain,
    check_commands,
    check_deals,
    check_digests,
    check_receipts,
    check_rederivation,
)
from domain.visibility import Openings

Claim = Literal["trick", "deal", "score", "action", "chain"]
Verdict = Literal["consistent", "contradicted", "pending"]


class TrickFinding(msgspec.Struct, frozen=True):
    """Who took a trick and whose it was by right, by the cards recorded: `rightful` and `swallowed`
    are None while the hand is sealed, and where the game leaves nobody to be rightful."""

    version: int
    taker: Seat
    rightful: Seat | None
    swallowed: bool | None


class Finding(msgspec.Struct, frozen=True):
    """What the log says of a claim, at the game's version `as_of`.

    `verdict`: `contradicted` where the log does not bear out the disputed event, `consistent` where
    it does, `pending` while the hand is sealed.
    """

    verdict: Verdict
    as_of: int
    checks: tuple[Check, ...]
    trick: TrickFinding | None = None


def find(
    table: Table,
    entries: Sequence[Entry],
    disputed: int,
    claim: Claim,
    now: Openings,
    receipts: Mapping[str, Receipt] = MappingProxyType({}),
    keys: Sequence[PublicKey] = (),
) -> Finding:
    """The finding about the event of version `disputed`, by what lies open to everyone `now`.

    `table` is the game at its newest version, `entries` its whole log. `receipts`, by whence they
    come ("given" with the dispute, "stored" by the service), are held against the log with the
    service's own `keys`. Raises KeyError where the log has no such version.
    """
    public = [redacted(entry, None, now) for entry in entries]
    last = command_at(public, disputed)[-1].version
    checks = [
        *check_chain(table.id, public),
        *check_commands(public),
        *check_digests(public),
        *check_deals(public, _hand_of(public, disputed)),
        _derived("event", table.id, public, disputed),
    ]
    for origin, receipt in receipts.items():
        checks += check_receipts(origin, [receipt], table.id, public, keys, anchored=True)
    trick: TrickFinding | None = None
    if claim == "trick" and (taken := _taken(public, disputed)) is not None:
        trick = _trick(table, public, taken)
        checks.append(_derived("trick", table.id, public, taken.version))
    if claim == "score":
        upto = [entry for entry in public if entry.version <= last]
        checks += check_rederivation(table.id, upto)
    return Finding(_verdict(claim, checks), len(entries), tuple(checks), trick)


_DECIDES: Final[dict[Claim, frozenset[str]]] = {
    "trick": frozenset({"event", "trick"}),
    "deal": frozenset({"deals"}),
    "score": frozenset({"event", "rederivation"}),
    "action": frozenset({"event"}),
    "chain": frozenset(),
}
"""The checks that each kind of claim waits for, beside those that always count."""

_ALWAYS: Final = frozenset({"chain", "commands", "digests", "receipt (given)", "receipt (stored)"})
"""What must not have failed under any claim. A part that is still sealed keeps no claim waiting:
the others fit or fail."""


def _verdict(claim: Claim, checks: Sequence[Check]) -> Verdict:
    deciding = _DECIDES[claim]
    if any(c.status == "failed" and c.check in deciding | _ALWAYS for c in checks):
        return "contradicted"
    if any(c.status == "not_yet_possible" and c.check in deciding for c in checks):
        return "pending"
    return "consistent"


def _hand_of(entries: Sequence[Entry], disputed: int) -> int:
    """The number of the hand that an event belongs to; 0 before the first one."""
    numbers = [
        msgspec.json.decode(entry.data).get("hand")
        for entry in entries
        if entry.type == HandStarted.__name__ and entry.version <= disputed
    ]
    return numbers[-1] if numbers else 0


def _derived(check: str, game_id: str, entries: Sequence[Entry], version: int) -> Check:
    """The command of an event, derived by the rules from the state before it."""
    group = command_at(entries, version)
    versions = (group[0].version, group[-1].version)
    try:
        wrong = [
            f"version {at}: {why}" for at, why in differences(derived(game_id, entries, version))
        ]
    except StillSealed as sealed:
        return Check(check, "not_yet_possible", versions, sealed.message)
    except Unfollowable as error:
        return Check(check, "failed", versions, str(error))
    if wrong:
        return Check(check, "failed", versions, "; ".join(wrong))
    return Check(check, "passed", versions, "the rules give exactly the events of this command")


def _taken(entries: Sequence[Entry], disputed: int) -> Entry | None:
    """The event that took the trick which the disputed event took or belongs to, if any did."""
    for entry in entries:
        if entry.version >= disputed and entry.type == TrickTaken.__name__:
            return entry
        if entry.version > disputed and entry.type == HandStarted.__name__:
            return None
    return None


def _trick(table: Table, entries: Sequence[Entry], taken: Entry) -> TrickFinding:
    """Who took a trick, and whose it was by right where the log lets that be told."""
    taker = msgspec.json.decode(taken.data).get("seat")
    before = [entry for entry in entries if entry.version < taken.version]
    try:
        play = state_after(table.id, before).play
        rightful = table.game.rightful_taker(play)
    except (StillSealed, Unfollowable):
        rightful = None
    swallowed = None if rightful is None else rightful != taker
    return TrickFinding(taken.version, taker, rightful, swallowed)
