"""The feed: every committed event once, numbered without gaps, each stream's in its own order."""

import asyncio
import shutil
import subprocess
from contextlib import AsyncExitStack
from importlib.resources import files
from pathlib import Path

import psycopg
import pytest

from eventstore import embedded, wire
from eventstore.migrate import migrate
from eventstore.postgres import EventStore
from eventstore.programs import account, find
from tests.database import Databases, open_folder
from tests.eventstore.feeds import (
    check_against_log,
    gaps,
    ids_of_one_lane,
    names,
    settle,
    whole_feed,
)
from tests.eventstore.open_appends import open_transaction
from tests.eventstore.streams import a_part, an_append, an_event, an_id, stored


async def test_a_page_holds_the_events_whole_or_only_their_names(store: EventStore) -> None:
    first = an_append(an_id(), an_event(sealed=(a_part(), a_part("[1]"))), an_event(), tenant="t")
    await store.append(first)
    assert await store.feed.sequence() == 2
    lane = wire.lane(wire.uuid(first.stream))

    whole = await store.feed.page(lane, 0, 10)
    assert [event.event for event in whole] == stored(first)
    assert [(e.seq, e.stream, e.version, e.tenant, e.category, e.type) for e in whole] == [
        (1, first.stream, 1, "t", "game", "CardPlayed"),
        (2, first.stream, 2, "t", "game", "CardPlayed"),
    ]
    assert await store.feed.page(lane, 1, 10) == whole[1:]
    assert await store.feed.page(lane, 0, 1) == whole[:1]
    assert await store.feed.page(lane, 0, 10, ["CardPlayed"]) == whole
    unwanted = await store.feed.page(lane, 0, 10, ["HandDealt"])
    assert [(event.seq, event.version, event.event) for event in unwanted] == [
        (1, 1, None),
        (2, 2, None),
    ]


async def test_the_tips_count_what_has_no_number_yet(store: EventStore) -> None:
    [one, another] = ids_of_one_lane(2)
    await store.append(an_append(one))
    await store.feed.sequence()
    await store.append(an_append(another, an_event(), an_event()))

    tips = {tip.lane: tip for tip in await store.feed.tips()}
    assert sorted(tips) == list(range(wire.LANES))
    assert (tips[5].seq, tips[5].unstamped) == (1, 2)
    assert await store.feed.place(one, 1) == (5, 1)
    assert await store.feed.place(another, 2) is None
    await store.feed.sequence()
    assert await store.feed.place(another, 2) == (5, 3)
    assert await store.feed.place(another, 3) is None


async def test_a_limit_leaves_the_rest_for_later(store: EventStore) -> None:
    [stream] = ids_of_one_lane(1)
    await store.append(an_append(stream, *[an_event() for _ in range(5)]))
    assert [await store.feed.sequence(2) for _ in range(4)] == [2, 2, 1, 0]
    assert await names(store) == [(stream, version) for version in range(1, 6)]


async def test_what_is_numbered_together_takes_one_row(
    store: EventStore, database_url: str
) -> None:
    [one, another, late] = ids_of_one_lane(3)
    await store.append(an_append(one, *[an_event() for _ in range(3)]))
    async with open_transaction(database_url) as transaction:
        await transaction.append(an_append(late, an_event(), an_event()))
        await store.append(an_append(another, *[an_event() for _ in range(4)]))
        assert await store.feed.sequence() == 7
        await transaction.commit()
    assert await store.feed.sequence() == 2
    with psycopg.connect(database_url) as conn:
        runs = conn.execute(
            "SELECT seq, alloc, count FROM fairdeal.feed WHERE lane = 5 ORDER BY seq"
        ).fetchall()
    assert runs == [(3, 3, 3), (7, 9, 4), (9, 5, 2)]

    order = [(one, 1), (one, 2), (one, 3)]
    order += [(another, version) for version in range(1, 5)] + [(late, 1), (late, 2)]
    for after in range(10):
        for limit in (1, 2, 5, 100):
            page = await store.feed.page(5, after, limit)
            assert [event.seq for event in page] == list(range(after + 1, 10))[:limit]
            assert [(e.stream, e.version) for e in page] == order[after:][:limit]
    for seq, (stream, version) in enumerate(order, 1):
        assert await store.feed.place(stream, version) == (5, seq)
        assert (version, seq, False) in await store.feed.entries(stream)
    assert await store.feed.strays() == []


