"""The log: sealed parts, digests and the hash chain, and what a viewer is given of an event.

Source: contract, *The log*; canonical JSON is RFC 8785 (JCS), hashes are SHA-256 (FIPS 180-4),
salts of seeded games HMAC-SHA256 (RFC 2104).
"""

import hashlib
import hmac
from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from domain import base64url
from domain.codec import Recorded, read_event, recorded_action
from domain.events import Event, layout
from domain.seats import Seat
from domain.table.commands import Command
from domain.table.decide import Decision
from domain.table.events import GameCreated
from domain.table.state import Table, created, evolve
from domain.times import format_at
from domain.visibility import Openings, entitled

GENESIS: Final = bytes(32)
"""`prev` of a game's first event."""

SALT_BYTES: Final = 16


class Part(msgspec.Struct, frozen=True, gc=False):
    """A sealed part: `audience` is its canonical `for`; salt and body are None where erased or not
    given. The digest is SHA-256(salt ‖ body)."""

    audience: str
    digest: bytes
    salt: bytes | None
    body: bytes | None


class Entry(msgspec.Struct, frozen=True, gc=False):
    """An event of a game's log; `data` and the parts' bodies are canonical bytes."""

    version: int
    type: str
    schema: int
    at: int
    actor: Seat | None
    command: str
    data: bytes
    prev: bytes
    hash: bytes
    sealed: tuple[Part, ...] = ()


def salt(key: bytes, game_id: str, version: int, index: int) -> bytes:
    """The 16-byte salt of a part, derived from a 32-byte key (the option `seed`, or fresh bytes
    that nobody keeps)."""
    return hmac.digest(key, f"{game_id}:{version}:{index}".encode(), "sha256")[:SALT_BYTES]


def digest(salt_: bytes, body: bytes) -> bytes:
    """SHA-256(salt ‖ canonical bytes) of a sealed part."""
    return hashlib.sha256(salt_ + body).digest()


def event_hash(game_id: str, entry: "Entry") -> bytes:
    """SHA-256 over the canonical JSON of an event without its salts and sealed data."""
    actor = "null" if entry.actor is None else entry.actor
    sealed = (
        ",".join([f'{{"digest":"{p.digest.hex()}","for":{p.audience}}}' for p in entry.sealed])
        if entry.sealed
        else ""
    )
    head = f'{{"actor":{actor},"at":"{format_at(entry.at)}","command":"{entry.command}","data":'
    tail = (
        f',"game":"{game_id}","prev":"{entry.prev.hex()}","schema":{entry.schema},'
        f'"sealed":[{sealed}],"type":"{entry.type}","version":{entry.version}}}'
    )
    return hashlib.sha256(head.encode() + entry.data + tail.encode()).digest()


class Shape(msgspec.Struct, frozen=True):
    """An event as its command and the rules alone determine it: what is left of an entry without
    salts, times, ids and hashes. `parts` are audience and canonical body, in order."""

    type: str
    schema: int
    data: bytes
    parts: tuple[tuple[str, bytes], ...]


def shapes(decision: Decision, command: Command) -> list[Shape]:
    """The shapes of a decision's events, with `data.action` in the first."""
    return shapes_of(decision.events, recorded_action(command, type(decision.events[0])))


def shapes_of(events: Sequence[Event], action: bytes) -> list[Shape]:
    """The shapes of a command's events; `action` is the canonical record of what was asked."""
    found: list[Shape] = []
    for event in events:
        split = layout(type(event))
        data = split.data(event)
        if not found:
            data = b'{"action":' + action + (b"}" if data == b"{}" else b"," + data[1:])
        found.append(Shape(type(event).__name__, event.schema, data, tuple(split.parts(event))))
    return found


class Circumstances(msgspec.Struct, frozen=True):
    """What the events of one command share."""

    at: int
    actor: Seat | None
    command: str


def record(
    decision: Decision, command: Command, command_id: str, prev: bytes, salt_key: bytes
) -> list[Entry]:
    """The log entries of a decision: canonical bytes, sealed parts and chain, `data.action` with
    the first. `prev` is the hash of the event before them (GENESIS for a new game)."""
    table = decision.table
    shared = Circumstances(command.at, command.seat, command_id)
    after = table.version - len(decision.events)
    return chained(table.id, after, shapes(decision, command), shared, prev, salt_key)


