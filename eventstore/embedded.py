"""A Postgres of our own on a data folder: started for its first user, stopped after its last.

The same server as anywhere else, reached through a socket that only its account can open; nothing
listens on the network. Processes that use one folder share one server. Who uses it is written in
kernel locks, which end with the process however it ends. POSIX only; no table is known here.
"""

import fcntl
import logging
import os
import select
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Final

import psycopg

from eventstore.cluster import Cluster, make_folder
from eventstore.programs import EmbeddedPostgresError, account, can_enter

__all__ = ["EmbeddedPostgresError", "server"]

_TURN_SECONDS: Final = 180.0
"""How long another process may take for starting or stopping."""

_logger = logging.getLogger(__name__)


@contextmanager
def server(data_dir: Path, *, throwaway: bool = False) -> Iterator[str]:
    """The URL of a running Postgres whose data is in `data_dir` (made if it is missing).

    Within the block the server is started again should it die. Where the process leaves signals
    to their defaults, SIGTERM and SIGHUP end the block as SystemExit, so that it is left in
    order. `throwaway` is for data that nobody will miss: it gives durability up for speed.

    Raises EmbeddedPostgresError, whose message says what to do.
    """
    with _orderly_end():
        lease = _Lease(data_dir, throwaway=throwaway)
        try:
            with _undisturbed():
                lease.take()
            yield lease.url
        finally:
            with _undisturbed():
                lease.release()


class _Lease:
    """One user's hold on the server of a data folder."""

    def __init__(self, data_dir: Path, *, throwaway: bool) -> None:
        self._folder = Path(os.path.abspath(data_dir))
        self._account = account()
        make_folder(self._folder)
        if not can_enter(self._folder, self._account):
            who = "this user" if self._account is None else f"the account {self._account.name}"
            raise EmbeddedPostgresError(
                f"Postgres is to run as {who}, who cannot enter {self._folder}. Set "
                "FAIRDEAL_DATA_DIR to a folder that it can enter, such as /var/lib/fairdeal."
            )
        self._cluster = Cluster(self._folder, self._account, throwaway=throwaway)
        self._users: int | None = None
        self._watch: _Watch | None = None
        self.url = self._cluster.url

    def take(self) -> None:
        with self._turn():
            # The hold comes before the server: the next to leave will see it and not stop.
            self._users = self._open("postgres.users")
            fcntl.flock(self._users, fcntl.LOCK_SH)
            self._cluster.ensure_running()
        self._watch = _Watch(self.url, self._revive)
        self._watch.start()

    def release(self) -> None:
        if self._watch is not None:
            self._watch.end()
        if self._users is None:
            return
        with self._turn():
            # Let go for forked children too, which share this hold without knowing.
            fcntl.flock(self._users, fcntl.LOCK_UN)
            os.close(self._users)
            self._users = self._open("postgres.users")
            try:
                fcntl.flock(self._users, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return
            else:
                self._cluster.stop()
            finally:
                os.close(self._users)
                self._users = None

    def _revive(self) -> None:
        with self._turn():
            self._cluster.ensure_running()

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """Nobody else starts or stops the server meanwhile."""
        lock = self._open("postgres.lock")
        try:
            end = time.monotonic() + _TURN_SECONDS
            while True:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError as error:
                    if time.monotonic() > end:
                        raise EmbeddedPostgresError(
                            f"Another process has been starting or stopping the Postgres in "
                            f"{self._folder} for {_TURN_SECONDS:g} seconds. End it, then try again."
                        ) from error
                    time.sleep(0.01)
            yield
        finally:
            os.close(lock)

    def _open(self, name: str) -> int:
        path = self._folder / name
        try:
            return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise EmbeddedPostgresError(
                f"The file {path} cannot be opened ({error.strerror}). Run fairdeal as the user "
                "who owns the data folder, or set FAIRDEAL_DATA_DIR to another one."
            ) from error


class _Watch(threading.Thread):
    """Notices at once when the server dies, through a connection of its own, and has it revived."""

    def __init__(self, url: str, revive: Callable[[], None]) -> None:
        super().__init__(name="embedded-postgres", daemon=True)
        self._url = url
        self._revive = revive
        self._ended, self._end = os.pipe()

    def end(self) -> None:
        """Return when nothing will be revived any more."""
        os.close(self._end)
        self.join()
        os.close(self._ended)

    def run(self) -> None:
        while not self._is_ended(0):
            try:
                with psycopg.connect(self._url, autocommit=True, connect_timeout=10) as conn:
                    while conn.execute("SELECT 1"):
                        if self._is_ended(None, conn.fileno()):
                            return
            except psycopg.Error:
                if self._is_ended(0.02):
                    return
                self._try_to_revive()

    def _try_to_revive(self) -> None:
        try:
            self._revive()
        except EmbeddedPostgresError as error:
            _logger.error("%s", error)
        self._is_ended(0.2)

    def _is_ended(self, seconds: float | None, *others: int) -> bool:
        """Wait for the end, for word on another descriptor, or for the time to pass."""
        waiting = select.poll()
        for descriptor in (self._ended, *others):
            waiting.register(descriptor, select.POLLIN)
        ready = waiting.poll(None if seconds is None else seconds * 1000)
        return any(descriptor == self._ended for descriptor, _ in ready)


@contextmanager
def _orderly_end() -> Iterator[None]:
    """Signals that would end the process on the spot raise SystemExit instead."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    ours = [
        number
        for number in (signal.SIGTERM, signal.SIGHUP)
        if signal.getsignal(number) is signal.SIG_DFL
    ]
    for number in ours:
        signal.signal(number, _exit_on_signal)
    try:
        yield
    finally:
        for number in ours:
            if signal.getsignal(number) is _exit_on_signal:
                signal.signal(number, signal.SIG_DFL)


def _exit_on_signal(number: int, frame: FrameType | None) -> None:
    raise SystemExit(128 + number)


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Signals wait until the block has ended: a start or stop cut in half would leave a server."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    before = {
        number: signal.signal(number, lambda number, frame: came.append(number))
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        if signal.getsignal(number) is not None
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for late in dict.fromkeys(came):
            signal.raise_signal(late)
