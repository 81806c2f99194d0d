"""Readers who wait: for what was just committed, for a version, for a position."""

import asyncio

from eventstore.postgres import EventStore
from projections.waiting import past, position, reached, settled
from tests.eventstore.streams import an_append, an_id
from tests.projections.running import caught_up, process, runner
from tests.projections.tally import poison, rows, tally, write


async def count(store: EventStore) -> int:
    [(found,)] = await store.fetch("SELECT coalesce(sum(events), 0) FROM projections.tally")
    return int(found)


async def test_what_was_committed_before_is_seen(store: EventStore, database_url: str) -> None:
    async with runner(database_url, news=store.feed.news):
        await caught_up(store)
        for number in range(1, 30):
            await write(store, 1)
            await settled(store, ["tally"], 30)
            assert await count(store) == number


async def test_it_is_seen_when_another_process_runs_the_projection(
    store: EventStore, database_url: str
) -> None:
    with process(database_url):
        await caught_up(store)
        async with EventStore.open(database_url) as other:
            for number in range(1, 20):
                await write(store, 1)
                await settled(other, ["tally"], 30)
                assert await count(other) == number


async def test_more_than_one_look_numbers_is_seen_too(store: EventStore, database_url: str) -> None:
    async with runner(database_url):
        await caught_up(store)
        await write(store, 1, 2500)
        await settled(store, ["tally"], 60)
        assert await count(store) == 2500


async def test_without_a_build_nobody_waits(store: EventStore) -> None:
    await write(store, 1)
    async with asyncio.timeout(30):
        await settled(store, ["tally"], 600)
        assert not await reached(store, "tally", an_id(), 1, 600)
    assert await position(store, ["tally"]) == 0


async def test_a_wait_has_an_end(store: EventStore, database_url: str) -> None:
    async with runner(database_url):
        await caught_up(store)
    [append] = await write(store, 1)
    await settled(store, ["tally"], 0.05)
    assert not await reached(store, "tally", append.stream, 1, 0.05)
    assert not await past(store, ["tally"], 1, 0.05)
    assert await past(store, ["tally"], 0, 0.05)


async def test_a_version_of_a_stream_is_waited_for(store: EventStore, database_url: str) -> None:
    async with runner(database_url, news=store.feed.news):
        [append] = await write(store, 1)
        await caught_up(store)
        assert await reached(store, "tally", append.stream, 1, 0.05)
        waiting = asyncio.create_task(reached(store, "tally", append.stream, 2, 30))
        await asyncio.sleep(0.05)
        assert not waiting.done()
        await store.append(an_append(append.stream, after=append))
        assert await waiting
        assert await count(store) == 2


async def test_nobody_waits_for_a_parked_stream(store: EventStore, database_url: str) -> None:
    async with runner(database_url):
        [append] = await write(store, 1, 2)
        await poison(store, append)
        await caught_up(store)
        async with asyncio.timeout(30):
            assert not await reached(store, "tally", append.stream, 3, 600)
            assert not await reached(store, "tally", append.stream, 9, 600)
            assert await reached(store, "tally", append.stream, 2, 600)


async def test_positions_count_events_and_never_go_back(
    store: EventStore, database_url: str
) -> None:
    seen = [0]
    async with runner(database_url):
        await caught_up(store)
        writing = asyncio.create_task(write(store, 30, 3))
        while not writing.done():
            seen.append(await position(store, ["tally"]))
        await writing
        assert await past(store, ["tally"], 90, 30)
        seen.append(await position(store, ["tally"]))
    assert seen == sorted(seen)
    assert seen[-1] == 90


async def test_of_several_projections_the_slowest_counts(
    store: EventStore, database_url: str
) -> None:
    async with runner(database_url):
        await write(store, 4)
        await caught_up(store)
    async with runner(database_url, tally(name="slow", tables={}, apply=_stuck)):
        async with asyncio.timeout(30):
            while not rows(database_url, "SELECT FROM projections.builds WHERE name = 'slow'"):
                await asyncio.sleep(0.02)
        assert await position(store, ["tally"]) == 4
        assert await position(store, ["tally", "slow"]) == 0
        assert await position(store, ["tally", "missing"]) == 0


async def _stuck(target: object, events: object) -> None:
    raise OSError("planted")
