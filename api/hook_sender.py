"""Sends what `hook_feed` has put down: signed, game by game in order, again until it has arrived.

A sender takes a game for a lease, during which no other touches it, and gives it back when nothing
is left; what a process held that was killed, another takes up when the lease is over. So everything
is sent at least once, and again under the same id. Signatures are those of Standard Webhooks.
"""

import asyncio
import hmac
import logging
import random
import time
from base64 import b64encode
from collections import Counter as Tally
from typing import Final

import msgspec
import psycopg
from prometheus_client import Counter

from api.games import Games
from api.outbound import Outbound, Resolve, Unreached, resolved
from api.settings import Settings
from domain.log import EventView, event_view
from domain.seats import Seat
from domain.table.decide import to_act
from domain.times import format_at
from eventstore.measures import known
from eventstore.postgres import EventStore
from eventstore.records import StoreUnavailable
from projections.entries import entry
from projections.statements import statements
from projections.writing import described

_SQL: Final = statements("hook_sender", "api")
_GAMES_AT_ONCE: Final = 16
_GAMES_OF_A_WEBHOOK: Final = 4
_LOOK_SECONDS: Final = 0.5
_TIDY_SECONDS: Final = 60.0
_STORE_SECONDS: Final = 15.0
"""The longest that the store may take around a request, for the lease to outlast both."""
_HOLD_SECONDS: Final = 20.0
"""How long a game is held at most while there is more of it, so that others get their turn."""
_TROUBLE_SECONDS: Final = 2.0
_JITTER: Final = 0.1
_GONE: Final = 410

_logger = logging.getLogger("fairdeal.webhooks")
_outcomes = known(
    Counter(
        "fairdeal_webhook_deliveries",
        "Deliveries by what came of an attempt of this process",
        ["outcome"],
    ),
    ("delivered", "retried", "failed", "outdated"),
)


class TurnNotice(msgspec.Struct, frozen=True):
    """Whom a game has come to wait for at a version, and until when."""

    game: str
    version: int
    to_act: tuple[Seat, ...]
    deadline: str | None


class EventNotification(msgspec.Struct, frozen=True, tag_field="type", tag="event"):
    """The body of a delivery of the kind `event`: the event as a spectator may see it now."""

    data: EventView


class TurnNotification(msgspec.Struct, frozen=True, tag_field="type", tag="turn"):
    """The body of a delivery of the kind `turn`."""

    data: TurnNotice


def signature(secret: bytes, delivery: str, timestamp: int, body: bytes) -> str:
    """`v1,` and the Base64 of HMAC-SHA256 over `id.timestamp.body` (Standard Webhooks)."""
    signed = f"{delivery}.{timestamp}.".encode() + body
    return "v1," + b64encode(hmac.digest(secret, signed, "sha256")).decode()


class _Next(msgspec.Struct, frozen=True):
    """What is next of a game, or that nothing is (`number` None)."""

    tickets: int
    failures: int
    url: str
    secret: bytes
    number: int | None
    id: str
    kind: str
    version: int
    to_act: list[Seat] | None


