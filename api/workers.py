"""The processes of `fairdeal serve`, seen from the one that starts them: replaced when they die,
renewed one after another, stopped together. What they do is in `worker` and `projector`.

The listening sockets are opened here and stay open, one for each worker and its successors, so that
nobody who connects while a worker is replaced is turned away.
"""

import logging
import os
import resource
import select
import signal
import socket
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from types import FrameType
from typing import Final, Self

from api import figure_files
from api.children import ENDING, RUN_FOLDER_ENV, Child, Place
from api.figure_files import METRICS_FOLDER_ENV
from api.run_folder import RunFolder

LEAVING: Final = signal.SIGUSR2
"""What a worker is sent that others are to take over from: it is no longer ready, and keeps no
connection alive."""
REPLACED: Final = signal.SIGURG
"""What a worker is sent whose successor listens at the same socket: it accepts no more. (One signal
that a terminal sends to nobody, and that does no harm where nobody listens for it.)"""
_READY_SECONDS: Final = 60.0
"""How long a process may take until it works."""
_LEAVE_SECONDS: Final = 1.0
"""How long a worker that is renewed answers what has reached it."""
_REPLACED_SECONDS: Final = 20.0
"""How long it may take to end after that: it is in nobody's way."""
_SILENT_SECONDS: Final = 10.0
"""A projector that has given no sign of life for so long stands still."""
_LEAST_SECONDS: Final = 0.5
"""How long the projector may take to end, when the workers have taken all the time there was."""
_LOOK_SECONDS: Final = 0.02
_FALSE_STARTS: Final = 5
"""A worker that ends so often in a row before it serves will not do so the next time either."""
_BACKLOG: Final = 4_096
"""How many may wait to be accepted by each worker."""
_FILES: Final = 32_768
"""How many files a worker wants to hold open: twice as many as connections."""
_FREE_SECONDS: Final = 2.0
"""How long to wait for a port that a process just killed may still hold."""

_logger = logging.getLogger("fairdeal.serve")


class ServeError(Exception):
    """The server cannot start, or go on; the message says why and what to do."""


