"""Old schemas: read as the newest, derived as they were written, whoever reads them."""

import msgspec
import pytest

from domain.codec import EVENT_TYPES, FORMER, UPCASTERS, UnreadableEvent, in_schema, read_event
from domain.events import encode_canonical
from domain.export import Export, read
from domain.log import Entry, fold
from domain.rederive import differences, steps
from domain.table.events import GameEnded
from domain.verify import verify
from tests.proof.logs import rechained
from tests.seeds.record import SEEDS

LOGS = {
    path.stem: read(path.read_bytes().splitlines()) for path in SEEDS.glob("*/samples/*.ndjson")
}


def ended(log: Export) -> Entry:
    [entry] = [entry for entry in log.entries if entry.type == "GameEnded"]
    return entry


def test_every_step_between_schemas_has_its_way_there_and_back() -> None:
    steps_up = {
        (name, schema) for name, kind in EVENT_TYPES.items() for schema in range(1, kind.schema)
    }
    assert set(UPCASTERS) == steps_up
    assert set(FORMER) == {(name, schema + 1) for name, schema in steps_up}


def test_both_schemas_are_recorded() -> None:
    assert {ended(log).schema for log in LOGS.values()} == {1, GameEnded.schema}


@pytest.mark.parametrize("name", LOGS)
def test_there_and_back_gives_the_recorded_bytes(name: str) -> None:
    entry = ended(LOGS[name])
    newest = encode_canonical(msgspec.json.decode(entry.data))
    for schema in range(entry.schema, GameEnded.schema):
        newest = UPCASTERS["GameEnded", schema](newest)
    assert in_schema("GameEnded", entry.schema, newest) == entry.data
    assert in_schema("GameEnded", GameEnded.schema, newest) == newest


def test_what_the_old_schema_did_not_say_follows_from_what_it_said() -> None:
    told = {name: read_event(ended(log)) for name, log in LOGS.items()}
    old = told["trades-swallow-challenges"]
    assert isinstance(old, GameEnded)
    assert (old.winners, old.places) == ((3,), (2, 2, 2, 1, 2))
    chips = told["28-rounds-with-one-to-four-takers"]
    assert isinstance(chips, GameEnded)
    assert [score.chips for score in chips.scores] == [57, -103, 68, -22]
    assert chips.places == (2, 4, 1, 3)
    new = told["six-players-out-one-after-another"]
    assert isinstance(new, GameEnded)
    assert len(set(new.places)) >= 4


@pytest.mark.parametrize("schema", [0, 3])
def test_a_schema_that_never_was_is_not_read(schema: int) -> None:
    entry = msgspec.structs.replace(ended(LOGS["willughby-four-players"]), schema=schema)
    with pytest.raises(UnreadableEvent, match=f"GameEnded has schema {schema}"):
        read_event(entry)
    assert in_schema("GameEnded", schema, b"{}") is None


@pytest.mark.parametrize(
    "data", [b"{}", b"[]", b'{"winners":[9],"scores":[]}', b"{", b'{"scores":1}']
)
def test_old_data_that_does_not_fit_is_unreadable(data: bytes) -> None:
    entry = msgspec.structs.replace(ended(LOGS["willughby-four-players"]), data=data)
    with pytest.raises(UnreadableEvent, match="GameEnded"):
        read_event(entry)


def test_a_wrong_result_in_an_old_log_is_found() -> None:
    log = LOGS["willughby-four-players"]
    entry = ended(log)
    assert entry.schema == 1
    wrong = msgspec.structs.replace(entry, data=entry.data.replace(b'"pot":0', b'"pot":1'))
    entries = rechained(log.header.id, [*log.entries[: entry.version - 1], wrong])
    found = [found for step in steps(log.header.id, entries) for found in differences(step)]
    assert [version for version, _ in found] == [entry.version]
    assert verify(msgspec.structs.replace(log, entries=tuple(entries))).failed


def test_a_game_may_go_on_under_a_later_release() -> None:
    """What a release before wrote is followed by what this one writes, in one log."""
    log = LOGS["six-players-out-one-after-another"]
    entry = ended(log)
    table = fold(log.header.id, log.entries)
    data = in_schema("GameEnded", 1, entry.data)
    assert data is not None
    old = msgspec.structs.replace(entry, schema=1, data=data)
    entries = rechained(log.header.id, [*log.entries[: entry.version - 1], old])
    assert fold(log.header.id, entries).result == table.result
    assert not [found for step in steps(log.header.id, entries) for found in differences(step)]
