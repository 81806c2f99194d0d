"""Runners and rebuilds behind pgbouncer in transaction mode, where nothing is kept in a session."""

import asyncio
import os
import shutil
import subprocess
import time
from collections.abc import Iterator

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from eventstore.postgres import EventStore
from eventstore.programs import account
from projections.rebuild import rebuild
from projections.runner import run
from tests.api.processes import free_port
from tests.database import open_folder
from tests.projections.running import caught_up
from tests.projections.tally import poison, tally, write, wrong

PGBOUNCER = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")


@pytest.fixture
def pooled(database_url: str) -> Iterator[str]:
    """The database behind a pooler of its own; skips where there is no pgbouncer."""
    if PGBOUNCER is None:
        pytest.skip("pgbouncer is not installed")
    known = {k: v for k, v in conninfo_to_dict(database_url).items() if k != "dbname"}
    target = " ".join([f"{name}={value}" for name, value in known.items()])
    port = free_port()
    with open_folder("fairdeal-pooler-") as folder:
        settings = folder / "pgbouncer.ini"
        settings.write_text(
            f"[databases]\n* = {target}\n[pgbouncer]\nlisten_addr = 127.0.0.1\n"
            f"listen_port = {port}\nauth_type = any\npool_mode = transaction\n"
            "default_pool_size = 8\nunix_socket_dir =\n"
        )
        settings.chmod(0o644)
        # Like Postgres it refuses to run as root.
        who = account()
        with subprocess.Popen(
            [PGBOUNCER, "-q", str(settings)],
            user=None if who is None else who.uid,
            group=None if who is None else who.gid,
            extra_groups=None if who is None else [],
            stderr=subprocess.DEVNULL,
        ) as process:
            url = f"postgresql://{known['user']}@127.0.0.1:{port}/{_name(database_url)}"
            try:
                _wait(url)
                yield url
            finally:
                process.terminate()
                process.wait()


def _name(url: str) -> str:
    return str(conninfo_to_dict(url)["dbname"])


def _wait(url: str) -> None:
    for _ in range(100):
        try:
            psycopg.connect(url, connect_timeout=5).close()
            return
        except psycopg.OperationalError:
            time.sleep(0.05)
    raise AssertionError("the pooler did not answer")


async def test_all_of_it_behind_a_pooler(pooled: str, database_url: str) -> None:
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
