"""Growth: a store filled with a million games by COPY, and whether an action is as fast there as in
a store of a thousand, and late in a long game as early. Through HTTP, two servers side by side.

Every tenth game is played to its end, the others are left after about 18 events, so that it is
minutes. Projections are kept by nobody meanwhile (`FAIRDEAL_PROJECTIONS=elsewhere`): they would be
busy with the millions of events, in any number of processes of their own.
"""

import asyncio
import itertools
import os
import random
import shutil
import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import httpx
import psycopg
import uvloop

from api.auditing import audit
from bench.multiplied import Filled, fill
from bench.report import RUNS, Runs, Targets, console
from bench.rest import GAMES, Connection, Done, drive, our_games, script
from bench.serving import KEY, fairdeal, folder
from eventstore import embedded
from eventstore.migrate import migrate
from eventstore.postgres import EventStore

MANY: Final = int(os.environ.get("FAIRDEAL_BENCH_GAMES", "1000000"))
FEW: Final = 1_000
SAMPLE: Final = 200
"""Games that are audited, and that are looked at."""

_SECONDS: Final = 4.0
_ACTIONS: Final = 1_500
_FLOOR_ROWS: Final = 500_000
_LONG: Final[dict[str, Any]] = {"lives": 9}
_SEATS: Final = 10
_EARLY: Final = (10, 510)
_LATE: Final = (4_500, 5_000)
"""Versions between which actions of a long game are timed."""


def main() -> None:
    """Print both tables; FAIRDEAL_BENCH_GAMES sets how many games (1,000,000)."""
    targets = Targets()
    with folder() as few, folder() as many:
        free = shutil.disk_usage(many).free
        if free < MANY * 12_000:
            raise SystemExit(f"{MANY:,} games need about {MANY * 12_000 / 1e9:.0f} GB of disk")
        *_, known_few = _filled(few, FEW)
        known_many = _fill_many(many, targets)
        with (
            fairdeal(few, FAIRDEAL_PROJECTIONS="elsewhere") as small,
            fairdeal(many, FAIRDEAL_PROJECTIONS="elsewhere") as large,
        ):
            stores = {
                f"{FEW:,} games": Store(small, known_few),
                f"{MANY:,} games": Store(large, known_many),
            }
            _measure(stores, targets)
            uvloop.run(_measure_long(large, targets))
    targets.show()


class Store(NamedTuple):
    """A served store: its port, and some of the games in it, none of them twice."""

    port: int
    known: list[str]


def _filled(data: Path, games: int) -> tuple[Filled, float, list[str]]:
    """Fill the store in a data folder, number its events and let Postgres look at its tables once;
    gives the seconds that numbering took too, and some of the games."""

    async def number(url: str) -> float:
        begun = time.perf_counter()
        async with EventStore.open(url, deadline_seconds=600) as store:
            while await store.feed.sequence(20_000):
                pass
        return time.perf_counter() - begun

    with embedded.server(data) as url:
        asyncio.run(migrate(url))
        done = fill(url, games)
        seconds = asyncio.run(number(url))
        with psycopg.connect(url, autocommit=True) as conn:
            conn.execute("VACUUM ANALYZE")
            rows = conn.execute("SELECT stream::text FROM fairdeal.streams")
            known = [stream for (stream,) in rows.fetchall()]
    return done, seconds, random.Random(0).sample(known, min(len(known), RUNS * SAMPLE))


def _fill_many(data: Path, targets: Targets) -> list[str]:
    with embedded.server(data) as url:
        floor = _copied(url)
    done, numbering, known = _filled(data, MANY)
    rate = done.rows / done.seconds
    out = console()
    out.print(
        f"{done.games:,} games, {done.events:,} events, {done.rows:,} rows by COPY in "
        f"{done.seconds:.0f} s: {rate:,.0f} rows/s (one table with one index, one process: "
        f"{floor:,.0f}); numbered in {numbering:.0f} s"
    )
    targets.at_least("COPY : that one table", rate / floor, 0.5, "x")
    with embedded.server(data) as url:
        found = asyncio.run(_audited(url))
    targets.at_most(f"trouble found by an audit of {SAMPLE} games", found, 0)
    return known


def _copied(url: str) -> float:
    """Rows a second into a table with one index, by binary COPY."""
    row = b"\0\2" + b"\0\0\0\x08%b" + b"\0\0\0\xc8" + bytes(200)
    body = b"".join([row % number.to_bytes(8) for number in range(_FLOOR_ROWS)])
    with psycopg.connect(url) as conn:
        conn.execute("CREATE TABLE floor (id bigint PRIMARY KEY, body bytea)")
        begun = time.perf_counter()
        with conn.cursor().copy("COPY floor FROM STDIN (FORMAT binary)") as copying:
            copying.write(b"PGCOPY\n\xff\r\n\0" + bytes(8) + body + b"\xff\xff")
        conn.commit()
        seconds = time.perf_counter() - begun
        conn.execute("DROP TABLE floor")
    return _FLOOR_ROWS / seconds


