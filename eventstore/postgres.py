"""The event store: streams of typed bytes in Postgres. Knows no card, keeps nothing in memory.

Every method is one statement in a transaction of its own; what reads page by page is one a page.
What a caller reads is committed, what `append` acknowledges is durable, and all of them raise
StoreUnavailable when Postgres gives no answer within the store's deadline.
"""

from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from itertools import repeat
from time import monotonic
from typing import Any, Final, Self

import psycopg
from psycopg.rows import TupleRow

from eventstore import appending, measures, queries, spans, wire
from eventstore.feed import Feed
from eventstore.group import LOCK_SECONDS, GroupCommit
from eventstore.pool import Pool, PoolState, Row, connection_settings
from eventstore.records import (
    Answer,
    Append,
    CallerKey,
    Due,
    Head,
    KeyMismatch,
    Outcome,
    Range,
    Replayed,
    SealedPart,
    StoredEvent,
    StoreUnavailable,
)

_LAST_VERSION: Final = 2**31 - 1
_FIRST_UUID: Final = "00000000-0000-0000-0000-000000000000"
_LAST_UUID: Final = "ffffffff-ffff-ffff-ffff-ffffffffffff"
_PAGE: Final = 1000
_EVENTS_TOGETHER: Final = 2000
"""About so many events are in memory at a time while ranges of them are read."""


