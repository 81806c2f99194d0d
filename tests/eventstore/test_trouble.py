"""Connections die, answers get lost, Postgres is away: nothing is lost, nothing done twice."""

import asyncio
import os
import signal
from contextlib import AbstractAsyncContextManager
from itertools import count as count_up
from pathlib import Path

import psycopg
import psycopg.sql
import pytest

from eventstore import embedded
from eventstore.migrate import migrate
from eventstore.postgres import EventStore
from eventstore.records import Append, Appended, Replayed, StoreUnavailable
from tests.database import open_folder
from tests.eventstore.streams import a_key, a_part, an_append, an_event, an_id, stored
from tests.eventstore.wire_trouble import line_to

LONG_SECONDS = 60.0
"""A limit that only a hanging test reaches."""


def one_connection(url: str) -> AbstractAsyncContextManager[EventStore]:
    """A store whose second append meets no new connection: what gets lost is the append itself."""
    return EventStore.open(url, min_size=1, max_size=1)


def count(url: str, table: str) -> int:
    with psycopg.connect(url) as conn:
        row = conn.execute(f"SELECT count(*)::int FROM fairdeal.{table}".encode()).fetchone()
    assert row is not None
    return int(row[0])


async def test_killed_connections_lose_and_double_nothing(database_url: str) -> None:
    async with EventStore.open(database_url, min_size=8, deadline_seconds=30) as store:
        chains: list[list[Append]] = [[] for _ in range(12)]
        killed = 0

        async def write(chain: list[Append]) -> None:
            stream = an_id()
            for number in range(400):
                if number >= 40 and killed > 20:
                    return  # Long enough: how much is killed meanwhile is a matter of speed.
                request = an_append(
                    stream,
                    an_event(sealed=(a_part(),)),
                    an_event(),
                    after=chain[-1] if chain else None,
                    key=a_key(stream if number % 2 else "host"),
                )
                assert await store.append(request) == Appended(2 * number + 2)
                chain.append(request)

        with psycopg.connect(database_url, autocommit=True, application_name="killer") as killer:
            writing = asyncio.gather(*map(write, chains))
            for number in count_up():
                if writing.done():
                    break
                row = killer.execute(
                    "SELECT count(pg_terminate_backend(pid))::int FROM pg_stat_activity"
                    " WHERE application_name = 'fairdeal' AND datname = current_database()"
                    " AND pid %% 3 = %s",
                    [number % 3],
                ).fetchone()
                assert row is not None
                killed += row[0]
                await asyncio.sleep(0.05)
            await writing

        assert killed > 20
        for chain in chains:
            assert await store.read(chain[0].stream) == stored(*chain)
        assert count(database_url, "commands") == sum(map(len, chains))


@pytest.mark.parametrize("way", ["lose_next_answer", "lose_next_request"])
@pytest.mark.parametrize("keyed", [True, False])
async def test_an_append_whose_word_got_lost_is_done_once(
    database_url: str, way: str, keyed: bool
) -> None:
    async with line_to(database_url) as (line, url), one_connection(url) as store:
        first = an_append(an_id())
        assert await store.append(first) == Appended(1)

        setattr(line, way, True)
        key = a_key("host") if keyed else None
        second = an_append(first.stream, an_event(), an_event(), after=first, key=key)
        assert await store.append(second) == Appended(3)

        assert line.lost == 1
        assert await store.read(first.stream) == stored(first, second)
        assert count(database_url, "commands") == (1 if keyed else 0)
        if key is not None:
            assert await store.answer(key) == Replayed(second.answer)


async def test_a_lost_beginning_is_done_once(database_url: str) -> None:
    async with line_to(database_url) as (line, url), one_connection(url) as store:
        await store.append(an_append(an_id()))
        line.lose_next_answer = True
        first = an_append(an_id(), key=a_key("host"))

        assert await store.append(first) == Appended(1)
        assert line.lost == 1
        assert await store.read(first.stream) == stored(first)


async def test_without_a_server_the_store_says_so() -> None:
    with open_folder() as folder:
        url = f"postgresql://nobody@/none?host={folder}&port=5432"
        async with (
            asyncio.timeout(LONG_SECONDS),
            EventStore.open(url, deadline_seconds=0.3) as store,
        ):
            for _ in range(2):
                with pytest.raises(StoreUnavailable, match=r"0\.3 seconds"):
                    await store.append(an_append(an_id()))
            with pytest.raises(StoreUnavailable):
                await store.ping()


async def test_a_server_that_hangs_is_given_up_at_the_deadline(database_url: str) -> None:
    async with (
        asyncio.timeout(LONG_SECONDS),
        line_to(database_url) as (line, url),
        EventStore.open(url, min_size=2, max_size=2, deadline_seconds=0.5) as store,
    ):
        first = an_append(an_id())
        await store.append(first)
        line.silent = True

        second = an_append(first.stream, after=first)
        for _ in range(3):
            with pytest.raises(StoreUnavailable):
                await store.append(second)

        line.silent = False
        line.hang_up()
        assert await eventually(store, second) == Appended(2)
        assert await store.read(first.stream) == stored(first, second)


