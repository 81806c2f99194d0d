"""Lines of the log on their way to stderr, in a thread of their own: whoever reads them slowly, or
not at all, holds up nobody who is to be answered."""

import logging
import os
import queue
import threading
import time
from typing import Final

_KEPT: Final = 10_000
"""Lines that wait at most. What comes on top is dropped, and it is told how many were."""
_FLUSH_SECONDS: Final = 1.0
"""How long the end of a process waits for what is not written yet."""
_STDERR: Final = 2


class LogWriter(logging.Handler):
    """Writes each record as its formatter has it, to a file descriptor."""

    def __init__(self, descriptor: int = _STDERR, kept: int = _KEPT) -> None:
        super().__init__()
        self._descriptor: Final = descriptor
        self._lines: Final[queue.Queue[str]] = queue.Queue(kept)
        self._dropped = 0
        # Daemonic: a reader who takes nothing does not keep the process from ending either.
        threading.Thread(target=self._write, name="log-writer", daemon=True).start()

    def emit(self, record: logging.LogRecord) -> None:
        """Put the record's line into the queue, or drop it where that is full."""
        try:
            self._lines.put_nowait(self.format(record))
        except queue.Full:
            self._dropped += 1
        except Exception:
            self.handleError(record)

    def flush(self) -> None:
        """Wait until all is written, but not for long."""
        end = time.monotonic() + _FLUSH_SECONDS
        while self._lines.unfinished_tasks and time.monotonic() < end:
            time.sleep(0.005)

    def _write(self) -> None:
        while True:
            line = self._lines.get()
            dropped, self._dropped = self._dropped, 0
            if dropped:
                line = f"{self._told(dropped)}\n{line}"
            try:
                self._all(f"{line}\n".encode(errors="backslashreplace"))
            except OSError:
                # Nobody will read it any more; what follows may find a reader again.
                pass
            finally:
                self._lines.task_done()

    def _told(self, dropped: int) -> str:
        words = "%d lines of the log were dropped: nobody read them"
        record = logging.LogRecord(
            "fairdeal.log", logging.WARNING, __file__, 0, words, (dropped,), None
        )
        return self.format(record)

    def _all(self, data: bytes) -> None:
        # Past Python's own buffers, whose lock a thread that is stuck would take to the end.
        while data:
            data = data[os.write(self._descriptor, data) :]
