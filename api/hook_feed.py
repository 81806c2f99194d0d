"""From the feed to deliveries: each event once for each webhook that wants it, and turn notices.

Any number of processes follow; the checkpoint of a lane, kept in the transaction that makes its
deliveries, lets one of them through. Sends nothing (see `hook_sender`).
"""

import asyncio
import logging
from collections.abc import Sequence
from itertools import groupby
from typing import Any, Final
from uuid import UUID

import msgspec
import psycopg

from api.games import Games
from api.settings import Settings
from domain.log import fold
from domain.registry import GAMES
from domain.seats import Seat
from domain.table.decide import to_act
from domain.table.state import Table
from eventstore.feed import FeedEvent
from eventstore.postgres import EventStore
from eventstore.records import StoreUnavailable
from projections.statements import statements
from projections.writing import Writer, connect, described

_SQL: Final = statements("hook_feed", "api")
_PAGE: Final = 500
_STAMPED_AT_ONCE: Final = 1000
_POLL_SECONDS: Final = 0.1
_IDLE_SECONDS: Final = 1.0
"""How often one looks while nobody wants to be told anything."""
_TROUBLE_SECONDS: Final = 1.0
_SEATS: Final = 10
"""The most that any game has."""

_logger = logging.getLogger("fairdeal.webhooks")


async def run(settings: Settings, store: EventStore, games: Games, news: asyncio.Event) -> None:
    """Follow the feed, for ever, on one connection of its own beside the store's.

    `news` is set whenever there is something to send. Trouble is logged and waited out.
    """
    while True:
        try:
            async with await connect(
                settings.database_url,
                prepare=settings.database_prepare,
                name="fairdeal-webhooks",
            ) as conn:
                await _follow(conn, store, games, news)
        except (psycopg.Error, StoreUnavailable, OSError) as error:
            _logger.warning("webhooks wait for the database: %s", described(error))
        except Exception as error:
            _logger.error("webhooks cannot go on: %s", described(error))
        await asyncio.sleep(_TROUBLE_SECONDS)


async def _follow(conn: Writer, store: EventStore, games: Games, news: asyncio.Event) -> None:
    while True:
        cursor = await conn.execute(_SQL["wanted"])
        [(wanted,)] = await cursor.fetchall()
        if not wanted:
            await asyncio.sleep(_IDLE_SECONDS)
            continue
        await store.feed.sequence(_STAMPED_AT_ONCE)
        cursor = await conn.execute(_SQL["behind"])
        lanes = [lane for (lane,) in await cursor.fetchall()]
        read = [await follow_lane(conn, store, games, lane, news) for lane in lanes]
        if not any(read):
            await asyncio.sleep(_POLL_SECONDS)


class _Subscriber(msgspec.Struct, frozen=True):
    id: UUID
    tenant: str
    kinds: list[str]
    games: list[str] | None
    since: int

    def wants(self, kind: str, event: FeedEvent) -> bool:
        return (
            kind in self.kinds
            and event.tenant == self.tenant
            and event.seq > self.since
            and (self.games is None or event.category in self.games)
        )


class _Due(msgspec.Struct, frozen=True):
    """A delivery to be made; `to_act` are the seats of a turn notice."""

    webhook: UUID
    game: str
    version: int
    kind: str
    to_act: tuple[Seat, ...] | None = None


async def follow_lane(
    conn: Writer, store: EventStore, games: Games, lane: int, news: asyncio.Event
) -> bool:
    """Make the deliveries of a lane's next page; whether there was one. Nothing is done where
    another process is at the lane. Raises psycopg.Error, StoreUnavailable, RuntimeError."""
    async with conn.transaction():
        cursor = await conn.execute(_SQL["lock"], [lane])
        locked = await cursor.fetchall()
        if not locked:
            return False
        page = await store.feed.page(lane, locked[0][0], _PAGE, ())
        if not page:
            return False
        # After the page, so that a webhook is known that was made before any event of it.
        events = [event for event in page if event.category in GAMES]
        tenants = sorted({event.tenant for event in events})
        cursor = await conn.execute(_SQL["subscribers"], [lane, tenants])
        subscribers = [_Subscriber(*row) for row in await cursor.fetchall()]
        due = [
            _Due(subscriber.id, event.stream, event.version, "event")
            for event in events
            for subscriber in subscribers
            if subscriber.wants("event", event)
        ]
        due += await _turns(conn, store, games, events, subscribers)
        if due:
            await _make(conn, due)
        await conn.execute(_SQL["advance"], [page[-1].seq, lane])
    if due:
        news.set()
    return True


