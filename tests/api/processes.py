"""Real `fairdeal` processes for the tests, started as a user would start them."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from api.settings import DATA_DIR_ENV
from tests.api.running import Json, bearer
from tests.database import memory

ROOT = Path(__file__).parents[2]


def command(*arguments: str, **environment: str) -> dict[str, Any]:
    """How to start the command line, as keywords for subprocess."""
    # The folder is one that the tests have made.
    kept = {
        k: v for k, v in os.environ.items() if not k.startswith("FAIRDEAL_") or k == DATA_DIR_ENV
    }
    return {
        "args": [sys.executable, "-m", "api", *arguments],
        "cwd": ROOT,
        "env": kept | environment,
        "text": True,
    }


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command to its end."""
    if place := memory():
        environment.setdefault("TMPDIR", str(place))  # where the demo has its Postgres
    return subprocess.run(
        **command(*arguments, **environment), capture_output=True, timeout=120, check=False
    )


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class Serving:
    """A `fairdeal serve` that has been started."""

    def __init__(
        self, port: int, *arguments: str, stdout: int = subprocess.PIPE, **environment: str
    ) -> None:
        self.address = f"http://127.0.0.1:{port}"
        self.process: subprocess.Popen[str] = subprocess.Popen(
            **command("serve", "--port", str(port), *arguments, **environment),
            stdout=stdout,
            stderr=subprocess.PIPE,
            # A group of its own, whose members can be found when it is over.
            start_new_session=True,
        )

    def wait_ready(self) -> None:
        end = time.monotonic() + 60
        while time.monotonic() < end:
            if self.process.poll() is not None:
                raise AssertionError(f"serve ended: {self.process.communicate()}")
            try:
                if httpx.get(f"{self.address}/health/ready", timeout=5).status_code == 200:
                    return
            except httpx.TransportError:
                pass
            time.sleep(0.05)
        raise AssertionError("serve was not ready in a minute")

    def end(self, number: int = signal.SIGTERM) -> tuple[int, str, str]:
        """Send a signal; exit code, stdout and stderr once the process has ended."""
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=60)
        return self.process.returncode, out, err

    def members(self) -> list[int]:
        """The processes of its session that still run."""
        found = []
        for folder in Path("/proc").iterdir():
            try:
                stat = (folder / "stat").read_text()
            except OSError:
                continue
            state, _, _, session = stat.rpartition(")")[2].split()[:4]
            if session == str(self.process.pid) and state != "Z":
                found.append(int(folder.name))
        return found

    def wait_gone(self) -> None:
        end = time.monotonic() + 30
        while time.monotonic() < end:
            if not self.members():
                return
            time.sleep(0.02)
        raise AssertionError(f"left running: {self.members()}")


@contextmanager
def serving(
    port: int, /, *arguments: str, stdout: int = subprocess.PIPE, **environment: str
) -> Iterator[Serving]:
    """A server that is ready; ended in any case. Its output can be read when it has ended, unless
    it goes elsewhere."""
    server = Serving(port, *arguments, stdout=stdout, **environment)
    try:
        server.wait_ready()
        yield server
    finally:
        if server.process.poll() is None:
            server.process.kill()
            server.process.communicate()
        server.wait_gone()


def host_key(output: str) -> str:
    """The host key that `serve` printed."""
    match = re.search(r"Host key.*: (\S+)", output)
    assert match, output
    return match[1]


def create(address: str, key: str, **more: Any) -> Json:
    """A new game of three people."""
    body = {"game": "lodam", "players": [{"name": n} for n in "ABC"], **more}
    answer = httpx.post(f"{address}/v1/games", json=body, headers=bearer(key), timeout=60)
    assert answer.status_code == 201, answer.text
    created: Json = answer.json()
    return created
