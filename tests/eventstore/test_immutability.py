"""The database itself refuses to change the log, whoever asks."""

import psycopg
import pytest
from psycopg.errors import RestrictViolation

from eventstore.postgres import EventStore
from tests.eventstore.streams import a_part, an_append, an_event, an_id, stored

EVENTS = "fairdeal.events"
PARTITIONS = tuple(f"fairdeal.events_{number}" for number in range(4))

CHANGES_OF_EVENTS = [
    statement.format(table)
    for table in (EVENTS, *PARTITIONS)
    for statement in (
        "UPDATE {} SET data = 'x'",
        "UPDATE {} SET alloc = alloc + 1000000",
        "DELETE FROM {}",
        "TRUNCATE {}",
        "TRUNCATE {} CASCADE",
    )
]
CHANGES_OF_SEALED = [
    "UPDATE fairdeal.sealed SET body = 'x'",
    "UPDATE fairdeal.sealed SET salt = NULL",
    "UPDATE fairdeal.sealed SET salt = NULL, body = NULL, audience = '[3]'",
    "UPDATE fairdeal.sealed SET salt = NULL, body = NULL, digest = sha256('x')",
    "UPDATE fairdeal.sealed SET salt = NULL, body = NULL, version = version + 1",
    "DELETE FROM fairdeal.sealed",
    "TRUNCATE fairdeal.sealed",
]
CHANGES_OF_THE_REST = [
    "DELETE FROM fairdeal.streams",
    "TRUNCATE fairdeal.streams",
    "UPDATE fairdeal.feed SET seq = seq + 100",
    "DELETE FROM fairdeal.feed",
    "TRUNCATE fairdeal.feed",
]


@pytest.mark.parametrize("role", ["origin", "replica"])
async def test_a_superuser_cannot_change_the_log(
    store: EventStore, database_url: str, role: str
) -> None:
    requests = [an_append(an_id(), an_event(sealed=(a_part(),))) for _ in range(40)]
    for request in requests:
        await store.append(request)
    await store.feed.sequence()

    with psycopg.connect(database_url, autocommit=True) as conn:
        assert conn.execute("SELECT usesuper FROM pg_user WHERE usename = user").fetchone() == (
            True,
        )
        conn.execute(f"SET session_replication_role = {role}".encode())
        for partition in PARTITIONS:
            held = conn.execute(f"SELECT count(*) > 0 FROM {partition}".encode()).fetchone()
            assert held == (True,), "a partition without rows would prove nothing"
        for statement in [*CHANGES_OF_EVENTS, *CHANGES_OF_SEALED, *CHANGES_OF_THE_REST]:
            with pytest.raises(RestrictViolation):
                conn.execute(statement.encode())

    for request in requests:
        assert await store.read(request.stream) == stored(request)


async def test_what_was_erased_cannot_be_put_back(store: EventStore, database_url: str) -> None:
    first = an_append(an_id(), an_event(sealed=(a_part(),)))
    await store.append(first)
    await store.erase(first.stream, [(1, 0)])

    with (
        psycopg.connect(database_url) as conn,
        pytest.raises(RestrictViolation, match="can only be erased"),
    ):
        conn.execute("UPDATE fairdeal.sealed SET salt = 'x', body = 'x'")


async def test_the_keys_hold_where_the_lock_does_not(store: EventStore, database_url: str) -> None:
    first = an_append(an_id())
    await store.append(first)

    with psycopg.connect(database_url) as conn, pytest.raises(psycopg.errors.UniqueViolation):
        conn.execute(
            "INSERT INTO fairdeal.events (alloc, at, version, lane, schema_version, stream,"
            " command_id, type, prev, hash, data)"
            " SELECT alloc + 1, at, version, lane, schema_version, stream, command_id, type,"
            " prev, hash, data"
            " FROM fairdeal.events"
        )


async def test_a_role_that_may_only_call_the_functions_can_append_but_not_write(
    store: EventStore, database_url: str
) -> None:
    first = an_append(an_id())
    await store.append(first)
    with psycopg.connect(database_url) as conn:
        conn.execute("CREATE ROLE caller NOLOGIN")
        conn.execute("GRANT USAGE ON SCHEMA fairdeal TO caller")
        conn.execute("SET ROLE caller")
        for statement in (
            "SELECT * FROM fairdeal.events",
            "INSERT INTO fairdeal.streams DEFAULT VALUES",
            "SELECT fairdeal.erase(0::int2, gen_random_uuid(), '{}', '{}')",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege), conn.transaction():
                conn.execute(statement)
        conn.execute("RESET ROLE")
        conn.execute("GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA fairdeal TO caller")
        conn.execute("SET ROLE caller")
        assert conn.execute(
            "SELECT fairdeal.erase(0::int2, gen_random_uuid(), '{}', '{}')"
        ).fetchone() == (0,)
        conn.rollback()
