"""A projection built again from the whole log beside the live one, compared, and put in its place.

The live build stays as it is, and serves, until one transaction switches. Whoever rebuilds holds
the projection's claim in a transaction that ends with the process; what a killed one leaves behind
is replaced by the next.
"""

import asyncio
import logging
from collections.abc import Callable
from contextlib import AsyncExitStack
from time import monotonic
from typing import Final

import msgspec
import psycopg
from psycopg.errors import LockNotAvailable

from eventstore.postgres import EventStore
from projections.builds import Build, begin, builds, claim, provide, stand_still, sweep, switch
from projections.pages import Pages, advance
from projections.projection import Projection, table_name
from projections.promotion import bring_to
from projections.statements import statements
from projections.writing import Writer, connect, described

_SQL: Final = {**statements("running"), **statements("rebuilding")}
_PAGE: Final = 1000
_STAMPED_AT_ONCE: Final = 1000
_AT_HAND: Final = 2000
"""With so few events left, both builds are brought to the same place under lock."""
_TRIES: Final = 40
_PAUSE_SECONDS: Final = 0.25
_SIGN_SECONDS: Final = 5.0

_logger = logging.getLogger("fairdeal.projections")

Told = Callable[[int, int], None]
"""Called with how many events are in and how many there are."""


class RebuildError(Exception):
    """The rebuild did not take place; the live build is as it was. The message says why."""


class TableCompared(msgspec.Struct, frozen=True):
    """A table of the build that was live against the same table built again."""

    table: str
    live_rows: int
    rebuilt_rows: int
    only_live: int
    """Rows, or states of rows, that only the live one had."""
    only_rebuilt: int


class Rebuilt(msgspec.Struct, frozen=True):
    """What came of a rebuild."""

    name: str
    version: int
    build: int
    events: int
    seconds: float
    compared: tuple[TableCompared, ...] | None
    """None where the live build was of an earlier version, which need not be the same, or could not
    be read."""
    parked: int

    @property
    def different(self) -> bool:
        """Whether the live build held something else."""
        return any(table.only_live or table.only_rebuilt for table in self.compared or ())


async def rebuild(
    url: str, projection: Projection, *, prepare: bool = True, told: Told = lambda done, of: None
) -> Rebuilt:
    """Build a projection again and let the new build take the live one's place.

    Raises RebuildError, psycopg.Error, StoreUnavailable: the live build is as it was then.
    """
    async with AsyncExitStack() as stack:
        store = await stack.enter_async_context(
            EventStore.open(url, max_size=3, prepare=prepare, deadline_seconds=60)
        )
        holder, first, second = [
            await stack.enter_async_context(await connect(url, prepare=prepare)) for _ in range(3)
        ]
        if not await provide(first, projection):
            raise _busy(projection)
        # To the end of the block this transaction holds the claim, and ends by switching.
        async with holder.transaction():
            await holder.execute(_SQL["hold"])
            if not await claim(holder, projection.name):
                raise _busy(projection)
            [old] = [b for b in await builds(first, [projection.name]) if b.state == "live"]
            if old.version > projection.version:
                raise RebuildError(
                    f"{projection.name} is live in version {old.version}, and this is version "
                    f"{projection.version}. Use the version that built it, or a later one."
                )
            async with first.transaction():
                new = await begin(first, projection, "building")
            work = _Rebuild(projection, store, old, new, told)
            begun = monotonic()
            await work.fill(holder, (first, second))
            compared = await work.finish(holder)
            cursor = await holder.execute(_SQL["parked"], [new.name, new.build])
            [(parked,)] = await cursor.fetchall()
            cursor = await holder.execute(_SQL["progress"], [new.name, new.build])
            [(events, _)] = await cursor.fetchall()
        await sweep(first)
        seconds = monotonic() - begun
        return Rebuilt(new.name, new.version, new.build, events, seconds, compared, parked)


