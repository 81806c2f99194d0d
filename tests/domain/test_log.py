"""The log's bytes, digests and chain, against code that shares nothing (contract, *The log*)."""

import hashlib
import hmac
import json
from base64 import urlsafe_b64decode
from typing import Any

import msgspec
import pytest

from domain.actions import Cut, Play
from domain.codec import UnreadableEvent, read_action, read_event
from domain.events import encode_canonical
from domain.lodam.commands import OfferTrade
from domain.log import (
    GENESIS,
    Entry,
    chain_breaks,
    digest,
    event_view,
    fold,
    record,
    salt,
    seen_event,
)
from domain.table.commands import Abandon, Create, Join, Player
from domain.table.decide import create, decide
from domain.visibility import Openings
from tests.builders import GAME_ID, creation, options
from tests.domain.lodam.words import lodam, offer
from tests.domain.random_games import steps
from tests.domain.second_opinion import canonical, check_chain, decoded
from tests.spec import AT, command

EVERYTHING = Openings(((1, 10**9),))


@pytest.fixture(scope="module")
def game() -> tuple[str, list[Entry]]:
    """The log of a random game."""
    entries: list[Entry] = []
    game_id = ""
    for step in steps("lodam", 5):
        game_id = step.decision.table.id
        prev = entries[-1].hash if entries else GENESIS
        entries += record(step.decision, step.command, step.command_id, prev, step.key)
    return game_id, entries


def shown(game_id: str, entries: list[Entry], seat: int | None, now: Openings) -> list[Any]:
    return [
        decoded(msgspec.json.encode(event_view(game_id, entry, seat, now))) for entry in entries
    ]


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        False,
        0,
        -1,
        2**53 - 1,
        -(2**53) + 1,
        "",
        "plain",
        'quote " and backslash \\ and slash /',
        "".join(map(chr, range(0x20))),
        "\x7f\x80\u00a0\u2028\u2029\ufeff\ufffd",
        "é ő ű „” 中",
        "\U0001f0a1\U0010ffff",
        "<script>&amp;</script>",
        [],
        {},
        [1, [2, [3, {"deep": []}]]],
        {"b": 1, "a": 2, "B": 3, "_": 4, "10": 5, "9": 6, "": 7},
        {"a": {"z": 1, "y": [{"k": 1, "j": 2}]}},
    ],
)
def test_canonical_json(value: Any) -> None:
    """RFC 8785: sorted keys, no spaces, shortest escapes, UTF-8."""
    assert encode_canonical(value) == canonical(value)
    assert json.loads(encode_canonical(value)) == value


def test_every_byte_of_the_log_is_canonical(game: tuple[str, list[Entry]]) -> None:
    """contract, The log: the stored bytes are exactly the JCS bytes that were hashed."""
    for entry in game[1]:
        assert entry.data == canonical(decoded(entry.data))
        for part in entry.sealed:
            assert part.body is not None
            assert part.body == canonical(decoded(part.body))
            assert part.audience.encode() == canonical(decoded(part.audience))


@pytest.mark.parametrize("seat", [None, 0, 1])
@pytest.mark.parametrize("now", [Openings(), EVERYTHING])
def test_every_viewer_can_check_the_whole_chain(
    game: tuple[str, list[Entry]], seat: int | None, now: Openings
) -> None:
    """contract, The log: redacted as it is, by an implementation from the contract alone."""
    check_chain(shown(*game, seat, now))


def test_the_shape_of_an_event(game: tuple[str, list[Entry]]) -> None:
    """contract, The log: names; who is not entitled gets `for` and `digest` alone."""
    events = shown(*game, 0, Openings())
    fields = ("game", "version", "type", "at", "actor", "command", "schema", "data", "sealed")
    names = sorted([*fields, "prev", "hash"])
    assert all(sorted(event) == names for event in events)
    dealt = next(event for event in events if event["type"] == "HandDealt")
    own, *others = dealt["sealed"]
    assert own["for"] == [0]
    assert sorted(own) == ["data", "digest", "for", "salt"]
    assert len(urlsafe_b64decode(own["salt"] + "==")) == 16
    assert "=" not in own["salt"]
    assert [part["for"] for part in others] == [*[[s] for s in range(1, len(others))], []]
    assert all(sorted(part) == ["digest", "for"] for part in others)
    assert events[0]["prev"] == "0" * 64
    assert events[0]["version"] == 1


def test_the_first_event_of_a_command_has_its_action(game: tuple[str, list[Entry]]) -> None:
    """contract, The log: and no other has; events of one action share `command`."""
    before = ""
    for event in shown(*game, None, Openings()):
        first = event["command"] != before
        assert ("action" in event["data"]) is first
        if first:
            assert event["data"]["action"]["type"]
        before = event["command"]


