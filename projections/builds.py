"""Builds of projections: made, switched and dropped. Takes in no event.

A build is a set of tables with its own checkpoints. At most one of a projection is live: the views
show its tables. Whoever makes or switches builds of a projection holds its claim, until the end of
the transaction.
"""

import asyncio
from collections.abc import Iterable
from typing import Final, Literal

import msgspec
from psycopg import sql
from psycopg.errors import LockNotAvailable

from projections.projection import Projection, table_name
from projections.statements import statements
from projections.writing import Writer, connect

_SQL: Final = statements("builds")
_LOCK_MILLISECONDS: Final = 250
"""How long DDL may stand in the queue for a table or view, with new readers behind it."""

_TURN_SECONDS: Final = 0.02


class Build(msgspec.Struct, frozen=True):
    """One build of a projection."""

    name: str
    build: int
    version: int
    """Of the projection's code."""
    state: Literal["building", "live"]


async def builds(conn: Writer, names: Iterable[str]) -> list[Build]:
    """The builds of these projections. Raises psycopg.Error."""
    cursor = await conn.execute(_SQL["builds"], [list(names)])
    return [Build(*row) for row in await cursor.fetchall()]


async def claim(conn: Writer, name: str) -> bool:
    """Take the claim on a projection's builds for this transaction, if nobody else has it.
    Raises psycopg.Error."""
    cursor = await conn.execute(_SQL["claim"], [name])
    row = await cursor.fetchone()
    return row is not None and bool(row[0])


def wanting(projection: Projection, found: Iterable[Build]) -> Literal["live", "building"] | None:
    """Which build is to be begun for a version of the code.

    The first one is live from the start. Beside a live one of an earlier version one is built.
    Nothing is to be done for a version that is there, nor for one that a later one has overtaken.
    """
    own = {build.state: build for build in found if build.name == projection.name}
    if "live" not in own:
        return "live"
    newest = max(build.version for build in own.values())
    return "building" if newest < projection.version else None


async def provide(conn: Writer, projection: Projection) -> bool:
    """Begin the build that this version of a projection wants, if any; whether nothing is wanting
    now. False: somebody else has the claim. Raises psycopg.Error."""
    if wanting(projection, await builds(conn, [projection.name])) is None:
        return True
    async with conn.transaction():
        if not await claim(conn, projection.name):
            return False
        # Looked at again: whoever had the claim before may have begun it.
        state = wanting(projection, await builds(conn, [projection.name]))
        if state is not None:
            await begin(conn, projection, state)
        return True


async def provide_views(
    url: str, projections: Iterable[Projection], *, prepare: bool = True
) -> None:
    """Begin the first build of each projection that has none, and return when readers can read all
    of them. Raises psycopg.Error."""
    async with await connect(url, prepare=prepare) as conn:
        for projection in projections:
            while wanting(projection, await builds(conn, [projection.name])) == "live":
                if not await provide(conn, projection):
                    await asyncio.sleep(_TURN_SECONDS)


async def begin(conn: Writer, projection: Projection, state: Literal["live", "building"]) -> Build:
    """A new, empty build of a projection, instead of one that was being built. For who holds the
    claim, in a transaction. Raises psycopg.Error."""
    await _as_owner(conn)
    await _drop_half_built(conn, projection.name)
    await conn.execute(_SQL["turn"])
    cursor = await conn.execute(_SQL["number"])
    [(number,)] = await cursor.fetchall()
    build = Build(projection.name, number, projection.version, state)
    values = [build.name, build.build, build.version, state, state]
    await conn.execute(_SQL["add"], values)
    await conn.execute(_SQL["add_checkpoints"], [build.name, build.build])
    for table, columns in projection.tables.items():
        statement = f"CREATE TABLE {table_name(table, build.build)} ({columns})"
        await conn.execute(statement.encode())
    if state == "live":
        await _show(conn, projection, build)
    return build


async def discard(conn: Writer, name: str) -> None:
    """Drop what a rebuild that was killed has left, which nobody keeps up and no erasure reaches.
    One that is under way holds the claim, and is left alone. Raises psycopg.Error."""
    async with conn.transaction():
        if await claim(conn, name):
            await _as_owner(conn)
            own = {build.state: build.version for build in await builds(conn, [name])}
            if "building" in own and own.get("live") == own["building"]:
                await _drop_half_built(conn, name)


async def switch(conn: Writer, projection: Projection, old: Build, new: Build) -> None:
    """Let a build take the place of the live one, for readers at one moment.

    For who holds the claim and the checkpoints of both, in a transaction, where the new one has
    come as far as the old one. Raises psycopg.Error; LockNotAvailable where readers are in the way.
    """
    async with conn.transaction():
        await _as_owner(conn)
        await not_for_long(conn)
        if old.version != new.version:
            for table in await _tables_of(conn, old.build):
                await conn.execute(f"DROP VIEW IF EXISTS projections.{table}".encode())
        await conn.execute(_SQL["remove"], [old.name, old.build])
        await conn.execute(_SQL["make_live"], [new.name, new.build])
        await _show(conn, projection, new)


async def stand_still(conn: Writer, name: str) -> dict[int, dict[int, int]]:
    """The checkpoints of a projection's builds, by build and lane. Nobody moves them until the end
    of the transaction. Raises psycopg.Error."""
    cursor = await conn.execute(_SQL["lock_all"], [name])
    seqs: dict[int, dict[int, int]] = {}
    for lane, build, seq in await cursor.fetchall():
        seqs.setdefault(build, {})[lane] = seq
    return seqs


async def sweep(conn: Writer) -> None:
    """Drop the tables of builds that are no more. What somebody still reads is left for the next
    time. Raises psycopg.Error."""
    cursor = await conn.execute(_SQL["left_over"])
    for (table,) in await cursor.fetchall():
        try:
            async with conn.transaction():
                await not_for_long(conn)
                name = sql.Identifier("projections", table)
                await conn.execute(sql.SQL("DROP TABLE IF EXISTS {}").format(name))
        except LockNotAvailable:
            continue


async def not_for_long(conn: Writer) -> None:
    """Let the statements of this transaction wait for locks only briefly. Raises psycopg.Error."""
    await conn.execute(f"SET LOCAL lock_timeout = {_LOCK_MILLISECONDS}".encode())


async def _drop_half_built(conn: Writer, name: str) -> None:
    for found in await builds(conn, [name]):
        if found.state == "building":
            await conn.execute(_SQL["lock_all"], [name])
            await conn.execute(_SQL["remove"], [found.name, found.build])
            for table in await _tables_of(conn, found.build):
                await conn.execute(b"DROP TABLE %s" % table_name(table, found.build).encode())


async def _show(conn: Writer, projection: Projection, build: Build) -> None:
    for table in projection.tables:
        # Replaced where the columns are the same, which keeps grants and views on top of it.
        view = f"CREATE OR REPLACE VIEW projections.{table}"
        shown = f"{view} AS SELECT * FROM {table_name(table, build.build)}"
        await conn.execute(shown.encode())


async def _tables_of(conn: Writer, build: int) -> list[str]:
    cursor = await conn.execute(_SQL["tables_of"], [str(build)])
    return [row[0] for row in await cursor.fetchall()]


async def _as_owner(conn: Writer) -> None:
    """Make what follows belong to the owner of the schema, whoever runs it (see `grant_app`)."""
    cursor = await conn.execute(_SQL["owner"])
    for (owner,) in await cursor.fetchall():
        await conn.execute(sql.SQL("SET LOCAL ROLE {}").format(sql.Identifier(owner)))
