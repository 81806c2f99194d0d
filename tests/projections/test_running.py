"""Runners take every event in exactly once, however many there are and whatever ends them."""

import asyncio
import os
import signal
from collections.abc import Sequence

import msgspec
import psycopg
import pytest

from eventstore.feed import FeedEvent
from eventstore.postgres import EventStore
from projections.projection import Projection, Target
from projections.standing import standing
from tests.eventstore.streams import an_append, an_event, an_id
from tests.projections.running import caught_up, process, runner, until_said
from tests.projections.tally import apply, poison, rows, tally, write, wrong


async def test_events_go_in_once_and_in_order(store: EventStore, database_url: str) -> None:
    before = await write(store, 30, 4)
    async with runner(database_url):
        await caught_up(store)
        assert wrong(database_url) == []
        for append in before:
            await store.append(an_append(append.stream, after=append))
        await caught_up(store)
    assert wrong(database_url) == []
    backwards = "SELECT FROM projections.journal a JOIN projections.journal b USING (lane, stream)"
    assert rows(database_url, f"{backwards} WHERE a.seq < b.seq AND a.version > b.version") == []


async def test_several_runners_share_the_work(store: EventStore, database_url: str) -> None:
    with process(database_url), process(database_url):
        async with runner(database_url), runner(database_url):
            writers = [write(store, 40, 5) for _ in range(4)]
            await asyncio.gather(*writers)
            await caught_up(store)
    assert wrong(database_url) == []
    assert rows(database_url, "SELECT sum(events) FROM projections.tally") == [(800,)]


async def test_a_runner_killed_between_rows_and_checkpoint(
    store: EventStore, database_url: str
) -> None:
    await write(store, 20, 3)
    with process(database_url, TALLY_STOPS="1") as stopping:
        await until_said(stopping, "stopped")
        stopping.kill()
        stopping.wait()
    assert rows(database_url, "SELECT FROM projections.tally") == []
    async with runner(database_url):
        await caught_up(store)
    assert wrong(database_url) == []


async def test_backends_ended_in_the_middle(store: EventStore, database_url: str) -> None:
    async with runner(database_url):
        for _ in range(8):
            await write(store, 10, 2)
            rows(
                database_url,
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE application_name = 'fairdeal-projections'"
                " AND datname = current_database()",
            )
        await caught_up(store)
    assert wrong(database_url) == []


async def test_what_a_paused_runner_held_up_goes_on(store: EventStore, database_url: str) -> None:
    with process(database_url) as paused:
        await write(store, 5)
        await caught_up(store)
        paused.send_signal(signal.SIGSTOP)
        await write(store, 20, 2)
        while (await standing(store)).live()["tally"].heartbeat_seconds < 1.5:
            await asyncio.sleep(0.05)
        stalled = (await standing(store)).live()["tally"]
        assert stalled.lag_events >= 40 - 1
        assert stalled.lag_seconds > 0
        paused.send_signal(signal.SIGCONT)
        await caught_up(store)
        current = (await standing(store)).live()["tally"]
        assert (current.lag_events, current.lag_seconds) == (0, 0)
    assert wrong(database_url) == []


async def test_a_poison_event_parks_its_stream_and_no_other(
    store: EventStore, database_url: str
) -> None:
    appends = await write(store, 30, 2)
    last = await poison(store, appends[7])
    await write(store, 30, 2)
    async with runner(database_url):
        await caught_up(store)
        assert wrong(database_url) == []
        await store.append(an_append(last.stream, after=last))
        await caught_up(store)
    assert wrong(database_url) == []
    [(stream, version, error)] = rows(
        database_url, "SELECT stream::text, version, error FROM projections.parked"
    )
    assert (stream, version) == (last.stream, 3)
    assert error.startswith("ValueError in tests.projections.tally.apply:")
    assert "AS" not in error
    assert rows(
        database_url, f"SELECT events FROM projections.tally WHERE stream = '{last.stream}'"
    ) == [(2,)]
    [parked] = (await standing(store)).live()["tally"].parked
    assert (parked.stream, parked.version) == (last.stream, 3)


