"""The process of `fairdeal serve` that keeps projections up, so that no request waits for them.

`python -m api.projector` goes on until the process that started it says so or is no more.
"""

import asyncio

import uvloop

from api import children, logs, settings, tracing, upkeep
from projections import runner
from projections.registry import PROJECTIONS

_SIGN_SECONDS = 1.0


def main() -> None:
    """Keep projections up until told to end, in the environment that standard input gives."""
    children.be_a_child()
    logs.begin()
    tracing.begin()
    uvloop.run(_until_told(settings.from_environment()))


async def _until_told(found: settings.Settings) -> None:
    with upkeep.hearing() as news:
        work = asyncio.create_task(
            runner.run(
                found.database_url,
                PROJECTIONS.values(),
                prepare=found.database_prepare,
                news=news,
            )
        )
        asyncio.get_running_loop().add_signal_handler(children.ENDING, work.cancel)
        children.collect_seldom()
        while not work.done():
            children.say_ready()
            await asyncio.wait([work], timeout=_SIGN_SECONDS)
    if not work.cancelled():
        work.result()


if __name__ == "__main__":
    main()
