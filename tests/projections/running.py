"""`python -m tests.projections.running URL VERSION [rebuild]`: a runner, or a rebuild, of the
test's projection in a process of its own, to be stopped or killed."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from time import monotonic

from eventstore.postgres import EventStore
from projections.projection import Projection
from projections.rebuild import rebuild
from projections.runner import run
from projections.waiting import settled
from tests.projections.tally import tally

ROOT = Path(__file__).parents[2]
PATIENCE_SECONDS = 60.0


@asynccontextmanager
async def runner(
    url: str, *projections: Projection, news: asyncio.Event | None = None
) -> AsyncIterator[None]:
    """A runner in this process while the block lasts."""
    task = asyncio.create_task(run(url, projections or (tally(),), news=news))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled(), task.exception()


@contextmanager
def process(
    url: str, version: int = 1, *more: str, **environment: str
) -> Iterator["subprocess.Popen[str]"]:
    """A process of this module, killed at the end of the block."""
    arguments = [sys.executable, "-m", "tests.projections.running", url, str(version), *more]
    started = subprocess.Popen(
        arguments, cwd=ROOT, env={"PATH": "", **environment}, stdout=subprocess.PIPE, text=True
    )
    try:
        yield started
    finally:
        started.kill()
        started.communicate()


async def until_said(started: "subprocess.Popen[str]", word: str) -> None:
    """Wait until the process prints the word."""
    assert started.stdout is not None
    async with asyncio.timeout(PATIENCE_SECONDS):
        while (line := await asyncio.to_thread(started.stdout.readline)).strip() != word:
            assert line, "the process ended before"


async def caught_up(store: EventStore, *names: str) -> None:
    """Wait until all that is committed has gone into the live builds, whoever runs them."""
    end = monotonic() + PATIENCE_SECONDS
    wanted = names or ("tally",)
    while monotonic() < end:
        await settled(store, wanted, 5)
        live = await store.fetch(
            "SELECT FROM projections.builds WHERE state = 'live' AND name = ANY ($1::text[])",
            list(wanted),
        )
        behind = await store.fetch(
            "SELECT FROM projections.checkpoints c JOIN projections.builds b USING (name, build)"
            " JOIN fairdeal.sequencer s USING (lane)"
            " WHERE b.state = 'live' AND b.name = ANY ($1::text[]) AND c.seq < s.seq",
            list(wanted),
        )
        if len(live) == len(wanted) and not behind:
            return
        await asyncio.sleep(0.02)
    raise AssertionError("projections have not caught up in a minute")


async def main() -> None:
    url, version, *more = sys.argv[1:]
    if more:
        await rebuild(url, tally(int(version)), told=lambda done, of: print("told", flush=True))
    else:
        await run(url, [tally(int(version))])


if __name__ == "__main__":
    asyncio.run(main())
