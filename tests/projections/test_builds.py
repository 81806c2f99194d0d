"""Builds of a projection: which code begins which, and when one takes another's place."""

import asyncio
from dataclasses import replace

import pytest

from eventstore.postgres import EventStore
from projections.builds import Build, builds, provide, sweep, wanting
from projections.projection import Target
from projections.standing import standing
from projections.waiting import position, settled
from projections.writing import connect
from tests.projections.running import caught_up, process, runner
from tests.projections.tally import apply, rows, tally, write, wrong

ELSE = {**tally().tables, "tally": tally().tables["tally"] + ", UNIQUE (stream)"}


def a_build(version: int, state: str, name: str = "tally") -> Build:
    return Build(name, 1, version, state)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("found", "version", "wanted"),
    [
        ([], 1, "live"),
        ([a_build(9, "live", "other")], 1, "live"),
        ([a_build(1, "live")], 1, None),
        ([a_build(1, "live")], 2, "building"),
        ([a_build(2, "live")], 1, None),
        ([a_build(1, "live"), a_build(2, "building")], 2, None),
        ([a_build(1, "live"), a_build(2, "building")], 3, "building"),
        ([a_build(1, "live"), a_build(3, "building")], 2, None),
        ([a_build(1, "live"), a_build(1, "building")], 2, "building"),
    ],
)
def test_which_build_a_version_wants(found: list[Build], version: int, wanted: str | None) -> None:
    assert wanting(tally(version), found) == wanted


async def test_the_first_build_is_shown_empty_and_fills_up(
    store: EventStore, database_url: str
) -> None:
    async with await connect(database_url) as conn:
        assert await provide(conn, tally())
    await write(store, 3)
    assert rows(database_url, "SELECT * FROM projections.tally") == []
    assert await position(store, ["tally"]) == 0
    async with runner(database_url):
        await caught_up(store)
    assert rows(database_url, "SELECT count(*) FROM projections.tally") == [(3,)]
    assert await position(store, ["tally"]) == 3


async def test_many_that_start_at_once_make_one_build(store: EventStore, database_url: str) -> None:
    async def start() -> bool:
        async with await connect(database_url) as conn:
            return await provide(conn, tally())

    assert True in await asyncio.gather(*[start() for _ in range(8)])
    assert len(rows(database_url, "SELECT FROM projections.builds")) == 1
    assert len(rows(database_url, "SELECT FROM projections.checkpoints")) == 16


async def test_a_new_version_is_built_while_the_old_one_serves(
    store: EventStore, database_url: str
) -> None:
    """And by new code alone: the old tables stand still until readers see the new ones."""
    go_on = asyncio.Event()

    async def later(target: Target, events: list[object]) -> None:
        await go_on.wait()
        await apply(target, events)  # type: ignore[arg-type]

    async with runner(database_url):
        await write(store, 10, 2)
        await caught_up(store)
    async with runner(database_url, tally(2, tables=ELSE, apply=later)):
        await write(store, 10)
        while len(found := (await standing(store)).builds) < 2:
            await asyncio.sleep(0.01)
        assert [(b.version, b.state) for b in found] == [(1, "live"), (2, "building")]
        before = await position(store, ["tally"])
        assert before == 20
        assert rows(database_url, "SELECT sum(events) FROM projections.tally") == [(20,)]
        assert (await standing(store)).live()["tally"].lag_events == 10
        go_on.set()
        while (await standing(store)).live()["tally"].version == 1:
            assert await position(store, ["tally"]) >= before
            await asyncio.sleep(0.01)
        await caught_up(store)
        assert await position(store, ["tally"]) == 30
        assert wrong(database_url) == []
        async with asyncio.timeout(30):
            while len(rows(database_url, "SELECT FROM pg_tables WHERE tablename ~ '__'")) > 2:
                await asyncio.sleep(0.02)
    assert [b.version for b in (await standing(store)).builds] == [2]


async def test_readers_of_a_build_that_nobody_runs_do_not_wait(
    store: EventStore, database_url: str
) -> None:
    async with runner(database_url):
        await caught_up(store)
    await write(store, 1)
    rows(
        database_url,
        "UPDATE projections.builds SET beaten_at = beaten_at - interval '1 minute' RETURNING 1",
    )
    async with asyncio.timeout(30):
        await settled(store, ["tally"], 600)


async def test_older_code_leaves_a_newer_build_alone(store: EventStore, database_url: str) -> None:
    """Both run during a rolling restart: the newer one goes live once, and nothing goes back."""
    await write(store, 20, 2)
    with process(database_url, 1), process(database_url, 2), process(database_url, 1):
        async with asyncio.timeout(60):
            while (found := (await standing(store)).live()).get("tally") is None or (
                found["tally"].version == 1
            ):
                await asyncio.sleep(0.02)
        [build] = [b.build for b in (await standing(store)).builds]
        await write(store, 20, 2)
        await caught_up(store)
        await asyncio.sleep(2.5)
        now = [(b.build, b.version, b.state) for b in (await standing(store)).builds]
        assert now == [(build, 2, "live")]
    assert wrong(database_url) == []


async def test_a_new_version_goes_live_although_games_never_rest(
    store: EventStore, database_url: str
) -> None:
    stop = asyncio.Event()

    async def play() -> None:
        while not stop.is_set():
            await write(store, 1, 5)

    with process(database_url, 1):
        await caught_up(store)
        playing = [asyncio.create_task(play()) for _ in range(3)]
        positions = [0]
        with process(database_url, 2):
            async with asyncio.timeout(60):
                while (await standing(store)).live()["tally"].version == 1:
                    positions.append(await position(store, ["tally"]))
                    await asyncio.sleep(0.02)
            positions.append(await position(store, ["tally"]))
            stop.set()
            await asyncio.gather(*playing)
            await caught_up(store)
    assert positions == sorted(positions)
    assert wrong(database_url) == []


async def test_tables_left_over_are_dropped_and_no_others(
    store: EventStore, database_url: str
) -> None:
    async with await connect(database_url) as conn:
        await provide(conn, tally())
        await conn.execute("CREATE TABLE projections.tally__77 (x integer)")
        await conn.execute("CREATE TABLE projections.notes (x integer)")
        await sweep(conn)
        await provide(conn, tally(name="another", tables={"another": "lane smallint"}))
        found = await builds(conn, ["tally", "another"])
    names = rows(
        database_url,
        "SELECT relname FROM pg_class WHERE relkind = 'r' AND"
        " relnamespace = 'projections'::regnamespace AND relname ~ '__|notes' ORDER BY 1",
    )
    assert len({build.build for build in found}) == 2
    assert [name for (name,) in names] == ["another__2", "journal__1", "notes", "tally__1"]


async def test_a_projection_without_tables_is_built_too(
    store: EventStore, database_url: str
) -> None:
    async def nothing(target: Target, events: object) -> None:
        pass

    bare = replace(tally(), tables={}, apply=nothing)
    async with runner(database_url, bare):
        await write(store, 2)
        await caught_up(store)
    async with runner(database_url, replace(bare, version=2)):
        async with asyncio.timeout(30):
            while (await standing(store)).live()["tally"].version == 1:
                await asyncio.sleep(0.02)
