"""What an event takes on disk, with all indexes, table by table.

Twice: whole games in a big store, written game by game; and games played through HTTP side by side,
as they come, each action under an idempotency key. Projections can be dropped and made again at any
time, so they are no part of the target.
"""

import asyncio
import itertools
import os
from pathlib import Path
from typing import Final

import psycopg
import uvloop
from rich.table import Table

from bench.multiplied import WHOLE, fill
from bench.report import Targets, console
from bench.rest import Done, drive, our_games, script
from bench.serving import fairdeal, folder
from eventstore import embedded
from eventstore.migrate import migrate
from eventstore.postgres import EventStore
from projections.rebuild import rebuild
from projections.registry import PROJECTIONS

GAMES: Final = int(os.environ.get("FAIRDEAL_BENCH_EVENTS", "1000000")) // 520
"""Whole games have about 520 events."""
_PLAYED: Final = 200
_SECONDS: Final = 30.0
_TARGET: Final = 512

_LOG: Final = ("events", "sealed", "streams", "feed")
_SIZES: Final = """
SELECT CASE WHEN n.nspname = 'fairdeal'
            THEN split_part(coalesce(pg_partition_root(c.oid), c.oid)::regclass::text, '.', 2)
            ELSE 'projections' END,
    sum(pg_table_size(c.oid))::bigint, sum(pg_indexes_size(c.oid))::bigint
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname IN ('fairdeal', 'projections') AND c.relkind = 'r'
GROUP BY 1
"""

Sizes = dict[str, tuple[float, float]]
"""By table: bytes an event of its rows, and of its indexes."""


def main() -> None:
    """Print a table for each store; FAIRDEAL_BENCH_EVENTS sets how many events (1,000,000)."""
    targets = Targets()
    with folder() as big:
        _tell("whole games by COPY", *_filled(big), targets, keyed=False)
    with folder() as small:
        _tell("games through HTTP", *_played(small), targets, keyed=True)
    targets.show()


def _filled(data: Path) -> tuple[int, Sizes]:
    async def work(url: str) -> None:
        async with EventStore.open(url, deadline_seconds=600) as store:
            while await store.feed.sequence(1000):
                pass
        for projection in PROJECTIONS.values():
            await rebuild(url, projection)

    with embedded.server(data) as url:
        asyncio.run(migrate(url))
        fill(url, GAMES, WHOLE, at_once=100)
        asyncio.run(work(url))
        return _sizes(url)


def _played(data: Path) -> tuple[int, Sizes]:
    scripts = [script(number) for number in range(_PLAYED)]
    with fairdeal(data) as port:
        uvloop.run(_play(port, scripts))
        with embedded.server(data) as url:
            return _sizes(url)


async def _play(port: int, scripts: list[list[Done]]) -> None:
    games = await our_games(port, scripts)
    keys = (f"key-{number}" for number in itertools.count())
    await drive(port, 16, games, _SECONDS, keys)


def _sizes(url: str) -> tuple[int, Sizes]:
    with psycopg.connect(url, autocommit=True) as conn:
        conn.execute("VACUUM ANALYZE")
        [(events,)] = conn.execute("SELECT count(*) FROM fairdeal.events").fetchall()
        rows = conn.execute(_SIZES).fetchall()
    return events, {name: (table / events, indexes / events) for name, table, indexes in rows}


def _tell(what: str, events: int, sizes: Sizes, targets: Targets, *, keyed: bool) -> None:
    shown = Table(title=f"{what}: {events:,} events, bytes an event")
    for heading in ("table", "rows", "indexes", "both"):
        shown.add_column(heading, justify="right" if heading != "table" else "left")

    def add(name: str, *counted: str) -> float:
        rows, indexes = (sum(column) for column in zip(*[sizes[c] for c in counted], strict=True))
        shown.add_row(name, f"{rows:.1f}", f"{indexes:.1f}", f"{rows + indexes:.1f}")
        return float(rows + indexes)

    for table in _LOG:
        add(table, table)
    shown.add_section()
    log = add("the log", *_LOG)
    shown.add_section()
    add("commands (keys)", "commands")
    everything = add("log and commands", *_LOG, "commands")
    shown.add_section()
    add("projections", "projections")
    console().print(shown)
    targets.at_most(f"{what}: the log", log, _TARGET, " bytes an event")
    if keyed:
        name = f"{what}: with a key on every action"
        targets.at_most(name, everything, _TARGET, " bytes an event")