async def eventually(store: EventStore, request: Append) -> object:
    async with asyncio.timeout(LONG_SECONDS):
        while True:
            try:
                return await store.append(request)
            except StoreUnavailable:
                await asyncio.sleep(0.05)


async def test_an_append_that_is_called_off_leaves_the_store_usable(database_url: str) -> None:
    async with EventStore.open(database_url, min_size=1, max_size=1) as store:
        first = an_append(an_id())
        await store.append(first)
        waiting = an_append(first.stream, after=first)
        with psycopg.connect(database_url) as holder:
            holder.execute(
                "SELECT pg_advisory_xact_lock(uuid_hash_extended(%s::uuid, 0))", [first.stream]
            )
            task = asyncio.create_task(store.append(waiting))
            await asyncio.sleep(0.1)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            holder.rollback()

        assert await store.append(waiting) == Appended(2)


async def test_a_lock_that_is_not_to_be_had_is_unavailability(database_url: str) -> None:
    async with EventStore.open(database_url, deadline_seconds=0.4) as store:
        first = an_append(an_id())
        await store.append(first)
        second = an_append(first.stream, after=first)
        with psycopg.connect(database_url) as holder:
            holder.execute(
                "SELECT pg_advisory_xact_lock(uuid_hash_extended(%s::uuid, 0))", [first.stream]
            )
            with pytest.raises(StoreUnavailable):
                await store.append(second)
            assert await store.append(an_append(an_id())) == Appended(1)
            holder.rollback()

        assert await eventually(store, second) == Appended(2)


async def test_a_stricter_default_of_the_database_stops_neither_appends_nor_the_feed(
    database_url: str,
) -> None:
    """The feed is numbered in READ COMMITTED alone; a DBA may have set another default."""
    with psycopg.connect(database_url, autocommit=True) as conn:
        name = psycopg.sql.Identifier(conn.info.dbname)
        for level in ("repeatable read", "serializable"):
            conn.execute(
                psycopg.sql.SQL("ALTER DATABASE {} SET default_transaction_isolation = {}").format(
                    name, psycopg.sql.Literal(level)
                )
            )
            async with EventStore.open(database_url, min_size=4) as store:
                await asyncio.gather(*[store.append(an_append(an_id())) for _ in range(8)])
                assert await store.feed.sequence(wait=True) == 8


async def test_a_database_without_the_schema_is_no_passing_trouble(
    database_url: str,
) -> None:
    with psycopg.connect(database_url) as conn:
        conn.execute("DROP SCHEMA fairdeal CASCADE")
    async with EventStore.open(database_url) as store:
        with pytest.raises(psycopg.errors.InvalidSchemaName):
            await store.append(an_append(an_id()))


async def test_a_restart_of_the_server_is_survived() -> None:
    with open_folder() as folder:
        with embedded.server(folder, throwaway=True) as url:
            await migrate(url)
        async with EventStore.open(url, deadline_seconds=1.0) as store:
            chain: list[Append] = []
            stream = an_id()
            for _ in range(3):
                with embedded.server(folder, throwaway=True):
                    for _ in range(3):
                        request = an_append(stream, after=chain[-1] if chain else None)
                        assert await eventually(store, request) == Appended(len(chain) + 1)
                        chain.append(request)
                with pytest.raises(StoreUnavailable):
                    await store.append(an_append(stream, after=chain[-1]))
            with embedded.server(folder, throwaway=True):
                await eventually(store, an_append(an_id()))
                found = await store.read(stream)
                assert found[: len(chain)] == stored(*chain)


async def test_a_killed_server_comes_back_under_the_writers() -> None:
    with open_folder() as folder, embedded.server(folder) as url:
        await migrate(url)
        async with EventStore.open(url, min_size=4, deadline_seconds=30) as store:
            chains: list[list[Append]] = [[] for _ in range(4)]

            async def write(chain: list[Append]) -> None:
                stream = an_id()
                for number in range(60):
                    request = an_append(stream, after=chain[-1] if chain else None)
                    assert await store.append(request) == Appended(number + 1)
                    chain.append(request)

            writing = asyncio.gather(*map(write, chains))
            await asyncio.sleep(0.05)
            kill_postmaster(folder)
            async with asyncio.timeout(LONG_SECONDS):
                await writing
            for chain in chains:
                assert await store.read(chain[0].stream) == stored(*chain)


def kill_postmaster(folder: Path) -> None:
    pid = int((folder / "postgres" / "postmaster.pid").read_text().split()[0])
    os.kill(pid, signal.SIGKILL)
