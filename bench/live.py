"""Live streams on one process of `fairdeal serve`: how soon an event is with its readers, and what
a stream costs.

Players and readers are processes of their own on the same machine. A delay is counted from the
event's own time, which is before its commit, to its arrival at a reader.
"""

import asyncio
import multiprocessing
import os
import resource
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import datetime
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random
from typing import Any

import httpx
from rich.table import Table

from bench.report import RUNS, Targets, console

STREAMS = 2_000
GAMES = 100
RUN_SECONDS = 10.0
ACTIONS_PER_SECOND = 50.0
KEY = "bench-key"
HEADERS = {"Authorization": f"Bearer {KEY}"}

Arrivals = list[tuple[str, int, float]]


def main() -> None:
    """Print delays and memory for 2,000 streams over 100 games."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 65_536), hard))
    with tempfile.TemporaryDirectory(prefix="fairdeal-bench-") as folder:
        Path(folder).chmod(0o755)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        address = f"http://127.0.0.1:{port}"
        server = subprocess.Popen(
            [sys.executable, "-m", "api", "serve", "--port", str(port)],
            env=os.environ | {"FAIRDEAL_DATA_DIR": folder, "FAIRDEAL_HOST_KEYS": f"host:{KEY}"},
            stdout=subprocess.DEVNULL,
        )
        try:
            _wait_ready(address)
            _measure(address, _worker_of(server.pid))
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(30)


def _measure(address: str, worker: int) -> None:
    shown = Table(title=f"{STREAMS} live streams over {GAMES} games, one process")
    for heading in ("run", "events/s", "messages", "missing", "p50 ms", "p99 ms", "most ms"):
        shown.add_column(heading)
    games = asyncio.run(_create(address))
    # The process has met its games and done its work before memory is compared.
    asyncio.run(_play(address, games, 2.0, Random(0)))
    before = _rss(worker)
    ours, theirs = multiprocessing.Pipe()
    readers = multiprocessing.get_context("spawn").Process(
        target=_read_all, args=(address, [game["id"] for game in games], theirs)
    )
    readers.start()
    assert ours.recv() == STREAMS
    idle = _rss(worker)
    medians: list[tuple[float, float]] = []
    for run in range(RUNS):
        happened = asyncio.run(_play(address, games, RUN_SECONDS, Random(run + 1)))
        time.sleep(1)
        ours.send("tell")
        arrivals: Arrivals = ours.recv()
        delays = sorted(
            [
                (arrived - happened[game, version]) * 1000
                for game, version, arrived in arrivals
                if (game, version) in happened
            ]
        )
        wanted = len(happened) * STREAMS // GAMES
        p50, p99 = delays[len(delays) // 2], delays[len(delays) * 99 // 100]
        medians.append((p50, p99))
        events = len(happened) / RUN_SECONDS
        row = (run + 1, f"{events:.0f}", len(delays), wanted - len(delays))
        shown.add_row(*map(str, row), *[f"{ms:.1f}" for ms in (p50, p99, delays[-1])])
    after = _rss(worker)
    ours.send("end")
    readers.join()
    console().print(shown)
    console().print(
        f"memory of the process: {before / 1e6:.0f} MB before, {idle / 1e6:.0f} MB with the streams"
        f" open, {after / 1e6:.0f} MB at the end"
    )
    p50, p99 = (statistics.median(column) for column in zip(*medians, strict=True))
    targets = Targets()
    targets.at_most(f"event to client, p99, median of {RUNS} runs (p50 {p50:.1f})", p99, 250, " ms")
    targets.at_most("memory a stream, at the end", (after - before) / STREAMS / 1e3, 100, " KB")
    targets.show()


def _wait_ready(address: str) -> None:
    for _ in range(600):
        try:
            if httpx.get(f"{address}/health/ready").status_code == 200:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.05)
    sys.exit("the server was not ready in half a minute")


def _worker_of(server: int) -> int:
    """The process that serves: the child of `serve` that holds the most memory."""
    children = Path(f"/proc/{server}/task/{server}/children").read_text().split()
    return max(map(int, children), key=_rss)


def _rss(pid: int) -> int:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


async def _create(address: str) -> list[dict[str, Any]]:
    body = {
        "game": "lorum",
        "players": [{"name": name} for name in ("Ann", "Ben", "Cid", "Dot")],
    }
    async with httpx.AsyncClient(base_url=address, headers=HEADERS, timeout=30) as http:
        return [(await http.post("/v1/games", json=body)).json() for _ in range(GAMES)]


async def _play(
    address: str, games: list[dict[str, Any]], seconds: float, chance: Random
) -> dict[tuple[str, int], float]:
    """Act at an even pace in games drawn at random; when each new version happened."""
    happened: dict[tuple[str, int], float] = {}
    end = time.monotonic() + seconds
    async with (
        httpx.AsyncClient(base_url=address, timeout=30) as http,
        asyncio.TaskGroup() as tasks,
    ):

        async def step(game: dict[str, Any]) -> None:
            path = f"/v1/games/{game['id']}"
            [seat, *_] = (await http.get(path, headers=HEADERS)).json()["to_act"]
            headers = {"Authorization": f"Bearer {game['seats'][seat]['token']}"}
            actions = (await http.get(path, headers=headers)).json()["actions"]
            answer = await http.post(
                f"{path}/actions", json=chance.choice(actions), headers=headers
            )
            if answer.status_code == 201:
                for event in answer.json()["events"]:
                    at = datetime.fromisoformat(event["at"]).timestamp()
                    happened[game["id"], event["version"]] = at

        order = games.copy()
        chance.shuffle(order)
        while time.monotonic() < end:
            order.append(game := order.pop(0))
            tasks.create_task(step(game))
            await asyncio.sleep(1 / ACTIONS_PER_SECOND)
    return happened


def _read_all(address: str, games: list[str], pipe: Connection) -> None:
    asyncio.run(_readers(address, games, pipe))


async def _readers(address: str, games: list[str], pipe: Connection) -> None:
    """Open all streams, say so, and tell what has arrived whenever asked."""
    host, _, port = address.removeprefix("http://").partition(":")
    arrivals: Arrivals = []
    ready = 0
    opening = asyncio.Semaphore(50)
    all_ready = asyncio.Event()

    async def read(game: str) -> None:
        nonlocal ready
        async with opening:
            reader, writer = await asyncio.open_connection(host, int(port), limit=2**20)
            writer.write(
                f"GET /v1/games/{game}/events HTTP/1.1\r\nHost: {host}\r\n"
                f"Accept: text/event-stream\r\nAuthorization: Bearer {KEY}\r\n\r\n".encode()
            )
            while not (await reader.readline()).startswith(b"event: snapshot"):
                pass
            ready += 1
            if ready == STREAMS:
                all_ready.set()
        try:
            while line := await reader.readline():
                if line.startswith(b"id: "):
                    arrivals.append((game, int(line[4:]), time.time()))
        except ConnectionError:
            pass

    tasks = [asyncio.create_task(read(games[number % len(games)])) for number in range(STREAMS)]
    await all_ready.wait()
    loop = asyncio.get_running_loop()
    pipe.send(ready)
    while await loop.run_in_executor(None, pipe.recv) == "tell":
        pipe.send(arrivals.copy())
        arrivals.clear()
    for task in tasks:
        task.cancel()
