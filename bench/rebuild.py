"""Rebuilds of each projection over many recorded games: events a second, end to end, and memory."""

import os
from pathlib import Path
from typing import Final

from rich.table import Table

from bench.counting import MEASURED
from bench.report import Targets, console
from bench.stores import fill, with_postgres
from projections.rebuild import rebuild

_EVENTS: Final = int(os.environ.get("FAIRDEAL_BENCH_EVENTS", "1000000"))
_TARGET: Final = 20_000
_EARLY: Final = 0.1
"""The part of a rebuild after which memory is looked at first."""


def main() -> None:
    """Print a line for each projection; FAIRDEAL_BENCH_EVENTS sets how many events (1,000,000)."""
    with_postgres(_measure)


async def _measure(url: str) -> None:
    events = await fill(url, _EVENTS)
    shown = Table(title=f"rebuild over {events:,} events, one run")
    for heading in ("projection", "events/s", "MB at 10 %", "MB at the end"):
        shown.add_column(heading)
    targets = Targets()
    for name, projection in MEASURED.items():
        memory: list[float] = []
        early: list[float] = []

        def told(
            done: int, of: int, memory: list[float] = memory, early: list[float] = early
        ) -> None:
            memory[:] = [_megabytes()]
            if not early and done >= _EARLY * of:
                early.extend(memory)

        # The first one brings a live build, beside which the second is built and compared.
        await rebuild(url, projection)
        done = await rebuild(url, projection, told=told)
        if done.parked or done.different:
            raise RuntimeError(f"{name}: {done.parked} streams parked, compared {done.compared}")
        rate = done.events / done.seconds
        shown.add_row(name, f"{rate:,.0f}", f"{early[0]:.0f}", f"{memory[0]:.0f}")
        targets.at_least(f"{name}, end to end", rate, _TARGET, " events/s")
        targets.at_most(f"{name}, memory at the end : at 10 %", memory[0] / early[0], 1.2, "x")
    console().print(shown)
    targets.show()


def _megabytes() -> float:
    """What this process holds in memory now (Linux)."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGESIZE") / 1e6
