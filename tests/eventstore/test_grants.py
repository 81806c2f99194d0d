"""The role that serves: it reads and calls the store's functions, and can do nothing else."""

from collections.abc import Iterator
from uuid import uuid4

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.errors import InsufficientPrivilege

from eventstore.migrate import MigrationError, grant_app, migrate, pending
from eventstore.postgres import EventStore
from eventstore.records import Appended
from tests.eventstore.streams import a_key, a_part, an_append, an_event, an_id, stored

PASSWORD = "only-for-this-test"

FORBIDDEN = [
    "INSERT INTO fairdeal.migrations VALUES (99, 'x', 'x')",
    "UPDATE fairdeal.streams SET version = 5",
    "DELETE FROM fairdeal.streams",
    "INSERT INTO fairdeal.events SELECT * FROM fairdeal.events",
    "UPDATE fairdeal.events SET data = 'x'",
    "DELETE FROM fairdeal.events_1",
    "TRUNCATE fairdeal.events",
    "UPDATE fairdeal.sealed SET salt = NULL, body = NULL",
    "DELETE FROM fairdeal.sealed",
    "UPDATE fairdeal.commands SET response = 'x'",
    "ALTER TABLE fairdeal.events DISABLE TRIGGER ALL",
    "DROP TRIGGER events_stand ON fairdeal.events",
    "DROP TABLE fairdeal.events",
    "CREATE TABLE fairdeal.mine (x int)",
    "SELECT nextval('fairdeal.alloc_3')",
    "SET session_replication_role = replica",
    "SELECT fairdeal.grant_app('postgres')",
    "CREATE OR REPLACE FUNCTION fairdeal.refuse_change() RETURNS trigger LANGUAGE plpgsql"
    " AS $$ BEGIN RETURN NEW; END $$",
]


@pytest.fixture
def role(database_url: str) -> Iterator[str]:
    """A role that may log in and nothing else."""
    name = f"fairdeal_app_{uuid4().hex[:8]}"
    with psycopg.connect(database_url, autocommit=True) as conn:
        create = sql.SQL("CREATE ROLE {} LOGIN PASSWORD {}")
        conn.execute(create.format(sql.Identifier(name), sql.Literal(PASSWORD)))
        yield name
        conn.execute(sql.SQL("DROP OWNED BY {}").format(sql.Identifier(name)))
        conn.execute(sql.SQL("DROP ROLE {}").format(sql.Identifier(name)))


def url_of(database_url: str, role: str) -> str:
    """The database's address, for that role."""
    given = conninfo_to_dict(database_url)
    return make_conninfo(**given | {"user": role, "password": PASSWORD})


async def test_the_role_does_all_that_a_store_does(database_url: str, role: str) -> None:
    await grant_app(database_url, role)
    async with EventStore.open(url_of(database_url, role)) as store:
        stream = an_id()
        first = an_append(stream, an_event(sealed=(a_part(),)), key=a_key(stream), tags=("t",))
        assert await store.append(first) == Appended(1)
        assert await store.read(stream) == stored(first)
        assert await store.erase(stream, [(1, 0)]) == 1
        assert await store.wake(stream, 1, 5)
        assert [due.stream for due in await store.due(5, 1)] == [stream]
        assert [head.stream for head in await store.find("host", ("t",))] == [stream]
        assert await store.answers(stream) == [first.answer]
        assert [found async for found in store.streams()] == [stream]
        async with store.connection() as conn:
            assert await pending(conn) == []


async def test_the_role_can_do_nothing_else(database_url: str, role: str) -> None:
    await grant_app(database_url, role)
    async with EventStore.open(database_url) as store:
        await store.append(an_append(an_id(), an_event(sealed=(a_part(),))))
    with psycopg.connect(url_of(database_url, role), autocommit=True) as conn:
        for statement in FORBIDDEN:
            with pytest.raises(InsufficientPrivilege):
                conn.execute(statement.encode())


async def test_without_the_grant_the_role_can_do_nothing(database_url: str, role: str) -> None:
    with psycopg.connect(url_of(database_url, role), autocommit=True) as conn:
        for statement in ["SELECT * FROM fairdeal.streams", *FORBIDDEN[:3]]:
            with pytest.raises(InsufficientPrivilege):
                conn.execute(statement.encode())


async def test_a_later_migration_keeps_the_grant(database_url: str, role: str) -> None:
    await grant_app(database_url, role)
    await migrate(database_url)
    await grant_app(database_url, role)
    async with EventStore.open(url_of(database_url, role)) as store:
        assert await store.append(an_append(an_id())) == Appended(1)


async def test_what_was_granted_beyond_that_is_taken_back(database_url: str, role: str) -> None:
    with psycopg.connect(database_url, autocommit=True) as conn:
        grant = sql.SQL("GRANT ALL ON ALL TABLES IN SCHEMA fairdeal TO {}")
        conn.execute(grant.format(sql.Identifier(role)))
    await grant_app(database_url, role)
    with psycopg.connect(url_of(database_url, role), autocommit=True) as conn:
        for statement in FORBIDDEN:
            with pytest.raises(InsufficientPrivilege):
                conn.execute(statement.encode())


async def test_a_role_that_no_grant_restrains_is_refused(database_url: str, role: str) -> None:
    with pytest.raises(MigrationError, match="does not exist"):
        await grant_app(database_url, "nobody-of-this-name")
    with psycopg.connect(database_url, autocommit=True) as conn:
        owner = conn.execute("SELECT current_user").fetchone()
        assert owner is not None
        with pytest.raises(MigrationError, match="superuser"):
            await grant_app(database_url, str(owner[0]))
        member = sql.SQL("GRANT {} TO {}")
        conn.execute(member.format(sql.Identifier(str(owner[0])), sql.Identifier(role)))
    with pytest.raises(MigrationError, match="owns the log"):
        await grant_app(database_url, role)