def chained(
    stream: str,
    after: int,
    shapes_: Sequence[Shape],
    shared: Circumstances,
    prev: bytes,
    salt_key: bytes,
) -> list[Entry]:
    """Shapes as entries of a log that stands at version `after` with the hash `prev`."""
    entries: list[Entry] = []
    for version, shape in enumerate(shapes_, after + 1):
        parts = []
        for index, (audience, body) in enumerate(shape.parts):
            part_salt = salt(salt_key, stream, version, index)
            parts.append(Part(audience, digest(part_salt, body), part_salt, body))
        entry = Entry(
            version=version,
            type=shape.type,
            schema=shape.schema,
            at=shared.at,
            actor=shared.actor,
            command=shared.command,
            data=shape.data,
            prev=prev,
            hash=b"",
            sealed=tuple(parts),
        )
        prev = event_hash(stream, entry)
        entries.append(msgspec.structs.replace(entry, hash=prev))
    return entries


def fold(game_id: str, records: Iterable[Recorded], table: Table | None = None) -> Table:
    """The table after these events: from the first one, or going on from `table` (which is changed
    and returned). Raises UnreadableEvent, and ValueError where the log does not begin with
    GameCreated."""
    for item in records:
        event = read_event(item)
        if table is None:
            if not isinstance(event, GameCreated):
                raise ValueError(f"the log of {game_id} does not begin with GameCreated")
            table = created(game_id, event)
        else:
            evolve(table, event)
    if table is None:
        raise ValueError(f"the log of {game_id} is empty")
    return table


def seen_event(entry: Entry, seat: Seat | None, now: Openings) -> Event:
    """The event with the parts that a viewer at `seat` may see now; the others are None. Raises
    UnreadableEvent."""
    return read_event(redacted(entry, seat, now))


def redacted(entry: Entry, seat: Seat | None, now: Openings) -> Entry:
    """The entry with salt and body of the parts alone that a viewer at `seat` may see now."""
    parts = [
        part
        if entitled(part.audience, entry.version, seat, now)
        else Part(part.audience, part.digest, None, None)
        for part in entry.sealed
    ]
    return msgspec.structs.replace(entry, sealed=tuple(parts))


class PartView(msgspec.Struct, frozen=True, omit_defaults=True):
    """A sealed part as a viewer gets it: `for` and `digest`, and where entitled salt and data."""

    audience: msgspec.Raw = msgspec.field(name="for")
    digest: str
    salt: str | None = None
    data: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    erased: bool = False


class EventView(msgspec.Struct, frozen=True):
    """An event as a viewer gets it (contract, *The log*)."""

    game: str
    version: int
    type: str
    at: str
    actor: Seat | None
    command: str
    schema: int
    data: msgspec.Raw
    sealed: tuple[PartView, ...]
    prev: str
    hash: str


def event_view(game_id: str, entry: Entry, seat: Seat | None, now: Openings) -> EventView:
    """What a viewer at `seat` (None: spectator or host) gets of an event, by what lies open now."""
    return EventView(
        game=game_id,
        version=entry.version,
        type=entry.type,
        at=format_at(entry.at),
        actor=entry.actor,
        command=entry.command,
        schema=entry.schema,
        data=msgspec.Raw(entry.data),
        sealed=tuple([_part_view(entry.version, part, seat, now) for part in entry.sealed]),
        prev=entry.prev.hex(),
        hash=entry.hash.hex(),
    )


def _part_view(version: int, part: Part, seat: Seat | None, now: Openings) -> PartView:
    audience = msgspec.Raw(part.audience.encode())
    if not entitled(part.audience, version, seat, now):
        return PartView(audience, part.digest.hex())
    if part.salt is None or part.body is None:
        return PartView(audience, part.digest.hex(), erased=True)
    return PartView(
        audience=audience,
        digest=part.digest.hex(),
        salt=base64url.encode(part.salt),
        data=msgspec.Raw(part.body),
    )


def chain_breaks(game_id: str, entries: Sequence[Entry]) -> int | None:
    """The version of the first event whose `prev`, hash or digests do not fit, or None."""
    prev = GENESIS
    for entry in entries:
        if entry.prev != prev or event_hash(game_id, entry) != entry.hash:
            return entry.version
        for part in entry.sealed:
            if part.salt is None or part.body is None:
                continue
            if digest(part.salt, part.body) != part.digest:
                return entry.version
        prev = entry.hash
    return None
