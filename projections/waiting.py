"""Waiting for projections to take in what is committed. Reads only; every wait has an end.

One cheap statement a look, a pause between looks. This process's own runner, if it has one, is told
at once. What is read afterwards may be newer than what was waited for.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import suppress
from time import monotonic
from typing import Final

from eventstore import wire
from eventstore.postgres import EventStore
from projections.statements import statements

_SQL: Final = statements("waiting")
_FIRST_LOOK_SECONDS: Final = 0.005
"""About as long as a runner of this process needs for a few events."""
_LOOK_SECONDS: Final = 0.015
_STAMPED_AT_ONCE: Final = 1000
BEATING_SECONDS: Final = 5.0
"""A build that nobody has run for so long is not waited for."""


async def position(store: EventStore, names: Iterable[str]) -> int:
    """How many events of the feed have gone into the live builds of all of these projections: the
    `as_of` of what is read from them. 0 where one of them has none. Raises StoreUnavailable."""
    [(found,)] = await store.fetch(_SQL["position"], _distinct(names))
    return int(found)


async def settled(store: EventStore, names: Iterable[str], seconds: float) -> None:
    """Return when all that was committed before the call has gone into the live builds of these
    projections, or the time is over.

    A build that nobody runs, such as an older version's while the new one is being built, is not
    waited for. Raises StoreUnavailable.
    """
    end = monotonic() + seconds
    wanted = _distinct(names)
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            while (await store.feed.sequence(_STAMPED_AT_ONCE, wait=True) or 0) >= _STAMPED_AT_ONCE:
                pass
            lanes = await store.fetch(_SQL["lanes"], wanted, BEATING_SECONDS)
            tips = {lane: tip for lane, tip, _ in lanes}
            async for _ in _looks(store, end):
                if all(seq >= tips.get(lane, 0) for lane, _, seq in lanes):
                    return
                lanes = await store.fetch(_SQL["lanes"], wanted, BEATING_SECONDS)


async def reached(store: EventStore, name: str, stream: str, version: int, seconds: float) -> bool:
    """Whether the live build of a projection has taken in that event of the stream, within the
    time. Where it has not, and nobody runs it or the stream is parked before, the answer is no at
    once; so it is without a live build. Raises StoreUnavailable."""
    end = monotonic() + seconds
    lane = wire.lane(wire.uuid(stream))
    place: tuple[int, int] | None = None
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            async for _ in _looks(store, end):
                if place is None:
                    place = await store.feed.place(stream, version)
                rows = await store.fetch(_SQL["stream"], name, lane, stream, BEATING_SECONDS)
                if not rows:
                    return False
                [(seq, parked, running)] = rows
                if parked is not None and parked <= version:
                    return False
                if place is not None and seq >= place[1]:
                    return True
                if not running:
                    return False
    return False


async def past(store: EventStore, names: Iterable[str], position_: int, seconds: float) -> bool:
    """Whether the `position` of these projections has come to a number, within the time.
    Raises StoreUnavailable."""
    end = monotonic() + seconds
    wanted = _distinct(names)
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            async for _ in _looks(store, end):
                if await position(store, wanted) >= position_:
                    return True
    return False


async def _looks(store: EventStore, end: float) -> AsyncIterator[None]:
    """At once, and after a word to the runner at every pause until the end."""
    yield
    store.feed.news.set()
    pause = _FIRST_LOOK_SECONDS
    while monotonic() < end:
        await asyncio.sleep(pause)
        yield
        pause = _LOOK_SECONDS


def _distinct(names: Iterable[str]) -> list[str]:
    return sorted(set(names))
