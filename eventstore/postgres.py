"""The event store: streams of typed bytes in Postgres. Knows no card, keeps nothing in memory.

Every method is one statement in a transaction of its own. What a caller reads is committed, what
`append` acknowledges is durable, and all of them raise StoreUnavailable when Postgres gives no
answer within the store's deadline.
"""

from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from itertools import repeat
from time import monotonic
from typing import Any, Final, Self

import psycopg
from msgspec.structs import astuple
from psycopg.rows import TupleRow

from eventstore import measures, queries, spans, wire
from eventstore.feed import Feed
from eventstore.group import LOCK_SECONDS, GroupCommit
from eventstore.pool import Pool, PoolState, Row, connection_settings
from eventstore.records import (
    Answer,
    Append,
    Appended,
    CallerKey,
    Due,
    Head,
    KeyMismatch,
    Outcome,
    Replayed,
    SealedPart,
    StoredEvent,
    StoreUnavailable,
    WrongVersion,
)

_LAST_VERSION: Final = 2**31 - 1
_FIRST_UUID: Final = "00000000-0000-0000-0000-000000000000"
_LAST_UUID: Final = "ffffffff-ffff-ffff-ffff-ffffffffffff"
_PAGE: Final = 1000


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
        _check(request)
        parameters = _append_parameters(request)
        if request.erase:
            parameters += _parts(request.erase)
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
        return _outcome(row[:6])

    async def _append(
        self, parameters: tuple[bytes | None, ...], begun: float, *, erasing: bool
    ) -> Row:
        """With others that wait if that can be, else on its own."""
        if self._group is not None and not erasing:
            row = await self._group.append(parameters, _locks(parameters))
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
        row = await self._load(stream, after, _LAST_VERSION, None)
        return None if row is None else (_head(row), _events(row))

    async def read(
        self, stream: str, after: int = 0, upto: int | None = None, limit: int | None = None
    ) -> list[StoredEvent]:
        """Events with `after` < version <= `upto`, the first `limit` of them, in version order."""
        row = await self._load(stream, after, _LAST_VERSION if upto is None else upto, limit)
        return [] if row is None else _events(row)

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
        parameters = (wire.int2(wire.lane(raw)), raw, *_parts(parts))
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

    async def _load(self, stream: str, after: int, upto: int, limit: int | None) -> Row | None:
        raw = wire.uuid(stream)
        parameters = (
            wire.int2(wire.lane(raw)),
            raw,
            wire.int4(after),
            wire.int4(upto),
            wire.int8(limit),
        )
        with spans.step("load", stream=stream):
            rows = await self._pool.run(queries.load, parameters)
        return rows[0] if rows else None


def _check(request: Append) -> None:
    answer, last = request.answer, request.expected + len(request.events)
    if not request.events:
        raise ValueError("an append holds at least one event")
    if answer.stream != request.stream:
        raise ValueError("an append's answer is about the append's own stream")
    if not request.expected < answer.first_version <= answer.last_version <= last:
        raise ValueError("an append's answer is about the append's own events")


def _append_parameters(request: Append) -> tuple[bytes | None, ...]:
    """The parameters of `fairdeal.append`, in its order."""
    stream = wire.uuid(request.stream)
    lane = wire.int2(wire.lane(stream))
    answer, key = request.answer, request.key
    scope = stream if key is None else wire.scope(key.scope)
    types, schemas, ats, actors, commands, datas, hashes, sealed = zip(
        *map(astuple, request.events), strict=True
    )
    return (
        lane,
        stream,
        wire.int4(request.expected),
        request.prev,
        wire.uuid(request.command),
        request.tenant.encode(),
        request.category.encode(),
        request.secret,
        None if request.tags is None else wire.texts(request.tags),
        wire.int8(request.wake_at),
        wire.texts(types),
        wire.int2s(schemas),
        wire.int8s(ats),
        wire.int2s(actors),
        wire.uuids(commands),
        wire.byteas(datas),
        wire.byteas(hashes),
        *_sealed_parameters(request.expected + 1, sealed),
        lane if scope == stream else wire.int2(wire.lane(scope)),
        scope,
        None if key is None else wire.half_digest(key.key),
        None if key is None else wire.half_digest(key.fingerprint),
        wire.int4(answer.first_version),
        wire.int4(answer.last_version),
        None if key is None else answer.response,
    )


def _locks(parameters: tuple[bytes | None, ...]) -> tuple[bytes, ...]:
    """The ids that `fairdeal.append` locks: the stream and the scope of the key."""
    return tuple([value for value in (parameters[1], parameters[24]) if value is not None])


def _parts(parts: Iterable[tuple[int, int]]) -> tuple[bytes, bytes]:
    """Versions and part numbers, as `fairdeal.erase` takes them."""
    wanted = sorted(set(parts))
    return wire.int4s(v for v, _ in wanted), wire.int2s(part for _, part in wanted)


def _sealed_parameters(
    first: int, sealed: Sequence[tuple[SealedPart, ...]]
) -> tuple[bytes | None, ...]:
    """Of the sealed parts of events that follow one another from version `first` on."""
    found = [
        (version, place, *astuple(part))
        for version, parts in enumerate(sealed, first)
        for place, part in enumerate(parts)
    ]
    if not found:
        return (None,) * 6
    versions, places, audiences, digests, salts, bodies = zip(*found, strict=True)
    return (
        wire.int4s(versions),
        wire.int2s(places),
        wire.texts(audiences),
        wire.byteas(digests),
        wire.byteas(salts),
        wire.byteas(bodies),
    )


def _outcome(row: Row) -> Outcome:
    word, version, stream, first, last, response = row
    match word:
        case "appended":
            return Appended(version)
        case "replayed":
            return Replayed(
                Answer(stream=stream, first_version=first, last_version=last, response=response)
            )
        case "mismatch":
            return KeyMismatch()
        case "wrong-version":
            return WrongVersion(version)
        case _:
            raise ValueError(f"fairdeal.append answered {word!r}")


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
