"""Projections kept up by a process that serves: as its settings say, beside the requests."""

import asyncio
import logging
from typing import Final

import psycopg

from api.settings import Settings
from projections import runner
from projections.builds import provide_views
from projections.registry import PROJECTIONS
from projections.writing import described

_PROVIDE_SECONDS: Final = 10.0

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


async def run(settings: Settings, news: asyncio.Event) -> None:
    """Keep all projections up, for ever; `news` tells of this process's own appends."""
    await runner.run(
        settings.database_url,
        PROJECTIONS.values(),
        prepare=settings.database_prepare,
        news=news,
    )
