"""Rebuilds of each projection over many recorded games: events a second, end to end, and memory;
beside them `eventsourcing` reading the events of aggregates, of which it makes nothing."""

import asyncio
import os
import statistics
import time
from pathlib import Path
from typing import Any, Final

from bench.counting import MEASURED
from bench.load import EVENTS
from bench.report import RUNS, Runs, Targets
from bench.serving import NoPeer
from bench.stores import fill, with_postgres
from projections.projection import Projection
from projections.rebuild import rebuild

_EVENTS: Final = int(os.environ.get("FAIRDEAL_BENCH_EVENTS", "1000000"))
_TARGET: Final = 20_000
_PEER: Final = "eventsourcing, events read and mapped"
_THEIR_EVENTS: Final = 50_000
_EARLY: Final = 0.1
"""The part of a rebuild after which memory is looked at first."""


def main() -> None:
    """Print a line for each projection; FAIRDEAL_BENCH_EVENTS sets how many events (1,000,000)."""
    with_postgres(_measure)


async def _measure(url: str) -> None:
    events = await fill(url, _EVENTS)
    runs, targets = Runs(), Targets()
    growth: dict[str, list[float]] = {}
    peer = _peer(url, targets)
    for projection in MEASURED.values():
        # It brings a live build, beside which those that are measured are built and compared.
        await rebuild(url, projection)
    for _ in range(RUNS):
        for name, projection in MEASURED.items():
            rate, grown = await _once(url, name, projection, events)
            runs.add(name, rate)
            growth.setdefault(name, []).append(grown)
        if peer is not None:
            runs.add(_PEER, await asyncio.to_thread(_their_rate, peer))
    if peer is not None:
        peer.close()
    runs.show(f"rebuild over {events:,} events", "events/s")
    for name, grown_ in growth.items():
        targets.at_least(f"{name}, end to end", runs.median(name), _TARGET, " events/s")
        words = f"{name}, memory at the end : at 10 %"
        targets.at_most(words, statistics.median(grown_), 1.2, "x")
    targets.show()


async def _once(url: str, name: str, projection: Projection, events: int) -> tuple[float, float]:
    """Events a second of one rebuild, and the memory at its end by that early on."""
    early: list[float] = []
    last = 0.0

    def told(done: int, of: int) -> None:
        nonlocal last
        last = _megabytes()
        if not early and done >= _EARLY * of:
            early.append(last)

    done = await rebuild(url, projection, told=told)
    if done.parked or done.different or done.events < events:
        raise RuntimeError(f"{name}: {done.parked} streams parked, compared {done.compared}")
    return done.events / done.seconds, last / early[0]


def _peer(url: str, targets: Targets) -> Any:
    """An application of the peer's with events to read; None where there is none."""
    try:
        from bench.peers.eventsourced import Games, environment
    except NoPeer as missing:
        targets.missing(str(missing))
        return None
    peer = Games(environment(url, safe=True, pool=2))
    for _ in range(_THEIR_EVENTS // EVENTS):
        peer.played(EVENTS)
    return peer


def _their_rate(peer: Any) -> float:
    begun = time.perf_counter()
    assert peer.read_all() == _THEIR_EVENTS
    return _THEIR_EVENTS / (time.perf_counter() - begun)


def _megabytes() -> float:
    """What this process holds in memory now (Linux)."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGESIZE") / 1e6
