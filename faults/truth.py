"""What the store holds after a run, read past the API: the other half of what the checker compares.

Reads everything, judges nothing.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, Final

import msgspec

from domain.log import Entry
from domain.receipts import PublicKey
from domain.registry import GAMES
from eventstore.postgres import EventStore
from projections.entries import entries

_PAGE: Final = 1000
_FEED: Final = """
    SELECT f.lane, f.seq - back, coalesce(e.stream::text, ''), coalesce(e.version, 0)
    FROM fairdeal.feed f CROSS JOIN LATERAL generate_series(0, f.count - 1) back
    LEFT JOIN fairdeal.events e ON e.lane = f.lane AND e.alloc = f.alloc - back
    ORDER BY f.lane, f.seq - back
"""
"""Run by run, past the store's own way of reading it, which stops at what is out of order."""


class LogCommand(msgspec.Struct):
    """A command as the log holds it: its versions, who acted, what was asked and by whom."""

    id: str
    first: int
    last: int
    actor: int | None
    action: dict[str, Any]
    """With the secret parameters that the log seals."""

    @property
    def own(self) -> bool:
        """Whether a caller asked for it; bots, the clock and the server act by themselves."""
        return "by" not in self.action


class GameLog(msgspec.Struct):
    """One game's stream."""

    id: str
    version: int
    """What its head says."""
    hash: bytes
    entries: list[Entry]

    @property
    def dense(self) -> bool:
        """Whether the versions are 1, 2, 3, … as far as the head says."""
        return [entry.version for entry in self.entries] == list(range(1, self.version + 1))

    def commands(self) -> list[LogCommand]:
        """The commands of the log, in order."""
        found: list[LogCommand] = []
        for entry in self.entries:
            if found and found[-1].id == entry.command:
                found[-1].last = entry.version
                continue
            action = dict(msgspec.json.decode(entry.data).get("action") or {})
            action |= _secrets(entry, action)
            version = entry.version
            found.append(LogCommand(entry.command, version, version, entry.actor, action))
        return found


class Truth(msgspec.Struct):
    """The whole store."""

    games: dict[str, GameLog]
    feed: dict[int, list[tuple[int, str, int]]]
    """By lane: number, stream and version of each entry, in order of numbers."""
    keys: tuple[PublicKey, ...] = ()
    others: frozenset[str] = frozenset()
    """Streams that are no games."""


def _secrets(entry: Entry, action: dict[str, Any]) -> dict[str, Any]:
    """The parameters of the command that its first event seals for the one who acts: everything of
    that part that can be a parameter."""
    if entry.actor is None:
        return {}
    for part in entry.sealed:
        if part.audience == f"[{entry.actor}]" and part.body is not None:
            body = msgspec.json.decode(part.body)
            return {k: v for k, v in body.items() if k not in action} if body else {}
    return {}


async def read(store: EventStore, keys: Sequence[PublicKey] = ()) -> Truth:
    """Read the whole store. What is committed and not numbered yet is numbered first."""
    while (await store.feed.sequence(_PAGE, wait=True) or 0) >= _PAGE:
        pass
    games: dict[str, GameLog] = {}
    others: set[str] = set()
    async for stream in store.streams():
        loaded = await store.load(stream)
        if loaded is None:
            continue
        head, events = loaded
        if head.category in GAMES:
            games[stream] = GameLog(stream, head.version, head.hash, entries(events))
        else:
            others.add(stream)
    feed: dict[int, list[tuple[int, str, int]]] = defaultdict(list)
    for lane, *entry in await store.fetch(_FEED):
        feed[lane].append((entry[0], entry[1], entry[2]))
    return Truth(games, dict(feed), tuple(keys), frozenset(others))
