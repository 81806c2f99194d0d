"""The files in which a service's processes keep their figures, so that any worker can tell all.

What processes that have ended had counted is kept in one file of each kind, so that there are files
of the processes that live, and these. Their parent folds; whoever scrapes has the folder unchanged
meanwhile, and so sees every count once. A process that ends is told of as if it lived until its
parent has noticed.
"""

import fcntl
import os
import struct
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from prometheus_client import Metric

METRICS_FOLDER_ENV: Final = "PROMETHEUS_MULTIPROC_DIR"
"""The folder with the files, as the library that writes them has it."""

_LOCK: Final = "lock"


def hold_room() -> None:
    """Take the room that the files of this process may need: they are mapped, and on a disk that
    has become full a process would be killed for counting. Raises OSError where it is not there."""
    folder = os.environ.get(METRICS_FOLDER_ENV)
    if folder:
        for path in Path(folder).glob(f"*_{os.getpid()}.db"):
            with path.open("r+b") as file:
                os.posix_fallocate(file.fileno(), 0, os.fstat(file.fileno()).st_size)


class WholeFiles:
    """A collector of the figures in a folder. A file that has just been made, or that a kill has
    left so, is empty and tells nothing; the library's own collector would fail for it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def collect(self) -> "Iterable[Metric]":
        """The figures of all processes together."""
        from prometheus_client.multiprocess import MultiProcessCollector

        files = [str(path) for path in self._folder.glob("*.db") if path.stat().st_size]
        metrics: Iterable[Metric] = MultiProcessCollector.merge(files)  # type: ignore[no-untyped-call]
        return metrics


@contextmanager
def unchanged(folder: Path) -> Iterator[bool]:
    """Nothing is folded in the folder of the figures during the block; False where it is not to be
    had at once."""
    with _locked(folder, fcntl.LOCK_SH) as held:
        yield held


def fold(folder: Path, ended: Collection[int]) -> bool:
    """Add what these processes, which live no more, had counted to that of others before them, and
    drop what they told of their present state.

    False where it is to be done again: somebody scrapes, or the disk is full. Nothing is lost then.
    """
    with _locked(folder, fcntl.LOCK_EX) as held:
        if not held:
            return False
        left: dict[str, list[Path]] = {}
        for pid in ended:
            for path in folder.glob(f"*_{pid}.db"):
                left.setdefault(path.name.partition("_")[0], []).append(path)
        try:
            for kind, paths in left.items():
                if kind != "gauge":
                    _add(folder / f"{kind}_ended.db", paths)
                for path in paths:
                    path.unlink()
        except OSError:
            return False
        return True


def _add(kept: Path, paths: Collection[Path]) -> None:
    # Of the library that reads these files; the parent, which starts soon, loads it here.
    from prometheus_client.mmap_dict import MmapedDict

    sums: defaultdict[str, float] = defaultdict(float)
    for path in (kept, *paths):
        for name, value in _counted(path).items():
            sums[name] += value
    draft = kept.with_suffix(".draft")
    # Written before it is mapped: on a full disk a mapped file would kill the process.
    draft.write_bytes(bytes(8 + sum([len(name.encode()) + 28 for name in sums])))
    file = MmapedDict(str(draft))  # type: ignore[no-untyped-call]
    for name, value in sums.items():
        file.write_value(name, value, 0.0)  # type: ignore[no-untyped-call]
    file.close()  # type: ignore[no-untyped-call]
    draft.replace(kept)


def _counted(path: Path) -> dict[str, float]:
    """The counts of a file by the names that they have in it; none where it was never whole."""
    from prometheus_client.mmap_dict import MmapedDict

    try:
        values = MmapedDict.read_all_values_from_file(str(path))  # type: ignore[no-untyped-call]
        return {name: value for name, value, _, _ in values}
    except (FileNotFoundError, RuntimeError, ValueError, struct.error):
        return {}


@contextmanager
def _locked(folder: Path, how: int) -> Iterator[bool]:
    try:
        lock = open(folder / _LOCK, "a")  # noqa: SIM115 - closed below
    except OSError:
        yield False
        return
    with lock:
        try:
            fcntl.flock(lock, how | fcntl.LOCK_NB)
            held = True
        except BlockingIOError:
            held = False
        yield held