class Workers:
    """Workers, and a projector beside them, that can be lost, renewed and stopped without a caller
    being turned away.

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
        # The processes add their counts up in files there, whichever of them is asked.
        self._counts: Final = self._folder.path / "metrics"
        self._counts.mkdir()
        os.environ[METRICS_FOLDER_ENV] = str(self._counts)
        self._ended: Final[set[int]] = set()
        """Processes whose counts are to be kept without them."""
        self._sockets: Final = [_listening(host, port) for _ in range(count)]
        self._workers: Final[list[Place]] = []
        self._projector: Place | None = None
        self._drain_seconds = self._stop_seconds = 0.0
        self._projections = False
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
            for number, listening in enumerate(self._sockets, 1):
                fd = listening.fileno()
                arguments = (str(fd), str(_BACKLOG))
                self._workers.append(
                    self._place(f"worker {number}", "api.worker", *arguments, files=[fd])
                )
            self._on_stop(self._leave)
            if self._stops:
                sys.exit(128 + self._signal)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        # Who is in a hurry is so no less than this: a process not buried would miss its folder.
        self._on_stop(self._stop)
        for place in self._places:
            place.child.bury()
        for listening in self._sockets:
            listening.close()
        self._folder.remove()
        signal.set_wakeup_fd(-1)
        os.close(self._woken)
        os.close(self._waking)

    def serve(self, drain_seconds: float, stop_seconds: float, *, projections: bool) -> None:
        """Until a signal says to stop; `projections`: with a projector. Raises ServeError where a
        worker cannot be had."""
        self._drain_seconds, self._stop_seconds = drain_seconds, stop_seconds
        self._projections = projections
        self._on_stop(self._stop)
        signal.signal(signal.SIGHUP, self._renew_soon)
        signal.set_wakeup_fd(self._waking, warn_on_full_buffer=False)
        for worker in self._workers:
            worker.child.begin()
        while not self._stops:
            self._tend()
            if self._renewal and not self._stops:
                self._renewal = False
                self._renew()
            self._keep_counts()
            self._pause(_LOOK_SECONDS)
        self._stop_all()

    @property
    def _places(self) -> list[Place]:
        return [*self._workers, *([] if self._projector is None else [self._projector])]

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

    def _tend(self, renewed: Place | None = None) -> None:
        """Replace what has died, but at the place that is being renewed. Raises ServeError."""
        for worker in self._workers:
            if worker is not renewed:
                worker.tend()
            in_vain = worker.false_starts >= _FALSE_STARTS
            if in_vain and not any(each.child.alive and each.child.ready for each in self._workers):
                raise ServeError(
                    f"{worker.name.capitalize()} ended {_FALSE_STARTS} times before it served: "
                    "giving up."
                )
        if self._projections and (renewed is None or renewed is not self._projector):
            self._tend_projector()

    def _tend_projector(self) -> None:
        """Let there be one, once the workers serve: nobody waits for it to load. Games go on
        without one, so whatever it has, it is tried again."""
        place = self._projector
        if place is None:
            if all(worker.child.ready for worker in self._workers):
                self._projector = self._place("the projector", "api.projector")
                self._projector.child.begin()
            return
        place.tend()
        child = place.child
        patience = _SILENT_SECONDS if child.ready else _READY_SECONDS
        if child.alive and child.silent_seconds > patience:
            _logger.warning("%s stands still", place.name)
            child.process.kill()

    def _place(self, name: str, module: str, *arguments: str, files: Sequence[int] = ()) -> Place:
        def started() -> Child:
            with suppress(OSError):
                self._folder.keep()
                self._counts.mkdir(exist_ok=True)
            child = Child(module, *arguments, files=files)
            self._ended.discard(child.process.pid)
            return child

        return Place(name, started, self._keep_counts)

    def _keep_counts(self, *ended: Child) -> None:
        """Keep what these have counted, and those for whom it was not to be done before."""
        self._ended.update([child.process.pid for child in ended])
        if not self._ended or figure_files.fold(self._counts, self._ended):
            self._ended.clear()

    def _renew(self) -> None:
        """Let a new process take over from each, one after another."""
        for place in self._places:
            old, new = place.child, place.successor()
            if not self._until_ready(place, new):
                # One that does not start is no reason to replace the one that works.
                new.bury()
                self._keep_counts(new)
                if not self._stops:
                    _logger.error("%s is not renewed: the new one does not start", place.name)
                return
            place.fill(new)
            if place is not self._projector:
                old.send(LEAVING)
                old.send(REPLACED)
                self._pause(_LEAVE_SECONDS)
            self._end([old], _REPLACED_SECONDS)
            self._keep_counts(old)
            _logger.info("%s has been renewed", place.name)

    def _until_ready(self, place: Place, child: Child) -> bool:
        end = time.monotonic() + _READY_SECONDS
        while not child.ready:
            if not child.alive or time.monotonic() > end or not self._pause(_LOOK_SECONDS):
                return False
            self._tend(renewed=place)
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

    def _stop_all(self) -> None:
        workers = [worker.child for worker in self._workers]
        if self._drain_seconds:
            for worker in workers:
                # Before that it would die of the signal.
                if worker.ready:
                    worker.send(LEAVING)
            self._pause(self._drain_seconds, stops=1)
        # Whoever comes now is turned away at once, not kept waiting for nobody.
        for listening in self._sockets:
            listening.close()
        end = time.monotonic() + self._stop_seconds
        self._end(workers, self._stop_seconds)
        # Last, since answers may wait for what it does; it needs next to no time.
        if self._projector is not None:
            self._end([self._projector.child], max(_LEAST_SECONDS, end - time.monotonic()))

    def _end(self, children: Sequence[Child], seconds: float) -> None:
        """Stop processes together: those that have not ended in time are killed. In a hurry where
        the whole service is to end."""
        for child in children:
            child.send(ENDING)
        begun = time.monotonic()
        for child in children:
            while child.alive and time.monotonic() - begun < seconds and self._stops <= 2:
                if self._stops:
                    seconds = min(seconds, self._stop_seconds)
                self._look_away()
            if child.alive:
                _logger.warning("Killing a process: it did not end in time")
            child.bury()


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
