"""The feed: the committed events of each lane under dense numbers, in an order that keeps each
stream's own. Why nothing is lost or doubled stands in ARCHITECTURE.md, *The feed*.

A follower keeps the number of the last event that it has dealt with, for each lane, in the same
transaction as what it made of it, and reads on from there.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec

from eventstore import queries, wire
from eventstore.pool import Pool
from eventstore.records import SealedPart, StoredEvent


class FeedEvent(msgspec.Struct, frozen=True, gc=False):
    """One event of a lane's feed, of a stream of some tenant."""

    lane: int
    seq: int
    stream: str
    version: int
    tenant: str
    category: str
    type: str
    event: StoredEvent | None
    """None where the reader did not want this type."""


class Tip(msgspec.Struct, frozen=True):
    """How far a lane is numbered: the last number, and committed events that have none yet."""

    lane: int
    seq: int
    unstamped: int


class Feed:
    """The feed of one store."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self.news: Final = asyncio.Event()
        """Set by every append of this store and by whoever waits for its events to be taken in: a
        hint for one follower in the same process, who clears it."""

    async def sequence(self, limit: int = 1000, *, wait: bool = False) -> int | None:
        """Number committed events, up to `limit` new ones a lane; gives how many.

        While another does it: None at once, or with `wait` after it is done. Raises
        StoreUnavailable.
        """
        parameters = (wire.int4(limit), b"\1" if wait else b"\0")
        [(stamped,)] = await self._pool.run(queries.sequence, parameters)
        return None if stamped is None else int(stamped)

    async def page(
        self, lane: int, after: int, limit: int, types: Iterable[str] | None = None
    ) -> list[FeedEvent]:
        """The lane's next events after a number: `pages` of one lane."""
        return (await self.pages({lane: after}, limit, types))[lane]

    async def pages(
        self, after: Mapping[int, int], limit: int, types: Iterable[str] | None = None
    ) -> dict[int, list[FeedEvent]]:
        """Each lane's next events after a number, `limit` of them at most, whole where they are of
        the types (None: all).

        Raises StoreUnavailable; RuntimeError where a number is missing, which only tampering with
        the tables can bring about.
        """
        found: dict[int, list[FeedEvent]] = {lane: [] for lane in after}
        wanted = None if types is None else wire.texts(types)
        parameters = (wire.int2s(after), wire.int8s(after.values()), wire.int8(limit), wanted)
        for lane, *row in await self._pool.run(queries.feed, parameters):
            found[lane].append(_feed_event(lane, row))
        for lane, events in found.items():
            if events and events[-1].seq != after[lane] + len(events):
                raise RuntimeError(f"lane {lane} of the feed has a gap after {after[lane]}")
        return found

    async def tips(self) -> list[Tip]:
        """Where every lane stands, counted from the tables."""
        return [Tip(*map(int, row)) for row in await self._pool.run(queries.tips, ())]

    async def place(self, stream: str, version: int) -> tuple[int, int] | None:
        """The lane and number of an event; None where it has none (yet)."""
        raw = wire.uuid(stream)
        lane = wire.lane(raw)
        rows = await self._pool.run(queries.place, (wire.int2(lane), raw, wire.int4(version)))
        return (lane, int(rows[0][0])) if rows else None

    async def entries(self, stream: str) -> list[tuple[int, int | None, bool]]:
        """Of each event of a stream: its version, its number (None: it has none), and whether it
        may be without one still."""
        raw = wire.uuid(stream)
        rows = await self._pool.run(queries.entries, (wire.int2(wire.lane(raw)), raw))
        return [(version, seq, early) for version, seq, early in rows]

    async def strays(self) -> list[tuple[int, int]]:
        """Lane and number of entries that belong to no event, or do not count on from the one
        before: none, unless somebody has tampered with them."""
        return [(lane, seq) for lane, seq in await self._pool.run(queries.strays, ())]


def _feed_event(lane: int, row: Sequence[Any]) -> FeedEvent:
    seq, stream, version, tenant, category, kind, schema, at, actor, command, data, prev, digest = (
        row[:13]
    )
    if digest is None:
        return FeedEvent(lane, seq, stream, version, tenant, category, kind, None)
    audiences, digests, salts, bodies = row[13:]
    sealed = map(SealedPart, audiences or (), digests or (), salts or (), bodies or ())
    event = StoredEvent(
        version, kind, schema, at, actor, command, data, prev, digest, tuple(sealed)
    )
    return FeedEvent(lane, seq, stream, version, tenant, category, kind, event)
