"""Servers for measurements: Fairdeal's own and its peers', each in processes of its own."""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

KEY = "bench-key"
PEERS = Path(__file__).parent / "peers"
_START_SECONDS = 60.0
_BOARDGAME = {
    "private": True,
    "dependencies": {"boardgame.io": "0.50.2", "node-persist": "3", "socket.io-client": "4"},
    # A fresh install takes a later one, with which the lobby answers 404.
    "overrides": {"koa-compose": "4.1.0"},
}


class NoPeer(Exception):
    """A peer that cannot be had here; the message says why."""


@contextmanager
def folder() -> Iterator[Path]:
    """A temporary folder that the account of an embedded Postgres may enter."""
    with tempfile.TemporaryDirectory(prefix="fairdeal-bench-") as made:
        Path(made).chmod(0o755)
        yield Path(made)


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def fairdeal(data: Path, workers: int = 1, **environment: str) -> Iterator[int]:
    """`fairdeal serve` on a data folder with the host key KEY; gives its port."""
    port = free_port()
    own = {"FAIRDEAL_DATA_DIR": str(data), "FAIRDEAL_HOST_KEYS": f"host:{KEY}", **environment}
    command = [sys.executable, "-m", "api", "serve", "--port", str(port), "--workers", str(workers)]
    with _process(command, own):
        _wait(port, "/health/ready")
        yield port


@contextmanager
def minimal_route(data: Path) -> Iterator[int]:
    """A Litestar route of one SELECT and one INSERT on an embedded Postgres; gives its port."""
    port = free_port()
    command = [sys.executable, "-m", "bench.peers.minimal", str(port), str(data)]
    with _process(command, {}):
        _wait(port, "/ready")
        yield port


def boardgame_installed(into: Path) -> None:
    """boardgame.io from npm in a folder. Raises NoPeer."""
    (into / "package.json").write_text(json.dumps(_BOARDGAME))
    shutil.copy(PEERS / "boardgame.cjs", into)
    try:
        subprocess.run(
            ["npm", "install", "--no-audit", "--no-fund"],
            cwd=into,
            check=True,
            capture_output=True,
            text=True,
            timeout=120,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise NoPeer(f"boardgame.io: {getattr(error, 'stderr', '') or error}") from None


@contextmanager
def boardgame(installed: Path, storage: str) -> Iterator[int]:
    """A server of boardgame.io with its storage in memory or in a folder; gives its port."""
    port = free_port()
    with _process(["node", "boardgame.cjs", "server", str(port), storage], {}, installed):
        _wait(port, "/games")
        yield port


@contextmanager
def _process(
    command: list[str], environment: dict[str, str], cwd: Path | None = None
) -> Iterator[None]:
    process = subprocess.Popen(
        command, env=os.environ | environment, stdout=subprocess.DEVNULL, cwd=cwd
    )
    try:
        yield
    finally:
        process.terminate()
        process.wait(30)


def _wait(port: int, path: str) -> None:
    end = time.monotonic() + _START_SECONDS
    while time.monotonic() < end:
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=5).close()
            return
        except (urllib.error.URLError, OSError):
            time.sleep(0.01)
    raise NoPeer(f"nothing answered on port {port} within {_START_SECONDS:.0f} s")