class _Rebuild:
    """One rebuild under way."""

    def __init__(
        self, projection: Projection, store: EventStore, old: Build, new: Build, told: Told
    ) -> None:
        self._projection: Final = projection
        self._store: Final = store
        self._old: Final = old
        self._new: Final = new
        self._told: Final = told

    async def fill(self, holder: Writer, writers: tuple[Writer, Writer]) -> None:
        """Take in the log until little is left; two lanes at a time."""
        signed = monotonic()
        left = _AT_HAND + 1
        while left > _AT_HAND:
            while (await self._store.feed.sequence(_STAMPED_AT_ONCE) or 0) >= _STAMPED_AT_ONCE:
                pass
            lanes = await self._remaining(writers[0])
            left = sum(lanes.values())
            queue = sorted(lanes, key=lambda lane: lanes[lane])
            try:
                async with asyncio.TaskGroup() as group:
                    for conn in writers:
                        group.create_task(self._fill_lanes(conn, queue))
            except* Exception as failed:
                raise failed.exceptions[0] from None
            if monotonic() - signed > _SIGN_SECONDS:
                signed = monotonic()
                # A claim that is lost with its connection is noticed before more is done.
                await holder.execute(_SQL["hold"])

    async def finish(self, holder: Writer) -> tuple[TableCompared, ...] | None:
        """Bring both builds to the same place, compare them, and switch."""
        for _ in range(_TRIES):
            try:
                async with holder.transaction():
                    await holder.execute(_SQL["patient"])
                    return await self._finish(holder)
            except LockNotAvailable:
                await asyncio.sleep(_PAUSE_SECONDS)
        raise RebuildError(
            f"{self._new.name} could not be switched: its tables or checkpoints were in use all "
            "the time. The live build is as it was; try again."
        )

    async def _finish(self, holder: Writer) -> tuple[TableCompared, ...] | None:
        seqs = await stand_still(holder, self._new.name)
        old, new = seqs[self._old.build], seqs[self._new.build]
        goal = {lane: max(old[lane], new[lane]) for lane in new}
        pages = Pages(self._store, [self._projection])
        await bring_to(holder, pages, self._projection, self._new.build, new, goal)
        compared = None
        if self._old.version == self._new.version:
            try:
                async with holder.transaction():
                    await bring_to(holder, pages, self._projection, self._old.build, old, goal)
                    tables = self._projection.tables
                    compared = tuple([await self._compare(holder, table) for table in tables])
            except (psycopg.ProgrammingError, RuntimeError) as error:
                # The live one is broken, which is what it is built again for.
                _logger.warning("%s cannot be compared: %s", self._new.name, described(error))
        # Once more: taking in pages has set what suits pages.
        await holder.execute(_SQL["patient"])
        for left in reversed(range(_TRIES)):
            try:
                await switch(holder, self._projection, self._old, self._new)
                break
            except LockNotAvailable:
                if not left:
                    raise
                await asyncio.sleep(_PAUSE_SECONDS)
        return compared

    async def _remaining(self, conn: Writer) -> dict[int, int]:
        cursor = await conn.execute(_SQL["remaining"], [self._new.name, self._new.build])
        return dict(await cursor.fetchall())

    async def _fill_lanes(self, conn: Writer, queue: list[int]) -> None:
        name, build = self._new.name, self._new.build
        pages = Pages(self._store, [self._projection])
        while queue:
            lane = queue.pop()
            while await advance(conn, pages, self._projection, build, {lane: None}, _PAGE):
                pages.forget()
                cursor = await conn.execute(_SQL["progress"], [name, build])
                [(done, of)] = await cursor.fetchall()
                self._told(done, of)

    async def _compare(self, conn: Writer, table: str) -> TableCompared:
        live, rebuilt = [table_name(table, build.build) for build in (self._old, self._new)]
        (live_rows, live_sum), (rebuilt_rows, rebuilt_sum) = [
            await _summed(conn, name) for name in (live, rebuilt)
        ]
        if (live_rows, live_sum) == (rebuilt_rows, rebuilt_sum):
            return TableCompared(table, live_rows, rebuilt_rows, 0, 0)
        only_live, only_rebuilt = [
            await _only(conn, *pair) for pair in ((live, rebuilt), (rebuilt, live))
        ]
        return TableCompared(table, live_rows, rebuilt_rows, only_live, only_rebuilt)


def _busy(projection: Projection) -> RebuildError:
    return RebuildError(
        f"Somebody else is rebuilding {projection.name}, or switching it to a new version. "
        "Wait until that is done."
    )


async def _summed(conn: Writer, table: str) -> tuple[int, int]:
    """How many rows, and a sum of their hashes, which does not depend on their order."""
    sums = (
        f"SELECT count(*), coalesce(sum(hashtextextended(t::text, 0)::numeric), 0) FROM {table} t"
    )
    cursor = await conn.execute(sums.encode())
    [(rows, total)] = await cursor.fetchall()
    return rows, int(total)


async def _only(conn: Writer, these: str, those: str) -> int:
    only = f"SELECT t::text FROM {these} t EXCEPT ALL SELECT t::text FROM {those} t"
    cursor = await conn.execute(f"SELECT count(*) FROM ({only}) d".encode())
    [(rows,)] = await cursor.fetchall()
    return int(rows)
