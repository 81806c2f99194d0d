"""The feed: how many events a second get their numbers while eight write, and how long after its
commit an event is in the projections."""

import asyncio
import os
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Any, Final
from uuid import uuid4

from rich.table import Table

from bench.counting import MEASURED
from bench.report import RUNS, Runs, Targets, console
from bench.serving import NoPeer
from bench.stores import fill, with_postgres
from eventstore import wire
from eventstore.postgres import EventStore
from eventstore.records import GENESIS, Answer, Append, NewEvent, StoredEvent
from projections.builds import provide_views
from projections.runner import run
from projections.waiting import past, reached

_WRITERS: Final = 8
_AS_WRITTEN: Final = "numbered as they are written"
_SECONDS: Final = 4.0
_CATCH_UP_SECONDS: Final = 600.0
_SAMPLES: Final = 300
_BATCH: Final = 8
"""Events of an append, about as many as one action of a game causes."""


def main() -> None:
    """Print both tables."""
    with_postgres(_measure)


async def _measure(url: str) -> None:
    await fill(url, 1)
    async with EventStore.open(url, max_size=_WRITERS, deadline_seconds=60) as store:
        games = [await store.read(stream) async for stream in store.streams()]
        heads = [await store.head(stream) async for stream in store.streams()]
        recorded = [
            (head.category, events)
            for head, events in zip(heads, games, strict=True)
            if head is not None
        ]
        targets = Targets()
        await _numbering(store, recorded, targets)
        await _nothing_lost(store, targets)
        await asyncio.to_thread(_their_readers, url, targets)
        await _latency(url, store, recorded, targets)
        targets.show()


async def _numbering(
    store: EventStore, recorded: list[tuple[str, list[StoredEvent]]], targets: Targets
) -> None:
    runs = Runs()
    for _ in range(RUNS):
        begun, stop = time.perf_counter(), asyncio.Event()
        writing = [asyncio.create_task(_write(store, recorded, stop, 0)) for _ in range(_WRITERS)]
        stamped = 0
        while time.perf_counter() - begun < _SECONDS:
            stamped += await store.feed.sequence() or 0
        runs.add(_AS_WRITTEN, stamped / (time.perf_counter() - begun))
        stop.set()
        await asyncio.gather(*writing)
        # What they write without a sequencer beside them, and how fast that is numbered.
        stop.clear()
        writing = [asyncio.create_task(_write(store, recorded, stop, 0)) for _ in range(_WRITERS)]
        await asyncio.sleep(_SECONDS)
        stop.set()
        await asyncio.gather(*writing)
        begun, stamped = time.perf_counter(), 0
        while count := await store.feed.sequence():
            stamped += count
        runs.add("numbered later", stamped / (time.perf_counter() - begun))
    runs.show(f"feed, {_WRITERS} writers, appends of {_BATCH}", "events/s")
    targets.at_least(_AS_WRITTEN, runs.median(_AS_WRITTEN), 5_000, " events/s")


async def _nothing_lost(store: EventStore, targets: Targets) -> None:
    """Every event of the log has a number, numbers are dense, and streams are in their order."""
    last: dict[str, int] = {}
    numbered = disordered = 0
    for lane in range(wire.LANES):
        after = 0
        while page := await store.feed.page(lane, after, 1000, []):
            for event in page:
                disordered += event.version != last.get(event.stream, 0) + 1
                last[event.stream] = event.version
            numbered, after = numbered + len(page), page[-1].seq
    streams = [stream async for stream in store.streams()]
    written = sum([version for _, version in await store.versions(streams)])
    targets.at_most(f"lost, of {written:,} events written meanwhile", written - numbered, 0)
    targets.at_most("out of order or not dense", disordered + len(await store.feed.strays()), 0)


def _their_readers(url: str, targets: Targets) -> None:
    """What a reader of `eventsourcing` misses who goes on after the last number, while as many
    write."""
    try:
        from bench.peers.eventsourced import Recorder
    except NoPeer as missing:
        targets.missing(str(missing))
        return
    shown = Table(title=f"beside it: a reader of eventsourcing, {_WRITERS} writers, {RUNS} runs")
    for heading in ("mode", "events/s", "missed", "of"):
        shown.add_column(heading)
    for mode, safe in (("safe", True), ("unsafe", False)):
        recorder = Recorder(url, f"FEED_{mode}", safe=safe, writers=_WRITERS + 1)
        rates = [_their_run(recorder) for _ in range(RUNS)]
        read = sum([seen for seen, _ in rates])
        recorder.close()
        written = sum([all_ for _, all_ in rates])
        rate = statistics.median([all_ / _SECONDS for _, all_ in rates])
        shown.add_row(mode, f"{rate:,.0f}", f"{written - read:,}", f"{written:,}")
    console().print(shown)


