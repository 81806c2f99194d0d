"""How the API's processes tell one another that a game has moved on: a hint, never an event.

Litestar's channel backends are the seam, one channel for all games: its own for Redis, the one here
for Postgres, none in a process that is alone. Who wants what is for `notices` to know.
"""

from collections.abc import AsyncGenerator, Callable, Iterable
from typing import Any, Final, cast

import psycopg
from litestar.channels.backends.base import ChannelsBackend
from psycopg import sql

from api.settings import Settings, is_redis
from eventstore.postgres import EventStore

NAME: Final = "fairdeal_moved"
"""The one channel, as LISTEN and SUBSCRIBE name it."""

_PROBE_SECONDS: Final = 5.0
"""How long a listening connection may be silent before it is asked whether it still stands."""
_CONNECT_SECONDS: Final = 5


class PostgresChannel(ChannelsBackend):
    """NOTIFY through the store's pool, LISTEN on one connection of its own.

    `url` leads to Postgres itself: what is sent passes a pooler, what is heard does not.
    """

    def __init__(self, store: EventStore, url: str) -> None:
        self._store: Final = store
        self._url: Final = url
        self._connection: psycopg.AsyncConnection[Any] | None = None

    async def on_startup(self) -> None:
        """Connect. Raises psycopg.Error."""
        self._connection = await psycopg.AsyncConnection.connect(
            self._url,
            autocommit=True,
            connect_timeout=_CONNECT_SECONDS,
            application_name="fairdeal-listen",
        )

    async def on_shutdown(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            await self._connection.close()

    async def publish(self, data: bytes, channels: Iterable[str]) -> None:
        """Notify all who listen: ASCII, below 8,000 bytes. Raises StoreUnavailable."""
        for channel in channels:
            await self._store.notify(channel, data)

    async def subscribe(self, channels: Iterable[str]) -> None:
        """Listen from now on. Raises psycopg.Error."""
        assert self._connection is not None
        for channel in channels:
            await self._connection.execute(sql.SQL("LISTEN {}").format(sql.Identifier(channel)))

    async def unsubscribe(self, channels: Iterable[str]) -> None:
        """Listen no more. Raises psycopg.Error."""
        assert self._connection is not None
        for channel in channels:
            await self._connection.execute(sql.SQL("UNLISTEN {}").format(sql.Identifier(channel)))

    async def stream_events(self) -> AsyncGenerator[tuple[str, bytes], None]:
        """What is heard, until the connection is lost. Raises psycopg.Error then."""
        assert self._connection is not None
        while True:
            async for notice in self._connection.notifies(timeout=_PROBE_SECONDS):
                yield notice.channel, notice.payload.encode()
            # A connection cut without a word would be silent for ever.
            await self._connection.execute("SELECT 1")

    async def get_history(self, channel: str, limit: int | None = None) -> list[bytes]:
        """Nothing: the log is the history."""
        return []


def channel_of(settings: Settings, store: EventStore) -> Callable[[], ChannelsBackend] | None:
    """What makes the channel that the settings name, afresh after each failure; None for a process
    that is alone."""
    if settings.channel == "memory":
        return None
    if is_redis(settings.channel):
        return _redis(settings.channel)
    url = settings.listen_url or settings.database_url
    return lambda: PostgresChannel(store, url)


def _redis(url: str) -> Callable[[], ChannelsBackend]:
    from litestar.channels.backends.redis import RedisChannelsPubSubBackend
    from redis.asyncio import Redis

    class RedisChannel(RedisChannelsPubSubBackend):
        """Litestar's, with a client of its own that ends with it."""

        def __init__(self) -> None:
            self._client = Redis.from_url(
                url, socket_connect_timeout=_CONNECT_SECONDS, health_check_interval=_PROBE_SECONDS
            )
            super().__init__(redis=self._client)

        async def on_shutdown(self) -> None:
            await super().on_shutdown()
            await self._client.aclose()

    return cast(Callable[[], ChannelsBackend], RedisChannel)
