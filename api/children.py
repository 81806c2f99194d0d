"""Processes that `fairdeal serve` starts, seen from both sides: they load their modules, wait until
they are told the environment in which to work, and end with the process that started them.
"""

import gc
import json
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from api import figure_files

ENDING: Final = signal.SIGTERM
"""What a process is sent that is to end: who waits is answered, streams say goodbye."""
RUN_FOLDER_ENV: Final = "FAIRDEAL_RUN_FOLDER"
"""Where the processes of a service say that they live, and find one another."""

_OF_A_TERMINAL: Final = (signal.SIGINT, signal.SIGHUP)
_SHORT_LIFE_SECONDS: Final = 10.0
_LONGEST_PAUSE_SECONDS: Final = 5.0
_NEW_OBJECTS: Final = 20_000
"""So many more objects made than dropped, and the garbage collector looks for cycles."""

_logger = logging.getLogger("fairdeal.serve")


class Child:
    """A process that runs a module, and the time at which it was started."""

    def __init__(self, module: str, *arguments: str, files: Sequence[int] = ()) -> None:
        """`files`: descriptors that it gets too."""
        self.born: Final = time.monotonic()
        self._heard, self._signed = self.born, 0.0
        # It looks for modules where this process does, not where that happens to have been started.
        with _unheard():
            self.process: Final = subprocess.Popen(
                [sys.executable, "-P", "-m", module, *arguments],
                env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
                stdin=subprocess.PIPE,
                pass_fds=files,
            )

    def begin(self) -> None:
        """Let it work in the environment of now. It ends when it reads the end of its input, which
        stays open as long as this process lives."""
        assert self.process.stdin is not None
        with suppress(BrokenPipeError):
            self.process.stdin.write(json.dumps(dict(os.environ)).encode() + b"\n")
            self.process.stdin.flush()

    @property
    def alive(self) -> bool:
        """Whether it has not ended."""
        return self.process.poll() is None

    @property
    def ready(self) -> bool:
        """Whether it has begun to work, at some time."""
        return self._sign.exists()

    @property
    def silent_seconds(self) -> float:
        """For how long no new sign of life has been seen, or since its birth none at all."""
        with suppress(OSError):
            signed = self._sign.stat().st_mtime
            if signed != self._signed:
                self._heard, self._signed = time.monotonic(), signed
        return time.monotonic() - self._heard

    def send(self, number: signal.Signals) -> None:
        """Send it a signal."""
        self.process.send_signal(number)

    def bury(self) -> None:
        """Kill it if it lives, and take away what it leaves behind."""
        if self.alive:
            self.process.kill()
        self.process.wait()
        assert self.process.stdin is not None
        with suppress(BrokenPipeError):
            self.process.stdin.close()
        with suppress(OSError):
            self._sign.unlink()

    @property
    def _sign(self) -> Path:
        return _sign_of_life(os.environ[RUN_FOLDER_ENV], self.process.pid)


class Place:
    """A place that one process fills after another."""

    def __init__(
        self, name: str, started: Callable[[], Child], buried: Callable[[Child], None]
    ) -> None:
        """`name` is how operators are told of it. `started` starts a process for it, `buried` is
        told of one that has died."""
        self.name: Final = name
        self._started: Final = started
        self._buried: Final = buried
        self.child = started()
        self.false_starts = 0
        """How many in a row ended before they worked."""
        self._short_lives = 0
        self._empty_until: float | None = None

    def successor(self) -> Child:
        """A new process, which works beside the one that has the place."""
        child = self._started()
        child.begin()
        return child

    def fill(self, child: Child) -> None:
        """Let a process have the place."""
        self.child, self._empty_until = child, None

    def tend(self) -> None:
        """Fill the place again, as soon as may be, if its process has died."""
        if self._empty_until is None and not self.child.alive:
            self._empty_until = time.monotonic() + self._died()
        if self._empty_until is not None and time.monotonic() >= self._empty_until:
            self.fill(self.successor())

    def _died(self) -> float:
        """Bury the process; how many seconds to wait for the next."""
        child = self.child
        short = time.monotonic() - child.born < _SHORT_LIFE_SECONDS
        self._short_lives = self._short_lives + 1 if short else 0
        code = child.process.returncode
        # Whoever was killed from outside might have worked.
        self.false_starts = 0 if child.ready or code < 0 else self.false_starts + 1
        child.bury()
        self._buried(child)
        _logger.warning("%s has died (exit code %s) and is replaced", self.name, code)
        return _pause(self._short_lives)


def _pause(short_lives: int) -> float:
    """Seconds to wait before a process is started whose predecessors died young: none at first."""
    return 0.0 if short_lives <= 2 else min(0.1 * 2.0**short_lives, _LONGEST_PAUSE_SECONDS)


def be_a_child() -> None:
    """Called first by a process that was started as a Child: it goes on in the environment that it
    is given, and ends when its parent does."""
    given = sys.stdin.buffer.readline()
    if not given:
        sys.exit(1)
    os.environ.update(json.loads(given))
    try:
        figure_files.hold_room()
    except OSError as error:
        folder = os.environ[figure_files.METRICS_FOLDER_ENV]
        sys.exit(f"fairdeal: figures cannot be kept in {folder}: {error.strerror}")
    threading.Thread(target=_end_with_parent, name="parent-watch", daemon=True).start()


def say_ready() -> None:
    """Called by a child that works; again and again where it is to be seen that it still does."""
    folder = os.environ.get(RUN_FOLDER_ENV)
    if folder:
        try:
            _sign_of_life(folder, os.getpid()).touch()
        except OSError as error:
            # Its work does not hang on it.
            _logger.warning("no sign of life can be left in %s: %s", folder, error.strerror)


def collect_seldom() -> None:
    """What is here now stays, and what is made from now on has mostly no cycles: looking for them
    after every 700 objects took a sixteenth of a busy worker's time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(_NEW_OBJECTS)


def _sign_of_life(folder: str, pid: int) -> Path:
    return Path(folder) / f"ready-{pid}"


def _end_with_parent() -> None:
    """The parent holds the other end of standard input, however it ends."""
    while os.read(sys.stdin.fileno(), 1):
        pass
    os._exit(1)


@contextmanager
def _unheard() -> Iterator[None]:
    """What a terminal sends to all processes at once is for the parent alone: who is started in
    here never hears it, from the first moment on, and the parent does when the block has ended."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _OF_A_TERMINAL)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
