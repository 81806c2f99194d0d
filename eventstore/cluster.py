"""The data folder of the embedded Postgres and the server on it. Does not ask who else uses it.

Only pg_isready and pg_ctl are asked how the server does. The number in its pid file may be another
process's by now: it is no evidence, and it must not keep a server from starting either.
"""

import os
import shlex
import shutil
import stat
import time
from hashlib import sha256
from pathlib import Path
from typing import Final
from urllib.parse import quote

from eventstore.programs import Account, EmbeddedPostgresError, Programs, find

_ROLE: Final = "postgres"
_PORT: Final = 5432
_LONGEST_SOCKET_PATH: Final = 99
"""In bytes; the kernels' own limits are 107 and 103."""
_RETRY_SECONDS: Final = 12.0
"""How long a server may refuse to start: the processes of one that was killed take a while."""
_START_SECONDS: Final = 120
"""How long a server that has started may take for its recovery."""
_STOP_SECONDS: Final = 60
_LONGEST_LOG: Final = 10_000_000
"""In bytes; a longer log is put aside at the next start."""

_SETTINGS: Final = (
    "listen_addresses=",
    "unix_socket_permissions=0700",
    f"port={_PORT}",
    "max_connections=200",
    "jit=off",
    "timezone=UTC",
    "log_timezone=UTC",
    # Details of an error quote rows.
    "log_error_verbosity=terse",
)
_THROWAWAY_SETTINGS: Final = ("fsync=off", "full_page_writes=off")
"""A killed server loses nothing under these, only a machine that goes down."""


class Cluster:
    """The data and the server on it. Whoever calls has the turn."""

    def __init__(self, folder: Path, who: Account | None, *, throwaway: bool) -> None:
        self._folder = folder
        self._account = who
        self._throwaway = throwaway
        self._data = folder / "postgres"
        self._log = self._data / "server.log"
        self._sockets = _socket_folder(folder)
        self._programs: Programs | None = None
        host = quote(str(self._sockets), safe="")
        self.url = f"postgresql://{_ROLE}@/postgres?host={host}&port={_PORT}"

    @property
    def programs(self) -> Programs:
        """Looked for once, and only in one's turn: they may have to be copied."""
        if self._programs is None:
            version = self._data / "PG_VERSION"
            major = int(version.read_text()) if version.exists() else None
            self._programs = find(self._folder, self._account, major)
        return self._programs

    def ensure_running(self) -> None:
        """Return when the server answers; made, started, or waited for as need be."""
        if not (self._data / "PG_VERSION").exists():
            self._create()
        _own_folder(self._sockets, self._account)
        began = time.monotonic()
        while True:
            match self._answer():
                case 0:
                    return
                case 1:
                    limit: float = _START_SECONDS
                    trouble = "it is still starting up or shutting down"
                    time.sleep(0.05)
                case _:
                    limit = _RETRY_SECONDS
                    trouble = self._start()
            if trouble and time.monotonic() - began > limit:
                raise EmbeddedPostgresError(
                    f"The Postgres in {self._data} does not start: {trouble} Its log is "
                    f"{self._log}. Settle what it reports, then try again."
                )

    def stop(self) -> None:
        """Stop the server if there is one; committed data is safe either way."""
        if self._answer() not in (0, 1):
            return
        for mode in ("fast", "immediate"):
            done = self.programs.call(
                "pg_ctl", "stop", "-D", str(self._data), "-m", mode, "-w", "-t",
                str(_STOP_SECONDS), timeout_seconds=_STOP_SECONDS + 10,
            )  # fmt: skip
            if done.returncode == 0:
                return
        raise EmbeddedPostgresError(
            f"The Postgres in {self._data} does not stop: {done.stdout.strip()} Its log is "
            f"{self._log}."
        )

    def _answer(self) -> int:
        """pg_isready's word: 0 it answers, 1 it refuses for now, 2 nobody is there."""
        if not (self._sockets / f".s.PGSQL.{_PORT}").exists():
            return 2
        return self.programs.call(
            "pg_isready", "-q", "-h", str(self._sockets), "-p", str(_PORT), "-t", "3",
            timeout_seconds=15,
        ).returncode  # fmt: skip

    def _create(self) -> None:
        """Make the data folder beside its place and move it there whole."""
        half = self._folder / "postgres.new"
        shutil.rmtree(half, ignore_errors=True)
        _own_folder(half, self._account)
        done = self.programs.call(
            "initdb", "-D", str(half), "-U", _ROLE, "-A", "trust", "-E", "UTF8", "--locale=C",
            "--no-instructions", *(["--no-sync"] if self._throwaway else []), timeout_seconds=300,
        )  # fmt: skip
        if done.returncode != 0:
            raise EmbeddedPostgresError(
                f"Postgres could not make its data in {half}: {done.stdout.strip()} Settle what "
                "it reports, then try again; nothing was kept."
            )
        half.rename(self._data)

    def _start(self) -> str:
        """Start the server and wait until it answers; what stood in the way, or nothing."""
        if self._log.exists() and self._log.stat().st_size > _LONGEST_LOG:
            self._log.replace(self._log.with_suffix(".log.old"))
        settings = [*_SETTINGS, *(_THROWAWAY_SETTINGS if self._throwaway else ())]
        settings.append(f"unix_socket_directories={self._sockets}")
        options = " ".join(f"-c {shlex.quote(setting)}" for setting in settings)
        done = self.programs.call(
            "pg_ctl", "start", "-D", str(self._data), "-l", str(self._log), "-o", options,
            "-w", "-t", str(_START_SECONDS), "-s", timeout_seconds=_START_SECONDS + 10,
        )  # fmt: skip
        if done.returncode == 0:
            return ""
        lines = self._log.read_text(errors="replace").splitlines() if self._log.exists() else []
        already = any('lock file "postmaster.pid" already exists' in line for line in lines[-5:])
        if already and self._abandoned():
            # The number in it is some other process's by now, which would block us for ever.
            (self._data / "postmaster.pid").unlink(missing_ok=True)
        time.sleep(0.2)
        return "; ".join(line.strip() for line in (done.stdout.splitlines() + lines)[-3:])

    def _abandoned(self) -> bool:
        """Whether surely no process works on the data: all of Postgres' stand in its folder."""
        processes = Path("/proc")
        if not processes.joinpath("self/cwd").exists():
            return False
        return not any(_stands_in(process, self._data) for process in processes.glob("[0-9]*"))


