"""The worker processes of `fairdeal serve`, seen from the process that starts them: replaced when
they die, renewed one after another, stopped together. What a worker does is in `worker`.

The listening sockets are opened here and stay open, one for each worker and its successors, so that
nobody who connects while a worker is replaced is turned away. A worker that has been started loads
its modules, then waits until it is told the environment in which to serve.
"""

import json
import logging
import os
import resource
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Final, Self

from api import ended_workers
from api.run_folder import RunFolder

LEAVING: Final = signal.SIGUSR2
"""What a worker is sent that others are to take over from: it is no longer ready, and keeps no
connection alive."""
REPLACED: Final = signal.SIGURG
"""What a worker is sent whose successor listens at the same socket: it accepts no more. (One signal
that a terminal sends to nobody, and that does no harm where nobody listens for it.)"""
ENDING: Final = signal.SIGTERM
"""What a worker is sent that is to end: who waits is answered, streams say goodbye."""
RUN_FOLDER_ENV: Final = "FAIRDEAL_RUN_FOLDER"
"""Where workers say that they have begun to serve, and find one another."""
METRICS_FOLDER_ENV: Final = "PROMETHEUS_MULTIPROC_DIR"
"""Where the workers of one service keep their figures, so that any of them can tell all."""

_OF_A_TERMINAL: Final = (signal.SIGINT, signal.SIGHUP)
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
_BACKLOG: Final = 4_096
"""How many may wait to be accepted by each worker."""
_FILES: Final = 32_768
"""How many files a worker wants to hold open: twice as many as connections."""
_FREE_SECONDS: Final = 2.0
"""How long to wait for a port that a process just killed may still hold."""

_logger = logging.getLogger("fairdeal.serve")


def say_ready() -> None:
    """Called by a worker that serves."""
    folder = os.environ.get(RUN_FOLDER_ENV)
    if folder:
        _ready_file(folder, os.getpid()).touch()


def _ready_file(folder: str | Path, pid: int) -> Path:
    return Path(folder) / f"ready-{pid}"


class ServeError(Exception):
    """The server cannot start, or go on; the message says why and what to do."""


