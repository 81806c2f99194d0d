"""What keeps projections up with the log: any number of runners, in any number of processes.

A round numbers what was committed, then takes a page of whatever is behind into each build. Which
runner does it does not matter: a build's checkpoints let one of them through.
"""

import asyncio
import logging
import random
from collections.abc import Iterable, Sequence
from contextlib import AsyncExitStack, suppress
from time import monotonic
from typing import Any, Final, NamedTuple

import psycopg
from prometheus_client import Counter

from eventstore import measures, spans
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
_TOLD_POLL_SECONDS: Final = 0.25
"""How often a runner looks that is told of appends, for what others than it is told of appended."""
_BUSY_POLL_SECONDS: Final = 0.015
"""How often a runner looks that has found something within the last second."""
_GATHER_SECONDS: Final = 0.002
"""How long after the first of several appends a round begins, so that it serves them all."""
_ROUND_SECONDS: Final = 0.04
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


def foresee(names: Iterable[str]) -> None:
    """Let there be counts of these projections before there is anything to count."""
    for counter in (_applied, _errors):
        measures.known(counter, names)


async def run(
    url: str,
    projections: Iterable[Projection],
    *,
    prepare: bool = True,
    news: asyncio.Event | None = None,
) -> None:
    """Keep these projections up with the log of a database, for ever.

    Uses three connections at most. Trouble is logged and waited out, whatever it is. `news` is
    set by who appends (`feed.news` of a store in this process), which is then taken in at once;
    other appends are noticed within a quarter of a second, without `news` within about 50 ms.
    `prepare` as in EventStore.
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


class _Place(NamedTuple):
    """Where a build stands in a lane, and how far the lane is numbered."""

    name: str
    build: int
    lane: int
    seq: int
    tip: int

    @property
    def behind(self) -> int:
        return self.tip - self.seq


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
        self._poll_seconds: Final = _POLL_SECONDS if news is None else _TOLD_POLL_SECONDS
        self._projections: Final = {projection.name: projection for projection in projections}
        names, versions = list(self._projections), [p.version for p in projections]
        self._mine: Final = [names, versions]
        self._versions: Final = frozenset(zip(names, versions, strict=True))
        foresee(names)
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
                came, more = await self._round(conn, pages)
                if came:
                    busy = monotonic()
                if not (came and more):
                    lately = monotonic() - busy < 1
                    await self._rest(_BUSY_POLL_SECONDS if lately else self._poll_seconds, begun)

    async def _rest(self, seconds: float, begun: float) -> None:
        """Wait for news, `seconds` at most, and where it has come for some more of it."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._news.wait()
        await asyncio.sleep(max(_GATHER_SECONDS, begun + _ROUND_SECONDS - monotonic()))

    async def _round(self, conn: Writer, pages: Pages) -> tuple[int, bool]:
        """How many events were taken in, of all builds, and whether more of them wait already."""
        await pages.store.feed.sequence(_STAMPED_AT_ONCE)
        cursor = await conn.execute(_SQL["behind"])
        places = [
            _Place(name, *place)
            for name, version, *place in await cursor.fetchall()
            if (name, version) in self._versions and not self._waits(name, place[0])
        ]
        chosen = _some(places)
        more = any(place.behind > PAGE or place.lane not in chosen for place in places)
        places = [place for place in places if place.lane in chosen]
        pages.forget()
        await pages.gather(chosen)
        idle: list[tuple[_Place, int]] = []
        busy: dict[tuple[str, int], list[int]] = {}
        for place in places:
            events = await pages.read(place.lane, place.seq, PAGE)
            wants = self._projections[place.name].wants
            # One that has failed is tried again by the way on which its success is noticed.
            failed = (place.name, place.build) in self._waiting
            if failed or any(wants(event) for event in events):
                busy.setdefault((place.name, place.build), []).append(place.lane)
            elif events:
                idle.append((place, events[-1].seq))
        came = await self._pass(conn, idle)
        # In no fixed order, so that several runners do not queue for the same build.
        for name, build in random.sample(list(busy), len(busy)):
            came += await self._step(conn, pages, name, build, busy[name, build])
        return came, more

    async def _pass(self, conn: Writer, idle: Sequence[tuple["_Place", int]]) -> int:
        """Move the checkpoints of all builds past pages that hold nothing for them, in one
        statement; most pages are such for most builds."""
        if not idle:
            return 0
        seen = [place for place, _ in idle]
        values: list[list[Any]] = [
            [place.name for place in seen],
            [place.build for place in seen],
            [place.lane for place in seen],
            [place.seq for place in seen],
            [seq for _, seq in idle],
        ]
        await conn.execute(_SQL["pass"], values)
        for place, seq in idle:
            _applied.labels(place.name).inc(seq - place.seq)
        return sum([seq - place.seq for place, seq in idle])

    async def _step(
        self, conn: Writer, pages: Pages, name: str, build: int, lanes: Sequence[int]
    ) -> int:
        try:
            upto = dict.fromkeys(lanes)
            with spans.step("project", projection=name):
                came = await advance(conn, pages, self._projections[name], build, upto)
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
            if self._waits(name, None):
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

    def _waits(self, name: str, build: int | None) -> bool:
        waiting = self._waiting.get((name, build))
        return waiting is not None and not waiting.over

    def _failed(self, conn: Writer, name: str, build: int | None, error: Exception) -> None:
        """Leave it alone for a while, and go on with the others unless the connection is gone."""
        _errors.labels(name).inc()
        if conn.closed:
            raise error
        self._waiting.setdefault((name, build), _Waiting()).failed()
        _logger.warning("projection %s waits: %s", name, described(error))


def _some(places: Sequence[_Place]) -> dict[int, int]:
    """Lanes for one round, each with a number to read on from: all in which a build is behind, or
    as many as have a lot of events."""
    after: dict[int, int] = {}
    behind: dict[int, int] = {}
    for place in places:
        after[place.lane] = min(place.seq, after.get(place.lane, place.seq))
        behind[place.lane] = max(place.behind, behind.get(place.lane, 0))
    chosen: dict[int, int] = {}
    events = 0
    for lane in random.sample(list(after), len(after)):
        chosen[lane] = after[lane]
        events += min(behind[lane], PAGE)
        if events >= _EVENTS_AT_ONCE:
            break
    return chosen


def _pause(failures: int) -> float:
    """Seconds to wait after so many failures in a row: longer each time, and never in step."""
    return random.uniform(0, min(0.05 * 2.0 ** min(failures, 10), _LONGEST_PAUSE_SECONDS))
