"""Every event type: each field has an audience, and nothing is lost between event and bytes."""

import random
from itertools import product
from typing import Any, get_type_hints

import msgspec
import msgspec.inspect
import pytest

from domain.codec import EVENT_TYPES
from domain.events import Event, Layout, declared_audience, layout
from domain.hand import Cards, HandDealt
from domain.registry import GAMES
from domain.visibility import ALL_TEXT, TABLE_TEXT, ForEachSeat, ForTable, Public, audience_seats
from tests.domain.random_games import steps

ORDER = {"seats": 0, TABLE_TEXT: 1, ALL_TEXT: 2, "[]": 3}


@pytest.fixture(scope="module")
def happened() -> list[Event]:
    """Events as they come about in games, several of each type that does."""
    found: dict[str, list[Event]] = {}
    for game, number in product(GAMES, range(80)):
        for step in steps(game, number):
            for event in step.decision.events:
                kept = found.setdefault(type(event).__name__, [])
                if len(kept) < 40:
                    kept.append(event)
    assert found.keys() == EVENT_TYPES.keys(), EVENT_TYPES.keys() - found.keys()
    return [event for kept in found.values() for event in kept]


@pytest.mark.parametrize("kind", EVENT_TYPES.values(), ids=list(EVENT_TYPES))
def test_every_field_declares_its_audience(kind: type[Event]) -> None:
    """architecture, Hidden information: a new field without one fails here."""
    hints = get_type_hints(kind, include_extras=True)
    for field in msgspec.structs.fields(kind):
        assert declared_audience(hints[field.name]) is not None, field.name


@pytest.mark.parametrize("kind", EVENT_TYPES.values(), ids=list(EVENT_TYPES))
def test_names_sort_after_action(kind: type[Event]) -> None:
    """`data.action` is written first, so canonical order needs every name to come after it."""
    assert all(field.name > "action" for field in msgspec.structs.fields(kind))


@pytest.mark.parametrize("kind", EVENT_TYPES.values(), ids=list(EVENT_TYPES))
def test_no_two_fields_would_share_a_part(kind: type[Event]) -> None:
    """Parts are told apart by audience alone, so an event has at most one field of each."""
    audiences = [
        "seats" if field.audience.kind in ("seat", "seats", "each") else field.audience.kind
        for field in layout(kind).sealed
    ]
    assert len(set(audiences)) == len(audiences)


def test_a_field_without_audience_is_seen_by_nobody() -> None:
    """architecture, Hidden information: default is deny."""

    class Careless(Event, frozen=True):
        seat: Public[int]
        trump: str

    shape = Layout(Careless)
    event = Careless(2, "H")
    assert shape.data(event) == b'{"seat":2}'
    assert list(shape.parts(event)) == [("[]", b'{"trump":"H"}')]
    assert shape.seen(event, lambda audience: audience != "[]").trump is None
    assert shape.join(b'{"seat":2}', [("[]", b'{"trump":"H"}')]) == event
    assert shape.join(b'{"seat":2}', [("[]", None)]).trump is None
    assert shape.sealed[0].wrapped


def test_a_name_before_action_is_refused() -> None:
    class Early(Event, frozen=True):
        aback: Public[int]

    with pytest.raises(TypeError, match="action"):
        Layout(Early)


def test_a_sealed_field_before_a_public_one_is_refused() -> None:
    """Events are joined by the place of their fields."""

    class Mixed(Event, frozen=True):
        face: ForTable[Cards]
        seat: Public[int]

    with pytest.raises(TypeError, match="after the public ones"):
        Layout(Mixed)


def test_sealed_fields_in_another_order_than_their_parts_are_refused() -> None:
    class Turned(Event, frozen=True):
        face: ForTable[Cards]
        hands: ForEachSeat[Cards]

    with pytest.raises(TypeError, match="as in the log"):
        Layout(Turned)


