"""What waits for a game to move on: long polls and live streams of its events.

A stream keeps nothing but the version up to which it has sent: what follows is read from the log.
Streams that stand at the same place of a game look it up, and have it put into words, once for all
of them. How the words travel, and what becomes of one who does not listen, is in `streaming`.
"""

import asyncio
import time
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Coroutine, Hashable
from typing import Any, Final, Generic, Literal, TypeVar

import msgspec

from api.access import Access, admit
from api.games import Games, Known
from api.identity import Caller
from api.notices import Notices, Watch
from api.problems import Problem, not_found
from domain.log import Entry, event_view
from domain.seats import Seat
from domain.table.state import Status
from domain.table.views import ResultView, result_view, view
from eventstore.postgres import EventStore
from eventstore.records import StoreUnavailable
from projections.entries import entries

_PAGE: Final = 50
"""Events looked up and sent at a time."""
_PAGES_KEPT: Final = 256
_RETRY_SECONDS: Final = 1.0
"""How long a stream waits for a database that does not answer, and a reader before coming back."""
_HELLO: Final = f"retry: {_RETRY_SECONDS * 1000:.0f}\n\n".encode()
_BEAT: Final = b": still here\n\n"

_encode: Final = msgspec.json.Encoder().encode

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Ended(msgspec.Struct, frozen=True):
    """The data of `end`: the game is over and everything has been sent."""

    version: int
    status: Status
    result: ResultView | None


class Bye(msgspec.Struct, frozen=True):
    """The data of `bye`: the stream ends, the game does not. `shutdown`: come back at once;
    `unauthorized` and `not-found` are what a new request would be answered with."""

    reason: Literal["shutdown", "unauthorized", "not-found"]


class Page(msgspec.Struct, frozen=True):
    """Some events as messages for one kind of viewer, and the version of the last."""

    messages: bytes
    last: int


class _Step(msgspec.Struct, frozen=True):
    """What is to be sent (perhaps nothing), and the version up to which all has been sent then."""

    messages: bytes
    sent: int
    last: bool = False


class _Shared(Generic[K, V]):
    """What several may want at once, made once and kept for a while."""

    def __init__(self, size: int, *, keeps: bool = True) -> None:
        """Of `size` values at most; with `keeps` false only of those that are being made."""
        self._size: Final = size
        self._keeps: Final = keeps
        self._made: Final[OrderedDict[K, asyncio.Task[V]]] = OrderedDict()

    async def get(self, key: K, make: Callable[[], Coroutine[Any, Any, V]]) -> V:
        """The value of the key. Raises what making it raises, and then tries anew next time."""
        task = self._made.get(key)
        # One that is over may stand here for another turn of the loop: whoever wants what is newer
        # would get it again and again, without ever letting that turn come.
        if task is None or (not self._keeps and task.done()):
            task = self._made[key] = asyncio.create_task(make())
            task.add_done_callback(lambda done: self._made_one(key, done))
            while len(self._made) > self._size:
                self._made.popitem(last=False)
        # Whoever leaves while it is being made leaves it to the others.
        return await asyncio.shield(task)

    def _made_one(self, key: K, done: asyncio.Task[V]) -> None:
        failed = done.cancelled() or done.exception() is not None
        if (failed or not self._keeps) and self._made.get(key) is done:
            del self._made[key]


def message(data: Any, *, event: str | None = None, version: int | None = None) -> bytes:
    """A server-sent event (HTML standard, 9.2); its `id` is a version."""
    name = b"" if event is None else b"event: %s\n" % event.encode()
    number = b"" if version is None else b"id: %d\n" % version
    return name + number + b"data: " + _encode(data) + b"\n\n"


