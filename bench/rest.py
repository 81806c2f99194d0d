"""Actions over HTTP: durable, authorised, redacted answers; and peers in the same run.

Games are played from seeds whose actions are worked out beforehand, so that the client only sends:
20 of them, or as many as there are connections. Client, server and Postgres share the machine.
"""

import asyncio
import json
import random
import statistics
import subprocess
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import uvloop
from rich.table import Table

from bench.games import start
from bench.report import RUNS, Targets, console
from bench.serving import (
    KEY,
    NoPeer,
    boardgame,
    boardgame_installed,
    fairdeal,
    folder,
    minimal_route,
)
from domain.game import KeyedChance
from domain.table.commands import Command
from domain.table.decide import decide, server_command, to_act
from domain.table.views import playable_actions

GAMES = 20
CONNECTIONS = (1, 16, 64)
RUN_SECONDS = 6.0
SEED = bytes(range(32))
RULES = {"profile": "modern", "lives": 6}
PLAYERS = [{"name": f"Player {seat}"} for seat in range(10)]

Step = Callable[[], Awaitable[None]]


class Connection:
    """One connection that is kept open: as little client as can be."""

    async def open(self, port: int) -> "Connection":
        self._reader, self._writer = await asyncio.open_connection("127.0.0.1", port)
        return self

    def __init__(self, keys: Iterator[str] | None = None) -> None:
        """`keys`: idempotency keys, one for each request."""
        self._keys = keys

    async def send(self, path: str, body: bytes, token: str = "") -> bytes:
        """POST and the answer's body. RuntimeError where it is no success."""
        key = "" if self._keys is None else f"Idempotency-Key: {next(self._keys)}\r\n"
        head = (
            f"POST {path} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer {token}\r\n{key}"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        self._writer.write(head.encode() + body)
        answer = await self._reader.readuntil(b"\r\n\r\n")
        start = answer.lower().index(b"content-length:") + 15
        length = int(answer[start : answer.index(b"\r", start)])
        content = await self._reader.readexactly(length)
        if answer[9:12] != b"201":
            raise RuntimeError(f"{path}: {answer[9:12].decode()} {content[:300].decode()}")
        return content

    def close(self) -> None:
        self._writer.close()


class Done(NamedTuple):
    """What a person does: the seat, the request's body, and the game's version before."""

    seat: int
    body: bytes
    version: int


def script(number: int, seats: int = 4, rules: dict[str, Any] = RULES) -> list[Done]:
    """All that the people do in the game of this number, at random."""
    chance, key = random.Random(number), KeyedChance(SEED)
    table = start("lodam", [None] * seats, rules, key, deal_id=f"deal-{number}").table
    found: list[Done] = []
    while table.status == "playing":
        own = server_command(table)
        if own is not None:
            command = Command(own[1], own[0], 0, key, "server", own[2])
        else:
            seat = to_act(table)[0]
            action = chance.choice(playable_actions(table, seat))
            found.append(Done(seat, msgspec.json.encode(action), table.version))
            command = Command(action, seat, 0, key)
        table = decide(table, command).table
    return found


async def our_games(
    port: int,
    scripts: list[list[Done]],
    seats: int = 4,
    rules: dict[str, Any] = RULES,
    first: int = 0,
) -> list[list[tuple[str, bytes, str]]]:
    """New games on the server, each with a script for it (of the numbers from `first` on): lists of
    (path, body, token)."""
    connection = await Connection().open(port)
    games = []
    for number, actions in enumerate(scripts, first):
        seeded = rules | {"seed": SEED.hex(), "deal_id": f"deal-{number}"}
        ask = {"game": "lodam", "players": PLAYERS[:seats], "rules": seeded}
        made = json.loads(await connection.send("/v1/games", json.dumps(ask).encode(), KEY))
        tokens = [seat["token"] for seat in made["seats"]]
        path = f"/v1/games/{made['id']}/actions"
        games.append([(path, done.body, tokens[done.seat]) for done in actions])
    connection.close()
    return games


async def drive(
    port: int,
    connections: int,
    games: list[Any],
    seconds: float = RUN_SECONDS,
    keys: Iterator[str] | None = None,
) -> tuple[float, list[float]]:
    """Play on `connections` until the time is over; actions a second, and every action's ms."""
    latencies: list[float] = []
    queue = [iter(game) for game in games]
    end = time.perf_counter() + seconds

    async def one() -> None:
        connection = await Connection(keys).open(port)
        while queue and time.perf_counter() < end:
            game = queue.pop(0)
            for path, body, token in game:
                begun = time.perf_counter()
                await connection.send(path, body, token)
                latencies.append((time.perf_counter() - begun) * 1000)
                # Turn by turn among the games, as people at many tables would.
                break
            else:
                continue
            queue.append(game)
        connection.close()

    begun = time.perf_counter()
    await asyncio.gather(*[one() for _ in range(connections)])
    return len(latencies) / (time.perf_counter() - begun), latencies


class Figures:
    """Figures of several runs of one line."""

    def __init__(self, name: str, connections: int) -> None:
        self.name, self.connections = name, connections
        self.rates: list[float] = []
        self.p50: list[float] = []
        self.p99: list[float] = []

    def add(self, rate: float, latencies: list[float]) -> None:
        ordered = sorted(latencies)
        self.rates.append(rate)
        self.p50.append(ordered[len(ordered) // 2])
        self.p99.append(ordered[len(ordered) * 99 // 100])

    @property
    def rate(self) -> float:
        return statistics.median(self.rates)


def main() -> None:
    """Print the table of targets.md's row *REST action*, with its peers and the ratios."""
    scripts = [script(number) for number in range(max(CONNECTIONS))]
    lines: dict[str, Figures] = {}
    targets = Targets()
    with folder() as ours, folder() as two, folder() as least, folder() as node:
        peer = _installed(node, targets)
        for run in range(RUNS):
            with fairdeal(ours) as port:
                for connections in CONNECTIONS:
                    _run(lines, f"fairdeal, 1 worker, {connections}", port, connections, scripts)
            with fairdeal(two, workers=2) as port:
                for connections in (16, 64):
                    _run(lines, f"fairdeal, 2 workers, {connections}", port, connections, scripts)
            with minimal_route(least / str(run)) as port:
                for connections in CONNECTIONS:
                    _run(lines, f"minimal route, {connections}", port, connections, None)
            if peer:
                for storage in ("memory", "files"):
                    _run_boardgame(lines, node, storage)
    _tell(lines, targets)


def _installed(node: Path, targets: Targets) -> bool:
    try:
        boardgame_installed(node)
    except NoPeer as error:
        targets.missing(str(error))
        return False
    return True


def _run(
    lines: dict[str, Figures],
    name: str,
    port: int,
    connections: int,
    scripts: list[list[Done]] | None,
) -> None:
    async def once() -> tuple[float, list[float]]:
        if scripts is not None:
            games = await our_games(port, scripts[: max(GAMES, connections)])
            return await drive(port, connections, games)
        body = b'{"game": 7, "text": "' + b"x" * 60 + b'"}'
        acts = [[("/act", body, "")] * 100_000 for _ in range(max(GAMES, connections))]
        return await drive(port, connections, acts)

    lines.setdefault(name, Figures(name, connections)).add(*uvloop.run(once()))


def _run_boardgame(lines: dict[str, Figures], node: Path, storage: str) -> None:
    where = "memory" if storage == "memory" else str(node / "matches")
    with boardgame(node, where) as port:
        done = subprocess.run(
            ["node", "boardgame.cjs", "players", str(port), str(GAMES), str(RUN_SECONDS)],
            cwd=node,
            check=True,
            capture_output=True,
            timeout=RUN_SECONDS + 60,
        )
    told = json.loads(done.stdout)
    name = f"boardgame.io, {storage}, {GAMES}"
    rate = told["moves"] / told["seconds"]
    lines.setdefault(name, Figures(name, GAMES)).add(rate, told["latencies"])


def _tell(lines: dict[str, Figures], targets: Targets) -> None:
    shown = Table(title=f"actions over HTTP, {GAMES} games, median of {RUNS} runs")
    for heading in ("what, connections", "actions/s", "p50 ms", "p99 ms"):
        shown.add_column(heading)
    for line in lines.values():
        p50, p99 = statistics.median(line.p50), statistics.median(line.p99)
        shown.add_row(line.name, f"{line.rate:,.0f}", f"{p50:.2f}", f"{p99:.2f}")
    console().print(shown)
    for ours, theirs, wanted in (
        ("fairdeal, 1 worker, 16", "minimal route, 16", 0.9),
        ("fairdeal, 1 worker, 64", "minimal route, 64", 0.9),
        ("fairdeal, 2 workers, 16", f"boardgame.io, files, {GAMES}", 3),
        ("fairdeal, 2 workers, 16", f"boardgame.io, memory, {GAMES}", 0.6),
    ):
        if theirs in lines:
            pairs = zip(lines[ours].rates, lines[theirs].rates, strict=True)
            ratio = statistics.median([our / their for our, their in pairs])
            targets.at_least(f"{ours} : {theirs}", ratio, wanted, "x")
    for workers in ("1 worker", "2 workers"):
        p99 = statistics.median(lines[f"fairdeal, {workers}, 16"].p99)
        targets.at_most(f"p99, {workers}, 16 connections", p99, 25, " ms")
    p50 = statistics.median(lines["fairdeal, 1 worker, 1"].p50)
    targets.at_most("p50, 1 worker, 1 connection", p50, 1.5, " ms")
    targets.show()
