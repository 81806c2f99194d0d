"""What happens without anyone asking: long games of bots go on, and the clock acts for the late.

Every process runs one. Several may wake for the same game: the append lets one of them through.
"""

import asyncio
import logging
import time
from typing import Final

from api.execute import Executor
from api.problems import Problem
from eventstore.postgres import EventStore
from eventstore.records import StoreUnavailable

_AT_ONCE: Final = 100
"""Games looked up at a time, those that have waited longest first."""
_RETRY_SECONDS: Final = 30.0
"""How long a game that failed is left alone, so that the others get their turn."""

_logger = logging.getLogger("fairdeal.api")


async def run(store: EventStore, executor: Executor, seconds: float) -> None:
    """Look for games that want attention every so many seconds, or at once when told; for ever."""
    failed: dict[str, float] = {}
    while True:
        executor.unfinished.clear()
        try:
            await _round(store, executor, failed)
        except StoreUnavailable as error:
            _logger.warning("waker: %s", error)
        try:
            async with asyncio.timeout(seconds):
                await executor.unfinished.wait()
        except TimeoutError:
            pass


async def _round(store: EventStore, executor: Executor, failed: dict[str, float]) -> None:
    now = time.monotonic()
    for game_id in [game_id for game_id, until in failed.items() if until <= now]:
        del failed[game_id]
    due = await store.due(time.time_ns() // 1000, _AT_ONCE + len(failed))
    for game_id in due:
        if game_id in failed:
            continue
        try:
            await executor.go_on(game_id)
        except StoreUnavailable:
            raise
        except Problem as problem:
            _logger.info("game %s waits: %s", game_id, problem.detail)
        except Exception:
            failed[game_id] = time.monotonic() + _RETRY_SECONDS
            _logger.exception("game %s cannot go on by itself", game_id)
