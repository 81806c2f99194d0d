"""Runners and rebuilds behind pgbouncer in transaction mode, where nothing is kept in a session."""

import asyncio

import pytest

from eventstore.postgres import EventStore
from projections.rebuild import rebuild
from projections.runner import run
from tests.api.processes import run as run_command
from tests.api.running import HOST_KEY, SECRET, SIGNING_KEYS
from tests.pooler import pooler
from tests.projections.running import caught_up
from tests.projections.tally import poison, tally, write, wrong


async def test_all_of_it_behind_a_pooler(database_url: str) -> None:
    with pooler(database_url) as pooled:
        await _all_of_it(pooled, database_url)


@pytest.mark.parametrize("asked", [["audit"], ["projections", "--json"], ["import", "--samples"]])
async def test_every_command_reads_behind_a_pooler(asked: list[str], database_url: str) -> None:
    with pooler(database_url) as pooled:
        done = await asyncio.to_thread(
            run_command,
            *asked,
            FAIRDEAL_DATABASE_URL=pooled,
            FAIRDEAL_DATABASE_PREPARE="false",
            FAIRDEAL_SIGNING_KEYS=SIGNING_KEYS,
            FAIRDEAL_SECRET=SECRET,
            FAIRDEAL_HOST_KEYS=f"host:{HOST_KEY}",
        )
    assert "startup parameter" not in done.stderr
    # Nothing has built projections there, which `projections` says with 1.
    assert done.returncode == (1 if asked[0] == "projections" else 0), done.stderr


async def _all_of_it(pooled: str, database_url: str) -> None:
    async with EventStore.open(pooled, prepare=False) as store:
        runners = [asyncio.create_task(run(pooled, [tally()], prepare=False)) for _ in range(2)]
        [append, *_] = await write(store, 30, 3)
        await poison(store, append)
        await caught_up(store)
        assert wrong(database_url) == []
        done = await rebuild(pooled, tally(), prepare=False)
        assert (done.different, done.parked) == (False, 1)
        await write(store, 10)
        await caught_up(store)
        assert wrong(database_url) == []
        for task in runners:
            task.cancel()
        await asyncio.wait(runners)