def _their_run(recorder: Any) -> tuple[int, int]:
    """How many events the reader saw, and how many were written, in one run."""
    before, end = recorder.numbers(), time.perf_counter() + _SECONDS
    last, seen = recorder.count(), 0

    def write() -> None:
        while time.perf_counter() < end:
            recorder.write([[bytes(200)] * _BATCH] * 10)

    with ThreadPoolExecutor(_WRITERS) as writers:
        writing = [writers.submit(write) for _ in range(_WRITERS)]
        while True:
            over = all([one.done() for one in writing])
            page = recorder.after(last)
            seen, last = seen + len(page), page[-1] if page else last
            if over and not page:
                break
        for one in writing:
            one.result()
    return seen, recorder.numbers() - before


async def _latency(
    url: str,
    store: EventStore,
    recorded: list[tuple[str, list[StoredEvent]]],
    targets: Targets,
) -> None:
    await provide_views(url, MEASURED.values())
    shown = Table(title="commit to projection, all of them")
    for heading in ("runner", "written beside it", "p50", "p99"):
        shown.add_column(heading)
    for where in ("in this process", "in another"):
        for pace in (0, 200, 1000):
            async with _running(url, store, where):
                stop = asyncio.Event()
                writers = [
                    asyncio.create_task(_write(store, recorded, stop, pace / _WRITERS / _BATCH))
                    for _ in range(_WRITERS if pace else 0)
                ]
                await asyncio.sleep(1)
                # What the writers have left behind comes first.
                if not await past(store, MEASURED, await _tip(store), _CATCH_UP_SECONDS):
                    raise RuntimeError("the projections have not caught up")
                waits = sorted([await _sample(store, recorded) for _ in range(_SAMPLES)])
                stop.set()
                await asyncio.gather(*writers)
            p50, p99 = waits[len(waits) // 2], waits[int(len(waits) * 0.99)]
            beside = f"{pace:,} events/s" if pace else "nothing"
            shown.add_row(where, beside, f"{p50 * 1e3:.1f} ms", f"{p99 * 1e3:.1f} ms")
            targets.at_most(f"p99, runner {where}, {beside} beside it", p99 * 1e3, 100, " ms")
    console().print(shown)


async def _tip(store: EventStore) -> int:
    """How many events the feed holds."""
    return sum([tip.seq for tip in await store.feed.tips()])


async def _sample(store: EventStore, recorded: list[tuple[str, list[StoredEvent]]]) -> float:
    """Seconds from the answer to an append until every projection holds its event."""
    await asyncio.sleep(0.01)
    category, events = recorded[0]
    append = _append(str(uuid4()), category, events, 0, 1)
    await store.append(append)
    begun = time.perf_counter()
    if not all([await reached(store, name, append.stream, 1, 30) for name in MEASURED]):
        raise RuntimeError("an event did not come into the projections")
    return time.perf_counter() - begun


@asynccontextmanager
async def _running(url: str, store: EventStore, where: str) -> AsyncIterator[None]:
    if where == "in this process":
        task = asyncio.create_task(run(url, MEASURED.values(), news=store.feed.news))
        try:
            yield
        finally:
            task.cancel()
            await asyncio.wait([task])
        return
    code = (
        "import asyncio; from bench.counting import MEASURED; from projections.runner import run;"
        f"asyncio.run(run({url!r}, MEASURED.values()))"
    )
    with subprocess.Popen([sys.executable, "-c", code], env=os.environ) as process:
        try:
            yield
        finally:
            process.kill()


async def _write(
    store: EventStore,
    recorded: list[tuple[str, list[StoredEvent]]],
    stop: asyncio.Event,
    appends_a_second: float,
) -> None:
    """Recorded games under new ids, one after another, at a pace (0: as fast as it goes)."""
    turn = 0
    while True:
        category, events = recorded[turn % len(recorded)]
        stream, turn = str(uuid4()), turn + 1
        for first in range(0, len(events), _BATCH):
            if stop.is_set():
                return
            begun = time.perf_counter()
            await store.append(_append(stream, category, events, first, _BATCH))
            if appends_a_second:
                taken = time.perf_counter() - begun
                await asyncio.sleep(max(0.0, 1 / appends_a_second - taken))


def _append(
    stream: str, category: str, events: list[StoredEvent], first: int, count: int
) -> Append:
    part = events[first : first + count]
    # They happen now, as in life: games that end one after another are rated one after another. (So
    # their hashes are not theirs, which nobody looks at here.)
    now = time.time_ns() // 1000
    return Append(
        stream=stream,
        expected=first,
        prev=events[first - 1].hash if first else GENESIS,
        events=tuple(
            [
                NewEvent(e.type, e.schema, now, e.actor, e.command, e.data, e.hash, e.sealed)
                for e in part
            ]
        ),
        command=part[-1].command,
        answer=Answer(stream, first + 1, first + len(part), b""),
        tenant="host",
        category=category,
    )
