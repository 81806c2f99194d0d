"""A whole database in one file, and back: pg_dump and pg_restore, as they come with the wheel, or
with the system where there is no wheel. Takes a dump while others write; what it holds is of one
moment."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Final

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from eventstore.programs import find

_LONGEST_COMPLAINT: Final = 2000
_NEW_SETTING: Final = b"SET transaction_timeout = 0;\n"
"""What pg_restore sets, and servers before PostgreSQL 17 do not know."""
_LAST_SETTING: Final = b"SELECT pg_catalog.set_config"
"""How the last line of a script's settings begins, before there is any data."""


class DumpError(Exception):
    """The dump could not be made or taken back; the message says why."""


def dump(url: str, output: IO[bytes]) -> None:
    """Write everything in the database. Raises DumpError, EmbeddedPostgresError."""
    options = ["--format=custom", "--no-owner"]
    with _running("pg_dump", options, url, stdin=subprocess.DEVNULL, stdout=output):
        pass


def restore(url: str, file: IO[bytes]) -> None:
    """Put a dump into a database that holds nothing of Fairdeal's yet: all of it or nothing. Whose
    the database is gets everything; other roles are granted nothing.

    Raises DumpError, EmbeddedPostgresError, psycopg.Error.
    """
    with psycopg.connect(url) as conn:
        row = conn.execute("SELECT to_regnamespace('fairdeal') IS NULL").fetchone()
    if row is None or not row[0]:
        raise DumpError(
            "The database is not empty: restore into a new one, so that nothing is lost or mixed."
        )
    # By way of a script: pg_restore itself would ask a server for what an older one does not know.
    options = ["--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1"]
    with _running("psql", options, url, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as psql:
        assert psql.stdin is not None
        # A psql that has ended says why; what it did not take is then of no interest.
        with suppress(BrokenPipeError), psql.stdin as script:
            script.write(b"BEGIN;\n")
            _write_script(file, script)
            # Written only when the dump was read to its end: else all ends with the connection.
            script.write(b"COMMIT;\n")


def _write_script(file: IO[bytes], script: IO[bytes]) -> None:
    options = ["--no-owner", "--no-privileges", "--file=-"]
    with _running("pg_restore", options, None, stdin=file, stdout=subprocess.PIPE) as reading:
        assert reading.stdout is not None
        with reading.stdout as lines:
            for line in lines:
                if line != _NEW_SETTING:
                    script.write(line)
                if line.startswith(_LAST_SETTING):
                    break
            shutil.copyfileobj(lines, script)


@contextmanager
def _running(
    program: str,
    options: list[str],
    url: str | None,
    *,
    stdin: IO[bytes] | int,
    stdout: IO[bytes] | int,
) -> Iterator[subprocess.Popen[bytes]]:
    """One of Postgres' programs, on a database if one is given. At the end of the block it has
    ended. Raises DumpError where it did not succeed."""
    command = [str(find(Path("/nonexistent"), None, None).folder / program), *options]
    environment = {**os.environ, "LC_ALL": "C.UTF-8"}
    if url is not None:
        parts = conninfo_to_dict(url)
        password = parts.pop("password", None)
        if password:
            # A command line can be read by everyone on the machine.
            environment["PGPASSWORD"] = str(password)
        command += ["--dbname", make_conninfo("", **parts)]
    # Complaints go into a file: a pipe could fill while nobody empties it.
    with tempfile.TemporaryFile() as complaints:
        process = subprocess.Popen(
            command, env=environment, stdin=stdin, stdout=stdout, stderr=complaints
        )
        try:
            yield process
        finally:
            code = process.wait()
        if code != 0:
            complaints.seek(0)
            said = complaints.read().decode(errors="replace").strip()[-_LONGEST_COMPLAINT:]
            raise DumpError(f"{program} did not succeed: {said}")
