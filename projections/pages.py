"""One step of a build: pages of the feed go into its tables and its checkpoints in one transaction.

So each event counts exactly once, whoever is killed when. Streams that cannot be applied are
parked here. Decides nothing about when, and which build is whose.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from eventstore.feed import FeedEvent
from eventstore.postgres import EventStore
from projections.projection import Projection, Target
from projections.statements import statements
from projections.writing import Writer, described, of_the_event

_SQL: Final = statements("running")
PAGE: Final = 500
"""Events read at a time of one lane."""


class Pages:
    """Pages of the feed, kept for all builds that stand at the same place."""

    def __init__(self, store: EventStore, projections: Sequence[Projection]) -> None:
        self.store: Final = store
        self._types = _union(projections)
        self._kept: dict[tuple[int, int, int], list[FeedEvent]] = {}

    async def gather(self, after: Mapping[int, int]) -> None:
        """Read the next page of each of these lanes at once, to be kept. Raises as `read`."""
        found = await self.store.feed.pages(after, PAGE, self._types)
        self._kept |= {(lane, after[lane], PAGE): page for lane, page in found.items()}

    async def read(self, lane: int, after: int, limit: int) -> list[FeedEvent]:
        """The lane's next events, whole where any of the projections wants them.

        Raises StoreUnavailable, and RuntimeError where the feed has a gap.
        """
        key = (lane, after, limit)
        if key not in self._kept:
            self._kept[key] = await self.store.feed.page(lane, after, limit, self._types)
        return self._kept[key]

    def forget(self) -> None:
        """Keep no page any longer."""
        self._kept.clear()


class _OfTheEvent(Exception):
    """`apply` failed, and not for the database's trouble."""

    def __init__(self, error: Exception) -> None:
        self.error: Final = error


async def advance(
    conn: Writer,
    pages: Pages,
    projection: Projection,
    build: int,
    upto: Mapping[int, int | None],
    page: int = PAGE,
) -> int:
    """Take the next page of each lane into a build, none beyond the number given for the lane;
    gives how many events.

    Lanes that another process is busy with are left out. Raises psycopg.Error, StoreUnavailable,
    RuntimeError: nothing was done then.
    """
    try:
        return await _advance(conn, pages, projection, build, upto, page, careful=False)
    except _OfTheEvent:
        return await _advance(conn, pages, projection, build, upto, page, careful=True)


async def _advance(
    conn: Writer,
    pages: Pages,
    projection: Projection,
    build: int,
    upto: Mapping[int, int | None],
    page: int,
    *,
    careful: bool,
) -> int:
    async with conn.transaction():
        cursor = await conn.execute(_SQL["lock"], [projection.name, build, list(upto)])
        locked = await cursor.fetchall()
        if not locked:
            return 0
        # After the lock and in a statement of its own: whoever had it before may have parked some.
        lanes = [lane for lane, _ in locked]
        cursor = await conn.execute(_SQL["parked_streams"], [projection.name, build, lanes])
        parked = {row[0] for row in await cursor.fetchall()}
        came: dict[int, int] = {}
        wanted: list[FeedEvent] = []
        for lane, seq in locked:
            last = upto[lane]
            limit = page if last is None else min(page, last - seq)
            events = await pages.read(lane, seq, limit) if limit > 0 else []
            if events:
                wanted += [_masked(event, projection) for event in events]
                came[lane] = events[-1].seq
        if came:
            work = _Work(conn, projection, Target(conn, pages.store, build), parked)
            await (work.carefully(wanted) if careful else work.at_once(wanted))
            values = [list(came), list(came.values()), projection.name, build]
            await conn.execute(_SQL["advance"], values)
    before: dict[int, int] = dict(locked)
    return sum([seq - before[lane] for lane, seq in came.items()])


class _Work:
    """What is done with the events of some lanes, lane after lane."""

    def __init__(
        self, conn: Writer, projection: Projection, target: Target, parked: set[str]
    ) -> None:
        self._conn: Final = conn
        self._projection: Final = projection
        self._target: Final = target
        self._parked: Final = parked

    async def at_once(self, events: Sequence[FeedEvent]) -> None:
        events = [event for event in events if event.stream not in self._parked]
        if not events:
            return
        try:
            await self._projection.apply(self._target, events)
        except Exception as error:
            if self._conn.broken or not of_the_event(error):
                raise
            raise _OfTheEvent(error) from error

    async def carefully(self, events: Sequence[FeedEvent]) -> None:
        """Halve what fails, in order, until the events at fault stand alone; park their streams."""
        try:
            async with self._conn.transaction():
                await self.at_once(events)
            return
        except _OfTheEvent as failure:
            if len(events) == 1:
                await self._park(events[0], failure.error)
                return
        half = len(events) // 2
        await self.carefully(events[:half])
        await self.carefully(events[half:])

    async def _park(self, event: FeedEvent, error: Exception) -> None:
        self._parked.add(event.stream)
        where = [self._projection.name, self._target.build, event.lane]
        what = [event.stream, event.version, event.seq, described(error)]
        await self._conn.execute(_SQL["park"], where + what)


def _union(projections: Sequence[Projection]) -> frozenset[str] | None:
    types: frozenset[str] = frozenset()
    for projection in projections:
        if projection.types is None:
            return None
        types |= projection.types
    return types


def _masked(event: FeedEvent, projection: Projection) -> FeedEvent:
    """An event that was read for other projections is none for this one."""
    if event.event is None or projection.types is None or event.type in projection.types:
        return event
    return replace(event, event=None)
