"""Of the workers of one service one keeps the projections up, whichever is killed."""

import asyncio
import os
import signal

import httpx
import psycopg
import pytest

from tests.api.processes import create, free_port, serving
from tests.api.running import HOST_KEY, bearer
from tests.api.test_live_served import environment
from tests.api.test_stopping_and_renewing import workers

pytestmark = pytest.mark.postgres

SECONDS = 60.0
"""A limit that only a hanging test reaches."""


def runners(url: str) -> int:
    """How many processes have a connection that projections are written on."""
    with psycopg.connect(url) as conn:
        row = conn.execute(
            "SELECT count(*)::int FROM pg_stat_activity"
            " WHERE application_name = 'fairdeal-projections' AND datname = current_database()"
        ).fetchone()
    assert row is not None
    return int(row[0])


async def until_one_runs(url: str) -> None:
    async with asyncio.timeout(SECONDS):
        while runners(url) != 1:
            await asyncio.sleep(0.05)


async def test_one_worker_does_it_and_another_takes_over(database_url: str) -> None:
    with serving(free_port(), "--workers", "3", **environment(database_url)) as server:
        async with httpx.AsyncClient(base_url=server.address, timeout=30) as http:
            for _ in range(3):
                await until_one_runs(database_url)
                for _ in range(20):
                    assert runners(database_url) <= 1
                    await asyncio.sleep(0.05)
                # In three rounds the one that does it is killed at least once.
                victims = sorted(workers(server))[:2]
                for victim in victims:
                    os.kill(victim, signal.SIGKILL)
                async with asyncio.timeout(SECONDS):
                    while len(workers(server) - set(victims)) < 3:
                        await asyncio.sleep(0.05)
                made = create(server.address, HOST_KEY)["id"]
                async with asyncio.timeout(SECONDS):
                    while True:
                        listed = (await http.get("/v1/games", headers=bearer(HOST_KEY))).json()
                        if made in [item["id"] for item in listed["items"]]:
                            break
                        await asyncio.sleep(0.02)


async def test_a_worker_that_stands_still_is_stood_in_for(database_url: str) -> None:
    with serving(free_port(), "--workers", "2", **environment(database_url)) as server:
        await until_one_runs(database_url)
        frozen = []
        try:
            # Whoever does it, both in turn: the other one has to do it meanwhile.
            for worker in sorted(workers(server)):
                os.kill(worker, signal.SIGSTOP)
                frozen.append(worker)
                before = heartbeat(database_url)
                async with asyncio.timeout(SECONDS):
                    while heartbeat(database_url) <= before:
                        await asyncio.sleep(0.1)
                os.kill(frozen.pop(), signal.SIGCONT)
        finally:
            for worker in frozen:
                os.kill(worker, signal.SIGCONT)


def heartbeat(url: str) -> float:
    """When the live builds were last run, in seconds since 1970."""
    with psycopg.connect(url) as conn:
        row = conn.execute(
            "SELECT extract(epoch FROM min(beaten_at))::float FROM projections.builds"
        ).fetchone()
    assert row is not None
    return float(row[0])
