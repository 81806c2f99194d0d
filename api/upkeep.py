"""Projections kept up beside the requests: by the service's projector, or by the process itself
where it is on its own.

The workers of a service ring when they have appended, by an empty datagram to a Unix socket in the
run folder: a hint, since the projector looks by itself too.
"""

import asyncio
import logging
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import psycopg

from api.children import RUN_FOLDER_ENV
from api.settings import Settings
from eventstore.postgres import EventStore
from projections import runner
from projections.builds import provide_views
from projections.registry import PROJECTIONS
from projections.writing import described

_PROVIDE_SECONDS: Final = 10.0
_RING_SECONDS: Final = 0.02
"""From one ring to the next at the least."""
_BELL: Final = "bell"

_logger = logging.getLogger("fairdeal.api")


async def provide(settings: Settings) -> None:
    """Let there be views to read before the first request. A database that cannot be used now is
    no reason not to start: a runner does it later."""
    runner.foresee(PROJECTIONS)
    try:
        async with asyncio.timeout(_PROVIDE_SECONDS):
            await provide_views(
                settings.database_url, PROJECTIONS.values(), prepare=settings.database_prepare
            )
    except (psycopg.Error, OSError) as error:
        _logger.warning("projections cannot be begun yet: %s", described(error))


async def run(settings: Settings, store: EventStore) -> None:
    """Keep all projections up in this process, or have the service's projector do it, for ever."""
    if settings.projections == "serve":
        await runner.run(
            settings.database_url,
            PROJECTIONS.values(),
            prepare=settings.database_prepare,
            news=store.feed.news,
        )
    elif folder := os.environ.get(RUN_FOLDER_ENV):
        await _ring(Path(folder) / _BELL, store.feed.news)


async def _ring(bell: Path, news: asyncio.Event) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK) as sending:
        while True:
            await news.wait()
            news.clear()
            # Where nobody hears it, somebody looks.
            with suppress(OSError):
                sending.sendto(b"", str(bell))
            await asyncio.sleep(_RING_SECONDS)


@contextmanager
def hearing() -> Iterator[asyncio.Event | None]:
    """What is set when a worker of the service has appended; for its projector. None where no
    socket can be made."""
    news, loop = asyncio.Event(), asyncio.get_running_loop()
    bell = Path(os.environ[RUN_FOLDER_ENV]) / _BELL
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK) as listening:

        def rung() -> None:
            with suppress(BlockingIOError):
                while True:
                    listening.recv(1)
                    news.set()

        try:
            # From now on this one hears it, whoever did before.
            bell.unlink(missing_ok=True)
            listening.bind(str(bell))
        except OSError:
            # A path may be too long for a socket: then it looks by itself.
            yield None
            return
        loop.add_reader(listening, rung)
        try:
            yield news
        finally:
            loop.remove_reader(listening)
