"""What an event is: a fact with public fields and sealed ones. Knows no particular event.

An event type is a frozen struct whose name is its type in the log, each field annotated with its
audience (`visibility`): the public fields first, then the sealed ones in the order of their parts.
This module splits an event into the canonical bytes of its public data and of its sealed parts, and
joins them again; hidden or erased parts come back as None.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar, Final, get_args, get_origin, get_type_hints

import msgspec

from domain.visibility import (
    ALL_TEXT,
    NOBODY,
    NOBODY_TEXT,
    TABLE_TEXT,
    Audience,
    audience_seats,
    audience_text,
)

encode_canonical: Final = msgspec.json.Encoder(order="sorted").encode
"""RFC 8785 (JCS) bytes, for values whose keys are ASCII and that hold no floats."""

_SAME_TEXT: Final = {"table": TABLE_TEXT, "all": ALL_TEXT, "nobody": NOBODY_TEXT}

_ORDER: Final = ("seat", "seats", "each", "table", "all", "nobody")


class Event(msgspec.Struct, frozen=True, gc=False):
    """A fact of a game. Subclasses declare an audience for every field."""

    schema: ClassVar[int] = 1
    """Version of the type's fields; a change of them makes a new version and an upcaster."""

    covers: ClassVar[bool] = False
    """Whether it turns down all that lies face up on the table."""


class SealedField(msgspec.Struct, frozen=True):
    """One sealed field of an event type and how its parts are written and read."""

    name: str
    audience: Audience
    text: str | None
    """The audience as its part has it, where that is the same for every event; None where seats are
    named."""
    part: Any
    """Type of the part's data."""
    wrapped: bool
    """True for a field without a declared audience: its part is `{name: value}`."""
    read: Callable[[bytes], Any]


def declared_audience(hint: Any) -> Audience | None:
    """The audience that a field's annotation declares, or None."""
    for extra in getattr(hint, "__metadata__", ()):
        if isinstance(extra, Audience):
            return extra
    return None


def _part_type(hint: Any) -> Any:
    inner = get_args(hint)[0]
    if get_origin(inner) is dict:
        inner = get_args(inner)[1]
    return next(part for part in get_args(inner) if part is not type(None))


class Layout:
    """How one event type is split into public data and sealed parts."""

    __slots__ = ("_data_type", "_event_type", "_public", "read_data", "sealed", "secrets")

    def __init__(self, event_type: type[Event]) -> None:
        hints = get_type_hints(event_type, include_extras=True)
        names = [field.name for field in msgspec.structs.fields(event_type)]
        if any(name <= "action" for name in names):
            raise TypeError(f"{event_type.__name__}: field names must sort after 'action'")
        audiences = {name: declared_audience(hints[name]) for name in names}
        self._event_type: Final = event_type
        self._public: Final = tuple(
            name for name in names if (a := audiences[name]) is not None and a.kind == "public"
        )
        sealed: list[SealedField] = []
        for name in names:
            if name in self._public:
                continue
            audience, hint = audiences[name], hints[name]
            part = (
                msgspec.defstruct(f"{event_type.__name__}_{name}", [(name, hint)])
                if audience is None
                else _part_type(hint)
            )
            read = msgspec.json.Decoder(part).decode
            audience, wrapped = audience or NOBODY, audience is None
            text = _SAME_TEXT.get(audience.kind)
            sealed.append(SealedField(name, audience, text, part, wrapped, read))
        self.sealed: Final = tuple(sorted(sealed, key=lambda f: _ORDER.index(f.audience.kind)))
        if names != [*self._public, *[field.name for field in self.sealed]]:
            raise TypeError(
                f"{event_type.__name__}: sealed fields stand after the public ones, as in the log"
            )
        self.secrets: Final = frozenset(
            field.encode_name for one in self.sealed for field in msgspec.structs.fields(one.part)
        )
        """The names that its sealed parts hold: an action's parameters so called are secret."""
        # Public data alone, read into a struct of its own where the event has sealed fields too.
        self._data_type: Final[Any] = (
            msgspec.defstruct(
                f"{event_type.__name__}Data", [(name, hints[name]) for name in self._public]
            )
            if sealed
            else event_type
        )
        self.read_data: Final[Callable[[bytes], Any]] = msgspec.json.Decoder(self._data_type).decode
        """The event from its data, where it has no sealed fields; else what `join` begins with."""

    def data(self, event: Event) -> bytes:
        """Canonical bytes of the public fields."""
        if not self.sealed:
            return encode_canonical(event)
        return encode_canonical(self._data_type(*[getattr(event, n) for n in self._public]))

    def parts(self, event: Event) -> Iterator[tuple[str, bytes]]:
        """Audience text and canonical bytes of each sealed part, in the order of the log:
        seats ascending, then `"table"`, `"all"`, `[]`."""
        for field in self.sealed:
            value = getattr(event, field.name)
            if field.wrapped:
                yield NOBODY_TEXT, encode_canonical({field.name: value})
            elif field.audience.kind == "each":
                for seat in sorted(value):
                    yield audience_text([seat]), encode_canonical(value[seat])
            elif value is not None:
                yield self._audience(event, field), encode_canonical(value)

    def _audience(self, event: Event, field: SealedField) -> str:
        if field.text is not None:
            return field.text
        named = getattr(event, field.audience.field)
        return audience_text([named] if field.audience.kind == "seat" else list(named))

    def join(self, data: bytes, parts: Sequence[tuple[str, bytes | None]]) -> Any:
        """The event again from its data and parts (audience text, body or None where unseen).

        Raises msgspec.ValidationError or DecodeError where the bytes are not of this type.
        """
        public = self.read_data(data)
        if not self.sealed:
            return public
        hidden: list[Any] = []
        done = 0
        for field in self.sealed:
            value: Any = None
            if field.audience.kind == "each":
                value = {}
                for audience, body in parts[done:]:
                    seats = audience_seats(audience)
                    if len(seats) != 1:
                        break
                    value[next(iter(seats))] = None if body is None else field.read(body)
                    done += 1
            elif done < len(parts):
                audience, body = parts[done]
                if audience == field.text or (field.text is None and audience_seats(audience)):
                    done += 1
                    if body is not None:
                        value = field.read(body)
                        if field.wrapped:
                            value = getattr(value, field.name)
            hidden.append(value)
        return self._event_type(*msgspec.structs.astuple(public), *hidden)

    def seen(self, event: Event, may_see: Callable[[str], bool]) -> Any:
        """The event with every sealed field emptied whose audience text `may_see` denies."""
        if not self.sealed:
            return event
        values = {name: getattr(event, name) for name in self._public}
        for field in self.sealed:
            value = getattr(event, field.name)
            if field.audience.kind == "each":
                values[field.name] = {
                    seat: part if may_see(audience_text([seat])) else None
                    for seat, part in value.items()
                }
            else:
                text = NOBODY_TEXT if value is None else self._audience(event, field)
                values[field.name] = value if may_see(text) else None
        return self._event_type(**values)


_layouts: dict[type[Event], Layout] = {}


def layout(event_type: type[Event]) -> Layout:
    """The layout of an event type, made once."""
    found = _layouts.get(event_type)
    if found is None:
        found = _layouts[event_type] = Layout(event_type)
    return found
