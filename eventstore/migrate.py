"""Bring a database's schema up to this version's. Forward only; knows files, not what they make.

Everything happens in one transaction under one lock: two processes that migrate at once take
turns, a failure leaves nothing behind, and a transaction pooler in between does no harm.
"""

from dataclasses import dataclass
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final

import psycopg
from psycopg import AsyncConnection
from psycopg.rows import TupleRow

_LOCK: Final = 0x6661_6972_6465_616C  # "fairdeal"
_SQL: Final = files("eventstore").joinpath("sql")

_LEDGER: Final = b"""
CREATE SCHEMA IF NOT EXISTS fairdeal;
CREATE TABLE IF NOT EXISTS fairdeal.migrations (
    number integer PRIMARY KEY, name text NOT NULL, checksum bytea NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now()
);
SET LOCAL check_function_bodies = off;
SET LOCAL lock_timeout = '10s';
"""


class MigrationError(Exception):
    """The database and this version's migrations do not belong together; nothing was changed."""


@dataclass(frozen=True, kw_only=True)
class Migration:
    """One numbered file, as shipped."""

    number: int
    name: str
    sql: bytes
    checksum: bytes


@dataclass(frozen=True, kw_only=True)
class Report:
    """What a run of `migrate` did."""

    applied: tuple[str, ...]
    already: int
    functions: int


def shipped(folder: Traversable = _SQL) -> tuple[Migration, ...]:
    """This version's migrations in order; MigrationError where the numbers are not 1, 2, 3, …"""
    paths = sorted(_sql_files(folder.joinpath("migrations")), key=lambda path: path.name)
    found = []
    for expected, path in enumerate(paths, start=1):
        number, _, _ = path.name.partition("_")
        if number != f"{expected:04}":
            raise MigrationError(f"Migration {path.name} should be number {expected:04}.")
        sql = _read(path)
        name = path.name.removesuffix(".sql")
        found.append(Migration(number=expected, name=name, sql=sql, checksum=sha256(sql).digest()))
    return tuple(found)


async def migrate(url: str, folder: Traversable = _SQL) -> Report:
    """Apply what the database at `url` has not had yet, and put every function in again.

    Raises MigrationError where an applied file has changed since or the database is newer than
    this version, psycopg.Error where the database cannot be reached or refuses.
    """
    async with await AsyncConnection.connect(url) as conn:
        await conn.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])
        await conn.execute(_LEDGER)
        migrations = shipped(folder)
        applied = await _applied(conn)
        for name in _later(migrations, applied):
            raise MigrationError(
                f"The database has had migration {name}, which this version does not know. "
                "Run the version that applied it, or a later one."
            )
        todo = _missing(migrations, applied)
        # Functions first: triggers name them. The transaction shows all or nothing to others.
        functions = [_read(path) for path in _sql_files(folder.joinpath("functions"))]
        for function in functions:
            await conn.execute(function)
        for migration in todo:
            await conn.execute(migration.sql)
            await conn.execute(
                "INSERT INTO fairdeal.migrations (number, name, checksum) VALUES (%s, %s, %s)",
                [migration.number, migration.name, migration.checksum],
            )
    return Report(
        applied=tuple(migration.name for migration in todo),
        already=len(migrations) - len(todo),
        functions=len(functions),
    )


async def grant_app(url: str, role: str) -> None:
    """Let a role serve: read, and call the store's functions, nothing more.

    Raises MigrationError where there is no such role, or it is one that grants cannot restrain.
    """
    async with await AsyncConnection.connect(url) as conn:
        try:
            await conn.execute("SELECT fairdeal.grant_app(%s)", [role])
        except (
            psycopg.errors.UndefinedObject,
            psycopg.errors.InvalidGrantOperation,
        ) as error:
            reason = error.diag.message_primary or str(error)
            raise MigrationError(f"Role {role} cannot be the service's: {reason}.") from None


async def pending(conn: AsyncConnection[TupleRow]) -> list[str]:
    """The names of the migrations that the database has not had yet.

    Raises MigrationError where one that it had is another by now. Changes nothing. Later ones than
    this version knows are none of its business: a release leaves what the one before needs.
    """
    return [migration.name for migration in _missing(shipped(), await _applied(conn))]


async def later(conn: AsyncConnection[TupleRow]) -> list[str]:
    """The names of the migrations that the database has had, and this version does not know."""
    return _later(shipped(), await _applied(conn))


async def _applied(conn: AsyncConnection[TupleRow]) -> dict[int, tuple[str, bytes]]:
    try:
        # In a transaction of its own, or a savepoint, so that a missing table spoils nothing.
        async with conn.transaction(), psycopg.AsyncCursor(conn) as cursor:
            await cursor.execute("SELECT number, name, checksum FROM fairdeal.migrations")
            return {number: (name, checksum) async for number, name, checksum in cursor}
    except (psycopg.errors.UndefinedTable, psycopg.errors.InvalidSchemaName):
        return {}


def _later(migrations: tuple[Migration, ...], applied: dict[int, tuple[str, bytes]]) -> list[str]:
    known = {migration.number for migration in migrations}
    return [name for number, (name, _) in sorted(applied.items()) if number not in known]


def _missing(
    migrations: tuple[Migration, ...], applied: dict[int, tuple[str, bytes]]
) -> list[Migration]:
    for migration in migrations:
        _, checksum = applied.get(migration.number, ("", migration.checksum))
        if checksum != migration.checksum:
            raise MigrationError(
                f"Migration {migration.name} has changed since it was applied to this database. "
                "Install an unaltered release; a change belongs in a new migration."
            )
    return [migration for migration in migrations if migration.number not in applied]


def _sql_files(folder: Traversable) -> list[Traversable]:
    return [path for path in folder.iterdir() if path.name.endswith(".sql")]


def _read(path: Traversable) -> bytes:
    # A checkout may have turned the line ends; the checksum is that of the file as shipped.
    return path.read_bytes().replace(b"\r\n", b"\n")