class EventStore:
    """Streams in one database: `async with EventStore.open(url)`, or `connect` and `close`.

    - `min_size`, `max_size`: connections kept and at most held.
    - `prepare`: False behind a transaction pooler (no prepared statements, no start-up options).
    - `deadline_seconds`: how long any method may take before it raises StoreUnavailable.
    """

    def __init__(
        self,
        url: str,
        *,
        min_size: int = 2,
        max_size: int = 8,
        prepare: bool = True,
        deadline_seconds: float = 5.0,
    ) -> None:

        async def connect() -> psycopg.AsyncConnection[TupleRow]:
            return await psycopg.AsyncConnection.connect(
                url,
                **connection_settings(
                    url, prepare=True, deadline_seconds=deadline_seconds, lock_seconds=LOCK_SECONDS
                ),
            )

        self._pool = Pool(
            url,
            min_size=min_size,
            max_size=max_size,
            prepare=prepare,
            deadline_seconds=deadline_seconds,
        )
        self._group: Final = GroupCommit(connect, deadline_seconds) if prepare else None
        self.feed: Final = Feed(self._pool)
        """All streams' events in one order, lane by lane."""

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        url: str,
        *,
        min_size: int = 2,
        max_size: int = 8,
        prepare: bool = True,
        deadline_seconds: float = 5.0,
    ) -> AsyncIterator[Self]:
        """A connected store, closed at the end of the block."""
        store = cls(
            url,
            min_size=min_size,
            max_size=max_size,
            prepare=prepare,
            deadline_seconds=deadline_seconds,
        )
        await store.connect()
        try:
            yield store
        finally:
            await store.close()

    async def connect(self) -> None:
        """Start connecting. Returns at once; a store without a server raises when it is used."""
        await self._pool.open()
        if self._group is not None:
            self._group.open()

    async def close(self) -> None:
        """Close every connection."""
        if self._group is not None:
            await self._group.close()
        await self._pool.close()

    @property
    def grouping(self) -> bool:
        """Whether appends that wait share a transaction by now (see `group`)."""
        return self._group is not None and self._group.connected

    def pool_state(self) -> PoolState:
        """How the store's connections do."""
        return self._pool.state()

    async def ping(self) -> None:
        """Return when Postgres has answered a statement."""
        await self._pool.run(queries.ping, ())

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[psycopg.AsyncConnection[TupleRow]]:
        """One of the store's connections (autocommit, `$1` parameters), for readiness checks."""
        async with self._pool.connection() as conn:
            yield conn

    async def fetch(
        self, statement: str, *parameters: Any, prepare: bool | None = None
    ) -> list[Row]:
        """The rows that a statement which only reads gives; `$1` stands for the first parameter.

        For tables that others derive from the log; StoreUnavailable while there are none (yet).
        `prepare` False plans it afresh each time.
        """
        try:
            return await self._pool.run(statement.encode(), parameters, prepare=prepare)
        except psycopg.errors.UndefinedTable as error:
            raise StoreUnavailable(str(error).strip()) from error

    async def append(self, request: Append) -> Outcome:
        """Write a batch of events or nothing, in one round trip.

        A lost connection is not an answer: the append is sent again, and if the log holds its
        command id after the version it expected, it was done. StoreUnavailable leaves open
        whether it was done; the same request, with the same `expected`, may be given again.

        A key that is known beats everything else. A stream whose head has another hash than
        `prev` stands elsewhere, so it is WrongVersion, if need be with the expected number.
        ValueError where the request contradicts itself.
        """
        appending.check(request)
        parameters = appending.parameters(request)
        if request.erase:
            parameters += appending.parts(request.erase)
        begun, word = monotonic(), "failed"
        try:
            with spans.step("append", stream=request.stream):
                row = await self._append(parameters, begun, erasing=bool(request.erase))
            word = row[0]
        except StoreUnavailable:
            word = "unavailable"
            raise
        finally:
            measures.appended(word, monotonic() - begun)
        self.feed.news.set()
        return appending.outcome(row[:6])

    async def _append(
        self, parameters: tuple[bytes | None, ...], begun: float, *, erasing: bool
    ) -> Row:
        """With others that wait if that can be, else on its own."""
        if self._group is not None and not erasing:
            row = await self._group.append(parameters, appending.locks(parameters))
            if row is not None:
                return row
        statement = queries.append_erasing if erasing else queries.append
        [row] = await self._pool.run(statement, parameters, begun=begun)
        return row

    async def head(self, stream: str) -> Head | None:
        """Where a stream stands, None where there is no such stream."""
        raw = wire.uuid(stream)
        rows = await self._pool.run(queries.head, (wire.int2(wire.lane(raw)), raw))
        return _head(rows[0]) if rows else None

    async def versions(self, streams: Iterable[str]) -> list[tuple[str, int]]:
        """Where these streams stand; one that does not exist is left out."""
        wanted = list(streams)
        lanes = wire.int2s(wire.lane(wire.uuid(stream)) for stream in wanted)
        rows = await self._pool.run(queries.versions, (lanes, wire.uuids(wanted)))
        return [(stream, version) for stream, version in rows]

    async def notify(self, channel: str, data: bytes) -> None:
        """Tell all who LISTEN on the channel: text below 8,000 bytes, and only a hint, which a
        crash may lose."""
        await self._pool.run(queries.notify, (channel.encode(), data))

    async def load(self, stream: str, after: int = 0) -> tuple[Head, list[StoredEvent]] | None:
        """A stream's head and its events after a version, of one moment; None without a stream."""
        [row] = await self._load([Range(stream, after, _LAST_VERSION)])
        return None if row[0] is None else (_head(row), _events(row))

    async def read(
        self, stream: str, after: int = 0, upto: int | None = None, limit: int | None = None
    ) -> list[StoredEvent]:
        """Events with `after` < version <= `upto`, the first `limit` of them, in version order."""
        last = _LAST_VERSION if upto is None else upto
        [row] = await self._load([Range(stream, after, last)], limit)
        return _events(row)

    async def read_each(
        self, ranges: Iterable[Range]
    ) -> AsyncIterator[tuple[Range, list[StoredEvent]]]:
        """Each range of events as `read` gives it, in their order; short ones are read together."""
        for together in _together(ranges):
            rows = await self._load(together)
            for asked, row in zip(together, rows, strict=True):
                yield asked, _events(row)

    async def answer(self, key: CallerKey) -> Replayed | KeyMismatch | None:
        """What a caller's key did before; None for a key that is new."""
        scope = wire.scope(key.scope)
        parameters = (wire.int2(wire.lane(scope)), scope, wire.half_digest(key.key))
        rows = await self._pool.run(queries.answer, parameters)
        if not rows:
            return None
        [(fingerprint, stream, first, last, response)] = rows
        if fingerprint != wire.half_digest(key.fingerprint):
            return KeyMismatch()
        return Replayed(
            Answer(stream=stream, first_version=first, last_version=last, response=response)
        )

    async def answers(self, stream: str) -> list[Answer]:
        """What callers' keys did to the stream, or with the stream as their scope (a dispute about
        a game is a stream of its own), in the order of versions."""
        raw = wire.uuid(stream)
        rows = await self._pool.run(queries.answers, (wire.int2(wire.lane(raw)), raw))
        return [Answer(*row) for row in rows]

    async def find(
        self,
        tenant: str,
        tags: tuple[str, ...] = (),
        before: str | None = None,
        limit: int = 50,
        categories: Iterable[str] | None = None,
    ) -> list[Head]:
        """A tenant's streams that bear all the tags and are of one of the categories (None: any),
        largest id first, below the id `before`."""
        parameters = (
            tenant.encode(),
            wire.texts(tags),
            wire.uuid(_LAST_UUID if before is None else before),
            wire.int8(limit),
            None if categories is None else wire.texts(categories),
        )
        # Planned afresh each time: whether a tag is rare or common makes for another plan.
        rows = await self._pool.run(queries.find, parameters, prepare=False)
        return [_head(row) for row in rows]

    async def due(self, now: int, limit: int) -> list[Due]:
        """Streams whose `wake_at` has come by `now` (microseconds), longest waiting first."""
        rows = await self._pool.run(queries.due, (wire.int8(now), wire.int8(limit)))
        return [Due(*row) for row in rows]

    async def wake(self, stream: str, version: int, wake_at: int | None) -> bool:
        """Set `wake_at` of a stream that stands at the version; whether it still did."""
        raw = wire.uuid(stream)
        parameters = (wire.int2(wire.lane(raw)), raw, wire.int4(version), wire.int8(wake_at))
        [(done,)] = await self._pool.run(queries.wake, parameters)
        return bool(done)

    async def erase(self, stream: str, parts: Iterable[tuple[int, int]]) -> int:
        """Drop salt and body of the sealed parts `(version, part)`; parts count from 0.

        Gives the number of parts erased now; a part that is gone already, or never was, counts
        nothing. The digests stay, and the chain with them.
        """
        raw = wire.uuid(stream)
        parameters = (wire.int2(wire.lane(raw)), raw, *appending.parts(parts))
        [(erased,)] = await self._pool.run(queries.erase, parameters)
        return int(erased)

    async def count(self) -> int:
        """How many streams there are."""
        [(count,)] = await self._pool.run(queries.count, ())
        return int(count)

    async def streams(self) -> AsyncIterator[str]:
        """Every stream's id, read page by page; one that begins meanwhile may be left out."""
        lane, stream = -1, _FIRST_UUID
        while True:
            parameters = (wire.int2(lane), wire.uuid(stream), wire.int8(_PAGE))
            rows = await self._pool.run(queries.streams, parameters)
            for _, found in rows:
                yield found
            if len(rows) < _PAGE:
                return
            lane, stream = rows[-1]

    async def headless(self) -> list[str]:
        """Streams that have events but no head: none, unless somebody has tampered with them."""
        return [row[0] for row in await self._pool.run(queries.headless, ())]

    async def _load(self, ranges: Sequence[Range], limit: int | None = None) -> list[Row]:
        """A row for each range; without a stream there is nothing in it."""
        streams = [wire.uuid(asked.stream) for asked in ranges]
        parameters = (
            wire.int2s(map(wire.lane, streams)),
            wire.raw_uuids(streams),
            wire.int4s([asked.after for asked in ranges]),
            wire.int4s([asked.upto for asked in ranges]),
            wire.int8(limit),
        )
        with spans.step("load", stream=ranges[0].stream):
            return await self._pool.run(queries.load, parameters)


