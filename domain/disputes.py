"""Disputes about an event of a game: what the log says of a claim, from the log alone.

A finding is computed from what everyone may see of the game now, so it can tell nobody what they
may not know; what is still sealed leaves it pending, to be found again when the hand is opened.
A dispute is a stream of its own, of the events below. Source: contract, *Disputes*.
"""

from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec

from domain.codec import UnreadableEvent
from domain.events import Event
from domain.hand import HandStarted
from domain.log import Entry, fold, redacted
from domain.rederive import StillSealed, commands, derive, differences
from domain.seats import Seat
from domain.table.state import Table
from domain.tricks import TrickTaken
from domain.verify import Check, check_chain, check_deals, check_digests
from domain.visibility import ForAll, Openings, Public, Role

Claim = Literal["trick", "deal", "score", "action", "chain"]
Verdict = Literal["consistent", "contradicted", "pending"]
State = Literal["pending", "found", "resolved"]


class ClaimText(msgspec.Struct, frozen=True):
    """What the claimant says: personal, so sealed to be erasable."""

    text: str


class TrickFinding(msgspec.Struct, frozen=True):
    """Who took a trick and whose it was by right: `rightful` and `swallowed` are None while the
    hand is sealed."""

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


class DisputeOpened(Event, frozen=True):
    """Somebody disputes an event of a game."""

    game: Public[str]
    disputed: Public[int]
    """Version of the disputed event."""
    claim: Public[Claim]
    by: Public[Role]
    seat: Public[Seat | None]
    words: ForAll[ClaimText] = None


class DisputeFound(Event, frozen=True):
    """The finding, or the finding again once more is open."""

    finding: Public[Finding]


class DisputeResolved(Event, frozen=True):
    """The host has settled the dispute."""

    outcome: Public[Literal["upheld", "rejected"]]
    note: ForAll[ClaimText] = None


DISPUTE_EVENTS: tuple[type[Event], ...] = (DisputeOpened, DisputeFound, DisputeResolved)


def find(
    table: Table, entries: Sequence[Entry], disputed: int, claim: Claim, now: Openings
) -> Finding:
    """The finding about the event of version `disputed`, by what lies open to everyone `now`.

    `table` is the game at its newest version, `entries` its whole log. Raises KeyError where the
    log has no such version.
    """
    if not 1 <= disputed <= len(entries):
        raise KeyError(disputed)
    public = [redacted(entry, None, now) for entry in entries]
    checks = [
        *check_chain(table.id, public),
        *check_digests(public),
        *_deal_of(public, disputed),
        _derived(table.id, public, disputed),
    ]
    trick = _trick(table, public, disputed)
    deciding = [check for check in checks if check.check in _DECIDES[claim]]
    if claim == "trick" and trick is not None and trick.rightful is None:
        deciding.append(Check("trick", "not_yet_possible", (trick.version,), "sealed"))
    return Finding(_verdict(deciding), len(entries), tuple(checks), trick)


_DECIDES: dict[Claim, tuple[str, ...]] = {
    "trick": ("chain", "event"),
    "deal": ("chain", "deals"),
    "score": ("chain", "event"),
    "action": ("chain", "event"),
    "chain": ("chain",),
}
"""The checks that decide each kind of claim. A part that is sealed for its holder alone does not
keep a digest check pending: the others fit or fail."""


def _verdict(checks: Iterable[Check]) -> Verdict:
    found = {check.status for check in checks}
    if "failed" in found:
        return "contradicted"
    return "pending" if "not_yet_possible" in found else "consistent"


def _deal_of(entries: Sequence[Entry], disputed: int) -> Iterable[Check]:
    """The checks of the deal of the hand that the disputed event belongs to."""
    starts = [entry.version for entry in entries if entry.type == HandStarted.__name__]
    first = max([version for version in starts if version <= disputed], default=0)
    following = min([version for version in starts if version > disputed], default=10**9)
    for check in check_deals(entries):
        at = check.versions[0] if check.versions else disputed
        if first <= at < following:
            yield check


def _derived(game_id: str, entries: Sequence[Entry], disputed: int) -> Check:
    """The disputed event, derived by the rules from the state before its command."""
    group = next(g for g in commands(entries) if g[0].version <= disputed <= g[-1].version)
    first, last = group[0].version, group[-1].version
    versions = (first, last)
    try:
        before = fold(game_id, entries[: first - 1]) if first > 1 else None
        step = derive(game_id, before, group)
    except (StillSealed, AssertionError):
        return Check("event", "not_yet_possible", versions, "the hand is still sealed")
    except (UnreadableEvent, ValueError, KeyError) as error:
        return Check("event", "failed", versions, f"the log cannot be followed: {error}")
    wrong = [f"version {version}: {reason}" for version, reason in differences(step)]
    if wrong:
        return Check("event", "failed", versions, "; ".join(wrong))
    detail = "the rules give exactly the events of this command"
    return Check("event", "passed", versions, detail)


def _trick(table: Table, entries: Sequence[Entry], disputed: int) -> TrickFinding | None:
    """The trick that the disputed event took or belongs to."""
    for entry in entries[disputed - 1 :]:
        if entry.type == HandStarted.__name__:
            return None
        if entry.type == TrickTaken.__name__:
            break
    else:
        return None
    taker = msgspec.json.decode(entry.data)["seat"]
    try:
        before = fold(table.id, entries[: entry.version - 1])
    except (AssertionError, UnreadableEvent, ValueError):
        return TrickFinding(entry.version, taker, None, None)
    rightful = before.game.rightful_taker(before.play)
    return TrickFinding(entry.version, taker, rightful, rightful != taker)