class Live:
    """Readers of one process who wait for news."""

    def __init__(
        self, store: EventStore, games: Games, notices: Notices, heartbeat_seconds: float
    ) -> None:
        self._store: Final = store
        self._games: Final = games
        self._notices: Final = notices
        self._heartbeat_seconds: Final = heartbeat_seconds
        self._looked_up: Final[_Shared[Watch, Known | None]] = _Shared(10_000, keeps=False)
        self._read: Final[_Shared[tuple[str, int, int], list[Entry]]] = _Shared(_PAGES_KEPT)
        self._pages: Final[_Shared[tuple[str, Seat | None, int, int], Page]] = _Shared(_PAGES_KEPT)

    async def beyond(self, access: Access, version: int, seconds: float) -> Known:
        """The game once it has passed the version, or as it stands when the time is over. Raises
        Problem where the caller is no longer let in."""
        game_id = access.known.table.id
        end = time.monotonic() + seconds
        with self._notices.watching(game_id) as watch:
            while True:
                known = await self._fresh(game_id, watch)
                if known is None:
                    raise not_found()
                admit(access.caller, known)
                left = end - time.monotonic()
                if known.table.version > version or left <= 0 or self._notices.ending:
                    return known
                await watch.beyond(version, left)

    async def follow(self, access: Access, after: int | None) -> AsyncGenerator[bytes, None]:
        """The messages of a live stream: a snapshot where `after` is None (or ahead of the game),
        then every later event, once and in order, as the caller may see it when it is sent."""
        sent = after
        with self._notices.watching(access.known.table.id) as watch:
            yield _HELLO
            while True:
                try:
                    step = await self._next(access, watch, sent)
                except StoreUnavailable:
                    step = None
                if step is not None and step.messages:
                    yield step.messages
                    sent = step.sent
                    if step.last:
                        return
                elif self._notices.ending:
                    yield message(Bye("shutdown"), event="bye")
                    return
                elif step is None:
                    # The stream goes on where it was once the database is back.
                    yield _BEAT
                    await asyncio.sleep(_RETRY_SECONDS)
                else:
                    while not await watch.beyond(step.sent, self._silence(access.caller)):
                        if self._notices.ending or _expired(access.caller):
                            break
                        yield _BEAT

    async def _next(self, access: Access, watch: Watch, sent: int | None) -> _Step:
        """What a stream sends next that has sent up to a version (None: nothing yet). Raises
        StoreUnavailable."""
        caller, game_id = access.caller, access.known.table.id
        known = self._at(game_id, watch) or await self._fresh(game_id, watch)
        reason = _why_not(caller, known)
        if known is None or reason is not None:
            return _Step(message(Bye(reason or "not-found"), event="bye"), sent or 0, last=True)
        table = known.table
        version = table.version
        if sent is None or sent > version:
            seen = view(table, caller.viewer, table.openings)
            return _Step(message(seen, event="snapshot", version=version), version)
        if sent < version:
            page = await self._page(known, caller.seat, sent)
            return _Step(page.messages, page.last)
        if table.stage == "over":
            ended = Ended(version, table.status, result_view(table))
            return _Step(message(ended, event="end", version=version), version, last=True)
        return _Step(b"", version)

    def _silence(self, caller: Caller) -> float:
        """How long a stream may wait before it looks at the token, and at its reader, again."""
        if caller.expires is None:
            return self._heartbeat_seconds
        return max(0.0, min(self._heartbeat_seconds, caller.expires - time.time()))

    def _at(self, game_id: str, watch: Watch) -> Known | None:
        """The game as this process knows it, if that is as new as what was heard of it."""
        known = self._games.cached(game_id)
        return known if known is not None and 0 < watch.heard <= known.table.version else None

    async def _fresh(self, game_id: str, watch: Watch) -> Known | None:
        """The game as of now, looked up once for all who ask at the same time."""
        return await self._looked_up.get(watch, lambda: self._look(game_id, watch))

    async def _look(self, game_id: str, watch: Watch) -> Known | None:
        heard = watch.heard
        known = await self._games.fresh(game_id)
        if watch.heard == heard:
            # Lower than what was heard where the store has been put back to an earlier time.
            watch.heard = 0 if known is None else known.table.version
        return known

    async def _page(self, known: Known, seat: Seat | None, after: int) -> Page:
        table = known.table
        game_id, version = table.id, table.version

        async def read() -> list[Entry]:
            return entries(await self._store.read(game_id, after, version, _PAGE))

        async def put() -> Page:
            found = await self._read.get((game_id, after, version), read)
            if not found:
                raise StoreUnavailable(f"the log of {game_id} ends before version {version}")
            views = [event_view(game_id, entry, seat, table.openings) for entry in found]
            return Page(b"".join([message(v, version=v.version) for v in views]), found[-1].version)

        return await self._pages.get((game_id, seat, after, version), put)


def _expired(caller: Caller) -> bool:
    return caller.expires is not None and caller.expires <= time.time()


def _why_not(caller: Caller, known: Known | None) -> Literal["unauthorized", "not-found"] | None:
    """Why the caller is no longer let in, if so."""
    if known is None:
        return "not-found"
    if _expired(caller):
        return "unauthorized"
    try:
        admit(caller, known)
    except Problem as problem:
        return "unauthorized" if problem.kind == "unauthorized" else "not-found"
    return None