def make_folder(folder: Path) -> None:
    """Make a folder and its missing parents; what was there before keeps its modes.

    Others may pass through a folder that root makes, since another account works below it.
    """
    mode = 0o711 if os.geteuid() == 0 else 0o700
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    for path in reversed(missing):
        try:
            path.mkdir(mode, exist_ok=True)
            path.chmod(mode)
        except OSError as error:
            raise EmbeddedPostgresError(
                f"The data folder {folder} cannot be made ({error.strerror}). Set "
                "FAIRDEAL_DATA_DIR to a folder that this user may write to."
            ) from error


def _own_folder(folder: Path, who: Account | None) -> None:
    """Make a folder that the account alone may use; refuse one that is somebody else's."""
    try:
        folder.mkdir(0o700)
    except FileExistsError:
        pass
    except OSError as error:
        raise EmbeddedPostgresError(
            f"The folder {folder} cannot be made ({error.strerror}). Run fairdeal as the user "
            "who owns the data folder, or set FAIRDEAL_DATA_DIR to another one."
        ) from error
    else:
        if who is not None:
            os.chown(folder, who.uid, who.gid)
    found = folder.lstat()
    owner = os.geteuid() if who is None else who.uid
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != owner or found.st_mode & 0o077:
        raise EmbeddedPostgresError(
            f"The folder {folder} is not Postgres' alone: another user owns it or may open it. "
            "Remove it if it is a leftover, then try again."
        )


def _socket_folder(folder: Path) -> Path:
    """Where the server's socket lies: with the data, or in a short place that all can work out."""
    beside = folder / "postgres.sockets"
    if len(os.fsencode(beside / f".s.PGSQL.{_PORT}.lock")) <= _LONGEST_SOCKET_PATH:
        return beside
    digest = sha256(os.fsencode(folder)).hexdigest()
    return Path("/tmp") / f"fairdeal-{os.geteuid()}-{digest[:16]}"


def _stands_in(process: Path, folder: Path) -> bool:
    try:
        return os.readlink(process / "cwd") == os.path.realpath(folder)
    except OSError:
        return False
