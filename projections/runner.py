"""What keeps projections up with the log: any number of runners, in any number of processes.

A round numbers what was committed, then takes a page of whatever is behind into each build. Which
runner does it does not matter: a build's checkpoints let one of them through.
"""

import asyncio
import logging
import random
from collections.abc import Iterable
from contextlib import AsyncExitStack, suppress
from time import monotonic
from typing import Final

import psycopg
from prometheus_client import Counter

from eventstore import spans
from eventstore.postgres import EventStore
from eventstore.records import StoreUnavailable
from projections.builds import Build, builds, discard, provide, sweep, wanting
from projections.pages import PAGE, Pages, advance
from projections.projection import Projection
from projections.promotion import promote
from projections.statements import statements
from projections.writing import Writer, connect, described

_SQL: Final = statements("running")
_POLL_SECONDS: Final = 0.05
_BUSY_POLL_SECONDS: Final = 0.015
"""How often a runner looks that has found something within the last second."""
_GATHER_SECONDS: Final = 0.002
"""How long after the first of several appends a round begins, so that it serves them all."""
_ROUND_SECONDS: Final = 0.01
"""From the begin of a round to that of the next where there is no backlog: each has its price,
which the requests of the same process would pay."""
_TEND_SECONDS: Final = 1.0
_STAMPED_AT_ONCE: Final = 1000
_EVENTS_AT_ONCE: Final = 2000
"""About so many events go into a transaction."""
_LONGEST_PAUSE_SECONDS: Final = 5.0

_logger = logging.getLogger("fairdeal.projections")
_applied = Counter(
    "fairdeal_projection_applied", "Events taken into projections by this process", ["projection"]
)
_errors = Counter(
    "fairdeal_projection_errors",
    "Steps of projections that failed and are repeated",
    ["projection"],
)


async def run(
    url: str,
    projections: Iterable[Projection],
    *,
    prepare: bool = True,
    news: asyncio.Event | None = None,
) -> None:
    """Keep these projections up with the log of a database, for ever.

    Uses three connections at most. Trouble is logged and waited out, whatever it is. `news` is
    `feed.news` of a store in this process, whose appends are then taken in at once; otherwise they
    are noticed within about 50 ms. `prepare` as in EventStore.
    """
    runner = Runner(url, tuple(projections), prepare=prepare, news=news)
    failures = 0
    while True:
        begun = monotonic()
        try:
            await runner.until_trouble()
        except (psycopg.Error, StoreUnavailable, OSError) as error:
            _logger.warning("projections wait for the database: %s", described(error))
        except Exception as error:
            _logger.error("projections cannot go on: %s", described(error))
        failures = 0 if monotonic() - begun > _LONGEST_PAUSE_SECONDS else failures + 1
        await asyncio.sleep(_pause(failures))


class _Waiting:
    """A build that failed, or keeps failing: until when it is left alone."""

    def __init__(self) -> None:
        self._failures = 0
        self._until = 0.0

    def failed(self) -> None:
        self._failures += 1
        self._until = monotonic() + _pause(self._failures)

    @property
    def over(self) -> bool:
        return monotonic() >= self._until


