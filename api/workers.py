"""The worker processes of `fairdeal serve`, seen from the process that starts them: replaced when
they die, renewed one after another, stopped together. What a worker does is in `worker`.

Granian's server with its supervision put in other words: the listening sockets are opened here and
stay open, one for each worker and its successors, so that nobody who connects while a worker is
replaced is turned away.
"""

import logging
import os
import signal
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from granian._granian import SocketHolder
from granian.server.mp import MPServer, WorkerProcess

LEAVING: Final = signal.SIGUSR2
"""What a worker is sent that others are to take over from: it is no longer ready, and keeps no
connection alive."""
REPLACED: Final = signal.SIGURG
"""What a worker is sent whose successor listens at the same socket: it accepts no more. (One signal
that a terminal sends to nobody, and that does no harm where nobody listens for it.)"""
ENDING: Final = signal.SIGUSR1
"""What a worker is sent before it is stopped: who waits is answered, streams say goodbye."""
RUN_FOLDER_ENV: Final = "FAIRDEAL_RUN_FOLDER"
"""Where workers say that they have begun to serve; set for them by `serve`."""

_READY_SECONDS: Final = 60.0
"""How long a worker may take until it serves."""
_LEAVE_SECONDS: Final = 1.0
"""How long a worker that is renewed answers what has reached it."""
_REPLACED_SECONDS: Final = 20.0
"""How long it may take to end after that: it is in nobody's way."""
_LOOK_SECONDS: Final = 0.02
_SHORT_LIFE_SECONDS: Final = 10.0
_LONGEST_PAUSE_SECONDS: Final = 5.0
_FALSE_STARTS: Final = 5
"""A worker that ends so often in a row before it serves will not do so the next time either."""

_logger = logging.getLogger("fairdeal.serve")


def say_ready() -> None:
    """Called by a worker that serves."""
    folder = os.environ.get(RUN_FOLDER_ENV)
    if folder:
        _ready_file(folder, os.getpid()).touch()


def _ready_file(folder: str | Path, pid: int) -> Path:
    return Path(folder) / f"ready-{pid}"


class _Listening:
    """A socket that a worker is to serve from: what granian takes, made there."""

    def __init__(self, listening: socket.socket, backlog: int) -> None:
        self._made: Final = (listening.fileno(), False, backlog)

    def __reduce__(self) -> tuple[Any, ...]:
        return SocketHolder, self._made


