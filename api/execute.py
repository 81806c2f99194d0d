"""The write path of games, and the only caller of the store's append for them: load, decide,
append, answer.

A command is decided on the state that this process knows, which the append checks; whatever refuses
it is looked at again on the newest state, and a caller's idempotency key is looked up before a
refusal is given. Commit first, publish after.
"""

import asyncio
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Final
from weakref import WeakValueDictionary

import msgspec

from api.access import admit
from api.batch import IMPORTED, Batch, next_bot
from api.games import Games, Known, News, encode_news
from api.identity import Caller
from api.kept_answer import kept_answer, kept_receipt
from api.logs import note_command
from api.notices import Notices
from api.problems import Problem, key_mismatch, not_found, unavailable
from api.settings import Settings
from api.siblings import Siblings
from api.signing import Signer
from domain.actions import Action
from domain.bots import Players, bot_seats
from domain.codec import read_event
from domain.game import Refused
from domain.hand import SeedRevealed
from domain.log import Entry
from domain.receipts import Receipt
from domain.table.commands import Create, ErasePlayer, Resign, TableCommand
from domain.table.decide import to_act
from domain.table.state import Table
from domain.table.views import playable_actions
from domain.visibility import Openings
from eventstore.postgres import EventStore
from eventstore.records import (
    Answer,
    Appended,
    CallerKey,
    KeyMismatch,
    Replayed,
    WrongVersion,
)

_SOON_SECONDS: Final = 90.0
"""What is due within this time, its process attends to by itself."""


class Asked(msgspec.Struct, frozen=True):
    """A command as a caller gave it; `if_match` are the versions it may meet (None: any), `erase`
    the sealed parts that are erased with it."""

    caller: Caller
    ask: Action | TableCommand
    key: CallerKey | None = None
    if_match: frozenset[int] | None = None
    erase: tuple[tuple[int, int], ...] = ()


class Done(msgspec.Struct, frozen=True):
    """What came of a command, now or when its key was first used."""

    table: Table
    """As of the command's last version."""
    entries: list[Entry]
    """The command's own events."""
    now: Openings
    """What lies open by now."""
    receipt: Receipt
    """For the command's last event, as it was first given."""
    replayed: bool = False


class _Bots(msgspec.Struct, frozen=True):
    players: Players
    version: int
    """They have watched all events up to this one."""


