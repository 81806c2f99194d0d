"""What the store must hold by itself after a run, whoever was told what: a sound log, a dense feed,
projections that equal a fold from zero."""

import asyncio
from collections.abc import Iterator, Sequence
from time import monotonic
from typing import Final

import msgspec

from api.auditing import audit
from domain.export import FORMAT, Export, Header
from domain.receipts import PublicKey
from domain.times import parse_at
from domain.verify import verify
from eventstore.postgres import EventStore
from eventstore.records import StoreUnavailable
from faults.truth import GameLog, Truth
from faults.violations import Violation
from projections.rebuild import rebuild
from projections.registry import PROJECTIONS
from projections.standing import standing


def check_logs(truth: Truth) -> Iterator[Violation]:
    """Versions are dense, the head is the end, and all that can be verified of the log is."""
    for log in truth.games.values():
        if not log.dense:
            versions = [entry.version for entry in log.entries]
            text = f"the head says version {log.version}, the log has the versions {versions}"
            yield Violation("log", text, log.id)
            continue
        for check in verify(_export(log), (), truth.keys).checks:
            if check.status == "failed":
                yield Violation("log", f"{check.check}: {check.detail}", log.id, check.versions)


def _export(log: GameLog) -> Export:
    created = msgspec.json.decode(log.entries[0].data)
    header = Header(FORMAT, created["game"], log.id, created["rules_version"], {"role": "host"})
    return Export(header, tuple(log.entries), ())


def check_feed(truth: Truth) -> Iterator[Violation]:
    """Each lane counts 1, 2, 3, …, and holds every event of its games once and in their order."""
    seen: dict[str, int] = {}
    for lane, entries in truth.feed.items():
        for place, (seq, stream, version) in enumerate(entries, 1):
            if seq != place:
                yield Violation("feed", f"lane {lane} has number {seq} in place {place}", stream)
                break
            if stream in truth.games and version != seen.get(stream, 0) + 1:
                text = f"lane {lane}, number {seq}: version {version} after {seen.get(stream, 0)}"
                yield Violation("feed", text, stream, (version,))
            seen[stream] = version
    for log in truth.games.values():
        if seen.get(log.id, 0) != len(log.entries):
            text = f"the feed ends at version {seen.get(log.id, 0)} of {len(log.entries)}"
            yield Violation("feed", text, log.id)


def check_clocks(truth: Truth) -> Iterator[Violation]:
    """No seat is acted for by the clock before the deadline that holds, nor twice for one."""
    for log in truth.games.values():
        if not log.dense:
            continue  # said as `log`
        deadline: tuple[int, int] | None = None
        fired: set[tuple[int, int | None]] = set()
        for command in log.commands():
            entry = log.entries[command.first - 1]
            if command.action.get("by") == "clock":
                versions = (command.first, command.last)
                if deadline is None or entry.at < deadline[1]:
                    text = f"the clock acted for seat {command.actor} before the deadline"
                    yield Violation("clock", text, log.id, versions)
                elif (deadline[0], command.actor) in fired:
                    text = f"the clock acted twice for seat {command.actor} at one deadline"
                    yield Violation("clock", text, log.id, versions)
                else:
                    fired.add((deadline[0], command.actor))
            for later in log.entries[command.first - 1 : command.last]:
                if later.type == "ClockStarted":
                    at = msgspec.json.decode(later.data)["deadline"]
                    deadline = None if at is None else (later.version, parse_at(at))


def clock_firings(truth: Truth) -> int:
    """How often the clock acted for somebody."""
    return sum(
        [
            1
            for log in truth.games.values()
            for command in log.commands()
            if command.action.get("by") == "clock"
        ]
    )


async def check_audit(store: EventStore, keys: Sequence[PublicKey]) -> list[Violation]:
    """What `fairdeal audit` finds, which looks at the rows, the feed and the receipts kept."""
    found = await audit(store, keys, None, lambda _: None)
    return [
        Violation(
            "log", f"audit, {trouble.check}: {trouble.reason}", trouble.stream, trouble.versions
        )
        for trouble in found.trouble
    ]


_LOOK_SECONDS: Final = 0.05


async def check_lag(store: EventStore, seconds: float) -> list[Violation]:
    """Within so many seconds every event is numbered and in all live builds, and none is parked."""
    end = monotonic() + seconds
    while True:
        try:
            feed = await standing(store)
        except StoreUnavailable as error:
            return [Violation("projections", f"the store does not answer: {error}")]
        live = feed.live()
        missing = sorted(PROJECTIONS.keys() - live.keys())
        behind = {name: build.lag_events for name, build in live.items() if build.lag_events}
        if not (missing or behind or feed.unstamped):
            break
        if monotonic() > end:
            text = f"after {seconds:g} s: {feed.unstamped} not numbered, behind: {behind}"
            return [Violation("projections", f"{text}, not live: {missing}")]
        await asyncio.sleep(_LOOK_SECONDS)
    return [
        Violation("projections", f"{name} has parked a stream: {parked.error}", parked.stream)
        for name, build in live.items()
        for parked in build.parked
    ]


async def check_projections(url: str) -> list[Violation]:
    """Each projection, built again from the whole log, is what it was."""
    found = []
    for name, projection in PROJECTIONS.items():
        done = await rebuild(url, projection)
        for table in done.compared or ():
            if table.only_live or table.only_rebuilt:
                text = (
                    f"{name}, table {table.table}: {table.only_live} rows are only in what was "
                    f"kept up, {table.only_rebuilt} only in the fold from zero"
                )
                found.append(Violation("projections", text))
        if done.parked:
            found.append(Violation("projections", f"{name}: the fold from zero parks a stream"))
        if done.compared is None:
            found.append(Violation("projections", f"{name} could not be compared"))
    return found