def _together(ranges: Iterable[Range]) -> Iterator[list[Range]]:
    """Ranges in their order, as many at a time as hold _EVENTS_TOGETHER at most, at least one."""
    together: list[Range] = []
    events = 0
    for asked in ranges:
        events += asked.upto - asked.after
        if together and events > _EVENTS_TOGETHER:
            yield together
            together, events = [], asked.upto - asked.after
        together.append(asked)
    if together:
        yield together


def _head(row: Row) -> Head:
    stream, tenant, category, version, head_hash, tags, wake_at, secret, created_at = row[:9]
    return Head(
        stream, tenant, category, version, head_hash, tuple(tags), wake_at, secret, created_at
    )


def _events(row: Row) -> list[StoredEvent]:
    """The events of a row of `load`, whose columns are arrays in version order."""
    versions, *columns = row[9:18]
    if versions is None:
        return []
    sealed = _sealed(row[18:])
    if not sealed:
        return list(map(StoredEvent, versions, *columns))
    parts: Iterable[Any] = map(sealed.get, versions, repeat(()))
    return list(map(StoredEvent, versions, *columns, parts))


def _sealed(columns: Row) -> dict[int, tuple[SealedPart, ...]]:
    versions, *parts = columns
    if versions is None:
        return {}
    found: dict[int, tuple[SealedPart, ...]] = {}
    for version, part in zip(versions, map(SealedPart, *parts), strict=True):
        found[version] = (*found.get(version, ()), part)
    return found