class Executor:
    """Carries out commands on the games of one store."""

    def __init__(
        self,
        store: EventStore,
        games: Games,
        notices: Notices,
        settings: Settings,
        signer: Signer,
        siblings: Siblings | None = None,
        clock: Callable[[], int] = lambda: time.time_ns() // 1000,
    ) -> None:
        """`siblings` are told what is appended; `clock` gives microseconds since 1970 UTC."""
        self._store: Final = store
        self._games: Final = games
        self._notices: Final = notices
        self._settings: Final = settings
        self._signer: Final = signer
        self._siblings: Final = siblings
        self._clock: Final = clock
        self._turns: Final[WeakValueDictionary[str, asyncio.Lock]] = WeakValueDictionary()
        self._bots: Final[OrderedDict[str, _Bots]] = OrderedDict()
        self._timers: Final[dict[str, asyncio.TimerHandle]] = {}
        self.unfinished: Final = asyncio.Event()
        """Set when a game wants attention at once (see `waker`)."""
        self.wanting: Final[set[str]] = set()
        """Games in which the server, a bot or the clock has something to do now."""
        self.opened: Final[set[str]] = set()
        """Games of which a hand has just been opened, which disputes may wait for."""

    async def create(
        self, tenant: str, ask: Create, secret: bytes | None, key: CallerKey | None
    ) -> Done:
        """Set up a game, or answer again what the key set up. Raises Problem."""
        batch = Batch(ask.id, None, self._clock(), secret)
        batch.add(ask, None)
        match await self._append(batch, tenant, key, batch.at):
            case Receipt() as receipt:
                return _done(batch, receipt)
            case Replayed(answer):
                return await self._again(answer, None)
            case KeyMismatch():
                raise key_mismatch()
            case WrongVersion():
                raise unavailable("The new game's id was taken; try again.")

    async def act(self, game_id: str, asked: Asked) -> Done:
        """Carry out a caller's command, or answer again what its key did.

        Raises Problem: `illegal-action`, `version-conflict`, `idempotency-mismatch`, `forbidden`
        where the game was imported, those of `access.admit`, and `unavailable` where it lost every
        race.
        """
        turn = await self._turn(game_id)
        try:
            return await self._act(game_id, asked)
        finally:
            turn.release()

    async def _act(self, game_id: str, asked: Asked) -> Done:
        known = await self._games.get(game_id)
        now, tries = self._clock(), 0
        while tries < self._settings.tries:
            if known is None:
                raise not_found()
            bot = next_bot(known.table)
            if bot is not None and 0 < bot[0] <= now:
                # Its time came first, so it acts first, whoever sees to it.
                await self._go_on(known, now)
                known = await self._games.fresh(game_id)
                continue
            tries += 1
            try:
                admit(asked.caller, known)
                batch = self._decided(known, asked, now)
            except Problem as problem:
                newest = await self._games.fresh(game_id)
                if newest is None or newest.table.version != known.table.version:
                    known = newest
                    continue
                if problem.kind in ("illegal-action", "version-conflict"):
                    again = await self._looked_up(asked)
                    if again is not None:
                        return again
                raise
            match await self._append(batch, known.tenant, asked.key, batch.at, asked.erase):
                case Receipt() as receipt:
                    return _done(batch, receipt)
                case Replayed(answer):
                    return await self._again(answer, asked.caller)
                case KeyMismatch():
                    raise key_mismatch()
                case WrongVersion():
                    known = await self._games.fresh(game_id)
        raise unavailable("The game is moving on too fast; try again.")

    async def go_on(self, game_id: str) -> None:
        """Do what the server and the bots are to do in a game by now without being asked, and what
        is overdue by the clock. Whoever else did it first has done it."""
        turn = await self._turn(game_id)
        try:
            known = await self._games.fresh(game_id)
            if known is not None:
                await self._go_on(known, self._clock())
        finally:
            turn.release()

    async def _go_on(self, known: Known, now: int) -> None:
        game_id, deadline = known.table.id, known.table.deadline
        now = max(now, known.at)
        batch = Batch(game_id, known, known.at, known.secret)
        bot = next_bot(known.table)
        if deadline is not None and deadline <= now and (bot is None or bot[0] > deadline):
            # A bot that is due meanwhile acts at its own time all the same.
            batch.at = now if bot is None else min(now, bot[0])
            await self._overdue(batch)
        if batch.commands or not batch.idle(now):
            await self._append(batch, known.tenant, None, now)
        else:
            due = batch.wake_at
            self._wake(game_id, due if due is not None and due > now else None)

    def _decided(self, known: Known, asked: Asked, now: int) -> Batch:
        version = known.table.version
        if IMPORTED in known.tags and not isinstance(asked.ask, ErasePlayer):
            raise Problem("forbidden", "The game was imported: it stays as it is.")
        if asked.if_match is not None and version not in asked.if_match:
            raise Problem(
                "version-conflict", f"The game stands at version {version}.", version=version
            )
        batch = Batch(known.table.id, known, now, known.secret)
        try:
            batch.add(asked.ask, asked.caller.seat)
        except Refused as refused:
            raise Problem(
                "illegal-action", refused.detail, rule=refused.rule, version=version
            ) from None
        return batch

    async def _overdue(self, batch: Batch) -> None:
        """What the clock does for every seat that has let its time pass: a careful bot acts for it,
        as far as it is still asked what it was late with, or it forfeits."""
        table = batch.table
        assert table.clock is not None
        late = tuple([seat for seat in to_act(table) if not table.paced(seat)])
        if table.clock.on_timeout == "forfeit":
            for seat in late:
                if seat in to_act(batch.table) and not batch.table.seats[seat].resigned:
                    batch.add(Resign(), seat, "clock")
            return
        asked = {seat: playable_actions(table, seat) for seat in late}
        players = Players(table, late)
        players.watch(await self._events(batch.game_id, 0, batch.expected))
        for seat in late:
            # What is asked of a seat anew, by what was done for one before it, it has time for.
            if seat in to_act(batch.table) and playable_actions(batch.table, seat) == asked[seat]:
                action = players.choose(batch.table, seat, secrets.randbits(32))
                players.watch(batch.add(action, seat, "clock").decision.events)

    async def _players(self, batch: Batch) -> Players | None:
        """The game's bots, who have watched everything up to the end of the batch; None where no
        bot has anything to do."""
        if batch.table.status != "playing":
            return None
        seats = frozenset(bot_seats(batch.table))
        if not seats:
            return None
        # Taken out while they watch what may not come about; put back once it has.
        kept = self._bots.pop(batch.game_id, None)
        if kept is None or kept.players.seats != seats or kept.version > batch.expected:
            kept = _Bots(Players(batch.table, seats), 0)
        if kept.version < batch.expected:
            seen = await self._events(batch.game_id, kept.version, batch.expected)
            kept.players.watch(seen)
        kept.players.watch(batch.events)
        return kept.players

    async def _events(self, game_id: str, after: int, upto: int) -> list[Any]:
        return [read_event(stored) for stored in await self._store.read(game_id, after, upto)]

    async def _append(
        self,
        batch: Batch,
        tenant: str,
        key: CallerKey | None,
        now: int,
        erase: tuple[tuple[int, int], ...] = (),
    ) -> Receipt | Replayed | KeyMismatch | WrongVersion:
        """Let the server and bots do what they do by `now`, then append; the receipt for the first
        command when it is done and known to all."""
        players = await self._players(batch)
        finished = batch.follow(players, self._settings.batch_commands, now)
        wake_at = batch.wake_at if finished else batch.at
        last = batch.commands[0].entries[-1]
        receipt = self._signer.receipt(batch.game_id, last.version, last.hash, last.at)
        response = b"" if key is None else kept_answer(receipt)
        outcome = await self._store.append(
            batch.request(wake_at=wake_at, key=key, response=response, tenant=tenant, erase=erase)
        )
        if not isinstance(outcome, Appended):
            return outcome
        version = batch.table.version
        appended = batch.appended(tenant)
        self._games.keep(appended)
        if self._siblings is not None and not self._siblings.alone:
            news = News(appended.tags, batch.entries)
            self._siblings.tell(batch.game_id, version, encode_news(news))
        if players is not None:
            self._bots[batch.game_id] = _Bots(players, version)
            self._bots.move_to_end(batch.game_id)
            while len(self._bots) > self._settings.games_cached:
                self._bots.popitem(last=False)
        self._notices.publish(batch.game_id, version)
        if any(isinstance(event, SeedRevealed) for event in batch.events):
            self.opened.add(batch.game_id)
            self.unfinished.set()
        self._wake(batch.game_id, wake_at)
        return receipt

    def _wake(self, game_id: str, at: int | None) -> None:
        """Have the game attended to at that time, by this process. What is far off, or of a process
        that ends before, is found in the store."""
        timer = self._timers.pop(game_id, None)
        if timer is not None:
            timer.cancel()
        if at is None:
            return
        seconds = (at - self._clock()) / 1_000_000
        if seconds <= 0:
            self._want(game_id)
        elif seconds <= _SOON_SECONDS:
            loop = asyncio.get_running_loop()
            # Timers may be a millisecond early.
            self._timers[game_id] = loop.call_later(seconds + 0.001, self._want, game_id)

    def _want(self, game_id: str) -> None:
        self._timers.pop(game_id, None)
        self.wanting.add(game_id)
        self.unfinished.set()

    async def _looked_up(self, asked: Asked) -> Done | None:
        """What the caller's key did before, if it did anything."""
        if asked.key is None:
            return None
        match await self._store.answer(asked.key):
            case Replayed(answer):
                return await self._again(answer, asked.caller)
            case KeyMismatch():
                raise key_mismatch()
            case None:
                return None

    async def _again(self, answer: Answer, caller: Caller | None) -> Done:
        """The answer to a command of earlier, drawn from the log with what may be seen now."""
        history = await self._games.history(answer.stream, answer.last_version)
        if caller is not None:
            admit(caller, history.newest)
        done = history.entries[answer.first_version - 1 : answer.last_version]
        note_command(done[-1].command)
        return Done(
            table=history.table,
            entries=done,
            now=history.newest.table.openings,
            receipt=kept_receipt(answer),
            replayed=True,
        )

    async def _turn(self, game_id: str) -> asyncio.Lock:
        """One command at a time for each game in this process: the others would only lose races.
        The lock is taken; whoever asked for it releases it."""
        lock = self._turns.setdefault(game_id, asyncio.Lock())
        try:
            if lock.locked():
                async with asyncio.timeout(self._settings.turn_seconds):
                    await lock.acquire()
            else:
                await lock.acquire()
        except TimeoutError:
            raise unavailable("Too many commands wait for this game; try again.") from None
        return lock


def _done(batch: Batch, receipt: Receipt) -> Done:
    first = batch.commands[0]
    note_command(first.entries[-1].command)
    return Done(first.decision.table, first.entries, batch.table.openings, receipt)