class Sender:
    """One process's sender."""

    def __init__(
        self, store: EventStore, games: Games, settings: Settings, resolve: Resolve = resolved
    ) -> None:
        self._store: Final = store
        self._games: Final = games
        self._pauses: Final = settings.webhooks_pauses
        self._keep_days: Final = settings.webhooks_keep_days
        self._lease_seconds: Final = settings.webhooks_seconds + _STORE_SECONDS
        self._outbound: Final = Outbound(
            private=settings.webhooks_private, seconds=settings.webhooks_seconds, resolve=resolve
        )
        self._busy: Final[Tally[str]] = Tally()
        self.news: Final = asyncio.Event()
        """Set when there is something to send."""

    async def run(self) -> None:
        """Send whatever is due, for ever. Trouble is logged and waited out."""
        held: set[asyncio.Task[None]] = set()
        tidied = -_TIDY_SECONDS
        async with self._outbound:
            try:
                while True:
                    self.news.clear()
                    try:
                        if time.monotonic() - tidied >= _TIDY_SECONDS:
                            tidied = time.monotonic()
                            await self._tidy()
                        for webhook, game in await self._claim(_GAMES_AT_ONCE - len(held)):
                            task = asyncio.create_task(self._attend(webhook, game))
                            held.add(task)
                            task.add_done_callback(held.discard)
                    except Exception as error:
                        # The database's trouble, as a rule.
                        _logger.warning("webhooks are not sent now: %s", described(error))
                        await asyncio.sleep(_TROUBLE_SECONDS)
                    try:
                        async with asyncio.timeout(_LOOK_SECONDS):
                            await self.news.wait()
                    except TimeoutError:
                        pass
            finally:
                for task in held:
                    task.cancel()
                await asyncio.gather(*held, return_exceptions=True)

    async def _claim(self, most: int) -> list[tuple[str, str]]:
        busy, games = list(self._busy), list(self._busy.values())
        limits = (_GAMES_OF_A_WEBHOOK, most, self._lease_seconds)
        if most <= 0:
            return []
        return [(w, g) for w, g in await self._store.fetch(_SQL["claim"], busy, games, *limits)]

    async def _tidy(self) -> None:
        await self._store.fetch(_SQL["drop_of_disabled"])
        while await self._store.fetch(_SQL["prune"], self._keep_days):
            pass

    async def _attend(self, webhook: str, game: str) -> None:
        """Send what is pending of a game that was claimed, until nothing is left or it fails."""
        self._busy[webhook] += 1
        until = time.monotonic() + _HOLD_SECONDS
        try:
            while time.monotonic() < until:
                rows = await self._store.fetch(_SQL["next"], webhook, game)
                if not rows:
                    return
                due = _Next(*rows[0])
                if due.number is None:
                    if await self._store.fetch(_SQL["leave"], webhook, game, due.tickets):
                        return
                elif not await self._send(webhook, game, due, due.number):
                    return
            await self._store.fetch(_SQL["release"], webhook, game)
        except Exception as error:
            # The game is taken up again when the lease is over.
            _logger.warning("a webhook's game waits: %s", described(error))
        finally:
            self._busy[webhook] -= 1
            if not self._busy[webhook]:
                del self._busy[webhook]
            # There is room for another game.
            self.news.set()

    async def _send(self, webhook: str, game: str, due: _Next, number: int) -> bool:
        """Make one attempt; whether the game can go on."""
        status, trouble = None, ""
        try:
            body = await self._body(game, due)
            if body is None:
                await self._store.fetch(_SQL["outdated"], number)
                _outcomes.labels("outdated").inc()
                return True
            status = await self._outbound.post(due.url, _headers(due, body), body)
        except Unreached as error:
            trouble = str(error)
        except (StoreUnavailable, psycopg.Error):
            raise
        except Exception as error:
            _logger.error("a delivery about game %s: %s", game, described(error))
            trouble = "it could not be sent"
        if status is not None and 200 <= status < 300:
            await self._store.fetch(_SQL["delivered"], number, status, self._lease_seconds)
            _outcomes.labels("delivered").inc()
            return True
        return await self._failed(webhook, due, number, status, trouble or f"answered {status}")

    async def _failed(
        self, webhook: str, due: _Next, number: int, status: int | None, trouble: str
    ) -> bool:
        what = (number, status, trouble)
        if status == _GONE:
            # First nothing new comes, then what is there goes.
            await self._store.fetch(_SQL["again"], *what, 0.0)
            await self._store.fetch(_SQL["disable"], webhook)
            [(dropped,)] = await self._store.fetch(_SQL["drop_of_disabled"])
            _outcomes.labels("failed").inc(dropped)
            return False
        if due.failures >= len(self._pauses):
            waited = sum(self._pauses) * (1 - 2 * _JITTER)
            parameters = (*what, waited, self._lease_seconds)
            [(given_up,)] = await self._store.fetch(_SQL["give_up"], *parameters)
            _outcomes.labels("failed").inc(given_up)
            return True
        pause = self._pauses[due.failures] * random.uniform(1 - _JITTER, 1 + _JITTER)
        await self._store.fetch(_SQL["again"], *what, pause)
        _outcomes.labels("retried").inc()
        return False

    async def _body(self, game: str, due: _Next) -> bytes | None:
        """What is said, as anybody may see it now; None for a turn that is no longer anybody's."""
        known = await self._games.fresh(game)
        if known is None:
            raise LookupError("the game is gone")
        table = known.table
        if due.kind == "event":
            [stored] = await self._store.read(game, due.version - 1, due.version)
            seen = event_view(game, entry(stored), None, table.openings)
            return msgspec.json.encode(EventNotification(seen))
        seats = tuple(due.to_act or ())
        if not set(seats) & set(to_act(table)):
            return None
        deadline = None if table.deadline is None else format_at(table.deadline)
        notice = TurnNotice(game, due.version, seats, deadline)
        return msgspec.json.encode(TurnNotification(notice))


def _headers(due: _Next, body: bytes) -> dict[bytes | str, bytes | str]:
    timestamp = int(time.time())
    return {
        "Content-Type": "application/json",
        "User-Agent": "Fairdeal",
        "webhook-id": due.id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": signature(due.secret, due.id, timestamp, body),
    }


async def pending(store: EventStore) -> tuple[int, float]:
    """How many deliveries are pending, and the age of the oldest in seconds. Raises
    StoreUnavailable."""
    [(count, seconds)] = await store.fetch(_SQL["pending"])
    return count, seconds
