"""Stored events as entries of the domain's log, and what of an event everyone may see at once."""

from collections.abc import Sequence
from typing import Final

from domain.events import Event
from domain.log import Entry, Part, seen_event
from domain.visibility import Openings
from eventstore.records import StoredEvent

_NOTHING_OPEN: Final = Openings()


def entry(event: StoredEvent) -> Entry:
    """A stored event as an entry of the log."""
    return Entry(
        version=event.version,
        type=event.type,
        schema=event.schema,
        at=event.at,
        actor=event.actor,
        command=event.command,
        data=event.data,
        prev=event.prev,
        hash=event.hash,
        sealed=tuple([Part(p.audience, p.digest, p.salt, p.body) for p in event.sealed]),
    )


def entries(events: Sequence[StoredEvent]) -> list[Entry]:
    """Stored events as entries of the log."""
    return [entry(event) for event in events]


def public(event: StoredEvent) -> Event:
    """A game's event as anybody may see it as soon as it has happened; all that is sealed for
    somebody, or until later, is None. Raises UnreadableEvent."""
    return seen_event(entry(event), None, _NOTHING_OPEN)
