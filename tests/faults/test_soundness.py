"""What a store holds is looked at as it is: projections that lag, or that are not what a fold from
zero gives, and rows that were tampered with, are found."""

import psycopg
import pytest

from eventstore.postgres import EventStore
from faults.soundness import check_audit, check_feed, check_lag, check_logs, check_projections
from faults.truth import read
from projections.registry import PROJECTIONS
from tests.projections.played import Log, put, random_log
from tests.projections.running import caught_up, runner


async def whole(store: EventStore, log: Log) -> None:
    await put(store, log, 0, len(log.commands))


async def test_a_store_that_is_sound(store: EventStore, database_url: str) -> None:
    logs = [random_log(game, 3) for game in ("lodam", "lorum", "loc")]
    for log in logs:
        await whole(store, log)
    async with runner(database_url, *PROJECTIONS.values()):
        await caught_up(store, *PROJECTIONS)
    truth = await read(store)
    assert {log.table.id: len(log.entries) for log in logs} == {
        game: found.version for game, found in truth.games.items()
    }
    assert list(check_logs(truth)) == []
    assert list(check_feed(truth)) == []
    assert await check_lag(store, 60) == []
    assert await check_projections(database_url) == []


async def test_projections_that_lag(store: EventStore, database_url: str) -> None:
    async with runner(database_url, *PROJECTIONS.values()):
        await caught_up(store, *PROJECTIONS)
    await whole(store, random_log("loc", 3))
    [violation] = await check_lag(store, 0.2)
    assert violation.property == "projections"
    assert "behind" in violation.text


async def test_a_stream_that_is_parked(store: EventStore, database_url: str) -> None:
    log = random_log("loc", 3)
    await whole(store, log)
    async with runner(database_url, *PROJECTIONS.values()):
        await caught_up(store, *PROJECTIONS)
    with psycopg.connect(database_url, autocommit=True) as conn:
        conn.execute(
            "INSERT INTO projections.parked (name, build, lane, stream, version, seq, error)"
            " SELECT name, build, lane, %s, 1, 1, 'KeyError' FROM projections.checkpoints"
            " WHERE name = 'scores' LIMIT 1",
            [log.table.id],
        )
    [violation] = await check_lag(store, 60)
    assert (violation.property, violation.game) == ("projections", log.table.id)
    assert "parked" in violation.text


async def test_a_projection_that_is_not_what_the_log_gives(
    store: EventStore, database_url: str
) -> None:
    await whole(store, random_log("loc", 3))
    async with runner(database_url, *PROJECTIONS.values()):
        await caught_up(store, *PROJECTIONS)
    with psycopg.connect(database_url, autocommit=True) as conn:
        conn.execute("DELETE FROM projections.games")
    [violation] = await check_projections(database_url)
    assert violation.text.startswith("games, table games: 0 rows are only in what was kept up, 1")


@pytest.mark.parametrize(
    ("tampering", "by_audit"),
    [
        ("UPDATE fairdeal.events SET at = at + 1 WHERE version = 3", True),
        ("DELETE FROM fairdeal.events WHERE version = 3", True),
        ("UPDATE fairdeal.streams SET version = version + 1", True),
        ("DELETE FROM fairdeal.feed WHERE seq > 5", False),
    ],
)
async def test_rows_that_were_tampered_with(
    store: EventStore, database_url: str, tampering: str, by_audit: bool
) -> None:
    await whole(store, random_log("loc", 3))
    await read(store)
    with psycopg.connect(database_url, autocommit=True) as conn:
        for table in ("events", "feed"):
            conn.execute(f"ALTER TABLE fairdeal.{table} DISABLE TRIGGER ALL".encode())
        conn.execute(tampering.encode())
    truth = await read(store)
    assert [*check_logs(truth), *check_feed(truth)]
    if by_audit:
        assert await check_audit(store, ())
