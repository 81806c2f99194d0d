"""Waiting for a game to move on. A hint only: whoever is woken looks for themselves.

This process's own appends wake at once; those of others are heard over the channel. What a channel
loses is found by asking the store where the watched games stand: now and then while the channel is
up, often while it is not.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, Final

from litestar.channels.backends.base import ChannelsBackend

from api.channel import NAME
from eventstore.postgres import EventStore
from eventstore.records import StoreUnavailable
from projections.writing import described

_AT_ONCE: Final = 150
"""Games told of in one message: below the 8,000 bytes that Postgres allows."""
_GATHER_SECONDS: Final = 0.025
"""What is told within this time goes together. (Workers of one service hear sooner of each other,
see `siblings`.)"""
_SEND_SECONDS: Final = 5.0
_PAUSE_SECONDS: Final = 1.0
"""Between attempts to have the channel again."""

_logger = logging.getLogger("fairdeal.api")


class Watch:
    """One game that somebody waits for; `heard` is the newest version heard of."""

    def __init__(self) -> None:
        self.heard = 0
        self.watchers = 0
        self._woken: Final[set[asyncio.Future[None]]] = set()
        self.ended = False

    def tell(self, version: int) -> None:
        """The game stands at this version at least."""
        if version > self.heard:
            self.heard = version
            self._wake()

    def end(self) -> None:
        """Wake everyone, now and from now on."""
        self.ended = True
        self._wake()

    def _wake(self) -> None:
        for woken in self._woken:
            if not woken.done():
                woken.set_result(None)

    async def beyond(self, version: int, seconds: float) -> bool:
        """Whether the game has probably passed the version, waiting so long for it."""
        end = asyncio.get_running_loop().time() + seconds
        while not self.ended and self.heard <= version:
            woken = asyncio.get_running_loop().create_future()
            self._woken.add(woken)
            try:
                async with asyncio.timeout_at(end):
                    await woken
            except TimeoutError:
                return False
            finally:
                self._woken.discard(woken)
        return self.heard > version


class Notices:
    """Who waits for which game, and what the processes tell one another."""

    def __init__(
        self,
        store: EventStore,
        channel: Callable[[], ChannelsBackend] | None,
        *,
        poll_seconds: float,
        look_seconds: float,
    ) -> None:
        """`channel` makes the way to the other processes (None: there are none). The store is asked
        every `look_seconds`, and every `poll_seconds` while the channel is down."""
        self._store: Final = store
        self._make: Final = channel
        self._poll_seconds: Final = poll_seconds
        self._look_seconds: Final = look_seconds
        self._watched: Final[dict[str, Watch]] = {}
        self._untold: Final[dict[str, int]] = {}
        self._tell: Final = asyncio.Event()
        self._channel: ChannelsBackend | None = None
        self._turned: Final = asyncio.Event()
        """Set when the channel has come up or gone down."""
        self.ending = False
        """The process is about to end."""

    @property
    def watched(self) -> int:
        """How many games somebody waits for."""
        return len(self._watched)

    @property
    def connected(self) -> bool:
        """Whether the channel to the other processes is up."""
        return self._channel is not None

    def publish(self, game_id: str, version: int) -> None:
        """This process has appended: wake who waits here, and tell the others soon."""
        self.hear(game_id, version)
        if self._make is not None:
            self._untold[game_id] = version
            self._tell.set()

    @contextmanager
    def watching(self, game_id: str) -> Iterator[Watch]:
        """The watch of a game: from now on no notice of it is missed. Look at the game after
        entering, and again whenever `beyond` says so."""
        watch = self._watched.setdefault(game_id, Watch())
        watch.watchers += 1
        watch.ended = self.ending
        try:
            yield watch
        finally:
            watch.watchers -= 1
            if watch.watchers == 0:
                del self._watched[game_id]

    def release(self) -> None:
        """Wake everyone, now and from now on: the process is about to end."""
        self.ending = True
        for watch in self._watched.values():
            watch.end()

    def work(self) -> list[Coroutine[Any, Any, None]]:
        """What is to be run for ever: to look, to hear and to tell."""
        if self._make is None:
            return [self._keep_looking()]
        return [self._keep_looking(), self._keep_listening(self._make), self._keep_telling()]

    def hear(self, game_id: str, version: int) -> None:
        """Somebody has appended: wake who waits here."""
        watch = self._watched.get(game_id)
        if watch is not None:
            watch.tell(version)

    async def _keep_listening(self, make: Callable[[], ChannelsBackend]) -> None:
        while True:
            channel = make()
            try:
                await channel.on_startup()
                await channel.subscribe([NAME])
                self._channel = channel
                # What was told in between has been missed: look at once.
                self._turned.set()
                async for _, data in channel.stream_events():
                    for item in data.decode().split():
                        game_id, _, version = item.partition(":")
                        self.hear(game_id, int(version))
            except Exception as error:
                # Whatever a driver raises: without the channel the store is asked instead.
                _logger.warning("notices are not heard: %s", described(error))
            finally:
                self._channel = None
                self._turned.set()
                await _closed(channel)
            await asyncio.sleep(_PAUSE_SECONDS)

    async def _keep_telling(self) -> None:
        while True:
            await self._tell.wait()
            await asyncio.sleep(_GATHER_SECONDS)
            self._tell.clear()
            untold = [f"{game_id}:{version}" for game_id, version in self._untold.items()]
            self._untold.clear()
            channel = self._channel
            if channel is None:
                continue
            try:
                async with asyncio.timeout(_SEND_SECONDS):
                    for first in range(0, len(untold), _AT_ONCE):
                        text = " ".join(untold[first : first + _AT_ONCE])
                        await channel.publish(text.encode(), [NAME])
            except Exception as error:
                _logger.warning("other processes were not told: %s", described(error))

    async def _keep_looking(self) -> None:
        while True:
            up = self._make is None or self._channel is not None
            try:
                async with asyncio.timeout(self._look_seconds if up else self._poll_seconds):
                    await self._turned.wait()
            except TimeoutError:
                pass
            self._turned.clear()
            if not self._watched:
                continue
            try:
                for game_id, version in await self._store.versions(self._watched):
                    self.hear(game_id, version)
            except StoreUnavailable as error:
                _logger.warning("waiting readers: %s", error)


async def _closed(channel: ChannelsBackend) -> None:
    try:
        await channel.on_shutdown()
    except Exception as error:
        _logger.info("closing the channel: %s", described(error))
