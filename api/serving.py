"""`fairdeal serve`: Postgres if none is given, keys if there are none, then the server's processes.

Everything the workers need goes to them through the environment; they end with this process,
however it ends.
"""

import asyncio
import logging
import logging.config
import multiprocessing
import os
import resource
import secrets
import signal
import socket
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import psycopg
from granian.constants import HTTPModes, Interfaces, Loops
from granian.http import HTTP1Settings
from granian.log import LogLevels
from granian.server.mp import MPServer

from api import opening, settings, signing
from api.kept import kept
from eventstore import embedded
from eventstore.migrate import Report, grant_app, migrate

if TYPE_CHECKING:
    from litestar import Litestar

_FREE_SECONDS: Final = 2.0
"""How long to wait for a port that a process just killed may still hold."""
_CONNECT_SECONDS: Final = 10
_ENDING: Final = signal.SIGUSR1
"""What a worker is sent before it is stopped."""
_CONNECTIONS: Final = 16_384
"""How many connections a worker holds, live streams and long polls among them."""
_BUFFER_BYTES: Final = 65_536
"""What the server holds back for a reader who is slow; also how long the head of a request may be
(it may read up to twice that before it refuses)."""
_WAITING: Final = 4_096
"""How many more may wait to be accepted."""
_STOP_SECONDS: Final = 5
"""How long requests under way may take when the server is stopped."""

_LOGGING: Final[dict[str, Any]] = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"plain": {"format": "%(asctime)s %(levelname)s %(name)s: %(message)s"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "plain"}},
    "loggers": {"_granian": {"level": "WARNING", "handlers": ["stderr"], "propagate": False}},
    "root": {"level": "WARNING", "handlers": ["stderr"]},
}


class ServeError(Exception):
    """The server cannot start; the message says why and what to do."""


def serve(host: str, port: int, workers: int, *, show: bool = False) -> None:
    """Serve until a signal says to stop; with `show`, open the table in a browser. Raises
    ServeError, EmbeddedPostgresError, MigrationError."""
    logging.config.dictConfig(_LOGGING)
    _check_free(host, port)
    _allow_files()
    folder = settings.data_dir()
    with ExitStack() as ending:
        url = ending.enter_context(database())
        if workers > 1:
            # The workers add their counts up in files there, whichever of them is asked.
            made = tempfile.TemporaryDirectory(prefix="fairdeal-metrics-")
            os.environ["PROMETHEUS_MULTIPROC_DIR"] = ending.enter_context(made)
        os.environ[settings.DATABASE_URL_ENV] = url
        first_key = _provide_keys(folder)
        found = settings.from_environment()
        address = f"http://{f'[{host}]' if ':' in host else host}:{port}"
        print(f"Fairdeal serves at {address} (its API: {address}/schema)", flush=True)
        if first_key is not None:
            print(f"Host key, shown this once and kept in {folder}: {first_key}", flush=True)
        if show:
            obstacle = opening.obstacle(host)
            if obstacle is None:
                key = next(iter(found.host_keys.values()))
                ending.enter_context(opening.opened(address, key))
            else:
                print(f"No browser is opened: {obstacle}.", flush=True)
        # Not forked: this process has threads (the embedded Postgres' watch).
        multiprocessing.set_start_method("spawn", force=True)
        _PoliteServer(
            "api.serving:worker",
            address=host,
            port=port,
            interface=Interfaces.ASGI,
            workers=workers,
            loop=Loops.uvloop,
            backlog=_WAITING,
            backpressure=_CONNECTIONS,
            # HTTP/2 without TLS is spoken by nobody, and would have limits of its own.
            http=HTTPModes.http1,
            http1_settings=HTTP1Settings(max_buffer_size=_BUFFER_BYTES),
            factory=True,
            websockets=False,
            log_level=LogLevels.warning,
            log_dictconfig=_LOGGING,
            respawn_failed_workers=True,
            workers_kill_timeout=_STOP_SECONDS,
        ).serve()