async def test_an_event_that_commits_late_is_not_lost(store: EventStore, database_url: str) -> None:
    [late, early] = ids_of_one_lane(2)
    async with open_transaction(database_url) as transaction:
        await transaction.append(an_append(late))
        await store.append(an_append(early))
        assert await store.feed.sequence() == 1
        assert gaps(database_url) == 1

        # A follower that remembers the highest number of the log's own would never see it.
        with psycopg.connect(database_url) as conn:
            [(seen,)] = conn.execute("SELECT max(alloc) FROM fairdeal.events").fetchall()
        await transaction.commit()
        with psycopg.connect(database_url) as conn:
            assert not conn.execute(
                "SELECT FROM fairdeal.events WHERE alloc > %s", [seen]
            ).fetchall()

    assert await store.feed.sequence() == 1
    assert await names(store) == [(early, 1), (late, 1)]
    assert gaps(database_url) == 0


async def test_numbers_of_those_who_gave_up_leave_no_gap_for_ever(
    store: EventStore, database_url: str
) -> None:
    [never, next_one, last] = ids_of_one_lane(3)
    async with open_transaction(database_url) as transaction:
        await transaction.append(an_append(never, an_event(), an_event()))
        await store.append(an_append(next_one))
        await store.feed.sequence()
        assert gaps(database_url) == 2
        await transaction.rollback()
    await store.feed.sequence()
    assert gaps(database_url) == 0
    await store.append(an_append(last))
    await store.feed.sequence()
    assert await names(store) == [(next_one, 1), (last, 1)]


async def test_a_gap_outlasts_whoever_may_still_fill_it(
    store: EventStore, database_url: str
) -> None:
    """The one who commits first may bear the smallest id: a snapshot's xmax then lies below the id
    of one who drew a number before it, and is no horizon."""
    [drew_first, committed_first] = ids_of_one_lane(2)
    async with AsyncExitStack() as stack:
        old, middle, new = [
            await stack.enter_async_context(open_transaction(database_url)) for _ in range(3)
        ]
        for transaction in (old, middle, new):
            await transaction.take_id()
        await new.append(an_append(drew_first))
        await old.append(an_append(committed_first))
        await old.commit()
        assert await store.feed.sequence() == 1
        assert gaps(database_url) == 1

        await middle.rollback()
        assert await store.feed.sequence() == 0
        assert gaps(database_url) == 1
        await new.commit()
    assert await store.feed.sequence() == 1
    assert await names(store) == [(committed_first, 1), (drew_first, 1)]


async def test_a_foreign_transaction_holds_nothing_up(store: EventStore, database_url: str) -> None:
    [never, *others] = ids_of_one_lane(4)
    async with open_transaction(database_url) as foreign:
        await foreign.take_id()
        async with open_transaction(database_url) as transaction:
            await transaction.append(an_append(never))
            await store.append(an_append(others[0]))
            await store.feed.sequence()
            await transaction.rollback()
        for stream in others[1:]:
            await store.append(an_append(stream))
            assert await store.feed.sequence() == 1
        # It may have been the foreign one that drew the missing number.
        assert gaps(database_url) == 1
    # Postgres' own upkeep may have a transaction for a moment, too.
    async with asyncio.timeout(60):
        while gaps(database_url):
            await store.feed.sequence()
            await asyncio.sleep(0.01)
    assert await names(store) == [(stream, 1) for stream in others]


async def test_two_who_number_take_turns(store: EventStore, database_url: str) -> None:
    await store.append(an_append(an_id()))
    with psycopg.connect(database_url) as other:
        assert other.execute("SELECT fairdeal.sequence(10, false)").fetchall() == [(1,)]
        assert await store.feed.sequence() is None
        waiting = asyncio.create_task(store.feed.sequence(wait=True))
        await asyncio.sleep(0.05)
        assert not waiting.done()
        other.rollback()
        assert await waiting == 1
    assert len(await whole_feed(store)) == 1


async def test_it_must_come_first_in_its_transaction(database_url: str) -> None:
    for before in ("SELECT pg_current_xact_id()", "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE"):
        with psycopg.connect(database_url) as conn:
            conn.execute(before)  # type: ignore[call-overload]
            with pytest.raises(psycopg.DatabaseError, match="must come first"):
                conn.execute("SELECT fairdeal.sequence(10, false)")


