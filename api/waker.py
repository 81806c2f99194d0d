"""What happens without anyone asking: long games of bots go on, the clock acts for the late, and
findings of disputes are completed once a hand is opened.

Every process runs one. Several may wake for the same stream: the append lets one of them through.
"""

import asyncio
import logging
import time
from collections.abc import Coroutine
from typing import Any, Final

from api.disputes import Disputes
from api.execute import Executor
from api.problems import Problem
from eventstore.postgres import EventStore
from eventstore.records import StoreUnavailable
from projections.disputes import CATEGORY

_AT_ONCE: Final = 100
"""Streams looked up at a time, those that have waited longest first."""
_RETRY_SECONDS: Final = 30.0
"""How long a stream that failed is left alone, so that the others get their turn."""

_logger = logging.getLogger("fairdeal.api")


async def run(store: EventStore, executor: Executor, disputes: Disputes, seconds: float) -> None:
    """Look for streams that want attention every so many `seconds`, or when told; for ever."""
    failed: dict[str, float] = {}
    while True:
        executor.unfinished.clear()
        try:
            await _round(store, executor, disputes, failed)
        except StoreUnavailable as error:
            _logger.warning("waker: %s", error)
        try:
            async with asyncio.timeout(seconds):
                await executor.unfinished.wait()
        except TimeoutError:
            pass


async def _round(
    store: EventStore, executor: Executor, disputes: Disputes, failed: dict[str, float]
) -> None:
    now = time.monotonic()
    for stream in [stream for stream, until in failed.items() if until <= now]:
        del failed[stream]
    opened = list(executor.opened)
    executor.opened.difference_update(opened)
    for game_id in opened:
        await _attend(game_id, disputes.complete_of(game_id), failed)
    due = await store.due(time.time_ns() // 1000, _AT_ONCE + len(failed))
    for found in due:
        if found.stream not in failed:
            go_on = disputes.complete if found.category == CATEGORY else executor.go_on
            await _attend(found.stream, go_on(found.stream), failed)


async def _attend(stream: str, work: Coroutine[Any, Any, None], failed: dict[str, float]) -> None:
    try:
        await work
    except StoreUnavailable:
        raise
    except Problem as problem:
        _logger.info("stream %s waits: %s", stream, problem.detail)
    except Exception:
        failed[stream] = time.monotonic() + _RETRY_SECONDS
        _logger.exception("stream %s cannot go on by itself", stream)
