"""pgbouncer in front of a database, set up by a file of settings. Skips where there is none."""

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import quote

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from eventstore.programs import account
from tests.api.processes import free_port
from tests.database import open_folder

PGBOUNCER = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")


_USUAL = "[pgbouncer]\npool_mode = transaction\ndefault_pool_size = 8\nauth_type = any"


@contextmanager
def pooler(database_url: str, settings: str = "", password: str = "") -> Iterator[str]:
    """The URL of a database behind a pooler of its own. `settings` are the lines of its file, which
    hold but for places; with them a password is asked for."""
    if PGBOUNCER is None:
        pytest.skip("pgbouncer is not installed")
    known = {k: str(v) for k, v in conninfo_to_dict(database_url).items()}
    name = known.pop("dbname")
    target = " ".join([f"{key}={value}" for key, value in known.items()])
    port = free_port()
    with open_folder("fairdeal-pooler-") as folder:
        file = folder / "pgbouncer.ini"
        file.write_text(
            f"{settings or _USUAL}\n"
            f"listen_addr = 127.0.0.1\nlisten_port = {port}\n"
            f"unix_socket_dir =\n[databases]\n* = {target}\n"
        )
        file.chmod(0o644)
        # Like Postgres it refuses to run as root.
        who = account()
        with subprocess.Popen(
            [PGBOUNCER, "-q", str(file)],
            user=None if who is None else who.uid,
            group=None if who is None else who.gid,
            extra_groups=None if who is None else [],
            stderr=subprocess.DEVNULL,
        ) as process:
            who_asks = known["user"] + (f":{quote(password)}" if password else "")
            url = f"postgresql://{who_asks}@127.0.0.1:{port}/{name}"
            try:
                _wait(url)
                yield url
            finally:
                process.terminate()
                process.wait()


def _wait(url: str) -> None:
    for _ in range(100):
        try:
            psycopg.connect(url, connect_timeout=5).close()
            return
        except psycopg.OperationalError:
            time.sleep(0.05)
    raise AssertionError("the pooler did not answer")
