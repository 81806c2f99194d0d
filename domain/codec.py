"""Events and actions from and to bytes: the names on the wire, and old schemas read as new ones.

Pure bytes in, bytes out. An event type's name in the log is its class name; its data and parts are
split and joined by `events.Layout`. A type that gets a new schema version gets an entry in
`UPCASTERS` and one in `FORMER`: whoever reads a log meets the newest schema alone.
"""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, Protocol, Union

import msgspec

from domain.actions import Action, Cut, Deal
from domain.events import Event, encode_canonical, layout
from domain.game import Score
from domain.hand import HandDealt, HandStarted, PackCut, PlayerResigned, SeedRevealed
from domain.placing import places
from domain.registry import GAMES
from domain.table.commands import Command, Create
from domain.table.events import (
    BotTimed,
    ClockStarted,
    GameAbandoned,
    GameCreated,
    GameEnded,
    PlayerErased,
    SeatTaken,
    SeatTokenIssued,
    SpectatorTokenIssued,
)


class RecordedPart(Protocol):
    """A sealed part as stored."""

    @property
    def audience(self) -> str: ...
    @property
    def body(self) -> bytes | None: ...


class Recorded(Protocol):
    """An event as stored: what reading it back needs."""

    @property
    def type(self) -> str: ...
    @property
    def schema(self) -> int: ...
    @property
    def data(self) -> bytes: ...
    @property
    def sealed(self) -> Sequence[RecordedPart]: ...


class UnreadableEvent(Exception):
    """An event whose type or schema this version does not know, or whose bytes do not fit it."""


TABLE_EVENTS: Final[tuple[type[Event], ...]] = (
    GameCreated,
    SeatTaken,
    SeatTokenIssued,
    SpectatorTokenIssued,
    HandStarted,
    PackCut,
    HandDealt,
    SeedRevealed,
    PlayerResigned,
    ClockStarted,
    BotTimed,
    GameAbandoned,
    PlayerErased,
    GameEnded,
)

EVENT_TYPES: Final[Mapping[str, type[Event]]] = MappingProxyType(
    {
        kind.__name__: kind
        for kinds in (TABLE_EVENTS, *[game.events for game in GAMES.values()])
        for kind in kinds
    }
)
"""Every event type by its name in the log."""

Rewriting = Callable[[bytes], bytes]


def _with_places(data: bytes) -> bytes:
    """GameEnded 1 said nothing of places: they are those that winners and scores give, so that
    who went out sooner or later shares one."""
    found = msgspec.json.decode(data)
    scores = msgspec.convert(found["scores"], tuple[Score, ...])
    return encode_canonical(found | {"places": places(found["winners"], scores, ())})


def _without_places(data: bytes) -> bytes:
    found = msgspec.json.decode(data)
    del found["places"]
    return encode_canonical(found)


UPCASTERS: Final[Mapping[tuple[str, int], Rewriting]] = MappingProxyType(
    {(GameEnded.__name__, 1): _with_places}
)
"""By type and schema: the data of that schema as data of the next one. What the old one did not say
is what follows from it alone. Data that does not fit raises as its decoding does."""

FORMER: Final[Mapping[tuple[str, int], Rewriting]] = MappingProxyType(
    {(GameEnded.__name__, 2): _without_places}
)
"""By type and schema: the data of that schema as the schema before would have had it, to the byte;
so that old logs are still derived exactly."""

ACTION_TYPES: Final[tuple[type[Action], ...]] = tuple(
    dict.fromkeys((Cut, Deal, *[kind for game in GAMES.values() for kind in game.actions]))
)
"""Every action type, of all games."""

AnyAction: Final[Any] = Union[ACTION_TYPES]  # noqa: UP007 - made from the registry

_read_action: Final = msgspec.json.Decoder(AnyAction).decode
_READERS: Final = {name: (kind.schema, layout(kind)) for name, kind in EVENT_TYPES.items()}


def read_action(body: bytes) -> Action:
    """An action from a request's JSON, strictly. Raises msgspec.ValidationError/DecodeError."""
    action: Action = _read_action(body)
    return action


def read_event(record: Recorded) -> Event:
    """The event of a record; parts without a body are None. Raises UnreadableEvent."""
    found = _READERS.get(record.type)
    if found is None:
        raise UnreadableEvent(f"no event type {record.type}")
    current, split = found
    try:
        data = record.data if record.schema == current else _upcast(record, current)
        event: Event
        if split.sealed:
            event = split.join(data, [(part.audience, part.body) for part in record.sealed])
        else:
            event = split.read_data(data)
    except (msgspec.MsgspecError, LookupError, TypeError, ValueError) as error:
        raise UnreadableEvent(f"{record.type}: {error}") from error
    return event


def _upcast(record: Recorded, current: int) -> bytes:
    """The data of an earlier schema as the current one has it."""
    data, schema = record.data, record.schema
    if not 1 <= schema <= current:
        raise UnreadableEvent(f"{record.type} has schema {schema}, this version reads {current}")
    while schema < current:
        data = UPCASTERS[record.type, schema](data)
        schema += 1
    return data


def in_schema(kind: str, schema: int, data: bytes) -> bytes | None:
    """Data of a type's current schema as an earlier `schema` would have had it; None where there
    never was such a schema."""
    current = EVENT_TYPES[kind].schema
    if not 1 <= schema <= current:
        return None
    while schema < current:
        data = FORMER[kind, current](data)
        current -= 1
    return data


def recorded_action(command: Command, first: type[Event]) -> bytes:
    """Canonical bytes of `data.action`: the type and public parameters, without guards, and who
    acted where it was not the player (contract, *The log*). A parameter that the `first` event
    seals is not public."""
    ask = command.ask
    if isinstance(ask, Action):
        left_out = {"hand", "trick", "offer", *layout(first).secrets}
    else:
        # What these bring (players, options) stands in their events, names in the sealed parts.
        left_out = {"player", *Create.__struct_fields__}
    record: dict[str, Any] = {"type": ask.__struct_config__.tag}
    record |= {k: v for k, v in msgspec.to_builtins(ask).items() if k not in left_out}
    if command.forced:
        record["forced"] = True
    if command.by is not None:
        record["by"] = command.by
    return encode_canonical(record)
