"""What happens without anyone asking: bots with a pace act, long games of bots go on, the clock
acts for the late, and findings of disputes are completed once a hand is opened.

Each process attends at once to the games that it has appended to, and now and then looks into the
store for what a process that ended has left. Several may wake for the same stream: the append lets
one of them through.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from typing import Final

from prometheus_client import Counter

from api.disputes import Disputes
from api.execute import Executor
from api.problems import Problem
from eventstore.postgres import EventStore
from eventstore.records import StoreUnavailable
from projections.disputes import CATEGORY

_AT_ONCE: Final = 100
"""Streams looked up at a time, those that have waited longest first."""
_TOGETHER: Final = 4
"""Games attended to side by side."""
_TROUBLE_SECONDS: Final = 0.5
_RETRY_SECONDS: Final = 30.0
"""How long a stream that failed is left alone, so that the others get their turn."""

_failures: Final = Counter(
    "fairdeal_attention_failures", "Times that the server, a clock or a bot could not go on"
)
_logger = logging.getLogger("fairdeal.api")


async def run(store: EventStore, executor: Executor, disputes: Disputes, seconds: float) -> None:
    """Attend to streams whenever told, and look every so many `seconds` for those that nobody
    attends to; for ever."""
    failed: dict[str, float] = {}
    look_at = time.monotonic()
    while True:
        executor.unfinished.clear()
        try:
            await _told(executor, disputes, failed)
            if time.monotonic() >= look_at:
                look_at = time.monotonic() + seconds
                await _left(store, executor, disputes, failed, seconds / 2)
        except Exception as error:
            # The database's trouble, as a rule, or one that is not migrated yet.
            _failures.inc()
            _logger.warning("nobody is attended to now", exc_info=error)
            await asyncio.sleep(_TROUBLE_SECONDS)
        try:
            async with asyncio.timeout(max(0.0, look_at - time.monotonic())):
                await executor.unfinished.wait()
        except TimeoutError:
            pass


async def _told(executor: Executor, disputes: Disputes, failed: dict[str, float]) -> None:
    """What this process knows to want attention now."""
    opened, wanting = list(executor.opened), list(executor.wanting)
    executor.opened.difference_update(opened)
    executor.wanting.difference_update(wanting)
    for game_id in opened:
        await _attend(game_id, disputes.complete_of, failed)
    for first in range(0, len(wanting), _TOGETHER):
        some = wanting[first : first + _TOGETHER]
        done = await asyncio.gather(
            *[_attend(game_id, executor.go_on, failed) for game_id in some],
            return_exceptions=True,
        )
        for error in filter(None, done):
            raise error


async def _left(
    store: EventStore,
    executor: Executor,
    disputes: Disputes,
    failed: dict[str, float],
    late_seconds: float,
) -> None:
    """What has been due for a while and nobody has attended to."""
    now = time.monotonic()
    for stream in [stream for stream, until in failed.items() if until <= now]:
        del failed[stream]
    due_by = time.time_ns() // 1000 - int(late_seconds * 1_000_000)
    for found in await store.due(due_by, _AT_ONCE + len(failed)):
        if found.stream not in failed:
            go_on = disputes.complete if found.category == CATEGORY else executor.go_on
            await _attend(found.stream, go_on, failed)


async def _attend(
    stream: str, go_on: Callable[[str], Awaitable[None]], failed: dict[str, float]
) -> None:
    try:
        await go_on(stream)
    except StoreUnavailable:
        raise
    except Problem as problem:
        _logger.info("stream %s waits: %s", stream, problem.detail)
    except Exception:
        _failures.inc()
        failed[stream] = time.monotonic() + _RETRY_SECONDS
        _logger.exception("stream %s cannot go on by itself", stream)
