"""pgbouncer in transaction mode between the API and Postgres."""

import os
import shutil
import subprocess
from pathlib import Path
from time import monotonic, sleep
from typing import Final

import psycopg
from psycopg.conninfo import conninfo_to_dict

from eventstore.programs import account
from faults.processes import free_port
from faults.run import Skipped

_START_SECONDS: Final = 10.0


class Pooler:
    """A pgbouncer on a port of its own, that can be killed and started."""

    def __init__(self, folder: Path, url: str) -> None:
        """For the server of a URL; its settings go into the folder. Raises Skipped."""
        found = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
        if found is None:
            raise Skipped("pgbouncer is not installed (Debian: apt-get install pgbouncer)")
        known = conninfo_to_dict(url)
        name = known.pop("dbname")
        self._program: Final = found
        self._port: Final = free_port()
        self._settings: Final = folder / "pgbouncer.ini"
        self._process: subprocess.Popen[bytes] | None = None
        self.url: Final = f"postgresql://{known['user']}@127.0.0.1:{self._port}/{name}"
        target = " ".join([f"{key}={value}" for key, value in known.items()])
        self._settings.write_text(
            f"[databases]\n* = {target}\n[pgbouncer]\nlisten_addr = 127.0.0.1\n"
            f"listen_port = {self._port}\nauth_type = any\npool_mode = transaction\n"
            "default_pool_size = 6\nunix_socket_dir =\nserver_login_retry = 1\n"
        )
        self._settings.chmod(0o644)

    def start(self) -> None:
        """Return when it answers. RuntimeError where it does not."""
        who = account()  # like Postgres it refuses to run as root
        self._process = subprocess.Popen(
            [self._program, "-q", str(self._settings)],
            user=None if who is None else who.uid,
            group=None if who is None else who.gid,
            extra_groups=None if who is None else [],
            stderr=subprocess.DEVNULL,
        )
        end = monotonic() + _START_SECONDS
        while monotonic() < end:
            try:
                psycopg.connect(self.url, connect_timeout=5).close()
                return
            except psycopg.OperationalError:
                sleep(0.05)
        raise RuntimeError("the pooler does not answer")

    def kill(self) -> None:
        """kill -9."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
