"""Group commit: appends share transactions, and none suffers from what befalls another."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import suppress

import msgspec
import psycopg
import pytest

from eventstore.group import _Exchange
from eventstore.postgres import EventStore
from eventstore.records import Append, Appended, Replayed, StoreUnavailable, WrongVersion
from tests.eventstore.streams import a_key, a_part, an_append, an_event, an_id, stored

GROUPED = 40


@pytest.fixture
async def grouping(database_url: str) -> AsyncIterator[EventStore]:
    """A store whose group commit is connected."""
    async with EventStore.open(database_url) as store:
        await connected(store)
        yield store


async def connected(store: EventStore) -> None:
    async with asyncio.timeout(30):
        while not store.grouping:
            await asyncio.sleep(0.01)


def transactions(url: str, streams: list[str]) -> int:
    """How many transactions wrote the streams' events."""
    with psycopg.connect(url) as conn:
        row = conn.execute(
            "SELECT count(DISTINCT xmin::text) FROM fairdeal.events WHERE stream = ANY(%s)",
            [streams],
        ).fetchone()
    assert row is not None
    return int(row[0])


async def test_appends_that_wait_share_a_transaction(
    grouping: EventStore, database_url: str
) -> None:
    appends = [an_append(an_id(), an_event(sealed=(a_part(),))) for _ in range(GROUPED)]

    outcomes = await asyncio.gather(*map(grouping.append, appends))

    assert outcomes == [Appended(1)] * GROUPED
    assert transactions(database_url, [append.stream for append in appends]) == 1
    for append in appends:
        assert await grouping.read(append.stream) == stored(append)


async def test_a_pooler_between_means_no_groups(database_url: str) -> None:
    appends = [an_append(an_id()) for _ in range(GROUPED)]
    async with EventStore.open(database_url, prepare=False) as store:
        assert not store.grouping
        outcomes = await asyncio.gather(*map(store.append, appends))

    assert outcomes == [Appended(1)] * GROUPED
    assert transactions(database_url, [append.stream for append in appends]) == GROUPED


async def test_what_conflicts_fails_alone(grouping: EventStore) -> None:
    first = an_append(an_id(), an_event(), an_event())
    await grouping.append(first)
    stale = an_append(first.stream, an_event())
    stale = msgspec.structs.replace(stale, prev=os.urandom(32))
    good = [an_append(an_id()) for _ in range(5)]

    outcomes = await asyncio.gather(*map(grouping.append, [*good[:2], stale, *good[2:]]))

    assert outcomes == [Appended(1)] * 2 + [WrongVersion(2)] + [Appended(1)] * 3
    assert await grouping.read(first.stream) == stored(first)


async def test_what_cannot_be_written_fails_alone(grouping: EventStore) -> None:
    bad = an_append(an_id(), tenant="no\x00text")
    good = [an_append(an_id()) for _ in range(5)]

    outcomes = await asyncio.gather(
        *map(grouping.append, [*good[:2], bad, *good[2:]]), return_exceptions=True
    )

    assert isinstance(outcomes.pop(2), psycopg.errors.CharacterNotInRepertoire)
    assert outcomes == [Appended(1)] * 5
    assert await grouping.read(bad.stream) == []


async def test_appends_of_one_group_see_one_another(grouping: EventStore) -> None:
    stream, key = an_id(), a_key("host")
    first = an_append(stream, key=key)
    rival = msgspec.structs.replace(an_append(stream), prev=first.prev)
    second = an_append(stream, after=first)
    again = an_append(an_id(), key=key)

    outcomes = await asyncio.gather(*map(grouping.append, [first, rival, second, again]))

    assert outcomes == [Appended(1), WrongVersion(1), Appended(2), Replayed(first.answer)]
    assert await grouping.read(stream) == stored(first, second)


async def test_what_cannot_be_committed_is_not_acknowledged(
    grouping: EventStore, database_url: str
) -> None:
    """Each statement of the group succeeds, its commit does not."""
    with psycopg.connect(database_url) as conn:
        conn.execute(
            "CREATE FUNCTION no() RETURNS trigger LANGUAGE plpgsql AS"
            " $$BEGIN RAISE EXCEPTION 'not this one' USING ERRCODE = '23514'; END$$"
        )
        conn.execute(
            "CREATE CONSTRAINT TRIGGER no AFTER INSERT ON fairdeal.streams"
            " DEFERRABLE INITIALLY DEFERRED FOR EACH ROW"
            " WHEN (NEW.tenant = 'refused') EXECUTE FUNCTION no()"
        )
    bad = [an_append(an_id(), tenant="refused") for _ in range(2)]
    good = [an_append(an_id()) for _ in range(5)]

    outcomes = await asyncio.gather(
        *map(grouping.append, [bad[0], *good, bad[1]]), return_exceptions=True
    )

    assert isinstance(outcomes.pop(0), psycopg.errors.CheckViolation)
    assert isinstance(outcomes.pop(), psycopg.errors.CheckViolation)
    assert outcomes == [Appended(1)] * 5
    for append in bad:
        assert await grouping.read(append.stream) == []
    for append in good:
        assert await grouping.read(append.stream) == stored(append)


