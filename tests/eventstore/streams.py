"""Appends for the tests: streams of meaningless bytes with a proper chain."""

import os
from uuid import uuid4

from eventstore.records import (
    GENESIS,
    Answer,
    Append,
    CallerKey,
    Head,
    NewEvent,
    SealedPart,
    StoredEvent,
)


def an_id() -> str:
    return str(uuid4())


def a_part(audience: str = "[0]") -> SealedPart:
    return SealedPart(audience, os.urandom(32), os.urandom(16), os.urandom(24))


def an_event(data: bytes = b"{}", sealed: tuple[SealedPart, ...] = ()) -> NewEvent:
    return NewEvent(
        type="CardPlayed",
        schema=1,
        at=1_760_000_000_000_000,
        actor=2,
        command=an_id(),
        data=data,
        hash=os.urandom(32),
        sealed=sealed,
    )


def a_key(scope: str) -> CallerKey:
    return CallerKey(scope=scope, key=os.urandom(32), fingerprint=os.urandom(32))


def an_append(
    stream: str,
    *events: NewEvent,
    after: Append | Head | None = None,
    key: CallerKey | None = None,
    tags: tuple[str, ...] | None = None,
    tenant: str = "host",
    wake_at: int | None = None,
    response: bytes = b"answer",
    secret: bytes | None = None,
) -> Append:
    """What follows `after` in a stream (None: what begins it); one event unless given."""
    events = events or (an_event(),)
    expected, prev = position(after)
    return Append(
        stream=stream,
        expected=expected,
        prev=prev,
        events=events,
        command=events[0].command,
        answer=Answer(stream, expected + 1, expected + len(events), response),
        key=key,
        wake_at=wake_at,
        tags=tags,
        tenant=tenant,
        category="game",
        secret=secret,
    )


def position(after: Append | Head | None) -> tuple[int, bytes]:
    match after:
        case None:
            return 0, GENESIS
        case Head():
            return after.version, after.hash
        case Append():
            return after.expected + len(after.events), after.events[-1].hash


def stored(*appends: Append) -> list[StoredEvent]:
    """What a stream holds after the appends."""
    found: list[StoredEvent] = []
    for append in appends:
        for event in append.events:
            prev = found[-1].hash if found else GENESIS
            found.append(
                StoredEvent(
                    version=len(found) + 1,
                    type=event.type,
                    schema=event.schema,
                    at=event.at,
                    actor=event.actor,
                    command=event.command,
                    data=event.data,
                    prev=prev,
                    hash=event.hash,
                    sealed=event.sealed,
                )
            )
    return found