class Workers(MPServer):
    """A server whose workers can be lost, renewed and stopped without a caller being turned away.

    SIGHUP renews them one by one. SIGTERM and SIGINT stop them, after `drain_seconds` in which they
    say that they are not ready and otherwise go on; from then on within `workers_kill_timeout`.
    """

    def __init__(self, *, run_folder: Path, drain_seconds: float, **more: Any) -> None:
        super().__init__("api.worker:application", **more)
        self._run_folder: Final = run_folder
        self._drain_seconds: Final = drain_seconds
        self._sockets: Final[list[socket.socket]] = []
        self._short_lives: Final[Counter[int]] = Counter()
        self._false_starts: Final[Counter[int]] = Counter()

    # The server waits on an event whose lock is not reentrant: a signal in the middle of another's
    # handler, or in the middle of the wait, would set it under its own lock and hang.

    def signal_handler_interrupt(self, *_: object) -> None:
        if not self.interrupt_signal:
            self.interrupt_signal = True
            threading.Thread(target=self.main_loop_interrupt.set).start()

    def signal_handler_reload(self, *_: object) -> None:
        if not self.reload_signal:
            self.reload_signal = True
            threading.Thread(target=self.main_loop_interrupt.set).start()

    def _init_shared_socket(self) -> None:
        address = (self.bind_addr, self.bind_port)
        family = socket.AF_INET6 if ":" in self.bind_addr else socket.AF_INET
        for _ in range(self.workers):
            listening = socket.socket(family)
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            # The system spreads connections over the sockets of all workers.
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            listening.bind(address)
            listening.listen(self.backlog)
            listening.setblocking(False)
            self._sockets.append(listening)
        self._ssp = None

    def _drop_shared_socket(self) -> None:
        for listening in self._sockets:
            listening.close()

    def _spawn_worker(  # type: ignore[override]
        self, idx: int, target: Any, callback_loader: Any
    ) -> WorkerProcess:
        self._sso = self._sockets[idx]
        self._shd: Any = _Listening(self._sso, self.backlog)
        made: WorkerProcess = super()._spawn_worker(idx, target, callback_loader)
        return made

    def _serve_loop(self, spawn_target: Any, target_loader: Any) -> None:
        """Until a signal says to stop, or a worker cannot be had."""

        def spawn(idx: int) -> WorkerProcess:
            made = self._spawn_worker(idx, spawn_target, target_loader)
            made.start()  # type: ignore[no-untyped-call]
            return made

        while not self.interrupt_signal:
            self.main_loop_interrupt.wait()
            self.main_loop_interrupt.clear()
            if self.interrupt_children and not self._replace(spawn):
                # Granian's exit code is 1 where somebody is missing.
                return
            if self.reload_signal and not self.interrupt_signal:
                self.reload_signal = False
                self._renew(spawn)

    def _replace(self, spawn: Callable[[int], WorkerProcess]) -> bool:
        """Start the successors of workers that have died; False where that is to no avail."""
        # Others may be added meanwhile, with another interruption.
        for idx in list(self.interrupt_children):
            old = self.wrks[idx]
            if _alive(old):
                self.interrupt_children.remove(idx)
                continue
            short = time.monotonic() - old.birth < _SHORT_LIFE_SECONDS
            self._short_lives[idx] = self._short_lives[idx] + 1 if short else 0
            began = _ready_file(self._run_folder, old.inner.pid).exists()
            # Whoever was killed from outside might have served.
            began |= (old.inner.exitcode or 0) < 0
            self._false_starts[idx] = 0 if began else self._false_starts[idx] + 1
            if self._false_starts[idx] >= _FALSE_STARTS:
                _logger.error(
                    "worker %d ended %d times before it served: giving up", idx + 1, _FALSE_STARTS
                )
                return False
            if not self._pause(_pause(self._short_lives[idx])):
                return True
            _logger.warning(
                "worker %d has died (exit code %s) and is replaced", idx + 1, old.inner.exitcode
            )
            self.interrupt_children.remove(idx)
            self.wrks[idx] = spawn(idx)
        return True

    def _renew(self, spawn: Callable[[int], WorkerProcess]) -> None:
        """Let a new worker take over from each, one after another."""
        for idx in range(self.workers):
            old, new = self.wrks[idx], spawn(idx)
            # One that does not start is no reason to replace the one that serves.
            new.interrupt_by_parent = True
            if not self._until_ready(new):
                new.kill()  # type: ignore[no-untyped-call]
                if not self.interrupt_signal:
                    _logger.error("worker %d is not renewed: the new one does not start", idx + 1)
                return
            new.interrupt_by_parent = False
            self.wrks[idx] = new
            _send(LEAVING, [old])
            _send(REPLACED, [old])
            self._pause(_LEAVE_SECONDS)
            self._end([old], _REPLACED_SECONDS)
            _logger.info("worker %d of %d has been renewed", idx + 1, self.workers)
            if not _alive(new):
                self.interrupt_children.append(idx)
                self.main_loop_interrupt.set()

    def _until_ready(self, worker: WorkerProcess) -> bool:
        end = time.monotonic() + _READY_SECONDS
        ready = _ready_file(self._run_folder, worker.inner.pid)
        while not ready.exists():
            if not _alive(worker) or self.interrupt_signal or time.monotonic() > end:
                return False
            time.sleep(_LOOK_SECONDS)
        return True

    def _pause(self, seconds: float) -> bool:
        """Wait; False where a signal to stop came meanwhile."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and not self.interrupt_signal:
            time.sleep(_LOOK_SECONDS)
        return not self.interrupt_signal

    def _stop_workers(self) -> None:
        if self._drain_seconds:
            _send(LEAVING, [worker for worker in self.wrks if self._serves(worker)])
            time.sleep(self._drain_seconds)
        self._end(self.wrks, self.workers_kill_timeout or 0)
        self.wrks.clear()

    def _serves(self, worker: WorkerProcess) -> bool:
        # Before that it would die of the signal.
        return _ready_file(self._run_folder, worker.inner.pid).exists()

    def _end(self, workers: Sequence[WorkerProcess], seconds: float) -> None:
        """Stop workers together: those that have not ended in time are killed. In a hurry where the
        whole service is to end."""
        for worker in workers:
            worker.interrupt_by_parent = True
        _send(ENDING, workers)
        for worker in workers:
            worker.terminate()  # type: ignore[no-untyped-call]
        begun, limit = time.monotonic(), self.workers_kill_timeout or 0
        for worker in workers:
            # Not joined: its watcher does that, and of two who wait one is told nothing.
            while _alive(worker) and time.monotonic() - begun < seconds:
                if self.interrupt_signal:
                    seconds = min(seconds, limit)
                time.sleep(_LOOK_SECONDS)
            if _alive(worker):
                _logger.warning("Killing worker %d: it did not end in time", worker.idx + 1)
                worker.kill()  # type: ignore[no-untyped-call]
                worker.join()  # type: ignore[no-untyped-call]
            _ready_file(self._run_folder, worker.inner.pid).unlink(missing_ok=True)


def _alive(worker: WorkerProcess) -> bool:
    return bool(worker.is_alive())  # type: ignore[no-untyped-call]


def _send(number: signal.Signals, workers: Sequence[WorkerProcess]) -> None:
    for worker in workers:
        if _alive(worker):
            with suppress(ProcessLookupError):
                os.kill(worker.inner.pid, number)


def _pause(short_lives: int) -> float:
    """Seconds to wait before a worker is started whose predecessors died young: none at first."""
    return 0.0 if short_lives <= 2 else min(0.1 * 2.0**short_lives, _LONGEST_PAUSE_SECONDS)