async def test_a_projection_that_fails_stops_no_other(store: EventStore, database_url: str) -> None:
    async def without_a_table(target: Target, events: object) -> None:
        await target.fetch("SELECT * FROM projections.not_there")

    broken = tally(name="broken", tables={}, apply=without_a_table)
    async with runner(database_url, broken, tally()):
        await write(store, 20, 2)
        await caught_up(store)
        assert wrong(database_url) == []
        live = (await standing(store)).live()
        # A table that is missing is nobody's event: nothing is parked, and nothing lost.
        assert live["broken"].parked == ()
        assert live["broken"].lag_events == 40
        assert live["tally"].lag_events == 0
    async with runner(database_url, tally(name="broken", tables={}, apply=_nothing)):
        await caught_up(store, "broken")


async def _nothing(target: Target, events: object) -> None:
    pass


async def test_the_databases_trouble_is_no_poison(store: EventStore, database_url: str) -> None:
    failures = iter(["40001", "55P03", "57014", "53100", "40P01"])

    async def troubled(target: Target, events: list[object]) -> None:
        await apply(target, events)  # type: ignore[arg-type]
        if (state := next(failures, None)) is not None:
            raise psycopg.errors.lookup(state)("planted")

    async with runner(database_url, tally(apply=troubled)):
        await write(store, 3)
        await caught_up(store)
        assert next(failures, None) is None
    assert rows(database_url, "SELECT FROM projections.parked") == []
    assert wrong(database_url) == []


async def test_a_failure_that_does_not_come_again_parks_nothing(
    store: EventStore, database_url: str
) -> None:
    """The page is rolled back and applied again."""
    failures = iter([ValueError(), psycopg.errors.UniqueViolation()])

    async def moody(target: Target, events: list[object]) -> None:
        await apply(target, events)  # type: ignore[arg-type]
        if (error := next(failures, None)) is not None:
            raise error

    await write(store, 3, 3)
    async with runner(database_url, tally(apply=moody)):
        await caught_up(store)
    assert rows(database_url, "SELECT FROM projections.parked") == []
    assert wrong(database_url) == []


async def test_a_type_that_is_not_wanted_comes_without_its_event(
    store: EventStore, database_url: str
) -> None:
    """Also where another projection wants it and the page is read once for both. Where a page holds
    nothing that is wanted, the projection is not asked, and comes as far as the others."""
    seen: dict[str, set[tuple[str, bool]]] = {"all": set(), "some": set(), "none": set()}

    def watching(name: str, types: frozenset[str] | None) -> Projection:
        async def watch(target: Target, events: Sequence[FeedEvent]) -> None:
            seen[name].update((event.type, event.event is not None) for event in events)

        return tally(name=name, tables={}, types=types, apply=watch)

    projections = (
        watching("all", None),
        watching("some", frozenset({"GameEnded"})),
        watching("none", frozenset({"SomethingElse"})),
    )
    both = an_event(), msgspec.structs.replace(an_event(), type="GameEnded")
    async with runner(database_url, *projections):
        await store.append(an_append(an_id(), *both))
        await caught_up(store, "all", "some", "none")
    assert seen == {
        "all": {("CardPlayed", True), ("GameEnded", True)},
        "some": {("CardPlayed", False), ("GameEnded", True)},
        "none": set(),
    }


async def test_a_lane_with_a_gap_is_not_passed(store: EventStore, database_url: str) -> None:
    """Numbers that are missing mean that somebody tampered: better behind than wrong."""
    [append] = await write(store, 1, 3)
    while await store.feed.sequence():
        pass
    place = await store.feed.place(append.stream, 2)
    assert place is not None
    lane, seq = place
    with psycopg.connect(database_url, autocommit=True) as conn:
        conn.execute("ALTER TABLE fairdeal.feed DISABLE TRIGGER feed_stands")
        conn.execute(
            "UPDATE fairdeal.feed SET count = 1 WHERE lane = %s AND seq = %s", [lane, seq + 1]
        )
    async with runner(database_url):
        async with asyncio.timeout(30):
            while not rows(database_url, "SELECT FROM projections.builds"):
                await asyncio.sleep(0.02)
        await asyncio.sleep(0.5)
        live = (await standing(store)).live()["tally"]
    assert live.lag_events == 3
    assert rows(database_url, "SELECT FROM projections.tally") == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
async def test_the_end_of_a_runner_ends_its_connections(
    store: EventStore, database_url: str, number: int
) -> None:
    with process(database_url) as started:
        await write(store, 1)
        await caught_up(store)
        os.kill(started.pid, number)
        started.wait()
    left = (
        "SELECT FROM pg_stat_activity WHERE application_name = 'fairdeal-projections'"
        " AND datname = current_database()"
    )
    async with asyncio.timeout(30):
        while rows(database_url, left):
            await asyncio.sleep(0.02)
