"""A dispute as a stream of its own: what happens to it, what is remembered, what may be done.

Its log has the form of a game's (`log`): canonical bytes, sealed parts, one hash chain. Words that
somebody wrote are sealed for all, so that they can be erased. Source: contract, *Disputes*.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, Literal, assert_never

import msgspec

from domain.codec import Recorded, UnreadableEvent
from domain.disputes import Claim, Finding
from domain.events import Event, encode_canonical, layout
from domain.game import Refused
from domain.log import GENESIS, Circumstances, Entry, chained, shapes_of
from domain.receipts import Receipt
from domain.seats import Seat
from domain.visibility import ForAll, Public, Role

State = Literal["pending", "found", "resolved"]
Outcome = Literal["upheld", "rejected"]


class Words(msgspec.Struct, frozen=True):
    """What somebody wrote: personal, so sealed to be erasable."""

    text: str


class DisputeOpened(Event, frozen=True):
    """Somebody disputes an event of a game."""

    game: Public[str]
    disputed: Public[int]
    """Version of the disputed event."""
    claim: Public[Claim]
    by: Public[Role]
    seat: Public[Seat | None]
    receipt: Public[Receipt | None]
    """One that the claimant kept, signed by the service."""
    words: ForAll[Words] = None


class DisputeFound(Event, frozen=True):
    """The finding, or the finding again once more is open."""

    finding: Public[Finding]


class DisputeResolved(Event, frozen=True):
    """The host has settled the dispute."""

    outcome: Public[Outcome]
    note: ForAll[Words] = None


DisputeEvent = DisputeOpened | DisputeFound | DisputeResolved

DISPUTE_EVENTS: Final[Mapping[str, type[Event]]] = MappingProxyType(
    {kind.__name__: kind for kind in (DisputeOpened, DisputeFound, DisputeResolved)}
)
"""Every event type of a dispute by its name in the log."""


class Resolution(msgspec.Struct, frozen=True):
    """How the host settled it, when (microseconds since 1970 UTC), and the note it gave (None where
    it gave none, or it has been erased)."""

    outcome: Outcome
    note: str | None
    at: int


class Dispute(msgspec.Struct, frozen=True):
    """A dispute at a version of its stream."""

    id: str
    opened: DisputeOpened
    opened_at: int
    version: int
    hash: bytes
    at: int
    """When its newest event happened."""
    finding: Finding | None = None
    resolution: Resolution | None = None

    @property
    def awaits_opening(self) -> bool:
        """Whether the finding waits for a hand to be opened."""
        return self.finding is None or self.finding.verdict == "pending"

    @property
    def state(self) -> State:
        """Settled by the host, found, or waiting for a hand to be opened."""
        if self.resolution is not None:
            return "resolved"
        return "pending" if self.awaits_opening else "found"


def read_dispute_event(record: Recorded) -> DisputeEvent:
    """The event of a record. Raises UnreadableEvent."""
    kind = DISPUTE_EVENTS.get(record.type)
    if kind is None or record.schema != kind.schema:
        raise UnreadableEvent(f"no dispute's event: {record.type} of schema {record.schema}")
    try:
        parts = [(part.audience, part.body) for part in record.sealed]
        event: DisputeEvent = layout(kind).join(record.data, parts)
    except (msgspec.MsgspecError, TypeError) as error:
        raise UnreadableEvent(f"{record.type}: {error}") from error
    return event


def fold_dispute(stream: str, entries: Iterable[Entry], before: Dispute | None = None) -> Dispute:
    """The dispute after these events, going on from `before`. Raises UnreadableEvent, and
    ValueError where a dispute does not begin with DisputeOpened."""
    found = before
    for entry in entries:
        event = read_dispute_event(entry)
        stands: dict[str, Any] = {"version": entry.version, "hash": entry.hash, "at": entry.at}
        match event:
            case DisputeOpened():
                found = Dispute(id=stream, opened=event, opened_at=entry.at, **stands)
            case _ if found is None:
                raise ValueError(f"the log of {stream} does not begin with DisputeOpened")
            case DisputeFound():
                found = msgspec.structs.replace(found, finding=event.finding, **stands)
            case DisputeResolved():
                note = None if event.note is None else event.note.text
                settled = Resolution(event.outcome, note, entry.at)
                found = msgspec.structs.replace(found, resolution=settled, **stands)
            case _:
                assert_never(event)
    if found is None:
        raise ValueError(f"the log of {stream} is empty")
    return found


def check_words(words: Words | None, erased: bool) -> None:
    """On the dispute of a player who has been erased nobody writes more that would have to be.
    Raises Refused."""
    if erased and words is not None:
        raise Refused("dispute.erased", "who disputes has been erased: no `text` and no `note`")


def personal_words(
    entries: Iterable[Entry], seat: Seat, names: Collection[str]
) -> list[tuple[int, int]]:
    """Versions and numbers of the sealed parts of a dispute that are about the player of a seat:
    all words of a dispute that the seat opened, and of others those that have one of the names in
    them as whole words, in capitals or not. Raises UnreadableEvent."""
    named = re.compile(
        "|".join([rf"(?<!\w){re.escape(name)}(?!\w)" for name in names]), re.IGNORECASE
    )
    found: list[tuple[int, int]] = []
    theirs = False
    for entry in entries:
        event = read_dispute_event(entry)
        words: Words | None = None
        match event:
            case DisputeOpened():
                theirs = event.by == "seat" and event.seat == seat
                words = event.words
            case DisputeResolved():
                words = event.note
        if words is not None and (theirs or (names and named.search(words.text))):
            found.append((entry.version, 0))
    return found


def resolve(dispute: Dispute, outcome: Outcome, note: str | None) -> DisputeResolved:
    """Settle the dispute. Raises Refused where it has been settled before."""
    if dispute.resolution is not None:
        raise Refused("dispute.resolved", f"it has been {dispute.resolution.outcome} before")
    return DisputeResolved(outcome, None if note is None else Words(note))


def record_dispute(
    stream: str,
    before: Dispute | None,
    events: Sequence[DisputeEvent],
    shared: Circumstances,
    salt_key: bytes,
) -> list[Entry]:
    """The log entries of one command about a dispute (`before` None: the one that opens it)."""
    names = {DisputeOpened: "dispute", DisputeFound: "find", DisputeResolved: "resolve"}
    action: dict[str, str] = {"type": names[type(events[0])]}
    if isinstance(events[0], DisputeFound):
        action["by"] = "server"
    after, prev = (0, GENESIS) if before is None else (before.version, before.hash)
    shapes = shapes_of(events, encode_canonical(action))
    return chained(stream, after, shapes, shared, prev, salt_key)
