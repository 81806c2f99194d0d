"""Waiting for a game to move on. A hint only: whoever is woken looks for themselves.

This process's own appends wake at once; those of other processes are noticed by asking the store
for the heads of the games that somebody waits for.
"""

import asyncio
import logging
from typing import Final

from eventstore.postgres import EventStore
from eventstore.records import StoreUnavailable

_logger = logging.getLogger("fairdeal.api")


class Notices:
    """Who waits for which game to pass which version."""

    def __init__(self, store: EventStore, poll_seconds: float) -> None:
        self._store: Final = store
        self._poll_seconds: Final = poll_seconds
        self._waiting: Final[dict[str, set[tuple[int, asyncio.Future[None]]]]] = {}
        self._ending = False

    def publish(self, game_id: str, version: int) -> None:
        """Wake all who wait for the game to pass an earlier version than this."""
        for after, woken in self._waiting.get(game_id, ()):
            if after < version and not woken.done():
                woken.set_result(None)

    async def beyond(self, game_id: str, version: int, seconds: float) -> None:
        """Return when the game has probably passed the version, or the time is over."""
        if self._ending:
            return
        woken = asyncio.get_running_loop().create_future()
        entry = (version, woken)
        self._waiting.setdefault(game_id, set()).add(entry)
        try:
            async with asyncio.timeout(seconds):
                await woken
        except TimeoutError:
            pass
        finally:
            waiting = self._waiting[game_id]
            waiting.discard(entry)
            if not waiting:
                del self._waiting[game_id]

    def release(self) -> None:
        """Wake everyone, now and from now on: the process is about to end."""
        self._ending = True
        for game_id in list(self._waiting):
            self.publish(game_id, 2**63)

    async def run(self) -> None:
        """Look for other processes' appends, for ever."""
        while True:
            await asyncio.sleep(self._poll_seconds)
            for game_id in list(self._waiting):
                try:
                    head = await self._store.head(game_id)
                except StoreUnavailable as error:
                    _logger.warning("waiting readers: %s", error)
                    break
                if head is not None:
                    self.publish(game_id, head.version)
