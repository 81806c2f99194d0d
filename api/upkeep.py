"""Projections kept up by a process that serves: as its settings say, beside the requests."""

import asyncio
import fcntl
import logging
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import psycopg

from api.settings import Settings
from api.workers import RUN_FOLDER_ENV
from eventstore.postgres import EventStore
from eventstore.records import StoreUnavailable
from projections import runner
from projections.builds import provide_views
from projections.registry import PROJECTIONS
from projections.waiting import BEATING_SECONDS
from projections.writing import described

_PROVIDE_SECONDS: Final = 10.0
_LOOK_SECONDS: Final = 0.25
_HEARTBEAT: Final = """
SELECT extract(epoch FROM clock_timestamp() - min(beaten_at))::float
FROM projections.builds WHERE state = 'live'
"""

_logger = logging.getLogger("fairdeal.api")


async def provide(settings: Settings) -> None:
    """Let there be views to read before the first request. A database that cannot be used now is
    no reason not to start: `run` does it later."""
    try:
        async with asyncio.timeout(_PROVIDE_SECONDS):
            await provide_views(
                settings.database_url, PROJECTIONS.values(), prepare=settings.database_prepare
            )
    except (psycopg.Error, OSError) as error:
        _logger.warning("projections cannot be begun yet: %s", described(error))


async def run(settings: Settings, store: EventStore) -> None:
    """Keep all projections up, for ever. Of the workers of one service one does it, since each
    round has its price; another does when that one ends, or gives no sign of life any more."""
    with _lock() as lock:
        while not lock():
            if await _silent(store):
                _logger.warning("projections are kept up by another worker: the first is silent")
                break
            await asyncio.sleep(_LOOK_SECONDS)
        await runner.run(
            settings.database_url,
            PROJECTIONS.values(),
            prepare=settings.database_prepare,
            news=store.feed.news,
        )


@contextmanager
def _lock() -> Iterator[Callable[[], bool]]:
    """What tries to take the lock of the service's workers, and says whether it is had; it is given
    back at the end of the block, and of the process. A process on its own needs none."""
    folder = os.environ.get(RUN_FOLDER_ENV)
    if not folder:
        yield lambda: True
        return
    with (Path(folder) / "projections").open("w") as file:

        def taken() -> bool:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
            return True

        yield taken


async def _silent(store: EventStore) -> bool:
    """Whether nobody has run the live builds for some time."""
    try:
        [(seconds,)] = await store.fetch(_HEARTBEAT)
    except StoreUnavailable:
        return False
    return seconds is not None and float(seconds) > BEATING_SECONDS
