"""Secrets in files of the data folder: made once, readable by their owner alone, changed whole."""

import fcntl
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from api.settings import DATA_DIR_ENV, SettingsError


def kept(path: Path, text: str, instead: str) -> tuple[str, bool]:
    """What the file holds, and whether it is new: `text` is written there if there was no file.

    Raises SettingsError where it cannot be written or read; `instead` says what to set then.
    """
    if path.exists():
        # The folder may be one that nobody writes to.
        return read(path), False
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _draft(path, text) as draft:
            # A link appears whole and never over another: of two first starts one makes the file.
            os.link(draft, path)
        new = True
    except FileExistsError:
        new = False
    except OSError as error:
        raise SettingsError(
            f"{path} cannot be written ({error.strerror}). Set {DATA_DIR_ENV} to a folder of "
            f"yours, or give {instead}."
        ) from None
    return read(path), new


def read(path: Path) -> str:
    """What the file holds. Raises SettingsError."""
    try:
        return path.read_text().strip()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise SettingsError(f"{path} cannot be read ({reason}).") from None


@contextmanager
def changing(path: Path) -> Iterator[None]:
    """Alone with the file's folder: others who want to change a file there wait. Raises
    SettingsError."""
    try:
        lock = os.open(path.parent, os.O_RDONLY)
    except OSError as error:
        raise SettingsError(f"{path.parent} cannot be opened ({error.strerror}).") from None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def replace(path: Path, text: str) -> None:
    """Put a new file in the old one's place; readers find either whole. Raises SettingsError."""
    try:
        with _draft(path, text) as draft:
            old = path.stat()
            if (old.st_uid, old.st_gid) != (os.geteuid(), os.getegid()):
                # Who serves is often not who rotates, and root may give files away.
                os.chown(draft, old.st_uid, old.st_gid)
            os.replace(draft, path)
    except OSError as error:
        raise SettingsError(f"{path} cannot be written ({error.strerror}).") from None


@contextmanager
def _draft(path: Path, text: str) -> Iterator[Path]:
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(text + "\n")
            file.flush()
            os.fsync(file.fileno())
        yield draft
    finally:
        draft.unlink(missing_ok=True)
