"""A service has one process that keeps projections up, whatever becomes of it."""

import asyncio
import os
import signal
from pathlib import Path

import httpx
import psycopg
import pytest

from api import upkeep
from api.children import RUN_FOLDER_ENV, Child
from api.settings import Settings
from eventstore.postgres import EventStore
from tests.api.processes import Serving, create, free_port, serving
from tests.api.running import HOST_KEY, SECRET, bearer
from tests.api.test_live_served import environment
from tests.api.test_stopping_and_renewing import running_module, until_renewed, workers

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


def projectors(server: Serving) -> set[int]:
    return running_module(server, b"api.projector")


async def until_another(server: Serving, old: set[int]) -> set[int]:
    """Wait until there is a projector, and none of these."""
    async with asyncio.timeout(SECONDS):
        while len(found := projectors(server)) != 1 or found & old:
            await asyncio.sleep(0.05)
    return found


async def until_listed(server: Serving) -> None:
    """Wait until a game that is made now is in the list."""
    made = create(server.address, HOST_KEY)["id"]
    async with httpx.AsyncClient(base_url=server.address, timeout=30) as http:
        async with asyncio.timeout(SECONDS):
            while True:
                listed = (await http.get("/v1/games", headers=bearer(HOST_KEY))).json()
                if made in [item["id"] for item in listed["items"]]:
                    return
                await asyncio.sleep(0.02)


async def test_one_process_does_it_and_is_replaced(database_url: str) -> None:
    with serving(free_port(), "--workers", "3", **environment(database_url)) as server:
        old: set[int] = set()
        for _ in range(3):
            old = await until_another(server, old)
            await until_one_runs(database_url)
            await until_listed(server)
            assert runners(database_url) == 1
            for pid in old:
                os.kill(pid, signal.SIGKILL)
        await until_another(server, old)
        await until_listed(server)


async def test_one_that_stands_still_is_replaced(database_url: str) -> None:
    with serving(free_port(), **environment(database_url)) as server:
        old = await until_another(server, set())
        await until_one_runs(database_url)
        for pid in old:
            os.kill(pid, signal.SIGSTOP)
        await until_another(server, old)
        await until_listed(server)
        code, _, complaints = await asyncio.to_thread(server.end)
        assert code == 0
        assert "the projector stands still" in complaints


async def test_silence_is_counted_from_the_last_sign_of_life_or_from_birth(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(RUN_FOLDER_ENV, str(tmp_path))
    child = Child("http.server", "0")
    try:
        await asyncio.sleep(0.2)
        assert child.silent_seconds >= 0.2
        sign = tmp_path / f"ready-{child.process.pid}"
        sign.touch()
        assert child.silent_seconds < 0.2
        await asyncio.sleep(0.2)
        assert child.silent_seconds >= 0.2
        # Whatever the clock on the wall says by then.
        os.utime(sign, (1, 1))
        assert child.silent_seconds < 0.2
    finally:
        child.bury()
    assert list(tmp_path.iterdir()) == []


async def test_it_is_renewed_with_the_workers_and_ends_with_them(database_url: str) -> None:
    with serving(free_port(), **environment(database_url)) as server:
        old = await until_another(server, set())
        await until_one_runs(database_url)
        serving_ = workers(server)
        server.process.send_signal(signal.SIGHUP)
        await until_renewed(server, serving_)
        await until_another(server, old)
        await until_listed(server)
        code, _, complaints = await asyncio.to_thread(server.end)
        assert code == 0
        assert "the projector has been renewed" in complaints
        assert "Killing" not in complaints
        assert "has died" not in complaints


async def test_games_go_on_where_it_cannot_start(database_url: str, tmp_path: Path) -> None:
    """Something of the machine's that ends it at once, and nobody else."""
    tries = tmp_path / "tries"
    (tmp_path / "sitecustomize.py").write_text(
        "import os, sys\nif 'api.projector' in sys.orig_argv:\n"
        f"    with open({str(tries)!r}, 'a') as file: file.write('1')\n    os._exit(3)\n"
    )
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    with serving(free_port(), PYTHONPATH=path, **environment(database_url)) as server:
        async with asyncio.timeout(SECONDS):
            # More often than a worker would be tried.
            while not tries.exists() or tries.stat().st_size < 6:
                await asyncio.sleep(0.05)
        assert create(server.address, HOST_KEY)["status"] == "playing"
        code, _, complaints = await asyncio.to_thread(server.end)
    assert code == 0
    assert "the projector has died (exit code 3) and is replaced" in complaints


async def test_workers_ring_for_it(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is heard is that something was appended since the last time, whoever hears it."""
    monkeypatch.setenv(RUN_FOLDER_ENV, str(tmp_path))
    settings = Settings(
        database_url=database_url, host_keys={}, secret=SECRET, projections="elsewhere"
    )
    async with EventStore.open(database_url) as store:
        ringing = asyncio.create_task(upkeep.run(settings, store))
        # While nobody hears it, nothing happens.
        store.feed.news.set()
        await asyncio.sleep(0.1)
        for _ in range(2):
            with upkeep.hearing() as heard:
                assert heard is not None
                for _ in range(3):
                    await asyncio.sleep(0.05)
                    assert not heard.is_set()
                    store.feed.news.set()
                    async with asyncio.timeout(SECONDS):
                        await heard.wait()
                    heard.clear()
        assert not ringing.done()
        ringing.cancel()


async def test_a_run_folder_may_have_a_path_too_long_for_a_socket(
    database_url: str, tmp_path: Path
) -> None:
    deep = tmp_path / ("x" * 100)
    deep.mkdir()
    with serving(free_port(), **environment(database_url, TMPDIR=str(deep))) as server:
        await until_one_runs(database_url)
        await until_listed(server)
        code, _, complaints = await asyncio.to_thread(server.end)
    assert code == 0
    assert "has died" not in complaints


async def test_there_is_none_where_others_do_it(database_url: str) -> None:
    settings = environment(database_url) | {"FAIRDEAL_PROJECTIONS": "elsewhere"}
    with serving(free_port(), **settings) as server:
        create(server.address, HOST_KEY)
        await asyncio.sleep(1)
        assert projectors(server) == set()
        assert runners(database_url) == 0
