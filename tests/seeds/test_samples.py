"""Every recorded game of `seeds/` reads, hangs together, and follows from its actions, for ever."""

from pathlib import Path

import pytest

from domain import export
from domain.log import chain_breaks, event_view, fold
from domain.rederive import differences, steps
from domain.registry import GAMES
from tests.seeds.record import SEEDS, SITUATIONS

SAMPLES = sorted(SEEDS.glob("*/samples/*.ndjson"))

each_sample = pytest.mark.parametrize("path", SAMPLES, ids=[path.stem for path in SAMPLES])


@each_sample
def test_a_sample_is_an_unbroken_chain(path: Path) -> None:
    read = _read(path)
    assert chain_breaks(read.header.id, read.entries) is None
    assert all(part.body is not None for entry in read.entries for part in entry.sealed)


@each_sample
def test_the_recorded_actions_yield_exactly_the_recorded_events(path: Path) -> None:
    read = _read(path)
    derived = list(steps(read.header.id, read.entries))
    assert [found for step in derived for found in differences(step)] == []
    assert sum(len(step.entries) for step in derived) == len(read.entries)
    assert derived[-1].after == fold(read.header.id, read.entries)


@each_sample
def test_a_sample_is_written_again_byte_for_byte(path: Path) -> None:
    read = _read(path)
    table = fold(read.header.id, read.entries)
    assert table.status == "finished"
    views = [event_view(table.id, entry, None, table.openings) for entry in read.entries]
    assert b"".join(export.lines(read.header, views)) == path.read_bytes()


def test_every_game_and_every_situation_has_its_sample() -> None:
    assert {path.parts[-3] for path in SAMPLES} == set(GAMES)
    assert {path.stem for path in SAMPLES} == {situation.name for situation in SITUATIONS}


def test_every_sample_is_a_game_of_its_own() -> None:
    assert len({_read(path).header.id for path in SAMPLES}) == len(SAMPLES)


def _read(path: Path) -> export.Export:
    with path.open("rb") as file:
        return export.read(file)