def test_split_and_joined(happened: list[Event]) -> None:
    """codec: what is written is read again, public data and parts."""
    for event in happened:
        shape = layout(type(event))
        assert shape.join(shape.data(event), list(shape.parts(event))) == event


def test_hidden_parts_come_back_empty(happened: list[Event]) -> None:
    """What a viewer may not see is None, and so is what was erased."""
    for event in happened:
        shape = layout(type(event))
        parts: list[tuple[str, bytes | None]] = [(text, None) for text, _ in shape.parts(event)]
        joined = shape.join(shape.data(event), parts)
        assert joined == shape.seen(event, lambda audience: False)
        for field in shape.sealed:
            value = getattr(joined, field.name)
            assert value is None or set(value.values()) <= {None}


def test_seen_is_what_the_parts_allow(happened: list[Event]) -> None:
    """`seen` and reading back a redacted record agree, whatever is allowed."""
    chance = random.Random(3)
    for event in happened:
        shape = layout(type(event))
        parts = list(shape.parts(event))
        allowed = {audience for audience, _ in parts if chance.random() < 0.5}
        redacted = [(audience, body if audience in allowed else None) for audience, body in parts]
        assert shape.join(shape.data(event), redacted) == shape.seen(event, allowed.__contains__)


def test_parts_in_the_order_of_the_log(happened: list[Event]) -> None:
    """contract, The log: seats ascending, `"table"`, `"all"`, `[]`."""
    for event in happened:
        keys = []
        for audience, _ in layout(type(event)).parts(event):
            seats = sorted(audience_seats(audience))
            keys.append((ORDER["seats" if seats else audience], seats))
        assert keys == sorted(keys)


def test_public_data_holds_no_sealed_field(happened: list[Event]) -> None:
    for event in happened:
        shape = layout(type(event))
        names = set(msgspec.json.decode(shape.data(event)))
        assert names.isdisjoint(field.name for field in shape.sealed)
        everything = {field.name for field in msgspec.structs.fields(type(event))}
        assert names == everything - {field.name for field in shape.sealed}


def test_numbers_are_never_floats() -> None:
    """contract, The log: payloads hold no floats (JCS would have to print them)."""
    for kind in EVENT_TYPES.values():
        for part in [kind, *[field.part for field in layout(kind).sealed]]:
            assert "FloatType" not in repr(msgspec.inspect.type_info(part)), kind.__name__


def test_hands_are_one_part_a_seat_then_the_stock() -> None:
    """contract, The log: `HandDealt` has one part a seat, in the order dealt, and the stock's."""
    dealt = HandDealt(
        1, (2, 0, 2), 1, {2: Cards(("AS", "2C")), 0: Cards(("KH", "3C"))}, Cards(("9D",))
    )
    assert list(layout(HandDealt).parts(dealt)) == [
        ("[0]", b'{"cards":["KH","3C"]}'),
        ("[2]", b'{"cards":["AS","2C"]}'),
        ("[]", b'{"cards":["9D"]}'),
    ]
    seen = layout(HandDealt).seen(dealt, lambda audience: audience == "[2]")
    assert seen.hands == {0: None, 2: Cards(("AS", "2C"))}
    assert seen.rest is None


def test_bytes_of_another_type_are_not_read() -> None:
    with pytest.raises(msgspec.ValidationError):
        layout(HandDealt).join(b'{"hand":"one"}', [])


def test_each_and_table_parts_stand_side_by_side() -> None:
    """A type with several audiences, none of them of a game yet."""

    class Rich(Event, frozen=True):
        hand: Public[int]
        hands: ForEachSeat[Cards]
        face: ForTable[Cards] = None

    shape = Layout(Rich)
    for face in (None, Cards(("AS",))):
        event = Rich(1, {1: Cards(()), 0: Cards(("2C",))}, face)
        parts: list[tuple[str, Any]] = list(shape.parts(event))
        assert [audience for audience, _ in parts] == ["[0]", "[1]"] + (
            [TABLE_TEXT] if face else []
        )
        assert shape.join(shape.data(event), parts) == event