def test_digest_and_salt() -> None:
    """contract, The log: SHA-256(salt ‖ JCS(data)); HMAC(seed, "{game}:{version}:{index}")[:16]."""
    key = bytes(range(32))
    expected = hmac.new(key, b"g:7:2", hashlib.sha256).digest()[:16]
    assert salt(key, "g", 7, 2) == expected
    assert digest(expected, b"{}") == hashlib.sha256(expected + b"{}").digest()


def test_salts_of_one_command_differ(game: tuple[str, list[Entry]]) -> None:
    """Else equal parts would show as equal digests."""
    salts = [part.salt for entry in game[1] for part in entry.sealed]
    assert len(set(salts)) == len(salts)


def test_a_log_folds_to_the_table(game: tuple[str, list[Entry]]) -> None:
    for step in steps("lodam", 5):
        last = step.decision.table
    assert fold(game[0], game[1]) == last


def test_a_log_that_does_not_begin_at_the_beginning(game: tuple[str, list[Entry]]) -> None:
    with pytest.raises(ValueError, match="GameCreated"):
        fold(game[0], game[1][1:])
    with pytest.raises(ValueError, match="empty"):
        fold(game[0], [])


REWRITES: dict[str, dict[str, Any]] = {
    "another type": {"type": "CardPlayed"},
    "another schema": {"schema": 2},
    "another time": {"at": AT + 1},
    "another actor": {"actor": 9},
    "nobody's": {"actor": None},
    "another command": {"command": "0" * 36},
    "another data": {"data": b'{"action":{"type":"pass"}}'},
    "another prev": {"prev": bytes(32)},
    "another hash": {"hash": bytes(32)},
    "no parts": {"sealed": ()},
}


@pytest.mark.parametrize("name", REWRITES)
def test_a_rewritten_event_breaks_the_chain(name: str, game: tuple[str, list[Entry]]) -> None:
    """contract, The log: no field of an event can be changed unseen."""
    game_id, entries = game
    for number in range(0, len(entries), 25):
        entry = entries[number]
        rewritten = msgspec.structs.replace(entry, **REWRITES[name])
        if rewritten == entry:
            continue
        changed = [*entries[:number], rewritten, *entries[number + 1 :]]
        assert chain_breaks(game_id, changed) in (entry.version, entry.version + 1)


def test_dropped_moved_or_foreign_events_break_the_chain(game: tuple[str, list[Entry]]) -> None:
    game_id, entries = game
    assert chain_breaks(game_id, entries) is None
    assert chain_breaks(game_id, entries[:-1]) is None  # a shorter log is what receipts are for
    assert chain_breaks(game_id, entries[1:]) == 2
    assert chain_breaks(game_id, [*entries[:5], *entries[6:]]) == 7
    swapped = [*entries[:5], entries[6], entries[5], *entries[7:]]
    assert chain_breaks(game_id, swapped) == 7
    assert chain_breaks("another game", entries) == 1


def test_a_rewritten_part_breaks_its_digest(game: tuple[str, list[Entry]]) -> None:
    """contract, The log: the parts must match their digests."""
    game_id, entries = game
    number = next(n for n, entry in enumerate(entries) if entry.type == "HandDealt")
    part, *rest = entries[number].sealed
    for change in ({"body": b'{"cards":["AS"]}'}, {"salt": bytes(16)}, {"digest": bytes(32)}):
        other = msgspec.structs.replace(part, **change)
        rewritten = msgspec.structs.replace(entries[number], sealed=(other, *rest))
        changed = [*entries[:number], rewritten, *entries[number + 1 :]]
        assert chain_breaks(game_id, changed) == entries[number].version


def test_an_erased_part_leaves_the_chain_valid(game: tuple[str, list[Entry]]) -> None:
    """contract, Erasure: the part reads `erased: true`; the digest stays."""
    game_id, entries = game
    number = next(n for n, entry in enumerate(entries) if entry.type == "SeatTaken")
    entry = entries[number]
    erased = tuple([msgspec.structs.replace(part, salt=None, body=None) for part in entry.sealed])
    kept = [
        *entries[:number],
        msgspec.structs.replace(entry, sealed=erased),
        *entries[number + 1 :],
    ]
    assert chain_breaks(game_id, kept) is None
    events = shown(game_id, kept, None, Openings())
    check_chain(events)
    (part,) = events[number]["sealed"]
    assert part == {"for": "all", "digest": entry.sealed[0].digest.hex(), "erased": True}
    assert fold(game_id, kept).seats[0].name is None


def test_what_a_viewer_reads_is_what_the_viewer_is_shown(game: tuple[str, list[Entry]]) -> None:
    """`seen_event` and `event_view` hide the same parts."""
    game_id, entries = game
    for entry in entries:
        view = event_view(game_id, entry, 1, Openings())
        hidden = sum([isinstance(part.data, msgspec.UnsetType) for part in view.sealed])
        seen = seen_event(entry, 1, Openings())
        assert sum(_empty(getattr(seen, name)) for name in seen.__struct_fields__) >= hidden
        assert hidden or seen == read_event(entry)


