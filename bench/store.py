"""Appends to the store: hash chain, head, events, sealed parts and the caller's key, in one round
trip and durable, by eight writers in one process; beside `eventsourcing` with the same payloads and
the floor of pgbench. Afterwards every stream is read back: nothing may be lost."""

import asyncio
import itertools
import secrets
import time
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from typing import Any, Final
from uuid import uuid4

import msgspec

from api.batch import new_event
from api.checking import read_log
from api.importing import samples
from api.kept_answer import kept_answer
from bench import floor
from bench.report import RUNS, Runs, Targets
from bench.serving import NoPeer
from bench.stores import with_postgres
from domain.log import GENESIS, Circumstances, Entry, Shape, chain_breaks, chained
from domain.receipts import SigningKey
from eventstore.postgres import EventStore
from eventstore.records import Answer, Append, Appended, CallerKey

WRITERS: Final = 8
SECONDS: Final = 4.0
A_STREAM: Final = 100
"""Appends to a stream, after which its writer begins another."""

ONE: Final = "one event"
TWO: Final = "keyed, two events, one sealed part"


def main() -> None:
    """Print the table of targets.md's row *store append*."""
    with_postgres(_measure)


def recorded(sealed: bool) -> list[Shape]:
    """What a command of a recorded game brought about: one event, or two with a sealed part."""
    for path in samples():
        for _, group in itertools.groupby(read_log(path).entries, key=lambda e: e.command):
            entries = list(group)
            parts = [part for entry in entries for part in entry.sealed]
            if entries[0].type == "CardPlayed" and (len(entries), len(parts)) == (
                (2, 1) if sealed else (1, 0)
            ):
                return [_shape(entry) for entry in entries]
    raise RuntimeError("the recorded games hold no such command")


def _shape(entry: Entry) -> Shape:
    parts = tuple([(part.audience, part.body or b"") for part in entry.sealed])
    return Shape(entry.type, entry.schema, entry.data, parts)


class Writers:
    """Our writers, and how far they have been told that each stream stands."""

    def __init__(self, store: EventStore) -> None:
        self._store = store
        self._signer = SigningKey(secrets.token_bytes(32))
        self.acknowledged: dict[str, int] = {}

    async def write(self, shapes: list[Shape], keyed: bool, end: float) -> int:
        """Append until the time is over; how many appends were acknowledged."""
        count = 0
        while True:
            stream, version, prev = str(uuid4()), 0, GENESIS
            for _ in range(A_STREAM):
                if time.perf_counter() >= end:
                    return count
                request = self._append(stream, version, prev, shapes, keyed)
                if not isinstance(await self._store.append(request), Appended):
                    raise RuntimeError("an append to a stream of one writer was refused")
                version, prev = version + len(shapes), request.events[-1].hash
                self.acknowledged[stream] = version
                count += 1

    def _append(
        self, stream: str, version: int, prev: bytes, shapes: list[Shape], keyed: bool
    ) -> Append:
        shared = Circumstances(time.time_ns() // 1000, 0, str(uuid4()))
        entries = chained(stream, version, shapes, shared, prev, secrets.token_bytes(32))
        last = entries[-1]
        key, response = None, b""
        if keyed:
            asked = sha256(shared.command.encode()).digest()
            key = CallerKey(stream, asked, asked)
            receipt = self._signer.receipt(stream, last)
            response = kept_answer(receipt)
        return Append(
            stream=stream,
            expected=version,
            prev=prev,
            events=tuple([new_event(entry) for entry in entries]),
            command=shared.command,
            answer=Answer(stream, version + 1, last.version, response),
            key=key,
            tenant="host",
            category="lodam",
        )


async def _measure(url: str) -> None:
    runs, targets = Runs(), Targets()
    floor.prepare(url)
    peers = _peers(url, targets)
    written: dict[str, int] = dict.fromkeys(peers, 0)
    kinds = ((ONE, recorded(sealed=False), False), (TWO, recorded(sealed=True), True))
    async with EventStore.open(url, min_size=WRITERS, max_size=WRITERS) as store:
        ours = Writers(store)
        for _ in range(RUNS):
            for kind, shapes, keyed in kinds:
                begun = time.perf_counter()
                tasks = [ours.write(shapes, keyed, begun + SECONDS) for _ in range(WRITERS)]
                count = sum(await asyncio.gather(*tasks))
                runs.add(f"fairdeal: {kind}", count / (time.perf_counter() - begun))
                payload = [[_state(shape) for shape in shapes]]
                for name, recorder in peers.items():
                    rate, count = await asyncio.to_thread(_theirs, recorder, payload)
                    runs.add(f"{name}: {kind}", rate)
                    written[name] += count * len(shapes)
            try:
                rate = await asyncio.to_thread(floor.inserts, url, WRITERS, SECONDS)
                runs.add("floor: pgbench, one row", rate)
            except NoPeer as missing:
                targets.missing(str(missing))
        lost = await _lost(store, ours.acknowledged)
    for name, recorder in peers.items():
        if recorder.count() < written[name]:
            targets.missing(f"{name} lost events of its own, its figure says nothing")
        recorder.close()
    _tell(runs, targets, lost, len(ours.acknowledged))


def _state(shape: Shape) -> bytes:
    """A peer's payload of the same size: data and sealed bodies."""
    return shape.data + b"".join([body for _, body in shape.parts])


def _peers(url: str, targets: Targets) -> dict[str, Any]:
    try:
        from bench.peers.eventsourced import Recorder
    except NoPeer as missing:
        targets.missing(str(missing))
        return {}
    return {
        "eventsourcing, safe": Recorder(url, "SAFE", safe=True, writers=WRITERS),
        "eventsourcing, unsafe": Recorder(url, "UNSAFE", safe=False, writers=WRITERS),
    }


def _theirs(recorder: Any, payload: list[list[bytes]]) -> tuple[float, int]:
    """Their appends a second, by as many threads, and how many there were."""
    begun = time.perf_counter()
    end = begun + SECONDS

    def write(_: int) -> int:
        count = 0
        while time.perf_counter() < end:
            recorder.write(payload * 10)
            count += 10
        return count

    with ThreadPoolExecutor(WRITERS) as threads:
        count = sum(threads.map(write, range(WRITERS)))
    return count / (time.perf_counter() - begun), count


async def _lost(store: EventStore, acknowledged: dict[str, int]) -> int:
    """Acknowledged events that are not in the log under a chain that holds."""
    lost = 0
    for stream, version in acknowledged.items():
        entries = msgspec.convert(await store.read(stream), list[Entry], from_attributes=True)
        whole = chain_breaks(stream, entries) is None
        lost += max(0, version - len(entries)) if whole else version
    return lost


def _tell(runs: Runs, targets: Targets, lost: int, streams: int) -> None:
    runs.show(f"appends by {WRITERS} writers in one process", "appends/s")
    for kind in (ONE, TWO):
        for mode, wanted in (("safe", 5), ("unsafe", 1)):
            if (theirs := f"eventsourcing, {mode}: {kind}") in runs:
                ratio = runs.ratio(f"fairdeal: {kind}", theirs)
                targets.at_least(f"{kind}, : eventsourcing {mode}", ratio, wanted, "x")
    targets.at_most(f"acknowledged and lost, of {streams:,} streams read back", lost, 0)
    targets.show()
