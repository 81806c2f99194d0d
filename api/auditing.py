"""`fairdeal audit`: every stream of a store against its hashes, digests, head, feed and receipts.

What a superuser of the database can do with triggers off, and what a failing disk does, shows here:
an event changed, gone, added or elsewhere. A tail that was cut together with its head, or a whole
history rewritten with hashes that fit, shows where the store or a player has kept a receipt.
"""

import random
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Final

import msgspec

from api.batch import IMPORTED, tags_of
from api.disputes import dispute_tags, former_dispute_tags
from api.kept_answer import kept_receipt
from domain.dispute_stream import fold_dispute
from domain.log import Entry, fold
from domain.receipts import PublicKey
from domain.registry import GAMES
from domain.verify import Check, check_chain, check_commands, check_digests, check_receipts
from domain.visibility import ALL_TEXT
from eventstore.postgres import EventStore
from eventstore.records import Answer, Head
from projections.disputes import CATEGORY
from projections.entries import entries

_FORMER_TAGS: Final = ("game=", "status=", "label=", "state=")
"""Of streams from before there were projections, which have lain still since."""


class Trouble(msgspec.Struct, frozen=True):
    """Where a stream disagrees with itself: the check, the versions, and why. One for each cause,
    at however many versions it shows."""

    stream: str
    check: str
    versions: tuple[int, ...]
    reason: str


class Audit(msgspec.Struct, frozen=True):
    """What was looked at, and all that was found."""

    streams: int
    events: int
    trouble: tuple[Trouble, ...]


_NOT_JUDGED: Final = ("passed", "not_yet_possible")


async def audit(
    store: EventStore,
    keys: Sequence[PublicKey] | None,
    sample: int | None,
    progress: Callable[[int], None],
) -> Audit:
    """Look at all streams, or a random sample of so many. `keys` None: signatures are not judged.
    `progress` is told the number of streams looked at."""
    trouble: list[Trouble] = []
    streams = events = 0
    if sample is None:
        reason = "it has events, and its row among the streams is gone"
        trouble += [Trouble(lost, "head", (), reason) for lost in await store.headless()]
        reason = "an entry of the feed belongs to no event, or does not count on"
        trouble += [
            Trouble(f"lane {lane}", "feed", (), f"{reason}: number {seq}")
            for lane, seq in await store.feed.strays()
        ]
    async for stream in _chosen(store, sample):
        # The receipts first: those of events that are written meanwhile would seem too new.
        answers = await store.answers(stream)
        numbers = await store.feed.entries(stream)
        loaded = await store.load(stream)
        streams += 1
        if loaded is not None:
            head, stored = loaded
            log = entries(stored)
            events += len(log)
            checks = [*_judged(head, log, answers, keys), *_check_feed(numbers)]
            trouble += _told(stream, [c for c in checks if c.status not in _NOT_JUDGED])
        progress(streams)
    return Audit(streams, events, tuple(trouble))


def _told(stream: str, failed: Sequence[Check]) -> list[Trouble]:
    """What failed in a stream; what failed in one way at many versions is one trouble."""
    causes: dict[tuple[str, str], list[Check]] = {}
    for check in failed:
        start = f"version {check.versions[0]}: " if len(check.versions) == 1 else ""
        causes.setdefault((check.check, check.detail.removeprefix(start)), []).append(check)
    found = []
    for (name, cause), checks in causes.items():
        versions = tuple([version for check in checks for version in check.versions])
        reason = checks[0].detail
        if len(checks) > 1:
            where = f", at versions {min(versions)} to {max(versions)}" if versions else ""
            reason = f"{len(checks)} times{where}: {cause}"
        found.append(Trouble(stream, name, versions, reason))
    return found


async def _chosen(store: EventStore, sample: int | None) -> AsyncIterator[str]:
    if sample is None:
        async for stream in store.streams():
            yield stream
        return
    known = [stream async for stream in store.streams()]
    for stream in random.sample(known, min(sample, len(known))):
        yield stream


def _judged(
    head: Head, log: list[Entry], answers: list[Answer], keys: Sequence[PublicKey] | None
) -> list[Check]:
    """Every check of a stream. A log too broken to be checked is a finding, not an error."""
    found: list[Check] = []
    try:
        found += _checks(head, log, answers, keys)
        if all(check.status in _NOT_JUDGED for check in found):
            found += _check_meaning(head, log)
    except Exception as error:  # whatever is in the rows: the audit goes on to the next stream
        found.append(_failed("log", (), f"it cannot be checked: {type(error).__name__}: {error}"))
    return found


def _checks(
    head: Head, log: list[Entry], answers: list[Answer], keys: Sequence[PublicKey] | None
) -> Iterator[Check]:
    yield from check_chain(head.stream, log)
    yield from check_commands(log)
    yield from check_digests(log)
    yield from _check_head(head, log)
    yield from _check_erased(log)
    # What is kept of a dispute's commands holds no receipt.
    receipts = [kept_receipt(a) for a in answers if a.stream == head.stream and a.response]
    anchored = keys is not None
    yield from check_receipts("stored", receipts, head.stream, log, keys or (), anchored)


def _check_head(head: Head, log: list[Entry]) -> Iterator[Check]:
    """The head that appends are held against is the end of the log."""
    last = log[-1] if log else None
    version = 0 if last is None else last.version
    if head.version != version:
        reason = f"the head says version {head.version}, the log ends at version {version}"
        yield _failed("head", (min(head.version, version) + 1,), reason)
    elif last is not None and head.hash != last.hash:
        reason = f"version {version}: the head has another hash than the event"
        yield _failed("head", (version,), reason)


def _check_erased(log: list[Entry]) -> Iterator[Check]:
    """Only what is personal can have been erased."""
    for entry in log:
        for index, part in enumerate(entry.sealed):
            if part.body is None and part.audience != ALL_TEXT:
                reason = (
                    f"version {entry.version}: sealed part {index} is gone, and is not personal"
                )
                yield _failed("digests", (entry.version,), reason)


def _check_feed(numbers: list[tuple[int, int | None, bool]]) -> Iterator[Check]:
    """Every event is in the feed once, after those before it, but for the newest of all."""
    highest = 0
    for version, seq, early in numbers:
        if seq is None:
            if not early:
                yield _failed("feed", (version,), f"version {version} is not in the feed")
        elif seq <= highest:
            reason = f"version {version} comes in the feed before a version that it follows"
            yield _failed("feed", (version,), reason)
        highest = max(highest, seq or 0)


def _check_meaning(head: Head, log: list[Entry]) -> Iterator[Check]:
    """The log can be read, and the stream is filed under what it says."""
    if head.category in GAMES:
        tags = tags_of(fold(head.stream, log), imported=IMPORTED in head.tags)
        former = list(tags)
    elif head.category == CATEGORY:
        tags = dispute_tags(fold_dispute(head.stream, log))
        former = former_dispute_tags(tags)
    else:
        reason = f"it is filed under {head.category!r}, which is no category"
        yield _failed("category", (head.version,), reason)
        return
    found = sorted([tag for tag in head.tags if not tag.startswith(_FORMER_TAGS)])
    if found not in (sorted(tags), sorted(former)):
        yield _failed("tags", (head.version,), "it is filed under other tags than its log gives")


def _failed(check: str, versions: tuple[int, ...], reason: str) -> Check:
    return Check(check, "failed", versions, reason)