def _empty(value: Any) -> int:
    if isinstance(value, dict):
        return sum([_empty(part) for part in value.values()])
    return value is None


def test_secret_parameters_are_not_in_the_public_record() -> None:
    """contract, The log: secret parameters are in its sealed part instead."""
    story = lodam("KS 2C", "QH 3C", "JD 4C", trading="before_play")
    ask = command(offer("coat", "KS"), 0)
    (entry,) = record(decide(story.table, ask), ask, "c", GENESIS, bytes(32))
    assert decoded(entry.data)["action"] == {"type": "offer_trade", "kind": "coat"}
    assert b"KS" not in entry.data
    assert [part.audience for part in entry.sealed] == ["[0]"]


def test_guards_are_not_recorded_and_forced_and_by_are() -> None:
    """contract, The log: `data.action` (type, parameters; `forced: true`; `by`)."""
    story = lodam("KS 2C", "QS 3C", "JS 4C")
    ask = command(Play(card="KS", hand=1, trick=0), 0, by="bot", forced=True)
    (entry,) = record(decide(story.table, ask), ask, "c", GENESIS, bytes(32))
    assert decoded(entry.data)["action"] == {
        "type": "play",
        "card": "KS",
        "forced": True,
        "by": "bot",
    }


def test_names_are_in_sealed_parts_alone() -> None:
    """contract, Sealed parts: players' names and refs, so that they can be erased."""
    ask = command(
        Create(
            id=GAME_ID,
            game="lodam",
            options=options("lodam", 3),
            deal_id=GAME_ID,
            seeded_by_host=False,
            players=(Player("Zebulon", "secret-ref"), Player("Quirin", None)),
            open_seats=1,
        )
    )
    decision = create(ask)
    entries = record(decision, ask, "c", GENESIS, bytes(32))
    join = command(Join(Player("Wendelin", "other-ref")))
    entries += record(decide(decision.table, join), join, "d", entries[-1].hash, bytes(32))
    public = b"".join([entry.data for entry in entries])
    for name in (b"Zebulon", b"secret-ref", b"Quirin", b"Wendelin", b"other-ref"):
        assert name not in public
    assert creation("lodam", 3).table.seats[0].name == "P0"


def test_text_that_needs_escapes_survives() -> None:
    """JCS with what a host may type: control characters, quotes, beyond ASCII."""
    reason = 'the "bell"\\\n\x00\x1f\x7f\u2028é🂡</script>'
    decision = creation("lodam", 3)
    ask = command(Abandon(reason))
    entries = record(decide(decision.table, ask), ask, "c", GENESIS, bytes(32))
    first = entries[0]
    assert decoded(first.data)["reason"] == reason
    assert first.data == canonical(decoded(first.data))
    check = decoded(msgspec.json.encode(event_view(GAME_ID, first, None, Openings())))
    assert check["data"]["action"]["reason"] == reason


class Row(msgspec.Struct):
    type: str
    schema: int
    data: bytes
    sealed: tuple[Any, ...] = ()


@pytest.mark.parametrize(
    "row",
    [
        Row("CardsBurnt", 1, b"{}"),
        Row("CardPlayed", 2, b'{"seat":0,"card":"AS"}'),
        Row("CardPlayed", 1, b'{"seat":"0","card":"AS"}'),
        Row("CardPlayed", 1, b'{"card":"AS"}'),
        Row("CardPlayed", 1, b"not json"),
    ],
)
def test_unreadable_events(row: Row) -> None:
    """codec: a type or schema that this version does not know, bytes that do not fit."""
    with pytest.raises(UnreadableEvent):
        read_event(row)


def test_actions_are_read_strictly() -> None:
    """contract: unknown fields are refused, wrong types too."""
    assert read_action(b'{"type":"play","card":"TH","hand":3}') == Play(card="TH", hand=3)
    assert read_action(b'{"type":"cut","at":3,"nonce":"' + "é🂡".encode() * 32 + b'"}') == Cut(
        at=3, nonce="é🂡" * 32
    )
    assert read_action(b'{"type":"offer_trade","kind":"card","card":"AS"}') == OfferTrade(
        kind="card", card="AS"
    )
    for body in (
        b'{"type":"play","card":"TH","suit":"H"}',
        b'{"type":"play","card":"10H"}',
        b'{"type":"play"}',
        b'{"type":"peek"}',
        b'{"type":"cut","at":"3"}',
        b'{"type":"cut","at":3.5}',
        b'{"type":"cut","at":3,"nonce":"' + b"x" * 65 + b'"}',
        b'{"type":"cut","at":3,"nonce":"\\ud800"}',
        b'{"type":"offer_trade","kind":"trick","card":"AS"}',
        b'{"type":"play","card":"TH","hand":-1}',
        b'{"type":"leave","seat":10}',
        b"[]",
        b"",
    ):
        with pytest.raises(msgspec.DecodeError):
            read_action(body)
