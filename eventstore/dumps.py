"""A whole database in one file, and back: pg_dump and pg_restore, as they come with the wheel or
the system. Takes a dump while others write; what it holds is of one moment."""

import os
import subprocess
from pathlib import Path
from typing import IO, Final

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from eventstore.programs import find

_LONGEST_COMPLAINT: Final = 2000


class DumpError(Exception):
    """The dump could not be made or taken back; the message says why."""


def dump(url: str, output: IO[bytes]) -> None:
    """Write everything in the database. Raises DumpError, EmbeddedPostgresError."""
    _run("pg_dump", ["--format=custom", "--no-owner"], url, stdout=output)


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
    options = ["--no-owner", "--no-privileges", "--exit-on-error", "--single-transaction"]
    _run("pg_restore", options, url, stdin=file)


def _run(
    program: str,
    options: list[str],
    url: str,
    *,
    stdin: IO[bytes] | int = subprocess.DEVNULL,
    stdout: IO[bytes] | int = subprocess.DEVNULL,
) -> None:
    parts = conninfo_to_dict(url)
    environment = {**os.environ, "LC_ALL": "C.UTF-8"}
    password = parts.pop("password", None)
    if password:
        # A command line can be read by everyone on the machine.
        environment["PGPASSWORD"] = str(password)
    folder = find(Path("/nonexistent"), None, None).folder
    done = subprocess.run(
        [folder / program, *options, "--dbname", make_conninfo("", **parts)],
        env=environment,
        stdin=stdin,
        stdout=stdout,
        stderr=subprocess.PIPE,
        check=False,
    )
    if done.returncode != 0:
        said = done.stderr.decode(errors="replace").strip()[-_LONGEST_COMPLAINT:]
        raise DumpError(f"{program} did not succeed: {said}")
