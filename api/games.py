"""Tables as this process knows them: a bounded cache over the store, brought up to date by version.

What is cached may be old. It is good enough to decide on, because an append checks the version;
whoever answers a reader, or refuses, asks for `fresh` first. What other workers tell of a game that
is cached is kept as it came, and folded when somebody asks for the game.
"""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from domain.codec import UnreadableEvent
from domain.log import Entry, fold
from domain.registry import GAMES
from domain.table.state import Table, copied
from eventstore import spans
from eventstore.postgres import EventStore
from eventstore.records import Head, StoredEvent
from projections.entries import entries


class Known(msgspec.Struct, frozen=True):
    """A game at a version: its table and what the store keeps beside it.

    `hash` and `at` are those of the newest event; `secret` is the key of a seeded game.
    """

    table: Table
    hash: bytes
    at: int
    tenant: str
    secret: bytes | None
    tags: tuple[str, ...]


class History(msgspec.Struct, frozen=True):
    """A whole log, read at one moment, folded to a version and to its end."""

    entries: list[Entry]
    table: Table
    """As of the version asked for."""
    newest: Known


class News(msgspec.Struct, frozen=True, array_like=True):
    """What was appended to a game: its tags from then on, and the events."""

    tags: tuple[str, ...]
    entries: list[Entry]


_MOST_NEWS: Final = 32
"""So much is kept of a game that nobody asks for; after that it is read from the store."""

encode_news: Final[Callable[[News], bytes]] = msgspec.msgpack.Encoder().encode
"""News as the other workers are told of them."""
_decode_news: Final = msgspec.msgpack.Decoder(News).decode


class Games:
    """The games that this process has lately met."""

    def __init__(self, store: EventStore, size: int) -> None:
        self._store: Final = store
        self._size: Final = size
        self._known: Final[OrderedDict[str, Known]] = OrderedDict()
        self._news: Final[dict[str, list[bytes]]] = {}

    def cached(self, game_id: str) -> Known | None:
        """A game as this process last knew it, if it does."""
        known = self._known.get(game_id)
        news = self._news.pop(game_id, None)
        if known is None or news is None:
            return known
        known = _caught_up(known, news)
        self.keep(known)
        return known

    def told(self, game_id: str, news: bytes) -> None:
        """Another worker has appended to a game (`encode_news`)."""
        if game_id in self._known:
            kept = self._news.setdefault(game_id, [])
            if len(kept) == _MOST_NEWS:
                kept.clear()
            kept.append(news)

    async def get(self, game_id: str) -> Known | None:
        """A game, perhaps not as new as the store's; None where there is none."""
        known = self.cached(game_id)
        if known is None:
            return await self.fresh(game_id)
        self._known.move_to_end(game_id)
        return known

    async def fresh(self, game_id: str) -> Known | None:
        """A game as of now, in one round trip; None where there is none."""
        cached = self.cached(game_id)
        loaded = await self._store.load(game_id, cached.table.version if cached else 0)
        if loaded is not None and cached is not None and not _goes_on(cached, *loaded):
            # The store has been put back to an earlier time: what was known is no longer so.
            self._known.pop(game_id, None)
            cached, loaded = None, await self._store.load(game_id)
        if loaded is None or loaded[0].category not in GAMES:
            self._known.pop(game_id, None)
            return None
        head, events = loaded
        if not events and cached is not None:
            return cached
        with spans.step("fold", stream=game_id):
            table = fold(game_id, events, copied(cached.table) if cached else None)
        known = _known(table, head, events)
        self.keep(known)
        return known

    def keep(self, known: Known) -> None:
        """Remember a game, unless a newer state of it is known already."""
        game_id = known.table.id
        old = self._known.get(game_id)
        if old is None or old.table.version < known.table.version:
            self._known[game_id] = known
        self._known.move_to_end(game_id)
        while len(self._known) > self._size:
            forgotten, _ = self._known.popitem(last=False)
            self._news.pop(forgotten, None)

    async def history(self, game_id: str, version: int | None = None) -> History:
        """A game's whole log, with its table as of a version (None: the newest).

        LookupError where there is no such game or version.
        """
        loaded = await self._store.load(game_id)
        if loaded is None or loaded[0].category not in GAMES:
            raise LookupError(game_id)
        head, events = loaded
        at = head.version if version is None else version
        if not 1 <= at <= head.version:
            raise LookupError(f"{game_id} has no version {at}")
        table = fold(game_id, events[:at])
        newest = table if at == head.version else fold(game_id, events[at:], copied(table))
        return History(entries(events), table, _known(newest, head, events))


def _known(table: Table, head: Head, events: Sequence[StoredEvent]) -> Known:
    return Known(table, head.hash, events[-1].at, head.tenant, head.secret, head.tags)


def _caught_up(known: Known, news: Sequence[bytes]) -> Known:
    """The game after all that follows on it without a gap."""
    version, prev, tags = known.table.version, known.hash, known.tags
    new: list[Entry] = []
    try:
        for one in map(_decode_news, news):
            first, last = one.entries[0], one.entries[-1]
            if first.version == version + 1 and first.prev == prev:
                new += one.entries
                version, prev, tags = last.version, last.hash, one.tags
        if not new:
            return known
        table = fold(known.table.id, new, copied(known.table))
    except (msgspec.MsgspecError, IndexError, UnreadableEvent):
        # From a worker of another version.
        return known
    return Known(table, prev, new[-1].at, known.tenant, known.secret, tags)


def _goes_on(cached: Known, head: Head, events: Sequence[StoredEvent]) -> bool:
    """Whether what was loaded follows on what is cached."""
    if events:
        return events[0].prev == cached.hash
    return head.version == cached.table.version and head.hash == cached.hash