class _PoliteServer(MPServer):
    """Tells the workers that they are about to be stopped, so that long polls are answered first:
    a worker hears SIGTERM only in the server's own code, which then waits for every request. And
    takes any number of signals at once."""

    def signal_handler_interrupt(self, *_: object) -> None:
        # The server waits on an event whose lock is not reentrant: a second signal in the middle of
        # the first, or one in the middle of the wait, would set it under its own lock and hang.
        if not self.interrupt_signal:
            self.interrupt_signal = True
            threading.Thread(target=self.main_loop_interrupt.set).start()

    def _stop_workers(self) -> None:
        for process in self.wrks:
            if process.inner.is_alive():
                os.kill(process.inner.pid, _ENDING)
        super()._stop_workers()  # type: ignore[no-untyped-call]


def worker() -> "Litestar":
    """The application of one worker process, which ends when the process that started it does."""
    from api.app import create_app

    parent = multiprocessing.parent_process()
    if parent is not None:

        def end_with_parent() -> None:
            parent.join()
            os._exit(1)

        threading.Thread(target=end_with_parent, name="parent-watch", daemon=True).start()
    app = create_app(settings.from_environment())

    async def hear_the_end() -> None:
        asyncio.get_running_loop().add_signal_handler(_ENDING, app.state.parts.release)

    app.on_startup.append(hear_the_end)
    return app


@contextmanager
def database() -> Iterator[str]:
    """The URL of the database while the block lasts: the one given, or one of our own, migrated."""
    given = os.environ.get(settings.DATABASE_URL_ENV)
    if given:
        # A database that cannot be used is said now, not to every caller.
        psycopg.connect(given, connect_timeout=_CONNECT_SECONDS).close()
        yield given
        return
    with embedded.server(settings.data_dir()) as url:
        asyncio.run(migrate(url))
        yield url


def migrate_database(app_role: str | None = None) -> Report:
    """Bring the database of this environment up to date, and let a role serve from it."""
    given = os.environ.get(settings.DATABASE_URL_ENV)
    with nullcontext(given) if given else embedded.server(settings.data_dir()) as url:
        report = asyncio.run(migrate(url))
        if app_role is not None:
            asyncio.run(grant_app(url, app_role))
        return report


def _provide_keys(folder: Path) -> str | None:
    """Put host keys, the secret and the signing keys' file into the environment, from the data
    folder where the environment has none; the host key where it has just been made."""
    made: str | None = None
    if not os.environ.get(settings.SECRET_ENV):
        os.environ[settings.SECRET_ENV], _ = kept(
            folder / "secret", secrets.token_urlsafe(32), settings.SECRET_ENV
        )
    elif len(os.environ[settings.SECRET_ENV].encode()) < 32:
        logging.getLogger("fairdeal").warning(
            "%s is shorter than 32 bytes: tokens can be forged by guessing it", settings.SECRET_ENV
        )
    if not os.environ.get(settings.HOST_KEYS_ENV):
        keys, new = kept(
            folder / settings.HOST_KEY_FILE,
            f"host:fd_{secrets.token_urlsafe(32)}",
            settings.HOST_KEYS_ENV,
        )
        os.environ[settings.HOST_KEYS_ENV] = keys
        made = keys.partition(":")[2] if new else None
    if not os.environ.get(settings.SIGNING_KEYS_ENV):
        os.environ[settings.SIGNING_KEYS_FILE_ENV] = str(signing.key_file())
    return made


def _allow_files() -> None:
    """Let this process, and so its workers, hold as many connections as the system lets it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 2 * _CONNECTIONS
    allowed = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < allowed:
        # Some systems have a lower limit than they say.
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))


def _check_free(host: str, port: int) -> None:
    """Refuse a port that somebody listens on: the workers share theirs and would share that too."""
    end = time.monotonic() + _FREE_SECONDS
    while True:
        try:
            family, kind, protocol, _, address = socket.getaddrinfo(
                host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
            )[0]
            with socket.socket(family, kind, protocol) as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind(address)
                return
        except OSError as error:
            if time.monotonic() > end:
                raise ServeError(
                    f"Cannot listen on {host} port {port} ({error.strerror}). Stop what uses it "
                    "or choose another with --host and --port."
                ) from None
            time.sleep(0.1)