class _Worker:
    """A worker process and the time at which it was started."""

    def __init__(self, listening: socket.socket, run_folder: Path) -> None:
        number = listening.fileno()
        self._folder: Final = run_folder
        self.born: Final = time.monotonic()
        # It looks for modules where this process does, not where that happens to have been started.
        with _unheard():
            self.process: Final = subprocess.Popen(
                [sys.executable, "-P", "-m", "api.worker", str(number), str(_BACKLOG)],
                env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
                stdin=subprocess.PIPE,
                pass_fds=[number],
            )

    def begin(self) -> None:
        """Let it serve in the environment of now. It ends when it reads the end of its input, which
        stays open as long as this process lives."""
        assert self.process.stdin is not None
        with suppress(BrokenPipeError):
            self.process.stdin.write(json.dumps(dict(os.environ)).encode() + b"\n")
            self.process.stdin.flush()

    @property
    def alive(self) -> bool:
        return self.process.poll() is None

    @property
    def ready(self) -> bool:
        """Whether it has begun to serve, at some time."""
        return _ready_file(self._folder, self.process.pid).exists()

    def send(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def bury(self) -> None:
        """Kill it if it lives, and take away what it leaves behind."""
        if self.alive:
            self.process.kill()
        self.process.wait()
        assert self.process.stdin is not None
        with suppress(BrokenPipeError):
            self.process.stdin.close()
        _ready_file(self._folder, self.process.pid).unlink(missing_ok=True)


@contextmanager
def _unheard() -> Iterator[None]:
    """What a terminal sends to all processes at once is for the parent alone: who is started in
    here never hears it, from the first moment on, and the parent does when the block has ended."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _OF_A_TERMINAL)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class Workers:
    """Workers that can be lost, renewed and stopped without a caller being turned away.

    They load what they need from the begin of the block on, and are gone at its end; `serve` has
    them serve. SIGHUP renews them one by one. SIGTERM and SIGINT stop them, after `drain_seconds`
    in which they say that they are not ready and otherwise go on; from then on within
    `stop_seconds`. A second such signal ends the draining, a third kills what is left.
    """

    def __init__(self, host: str, port: int, count: int) -> None:
        """Raises ServeError where somebody else listens there already."""
        _check_free(host, port)
        _allow_files()
        self._folder: Final = RunFolder()
        os.environ[RUN_FOLDER_ENV] = str(self._folder.path)
        self._counts: Final = self._folder.path / "metrics" if count > 1 else None
        """Where workers add their counts up in files, whichever of them is asked."""
        if self._counts is not None:
            self._counts.mkdir()
            os.environ[METRICS_FOLDER_ENV] = str(self._counts)
        self._ended: Final[set[int]] = set()
        """Workers whose counts are to be kept without them."""
        self._sockets: Final = [_listening(host, port) for _ in range(count)]
        self._workers: Final[list[_Worker]] = []
        self._short_lives: Final = [0] * count
        self._false_starts: Final = [0] * count
        self._drain_seconds = self._stop_seconds = 0.0
        self._stops = 0
        """How often a signal has said to stop."""
        self._signal = signal.SIGTERM.value
        """The one that did so last."""
        self._renewal = False
        # Written to by whatever signal comes, so that nobody sleeps through it.
        self._woken, self._waking = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)

    def __enter__(self) -> Self:
        # Until they serve there is nothing to be renewed, and nothing to be ended with care.
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        self._on_stop(self._stop)
        try:
            for each in self._sockets:
                self._workers.append(_Worker(each, self._folder.path))
            self._on_stop(self._leave)
            if self._stops:
                sys.exit(128 + self._signal)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        # Who is in a hurry is so no less than this: a worker not buried would miss its folder.
        self._on_stop(self._stop)
        for worker in self._workers:
            worker.bury()
        for listening in self._sockets:
            listening.close()
        self._folder.remove()
        signal.set_wakeup_fd(-1)
        os.close(self._woken)
        os.close(self._waking)

    def serve(self, drain_seconds: float, stop_seconds: float) -> None:
        """Until a signal says to stop. Raises ServeError where a worker cannot be had."""
        self._drain_seconds, self._stop_seconds = drain_seconds, stop_seconds
        self._on_stop(self._stop)
        signal.signal(signal.SIGHUP, self._renew_soon)
        signal.set_wakeup_fd(self._waking, warn_on_full_buffer=False)
        for worker in self._workers:
            worker.begin()
        while not self._stops:
            for index, worker in enumerate(self._workers):
                if not worker.alive:
                    self._replace(index)
            if self._renewal and not self._stops:
                self._renewal = False
                self._renew()
            self._keep_counts()
            self._pause(_LOOK_SECONDS)
        self._stop_workers()

    def _on_stop(self, handler: Callable[[int, FrameType | None], None]) -> None:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, handler)

    def _stop(self, number: int, _: FrameType | None) -> None:
        self._stops += 1
        self._signal = number

    def _leave(self, number: int, _: FrameType | None) -> None:
        # Where nobody hears of the exit, as in a callback of the garbage collector's, `serve` does.
        self._stops += 1
        sys.exit(128 + number)

    def _renew_soon(self, _: int, __: FrameType | None) -> None:
        self._renewal = True

    def _started(self, index: int) -> _Worker:
        worker = _Worker(self._sockets[index], self._folder.path)
        worker.begin()
        self._ended.discard(worker.process.pid)
        return worker

    def _keep_counts(self, *ended: _Worker) -> None:
        """Keep what these have counted, and those for whom it was not to be done before."""
        self._ended.update([worker.process.pid for worker in ended])
        if self._counts is None or not self._ended or ended_workers.fold(self._counts, self._ended):
            self._ended.clear()

    def _replace(self, index: int) -> None:
        """Start the successor of a worker that has died."""
        old = self._workers[index]
        short = time.monotonic() - old.born < _SHORT_LIFE_SECONDS
        self._short_lives[index] = self._short_lives[index] + 1 if short else 0
        code = old.process.returncode
        # Whoever was killed from outside might have served.
        began = old.ready or code < 0
        self._false_starts[index] = 0 if began else self._false_starts[index] + 1
        old.bury()
        self._keep_counts(old)
        if self._false_starts[index] >= _FALSE_STARTS:
            raise ServeError(
                f"Worker {index + 1} ended {_FALSE_STARTS} times before it served: giving up."
            )
        if self._pause(_pause(self._short_lives[index])):
            _logger.warning("worker %d has died (exit code %s) and is replaced", index + 1, code)
            self._workers[index] = self._started(index)

    def _renew(self) -> None:
        """Let a new worker take over from each, one after another."""
        for index, old in enumerate(self._workers):
            new = self._started(index)
            if not self._until_ready(new):
                # One that does not start is no reason to replace the one that serves.
                new.bury()
                self._keep_counts(new)
                if not self._stops:
                    _logger.error("worker %d is not renewed: the new one does not start", index + 1)
                return
            self._workers[index] = new
            old.send(LEAVING)
            old.send(REPLACED)
            self._pause(_LEAVE_SECONDS)
            self._end([old], _REPLACED_SECONDS)
            self._keep_counts(old)
            _logger.info("worker %d of %d has been renewed", index + 1, len(self._workers))

    def _until_ready(self, worker: _Worker) -> bool:
        end = time.monotonic() + _READY_SECONDS
        while not worker.ready:
            if not worker.alive or time.monotonic() > end or not self._pause(_LOOK_SECONDS):
                return False
        return True

    def _pause(self, seconds: float, stops: int = 0) -> bool:
        """Wait; False where more than so many signals to stop have come."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and self._stops <= stops:
            self._look_away()
        return self._stops <= stops

    def _look_away(self) -> None:
        """Sleep a little, but not through a signal."""
        select.select([self._woken], [], [], _LOOK_SECONDS)
        with suppress(BlockingIOError):
            os.read(self._woken, 1024)

    def _stop_workers(self) -> None:
        if self._drain_seconds:
            for worker in self._workers:
                # Before that it would die of the signal.
                if worker.ready:
                    worker.send(LEAVING)
            self._pause(self._drain_seconds, stops=1)
        # Whoever comes now is turned away at once, not kept waiting for nobody.
        for listening in self._sockets:
            listening.close()
        self._end(self._workers, self._stop_seconds)

    def _end(self, workers: Sequence[_Worker], seconds: float) -> None:
        """Stop workers together: those that have not ended in time are killed. In a hurry where the
        whole service is to end."""
        for worker in workers:
            worker.send(ENDING)
        begun = time.monotonic()
        for worker in workers:
            while worker.alive and time.monotonic() - begun < seconds and self._stops <= 2:
                if self._stops:
                    seconds = min(seconds, self._stop_seconds)
                self._look_away()
            if worker.alive:
                _logger.warning("Killing a worker: it did not end in time")
            worker.bury()


def _allow_files() -> None:
    """Let this process, and so its workers, hold as many connections as the system lets it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    allowed = _FILES if hard == resource.RLIM_INFINITY else min(_FILES, hard)
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


def _listening(host: str, port: int) -> socket.socket:
    found = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    # The system spreads connections over the sockets of all workers.
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    found.bind((host, port))
    found.listen(_BACKLOG)
    found.setblocking(False)
    return found


def _pause(short_lives: int) -> float:
    """Seconds to wait before a worker is started whose predecessors died young: none at first."""
    return 0.0 if short_lives <= 2 else min(0.1 * 2.0**short_lives, _LONGEST_PAUSE_SECONDS)