async def test_a_lock_that_another_holds_keeps_nobody_else_waiting(
    grouping: EventStore, database_url: str
) -> None:
    held = an_append(an_id())
    await grouping.append(held)
    behind = an_append(held.stream, after=held)
    with psycopg.connect(database_url) as holder:
        holder.execute(
            "SELECT pg_advisory_xact_lock(uuid_hash_extended(%s::uuid, 0))", [held.stream]
        )
        waiting = asyncio.create_task(grouping.append(behind))
        await asyncio.sleep(0)
        others = [an_append(an_id()) for _ in range(5)]
        outcomes = await asyncio.gather(*map(grouping.append, others))
        assert outcomes == [Appended(1)] * 5
        assert not waiting.done()
        holder.rollback()

    assert await waiting == Appended(2)


async def test_a_lost_connection_is_opened_again(grouping: EventStore, database_url: str) -> None:
    chain = [an_append(an_id())]
    await grouping.append(chain[0])
    with psycopg.connect(database_url, application_name="killer") as killer:
        killer.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE application_name = 'fairdeal' AND datname = current_database()"
        )
    for number in range(2, 5):
        chain.append(an_append(chain[0].stream, after=chain[-1]))
        assert await grouping.append(chain[-1]) == Appended(number)

    await connected(grouping)
    assert await grouping.read(chain[0].stream) == stored(*chain)


async def test_a_group_may_be_larger_than_what_is_sent_at_once(grouping: EventStore) -> None:
    long = b"x" * 700_000
    appends: list[Append] = [an_append(an_id(), an_event(long), an_event(long)) for _ in range(6)]

    assert await asyncio.gather(*map(grouping.append, appends)) == [Appended(2)] * 6
    for append in appends:
        assert await grouping.read(append.stream) == stored(append)


async def test_an_append_that_is_called_off_disturbs_nobody(grouping: EventStore) -> None:
    appends = [an_append(an_id()) for _ in range(6)]
    tasks = [asyncio.create_task(grouping.append(append)) for append in appends]
    await asyncio.sleep(0)
    tasks[0].cancel()
    tasks[3].cancel()

    outcomes = await asyncio.gather(*tasks, return_exceptions=True)

    assert [isinstance(outcome, asyncio.CancelledError) for outcome in outcomes] == [
        number in (0, 3) for number in range(6)
    ]
    assert [outcome for n, outcome in enumerate(outcomes) if n not in (0, 3)] == [Appended(1)] * 4


async def test_a_lost_connection_leaves_no_reader_behind(
    grouping: EventStore, database_url: str
) -> None:
    """Whoever is next given the number of its socket could not be heard."""
    exchange = grouping._group._exchange  # type: ignore[union-attr]
    assert exchange is not None
    number = exchange._socket
    pid = exchange._pgconn.backend_pid

    async with await psycopg.AsyncConnection.connect(database_url, autocommit=True) as conn:
        await conn.execute("SELECT pg_terminate_backend(%s)", [pid])
        async with asyncio.timeout(10):
            while exchange._pgconn.status == psycopg.pq.ConnStatus.OK:
                await asyncio.sleep(0.01)

        assert not asyncio.get_running_loop().remove_reader(number)
    assert await grouping.append(an_append(an_id())) == Appended(1)


async def test_a_connection_that_libpq_closes_as_it_reads_is_noticed(
    grouping: EventStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its socket tells nobody any more, and libpq says nothing."""

    def closes(exchange: _Exchange) -> None:
        monkeypatch.undo()
        exchange._pgconn.finish()

    monkeypatch.setattr(_Exchange, "_read", closes)
    first = an_append(an_id())
    async with asyncio.timeout(30):
        assert await grouping.append(first) == Appended(1)
        second = an_append(first.stream, after=first)
        assert await grouping.append(second) == Appended(2)
        await connected(grouping)
    assert await grouping.read(first.stream) == stored(first, second)


async def test_a_group_that_is_not_answered_is_given_up(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with EventStore.open(database_url, deadline_seconds=1) as store:
        await connected(store)
        monkeypatch.setattr(_Exchange, "_read", lambda _: None)
        first = an_append(an_id())
        async with asyncio.timeout(30):
            with suppress(StoreUnavailable):
                await store.append(first)
            monkeypatch.undo()
            assert await store.append(an_append(first.stream, after=first)) == Appended(2)
            await connected(store)
