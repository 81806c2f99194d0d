"""The folder in which the workers of one `fairdeal serve` find one another. It goes with the
process, or, where that was killed, when another one starts.

The process holds a lock on its folder, which ends with it however it ends.
"""

import fcntl
import os
import shutil
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import Final

_PREFIX: Final = "fairdeal-run-"


class RunFolder:
    """A new folder that this user alone can enter; those of processes that were killed are removed
    on the way."""

    def __init__(self) -> None:
        remove_abandoned()
        while True:
            self._folder = TemporaryDirectory(prefix=_PREFIX, ignore_cleanup_errors=True)
            held = _locked(self._folder.name)
            if held is not None:
                break
            # Another process that starts has taken it for abandoned before it was locked.
            self._folder.cleanup()
        self._held = held
        self.path: Final = Path(self._folder.name)

    def keep(self) -> None:
        """Let it be there, if somebody has removed it. Raises OSError."""
        if not self.path.is_dir():
            self.path.mkdir(0o700)
            held = _locked(self.path)
            if held is not None:
                os.close(self._held)
                self._held = held

    def remove(self) -> None:
        """Remove it, with what is in it."""
        self._folder.cleanup()
        os.close(self._held)


def remove_abandoned() -> None:
    """Remove the folders of this user's processes that live no more."""
    for path in Path(gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(OSError):
            held = _locked(path)
            if held is not None:
                shutil.rmtree(path, ignore_errors=True)
                os.close(held)


def _locked(path: str | Path) -> int | None:
    """A lock on a folder; None where that is gone, another's, no folder, or locked already."""
    try:
        found = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        fcntl.flock(found, fcntl.LOCK_EX | fcntl.LOCK_NB)
        opened, there = os.fstat(found), os.lstat(path)
        if os.path.samestat(opened, there) and opened.st_uid == os.geteuid():
            return found
    except (BlockingIOError, FileNotFoundError):
        pass
    os.close(found)
    return None
