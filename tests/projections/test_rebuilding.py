"""A rebuild ends in the same tables, or leaves the live ones as they were."""

import asyncio

import psycopg
import pytest

from eventstore.postgres import EventStore
from projections.projection import Target
from projections.rebuild import RebuildError, rebuild
from projections.standing import standing
from projections.waiting import position
from tests.projections.running import caught_up, process, runner, until_said
from tests.projections.tally import apply, poison, rows, tally, write, wrong


async def live(store: EventStore) -> tuple[int, int]:
    found = (await standing(store)).live()["tally"]
    return found.build, found.version


async def test_a_rebuild_gives_the_same_tables(store: EventStore, database_url: str) -> None:
    told: list[tuple[int, int]] = []
    async with runner(database_url):
        await write(store, 50, 4)
        await caught_up(store)
        before = await live(store)
        done = await rebuild(database_url, tally(), told=lambda *how_far: told.append(how_far))
        assert not done.different
        assert done.compared is not None
        assert {t.table: (t.live_rows, t.rebuilt_rows) for t in done.compared} == {
            "tally": (50, 50),
            "journal": (200, 200),
        }
        assert (done.events, done.parked) == (200, 0)
        assert await live(store) == (done.build, 1) != before
        await write(store, 5)
        await caught_up(store)
    assert told[-1] == (200, 200)
    assert wrong(database_url) == []
    assert len(rows(database_url, "SELECT FROM pg_tables WHERE tablename ~ '__'")) == 2


async def test_games_go_on_during_a_rebuild(store: EventStore, database_url: str) -> None:
    async with runner(database_url, news=store.feed.news):
        await write(store, 20, 20)
        going_on = asyncio.create_task(write(store, 100, 4))
        positions = [await position(store, ["tally"])]
        rebuilding = asyncio.create_task(rebuild(database_url, tally()))
        while not rebuilding.done():
            positions.append(await position(store, ["tally"]))
        assert not (await rebuilding).different
        positions.append(await position(store, ["tally"]))
        await going_on
        await caught_up(store)
    assert positions == sorted(positions)
    assert wrong(database_url) == []


async def test_a_rebuild_needs_no_runner(store: EventStore, database_url: str) -> None:
    await write(store, 30, 3)
    done = await rebuild(database_url, tally())
    assert (done.events, done.different) == (90, False)
    assert wrong(database_url) == []


async def test_what_was_wrong_is_told_and_mended(store: EventStore, database_url: str) -> None:
    async with runner(database_url):
        await write(store, 10, 2)
        await caught_up(store)
    rows(
        database_url,
        "WITH off AS (SELECT stream FROM projections.tally LIMIT 1) UPDATE projections.tally t"
        " SET events = 99 FROM off WHERE t.stream = off.stream RETURNING 1",
    )
    rows(database_url, "DELETE FROM projections.journal WHERE version = 2 RETURNING 1")
    done = await rebuild(database_url, tally())
    assert done.different
    assert done.compared is not None
    assert [(t.table, t.only_live, t.only_rebuilt) for t in done.compared] == [
        ("tally", 1, 1),
        ("journal", 0, 10),
    ]
    assert wrong(database_url) == []


async def test_a_live_build_whose_tables_are_gone(store: EventStore, database_url: str) -> None:
    async with runner(database_url):
        await write(store, 10, 2)
        await caught_up(store)
    with psycopg.connect(database_url) as conn:
        conn.execute("DROP TABLE projections.tally__1 CASCADE")
    done = await rebuild(database_url, tally())
    assert done.compared is None
    assert wrong(database_url) == []


async def test_mended_code_takes_in_what_was_parked(store: EventStore, database_url: str) -> None:
    async def mended(target: Target, events: list[object]) -> None:
        whole = [e if e.event is None else _plain(e) for e in events]  # type: ignore[attr-defined]
        await apply(target, whole)

    async with runner(database_url):
        [append, _] = await write(store, 2, 2)
        await poison(store, append)
        await caught_up(store)
    assert len((await standing(store)).live()["tally"].parked) == 1
    done = await rebuild(database_url, tally(apply=mended))
    assert (done.parked, done.different) == (0, True)
    assert rows(database_url, "SELECT FROM projections.parked") == []
    assert wrong(database_url) == []