class Runner:
    """One process's runner."""

    def __init__(
        self,
        url: str,
        projections: tuple[Projection, ...],
        *,
        prepare: bool,
        news: asyncio.Event | None,
    ) -> None:
        self._url: Final = url
        self._prepare: Final = prepare
        self._news: Final = asyncio.Event() if news is None else news
        self._projections: Final = {projection.name: projection for projection in projections}
        names, versions = list(self._projections), [p.version for p in projections]
        self._mine: Final = [names, versions]
        self._waiting: Final[dict[tuple[str, int | None], _Waiting]] = {}

    async def until_trouble(self) -> None:
        """Rounds on connections of its own until the database gives trouble, which is raised."""
        async with AsyncExitStack() as stack:
            conn = await stack.enter_async_context(await connect(self._url, prepare=self._prepare))
            store = await stack.enter_async_context(
                EventStore.open(self._url, min_size=1, max_size=2, prepare=self._prepare)
            )
            pages = Pages(store, list(self._projections.values()))
            tended = busy = -_TEND_SECONDS
            swept = False
            while True:
                if monotonic() - tended >= _TEND_SECONDS:
                    tended = monotonic()
                    await self._tend(conn, pages)
                    if not swept:
                        await sweep(conn)
                        swept = True
                self._news.clear()
                begun = monotonic()
                came = await self._round(conn, pages)
                if came:
                    busy = monotonic()
                if came < _EVENTS_AT_ONCE:
                    lately = monotonic() - busy < 1
                    await self._rest(_BUSY_POLL_SECONDS if lately else _POLL_SECONDS, begun)

    async def _rest(self, seconds: float, begun: float) -> None:
        """Wait for news, `seconds` at most, and where it has come for some more of it."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._news.wait()
        await asyncio.sleep(max(_GATHER_SECONDS, begun + _ROUND_SECONDS - monotonic()))

    async def _round(self, conn: Writer, pages: Pages) -> int:
        """How many events were taken in, of all builds."""
        await pages.store.feed.sequence(_STAMPED_AT_ONCE)
        cursor = await conn.execute(_SQL["behind"], self._mine)
        behind: dict[tuple[str, int], dict[int, int]] = {}
        for name, build, lane, events in await cursor.fetchall():
            behind.setdefault((name, build), {})[lane] = events
        pages.forget()
        # In no fixed order, so that several runners do not queue for the same build.
        came = 0
        for name, build in random.sample(list(behind), len(behind)):
            came += await self._step(conn, pages, name, build, behind[name, build])
        return came

    async def _step(
        self, conn: Writer, pages: Pages, name: str, build: int, lanes: dict[int, int]
    ) -> int:
        waiting = self._waiting.get((name, build))
        if waiting is not None and not waiting.over:
            return 0
        try:
            chosen = _some(lanes)
            with spans.step("project", projection=name):
                came = await advance(conn, pages, self._projections[name], build, chosen)
        except Exception as error:
            self._failed(conn, name, build, error)
            return 0
        self._waiting.pop((name, build), None)
        _applied.labels(name).inc(came)
        return came

    async def _tend(self, conn: Writer, pages: Pages) -> None:
        """Give a sign of life; begin the builds that this code wants, and switch to those that
        have come as far as the ones before them."""
        await conn.execute(_SQL["beat"], self._mine)
        found = await builds(conn, self._projections)
        for name, projection in self._projections.items():
            waiting = self._waiting.get((name, None))
            if waiting is not None and not waiting.over:
                continue
            own = {build.state: build for build in found if build.name == name}
            try:
                if wanting(projection, found) is not None:
                    await provide(conn, projection)
                elif "building" in own and own["live"].version < own["building"].version:
                    await self._promote(conn, pages, projection, own["building"])
                elif "building" in own and own["live"].version == own["building"].version:
                    await discard(conn, name)
            except Exception as error:
                self._failed(conn, name, None, error)
            else:
                self._waiting.pop((name, None), None)

    async def _promote(
        self, conn: Writer, pages: Pages, projection: Projection, new: Build
    ) -> None:
        cursor = await conn.execute(_SQL["remaining"], [new.name, new.build])
        left = sum([events for _, events in await cursor.fetchall()])
        if left <= _EVENTS_AT_ONCE and await promote(conn, pages, projection):
            _logger.warning(
                "projection %s: version %s is live", projection.name, projection.version
            )
            await sweep(conn)

    def _failed(self, conn: Writer, name: str, build: int | None, error: Exception) -> None:
        """Leave it alone for a while, and go on with the others unless the connection is gone."""
        _errors.labels(name).inc()
        if conn.closed:
            raise error
        self._waiting.setdefault((name, build), _Waiting()).failed()
        _logger.warning("projection %s waits: %s", name, described(error))


def _some(lanes: dict[int, int]) -> dict[int, int | None]:
    """Lanes for one transaction: all that are behind, or as many as make it a large one."""
    chosen: dict[int, int | None] = {}
    events = 0
    for lane in random.sample(list(lanes), len(lanes)):
        chosen[lane] = None
        events += min(lanes[lane], PAGE)
        if events >= _EVENTS_AT_ONCE:
            break
    return chosen


def _pause(failures: int) -> float:
    """Seconds to wait after so many failures in a row: longer each time, and never in step."""
    return random.uniform(0, min(0.05 * 2.0 ** min(failures, 10), _LONGEST_PAUSE_SECONDS))