async def _audited(url: str) -> int:
    async with EventStore.open(url, deadline_seconds=600) as store:
        return len((await audit(store, None, SAMPLE, lambda _: None)).trouble)


def _measure(stores: dict[str, Store], targets: Targets) -> None:
    """Actions in new games, and looks at old ones that no process knows, in both stores."""
    scripts = [script(number) for number in range(GAMES)]
    runs = Runs()
    one, sixteen = "an action, 1 connection", "an action, 16 connections"
    for number in range(RUNS):
        for name, median in uvloop.run(_one_by_one(stores, scripts)).items():
            runs.add(f"{one}, {name}", median)
        # Who comes first changes: whatever else the machine does may last longer than a turn.
        for name, store in list(stores.items())[:: 1 if number % 2 else -1]:
            runs.add(f"{sixteen}, {name}", uvloop.run(_sixteen(store.port, scripts)))
            looked = store.known[number * SAMPLE : (number + 1) * SAMPLE]
            runs.add(f"an old game looked at, {name}", _looked(store.port, looked))
    runs.show("latency in a store", "ms, p50", places=2)
    few, many = stores
    for what in (one, sixteen):
        ratio = runs.ratio(f"{what}, {many}", f"{what}, {few}")
        targets.at_most(f"{what}: {many} : {few}", ratio, 1.1, "x")


async def _one_by_one(stores: dict[str, Store], scripts: list[list[Done]]) -> dict[str, float]:
    sides = {}
    for name, store in stores.items():
        games = await our_games(store.port, scripts)
        actions = itertools.chain.from_iterable(games)
        sides[name] = Side(await Connection().open(store.port), [*actions][:_ACTIONS])
    return await alternating(sides)


async def _sixteen(port: int, scripts: list[list[Done]]) -> float:
    games = await our_games(port, scripts)
    _, latencies = await drive(port, 16, games, _SECONDS)
    return statistics.median(latencies)


class Side(NamedTuple):
    """What is done on one side: the requests (path, body, token) and the connection for them."""

    connection: Connection
    requests: Sequence[tuple[str, bytes, str]]


async def alternating(sides: dict[str, Side]) -> dict[str, float]:
    """The middle of the milliseconds that a request took on each side. They are done in turns, one
    here and one there, so that both sides meet the same machine."""
    found: dict[str, list[float]] = {name: [] for name in sides}
    for requests in zip(*[side.requests for side in sides.values()], strict=False):
        for (name, side), request in zip(sides.items(), requests, strict=True):
            begun = time.perf_counter()
            await side.connection.send(*request)
            found[name].append((time.perf_counter() - begun) * 1000)
    for side in sides.values():
        side.connection.close()
    return {name: statistics.median(latencies) for name, latencies in found.items()}


def _looked(port: int, games: list[str]) -> float:
    """The middle of the milliseconds that games took whose logs had to be read first."""
    found = []
    headers = {"Authorization": f"Bearer {KEY}"}
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", headers=headers) as client:
        for game in games:
            begun = time.perf_counter()
            client.get(f"/v1/games/{game}").raise_for_status()
            found.append((time.perf_counter() - begun) * 1000)
    return statistics.median(found)


async def _measure_long(port: int, targets: Targets) -> None:
    """Actions early and late in games of five thousand events, by one connection in turns."""
    scripts = [script(1_000 + number, _SEATS, _LONG) for number in range(RUNS)]
    long = await our_games(port, scripts, _SEATS, _LONG, first=1_000)
    new = await our_games(port, scripts, _SEATS, _LONG, first=1_000)
    connection = await Connection().open(port)
    for actions, game in zip(scripts, long, strict=True):
        for request in _between(actions, game, (0, _LATE[0])):
            await connection.send(*request)
    connection.close()
    runs = Runs()
    for actions, late, early in zip(scripts, long, new, strict=True):
        sides = {
            _spoken(span): Side(await Connection().open(port), _between(actions, game, span))
            for span, game in ((_EARLY, early), (_LATE, late))
        }
        for name, median in (await alternating(sides)).items():
            runs.add(name, median)
    runs.show(f"latency in a game of {_SEATS}, 1 connection", "ms, p50", places=2)
    ratio = runs.ratio(_spoken(_LATE), _spoken(_EARLY))
    targets.at_most(f"an action: {_spoken(_LATE)} : {_spoken(_EARLY)}", ratio, 1.1, "x")


def _spoken(span: tuple[int, int]) -> str:
    return f"events {span[0]:,} to {span[1]:,}"


def _between(
    actions: list[Done], game: list[tuple[str, bytes, str]], span: tuple[int, int]
) -> list[tuple[str, bytes, str]]:
    """The requests of a game that come at these versions."""
    pairs = zip(actions, game, strict=True)
    found = [request for done, request in pairs if span[0] <= done.version < span[1]]
    if not found:
        raise RuntimeError(f"no action between the versions {span}: the game was too short")
    return found
