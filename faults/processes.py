"""The processes of the API in a run: `fairdeal serve` as an operator starts it, and what is done to
it from outside."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from time import monotonic
from typing import Final

import httpx

ROOT: Final = Path(__file__).parents[1]
HOST_KEY: Final = "key-of-the-host-in-a-fault-run"
TENANT: Final = "host"
_START_SECONDS: Final = 60.0
_STOP_SECONDS: Final = 30.0
_LOOK_SECONDS: Final = 0.05


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class Process:
    """One `fairdeal serve` at one address, started as often as need be."""

    def __init__(
        self, name: str, log: Path, environment: Mapping[str, str], workers: int = 1
    ) -> None:
        """`environment` holds settings of Fairdeal's and what else it is to see; its output goes to
        the file `log`."""
        self.name: Final = name
        self.port: Final = free_port()
        self.address: Final = f"http://127.0.0.1:{self.port}"
        self.workers: Final = workers
        self.log: Final = log
        kept = {k: v for k, v in os.environ.items() if not k.startswith("FAIRDEAL_")}
        own = {"FAIRDEAL_HOST_KEYS": f"{TENANT}:{HOST_KEY}", "PYTHONPATH": str(ROOT)}
        self._environment: Final = kept | own | dict(environment)
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it; returns before it serves."""
        command = [sys.executable, "-m", "api", "serve", "--port", str(self.port)]
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [*command, "--workers", str(self.workers)],
                cwd=ROOT,
                env=self._environment,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    async def ready(self, seconds: float = _START_SECONDS) -> None:
        """Return when it can serve. RuntimeError where it ends, or takes longer."""
        end = monotonic() + seconds
        async with httpx.AsyncClient(timeout=2) as http:
            while monotonic() < end:
                if self._process is not None and self._process.poll() is not None:
                    raise RuntimeError(f"{self.name} has ended: {self.output()}")
                try:
                    answer = await http.get(f"{self.address}/health/ready")
                    if answer.status_code == 200:
                        return
                except httpx.HTTPError:
                    pass
                await asyncio.sleep(_LOOK_SECONDS)
        raise RuntimeError(f"{self.name} is not ready after {seconds:g} s: {self.output()}")

    def kill(self) -> bool:
        """kill -9 of the process that was started; its workers end by themselves. Whether it died
        of that."""
        if self._process is None:
            return False
        self._process.kill()
        return self._process.wait() == -signal.SIGKILL

    def kill_workers(self, count: int = 1) -> list[int]:
        """kill -9 of some of its workers."""
        return _killed(self.worker_pids()[:count])

    def kill_projector(self) -> list[int]:
        """kill -9 of what keeps projections up, if it runs."""
        return _killed(self._running(b"api.projector"))

    async def stop(self) -> None:
        """SIGTERM, and wait for the end. RuntimeError where it does not come."""
        if self._process is None:
            return
        self._process.terminate()
        try:
            await asyncio.to_thread(self._process.wait, _STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.end()
            raise RuntimeError(f"{self.name} does not stop: {self.output()}") from None

    def end(self) -> None:
        """Let nothing of it be left, whatever its state."""
        if self._process is None:
            return
        for pid in self.members():
            try:
                os.kill(pid, signal.SIGCONT)
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        self._process.wait()

    def members(self) -> list[int]:
        """The processes of its session that still run."""
        if self._process is None:
            return []
        return [pid for pid, _, session in _all() if session == self._process.pid]

    def worker_pids(self) -> list[int]:
        """Its worker processes."""
        return self._running(b"api.worker")

    def _running(self, module: bytes) -> list[int]:
        if self._process is None:
            return []
        parent = self._process.pid
        found = []
        for pid, ppid, _ in _all():
            if ppid == parent:
                command = Path(f"/proc/{pid}/cmdline").read_bytes()
                if module in command.split(b"\0"):
                    found.append(pid)
        return sorted(found)

    def output(self) -> str:
        """The end of what it has printed and logged."""
        return self.log.read_text(errors="replace")[-2000:] if self.log.exists() else ""


def _killed(victims: list[int]) -> list[int]:
    for pid in victims:
        os.kill(pid, signal.SIGKILL)
    return victims


def _all() -> list[tuple[int, int, int]]:
    """Process, parent and session of everything that runs and is no zombie."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            stat = (folder / "stat").read_text()
        except OSError:
            continue
        state, parent, _, session = stat.rpartition(")")[2].split()[:4]
        if state != "Z":
            found.append((int(folder.name), int(parent), int(session)))
    return found