async def _turns(
    conn: Writer,
    store: EventStore,
    games: Games,
    events: Sequence[FeedEvent],
    subscribers: Sequence[_Subscriber],
) -> list[_Due]:
    """Notices for the games of a page that have come to wait for a person they did not wait for
    before. A game that has gone on beyond the page is left for the page with its newest event."""
    versions: dict[str, list[int]] = {}
    wanting: dict[str, list[UUID]] = {}
    for event in events:
        hooks = [s.id for s in subscribers if s.wants("turn", event)]
        if hooks:
            versions.setdefault(event.stream, []).append(event.version)
            wanting[event.stream] = hooks
    if not wanting:
        return []
    cursor = await conn.execute(_SQL["waiting"], [list(wanting)])
    waited = {str(game): set(seats) for game, seats in await cursor.fetchall()}
    due: list[_Due] = []
    for stream, seen in versions.items():
        table, between = await _looked_at(store, games, stream, seen)
        if table is None:
            # Whoever it waits for in the end has not been told.
            await conn.execute(_SQL["wait"], [stream, []])
            continue
        all_along = waited.get(stream, set()) & between
        seats = to_act(table)
        if table.status == "playing":
            await conn.execute(_SQL["wait"], [stream, list(seats)])
        else:
            await conn.execute(_SQL["wait_no_more"], [stream])
        if any(table.bot_at(seat) is None for seat in set(seats) - all_along):
            due += [_Due(hook, stream, table.version, "turn", seats) for hook in wanting[stream]]
    return due


async def _looked_at(
    store: EventStore, games: Games, stream: str, seen: Sequence[int]
) -> tuple[Table | None, set[Seat]]:
    """The game as of the last of these versions, and for whom it waited all along in between; None
    where it has moved on, or (with a line in the log) where this code cannot read it."""
    try:
        known = await games.fresh(stream)
        if known is None or known.table.version != seen[-1]:
            return None, set()
        return known.table, await _between(store, stream, seen)
    except (StoreUnavailable, psycopg.Error):
        raise
    except Exception as error:
        _logger.error("no turn notice for game %s: %s", stream, described(error))
        return None, set()


async def _between(store: EventStore, stream: str, seen: Sequence[int]) -> set[Seat]:
    """The seats that a game waited for after each append of these versions but the last one; all
    seats where there is only one append."""
    last = await store.read(stream, seen[0] - 1, seen[-1])
    # The events of an append bear one time.
    if len({event.at for event in last}) == 1:
        return set(range(_SEATS))
    table: Table | None = None
    seats = set(range(_SEATS))
    for _, append in groupby(await store.read(stream, 0, seen[-1]), lambda event: event.at):
        events = list(append)
        if table is not None and table.version >= seen[0]:
            seats &= set(to_act(table))
        table = fold(stream, events, table)
    return seats


async def _make(conn: Writer, due: Sequence[_Due]) -> None:
    turns = [d for d in due if d.kind == "turn"]
    if turns:
        await conn.execute(_SQL["outdate"], _columns(turns))
    seats = [None if d.to_act is None else f"{{{','.join(map(str, d.to_act))}}}" for d in due]
    await conn.execute(_SQL["deliver"], [*_columns(due), [d.kind for d in due], seats])
    await conn.execute(_SQL["queue"], _columns(due)[:2])


def _columns(due: Sequence[_Due]) -> list[list[Any]]:
    return [[d.webhook for d in due], [d.game for d in due], [d.version for d in due]]