async def test_a_missing_number_is_refused(store: EventStore, database_url: str) -> None:
    [stream] = ids_of_one_lane(1)
    await store.append(an_append(stream, *[an_event() for _ in range(3)]))
    await store.feed.sequence()
    with psycopg.connect(database_url) as conn:
        conn.execute("ALTER TABLE fairdeal.feed DISABLE TRIGGER ALL")
        conn.execute("UPDATE fairdeal.feed SET count = 2")
    with pytest.raises(RuntimeError, match="lane 5 of the feed has a gap after 0"):
        await store.feed.page(5, 0, 10)


async def test_a_feed_that_left_something_out_would_be_found(
    store: EventStore, database_url: str
) -> None:
    one, another = an_append(an_id(), an_event(), an_event()), an_append(an_id())
    await store.append(one)
    await store.append(another)
    await store.feed.sequence()
    feed = await whole_feed(store)
    check_against_log(database_url, feed)
    for wrong in (feed[1:], [*feed, feed[0]], feed[::-1]):
        with pytest.raises(AssertionError):
            check_against_log(database_url, wrong)


async def test_a_store_with_events_is_given_its_feed_when_it_is_brought_up_to_date(
    databases: Databases, tmp_path: Path
) -> None:
    before = tmp_path / "sql"
    shutil.copytree(str(files("eventstore").joinpath("sql")), before)
    for later in (before / "migrations").glob("000[5-9]_*"):
        later.unlink()
    for function in ("append", "grant_app", "sequence"):
        (before / "functions" / f"{function}.sql").unlink()
    with databases.fresh(migrated=False) as url:
        await migrate(url, before)
        with psycopg.connect(url) as conn:
            for stream in [an_id() for _ in range(40)]:
                raw = wire.uuid(stream)
                conn.execute(
                    "INSERT INTO fairdeal.events (at, version, lane, schema_version, stream,"
                    " command_id, type, prev, hash, data) SELECT 1, n, %s, 1, %s, %s, 'T',"
                    " sha256(''), sha256(''), '' FROM generate_series(1, 3) n",
                    [wire.lane(raw), stream, stream],
                )
                conn.execute(
                    "INSERT INTO fairdeal.streams (created_at, version, lane, stream, head_hash,"
                    " tenant, category) VALUES (1, 3, %s, %s, sha256(''), 'host', 'game')",
                    [wire.lane(raw), stream],
                )
        await migrate(url)
        async with EventStore.open(url) as store:
            check_against_log(url, await whole_feed(store))
            assert await store.feed.sequence() == 0
            await store.append(an_append(an_id()))
            assert await store.feed.sequence() == 1
            check_against_log(url, await whole_feed(store))
            assert gaps(url) == 0


def run(program: str, folder: Path, *arguments: str, **given: object) -> bytes:
    """What a program of the embedded Postgres prints."""
    programs = find(folder, account(), None)
    done = subprocess.run(
        [programs.folder / program, *arguments], check=True, capture_output=True, **given
    )  # type: ignore[call-overload]
    return bytes(done.stdout)


async def test_a_dump_goes_on_in_another_cluster() -> None:
    """Dumped while a number was drawn and not committed, restored where ids are others."""
    [pending, before, after] = ids_of_one_lane(3)
    with open_folder() as old_folder, embedded.server(old_folder, throwaway=True) as old_url:
        await migrate(old_url)
        async with EventStore.open(old_url) as store, open_transaction(old_url) as transaction:
            await transaction.append(an_append(pending))
            await store.append(first := an_append(before, an_event(), an_event()))
            await store.feed.sequence()
            assert gaps(old_url) == 1
            dump = run("pg_dump", old_folder, "--no-owner", old_url)
            await transaction.commit()

    with open_folder() as folder, embedded.server(folder, throwaway=True) as url:
        run("psql", folder, "-v", "ON_ERROR_STOP=1", "-q", url, input=dump)
        assert await migrate(url)
        async with EventStore.open(url) as store:
            assert gaps(url) == 1
            await store.append(an_append(after))
            await store.append(an_append(before, after=first))
            await settle(store)
            assert gaps(url) == 0
            check_against_log(url, await whole_feed(store))
            assert await names(store) == [(before, 1), (before, 2), (after, 1), (before, 3)]
