"""Breaking the Postgres of a run: killing its processes, stopping them, raising its errors.

Works on an embedded data folder, past the product: as the superuser, over the server's own socket.
"""

import contextlib
import os
import re
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import Any, Final
from urllib.parse import urlsplit, urlunsplit

import psycopg
from psycopg import sql

from eventstore.cluster import Cluster
from eventstore.programs import account

_ERROR: Final = re.compile(
    r"^\S+ \S+ \S+ \[\d+\] ([0-9A-Z]{5}) (?:ERROR|FATAL|PANIC):", re.MULTILINE
)


class Server:
    """The Postgres on a data folder."""

    def __init__(self, folder: Path) -> None:
        self.folder: Final = folder
        self.data: Final = folder / "postgres"
        self.cluster: Final = Cluster(folder, account(), throwaway=False)
        self.url: Final = self.cluster.url

    def database(self, name: str) -> str:
        """The address of another database on it."""
        return urlunsplit(urlsplit(self.url)._replace(path=f"/{name}"))

    def connect(self, *, autocommit: bool = True) -> "psycopg.Connection[tuple[Any, ...]]":
        """A connection of the superuser's, not counted among the service's."""
        return psycopg.connect(
            self.url, autocommit=autocommit, application_name="faults", connect_timeout=5
        )

    def execute(self, statement: str, *parameters: Any) -> list[tuple[Any, ...]]:
        """The rows of one statement."""
        with self.connect() as conn:
            cursor = conn.execute(statement.encode(), parameters or None)
            return cursor.fetchall() if cursor.description else []

    def set(self, **settings: str) -> None:
        """Settings of the whole server, from now on."""
        with self.connect() as conn:
            for name, value in settings.items():
                conn.execute(
                    sql.SQL("ALTER SYSTEM SET {} = {}").format(
                        sql.Identifier(name), sql.Literal(value)
                    )
                )
            conn.execute("SELECT pg_reload_conf()")

    def processes(self) -> list[int]:
        """Postmaster and children: all of them stand in the data folder."""
        here = os.path.realpath(self.data)
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if os.readlink(process / "cwd") == here:
                    found.append(int(process.name))
        return found

    def postmaster(self) -> int:
        """The server's first process."""
        return int((self.data / "postmaster.pid").read_text().split()[0])

    def stop(self, number: int, seconds: float = 30.0) -> bool:
        """Send the postmaster a signal to stop (SIGINT: fast, SIGQUIT: immediate) and wait for its
        end; whether it came. (`pg_ctl` would wait for the next one, which comes at once.)"""
        pid = self.postmaster()
        os.kill(pid, number)
        end = monotonic() + seconds
        while Path(f"/proc/{pid}").exists():
            if monotonic() > end:
                return False
            sleep(0.01)
        return True

    def kill(self) -> int:
        """kill -9 of every process of the server, the postmaster first, so that none is made
        meanwhile; how many there were."""
        victims = self.processes()
        with contextlib.suppress(OSError, ValueError, IndexError):
            postmaster = self.postmaster()
            victims.sort(key=lambda pid: pid != postmaster)
        killed = 0
        for pid in victims:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
                killed += 1
        return killed

    def backends(self) -> list[int]:
        """The service's sessions."""
        return [
            pid
            for (pid,) in self.execute(
                "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend'"
                " AND application_name <> 'faults' ORDER BY pid"
            )
        ]

    def errors(self) -> Counter[str]:
        """SQLSTATEs in the server's log, counted; `log_states` first."""
        log = self.data / "server.log"
        text = log.read_text(errors="replace") if log.exists() else ""
        return Counter(_ERROR.findall(text))

    def log_states(self) -> None:
        """Have every error logged with its SQLSTATE."""
        self.set(log_line_prefix="%m [%p] %e ")

    @contextmanager
    def saboteur(self, body: str) -> Iterator[None]:
        """Run a PL/pgSQL body in the transaction of every append, once its events are inserted: to
        raise errors and to put commits off. `nextval('faults.turn')` counts there."""
        function = (
            "CREATE OR REPLACE FUNCTION faults.sabotage() RETURNS trigger LANGUAGE plpgsql AS"
            f" $$ BEGIN {body} RETURN NULL; END $$"
        )
        with self.connect() as conn:
            conn.execute("CREATE SCHEMA faults")
            conn.execute("CREATE SEQUENCE faults.turn")
            conn.execute(function.encode())
            conn.execute(
                "CREATE TRIGGER zz_sabotage AFTER INSERT ON fairdeal.events"
                " FOR EACH STATEMENT EXECUTE FUNCTION faults.sabotage()"
            )
        try:
            yield
        finally:
            with self.connect() as conn:
                conn.execute("DROP SCHEMA faults CASCADE")


@contextmanager
def stopped(pid: int) -> Iterator[None]:
    """A process that stands still while the block lasts (SIGSTOP, SIGCONT)."""
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)