def _plain(event: object) -> object:
    from msgspec.structs import replace

    inner = replace(event.event, data=b"{}")  # type: ignore[attr-defined]
    return replace(event, event=inner)  # type: ignore[type-var]


async def test_a_second_rebuild_says_that_there_is_one(
    store: EventStore, database_url: str
) -> None:
    await write(store, 10)
    with process(database_url, 1, "rebuild", TALLY_STOPS="1") as first:
        await until_said(first, "stopped")
        with pytest.raises(RebuildError, match="Somebody else is rebuilding tally"):
            await rebuild(database_url, tally())
        first.kill()
        first.wait()
        # The claim has died with the process.
        async with asyncio.timeout(60):
            while True:
                try:
                    done = await rebuild(database_url, tally())
                    break
                except RebuildError:
                    await asyncio.sleep(0.05)
    assert done.events == 10
    assert wrong(database_url) == []


async def test_a_rebuild_killed_leaves_the_live_build_and_is_run_again(
    store: EventStore, database_url: str
) -> None:
    async with runner(database_url):
        await write(store, 40, 3)
        await caught_up(store)
        before = await live(store)
        with process(database_url, 1, "rebuild", TALLY_STOPS="1") as killed:
            await until_said(killed, "stopped")
            killed.kill()
            killed.wait()
        assert await live(store) == before
        await write(store, 5)
        await caught_up(store)
        assert wrong(database_url) == []
        # What it has left behind is dropped by whoever runs: nobody keeps it up, erasures included.
        async with asyncio.timeout(60):
            while len((await standing(store)).builds) > 1:
                await asyncio.sleep(0.05)
        done = await rebuild(database_url, tally())
        assert not done.different
        await write(store, 5)
        await caught_up(store)
    assert wrong(database_url) == []
    assert len((await standing(store)).builds) == 1


async def test_a_rebuild_killed_in_the_switch(store: EventStore, database_url: str) -> None:
    """A reader's transaction holds the switch up while everything else in it is done."""
    async with runner(database_url):
        await write(store, 20, 2)
        await caught_up(store)
    before = await live(store)
    with psycopg.connect(database_url) as reader:
        reader.execute("SELECT FROM projections.journal")
        with process(database_url, 1, "rebuild") as killed:
            waiting = (
                "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
                " AND query LIKE '%VIEW projections.journal%'"
            )
            async with asyncio.timeout(60):
                while not rows(database_url, waiting):
                    await asyncio.sleep(0.005)
            killed.kill()
            killed.wait()
    async with asyncio.timeout(30):
        held = "SELECT FROM pg_locks WHERE locktype = 'advisory'"
        while rows(database_url, held):
            await asyncio.sleep(0.02)
    assert await live(store) == before
    assert wrong(database_url) == []
    done = await rebuild(database_url, tally())
    assert not done.different
    assert wrong(database_url) == []


async def test_a_reader_in_the_way_is_waited_for(store: EventStore, database_url: str) -> None:
    await write(store, 5)
    async with runner(database_url):
        await caught_up(store)
    with psycopg.connect(database_url) as reader:
        reader.execute("SELECT FROM projections.tally")
        rebuilding = asyncio.create_task(rebuild(database_url, tally()))
        await asyncio.sleep(1)
        # Others read meanwhile: nobody queues behind the switch for longer than its lock time-out.
        assert len(rows(database_url, "SELECT FROM projections.tally")) == 5
        assert not rebuilding.done()
        reader.rollback()
        assert not (await rebuilding).different
    assert wrong(database_url) == []


async def test_a_live_build_of_a_newer_version_is_not_replaced(
    store: EventStore, database_url: str
) -> None:
    await write(store, 5)
    async with runner(database_url, tally(2)):
        await caught_up(store)
    with pytest.raises(RebuildError, match="live in version 2"):
        await rebuild(database_url, tally(1))
    assert (await live(store))[1] == 2


async def test_a_rebuild_ends_what_a_new_version_began(
    store: EventStore, database_url: str
) -> None:
    await write(store, 5, 2)
    async with runner(database_url):
        await caught_up(store)
    done = await rebuild(database_url, tally(2))
    assert done.compared is None
    assert await live(store) == (done.build, 2)
    assert wrong(database_url) == []
