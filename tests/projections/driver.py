"""Projections applied by hand, a page at a time, in whatever order and pages a test wants."""

import random
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import Any

from psycopg import AsyncConnection
from psycopg.rows import TupleRow

from eventstore.postgres import EventStore
from eventstore.wire import LANES
from projections.projection import Projection, Target, table_name

Rows = dict[str, list[TupleRow]]


class Driver:
    """Builds of projections on one database."""

    def __init__(self, store: EventStore, conn: AsyncConnection[TupleRow]) -> None:
        self.store = store
        self.conn = conn
        self._at: dict[tuple[str, int, int], int] = {}

    async def build(self, projection: Projection, build: int = 1) -> None:
        """Make the tables of a build, and the views that read it."""
        async with self.conn.transaction():
            for table, columns in projection.tables.items():
                named = table_name(table, build)
                await self._execute(f"CREATE TABLE {named} ({columns})")
                await self._execute(f"DROP VIEW IF EXISTS projections.{table}")
                await self._execute(f"CREATE VIEW projections.{table} AS SELECT * FROM {named}")

    async def drain(
        self,
        projections: Iterable[Projection],
        build: int = 1,
        chance: random.Random | None = None,
        most: int = 1_000,
    ) -> None:
        """Apply all that is committed; with `chance` lanes in any order, in pages of any size, some
        of which are rolled back first."""
        while await self.store.feed.sequence(wait=True):
            pass
        for projection in projections:
            left = list(range(LANES))
            while left:
                lane = left[0] if chance is None else chance.choice(left)
                limit = most if chance is None else chance.choice([1, 3, 20, 200, most])
                if chance is not None and chance.random() < 0.1:
                    await self._page(projection, build, lane, limit, undo=True)
                if not await self._page(projection, build, lane, limit):
                    left.remove(lane)

    async def _page(
        self, projection: Projection, build: int, lane: int, limit: int, *, undo: bool = False
    ) -> bool:
        key = (projection.name, build, lane)
        page = await self.store.feed.page(lane, self._at.get(key, 0), limit, projection.types)
        if not page:
            return False
        async with self.conn.transaction(force_rollback=undo):
            await projection.apply(Target(self.conn, self.store, build), page)
        if not undo:
            self._at[key] = page[-1].seq
        return True

    async def rows(self, projection: Projection, build: int = 1) -> Rows:
        """All that a build holds, in order."""
        found: Rows = {}
        for table in projection.tables:
            cursor = await self._execute(f"SELECT * FROM {table_name(table, build)}")
            found[table] = sorted(await cursor.fetchall(), key=repr)
        return found

    async def _execute(self, statement: str) -> Any:
        return await self.conn.execute(statement.encode())


@asynccontextmanager
async def driving(
    store: EventStore, url: str, projections: Sequence[Projection]
) -> AsyncIterator[Driver]:
    """A driver with a first build of each."""
    async with await AsyncConnection.connect(url, autocommit=True) as conn:
        driver = Driver(store, conn)
        for projection in projections:
            await driver.build(projection)
        yield driver


async def check_rebuilt(driver: Driver, projection: Projection, chance: random.Random) -> None:
    """A build from zero, in any pages, holds what the first one holds."""
    first = await driver.rows(projection)
    await driver.build(projection, 2)
    await driver.drain([projection], 2, chance)
    assert await driver.rows(projection, 2) == first
