"""Commands decided one after another on one game, to be appended together or not at all.

Where what a person asks leads to what the server or bots do, all of it is one batch, so the log at
rest always waits for a person. Decides nothing by itself and writes nothing.
"""

import secrets
from typing import Final

import msgspec

from api.games import Known
from api.ids import new_id
from domain.actions import Action
from domain.bots import Players, bot_seats
from domain.events import Event
from domain.game import KeyedChance
from domain.log import GENESIS, Entry, record
from domain.seats import Seat
from domain.table.commands import By, Command, Create, TableCommand
from domain.table.decide import Decision, create, decide, server_command, to_act
from domain.table.state import Table
from eventstore.records import Answer, Append, CallerKey, NewEvent, SealedPart

IMPORTED: Final = "imported"
"""The tag of games that came from a file: they are read-only."""


class Decided(msgspec.Struct, frozen=True):
    """One command of a batch: what it brought about, and the log entries of that."""

    id: str
    decision: Decision
    entries: list[Entry]


class Batch:
    """What is about to be appended to one game, new or known."""

    def __init__(self, game_id: str, known: Known | None, at: int, secret: bytes | None) -> None:
        """`at` is the time of the next command, in microseconds since 1970 UTC; the log's time
        never runs back, so a clock that does counts as standing still. `secret` is the key of a
        seeded game."""
        self.game_id: Final = game_id
        self.known: Final = known
        self.at = at if known is None else max(at, known.at)
        self.secret: Final = secret
        self.commands: Final[list[Decided]] = []
        self._table = None if known is None else known.table
        self._prev = GENESIS if known is None else known.hash

    @property
    def table(self) -> Table:
        """The table after all that has been decided so far."""
        assert self._table is not None
        return self._table

    @property
    def expected(self) -> int:
        """The version that the batch follows on."""
        return 0 if self.known is None else self.known.table.version

    @property
    def events(self) -> list[Event]:
        """All events so far."""
        return [event for decided in self.commands for event in decided.decision.events]

    @property
    def entries(self) -> list[Entry]:
        """The log entries of all events so far."""
        return [entry for decided in self.commands for entry in decided.entries]

    def add(
        self,
        ask: Action | TableCommand,
        seat: Seat | None,
        by: By | None = None,
        *,
        forced: bool = False,
    ) -> Decided:
        """Decide one more command, with chance of its own. Raises Refused and then holds what it
        held before."""
        key = secrets.token_bytes(32) if self.secret is None else self.secret
        command = Command(ask, seat, self.at, KeyedChance(key), by, forced)
        decision = create(command) if isinstance(ask, Create) else decide(self.table, command)
        # Of the batch's time, as the events are: not even an id tells how long a bot thought.
        command_id = new_id(self.at)
        entries = record(decision, command, command_id, self._prev, key)
        decided = Decided(command_id, decision, entries)
        self.commands.append(decided)
        self._table, self._prev = decision.table, entries[-1].hash
        return decided

    def idle(self, now: int) -> bool:
        """Whether neither the server nor a bot has anything to do by now."""
        bot = next_bot(self.table)
        return server_command(self.table) is None and (bot is None or bot[0] > now)

    @property
    def wake_at(self) -> int | None:
        """When the game next wants attention by itself: a bot's time, or the end of a turn's."""
        found = next_bot(self.table)
        times = (self.table.deadline, None if found is None else found[0])
        return min([at for at in times if at is not None], default=None)

    def follow(self, players: Players | None, limit: int, now: int) -> bool:
        """Add what the server and the bots do by themselves until `now`; False where `limit`
        commands did not exhaust it. `players` have watched all events so far; None where no bot
        plays."""
        while True:
            own = server_command(self.table)
            bot = None if own is not None else next_bot(self.table)
            if own is None and (bot is None or bot[0] > now):
                return True
            if len(self.commands) >= limit:
                return False
            if own is not None:
                seat, action, forced = own
                decided = self.add(action, seat, "server", forced=forced)
            else:
                assert players is not None
                assert bot is not None
                due, number = bot
                self.at = max(self.at, due)
                action = players.choose(self.table, number, secrets.randbits(32))
                decided = self.add(action, number, "bot")
            if players is not None:
                players.watch(decided.decision.events)

    def request(
        self,
        *,
        wake_at: int | None,
        key: CallerKey | None,
        response: bytes,
        tenant: str,
        erase: tuple[tuple[int, int], ...] = (),
    ) -> Append:
        """The append of it all; the answer kept with it is about the first command."""
        first = self.commands[0]
        tags = self._tags()
        return Append(
            stream=self.game_id,
            expected=self.expected,
            prev=first.entries[0].prev,
            events=tuple([new_event(entry) for entry in self.entries]),
            command=first.id,
            answer=Answer(
                self.game_id, first.entries[0].version, first.entries[-1].version, response
            ),
            key=key,
            wake_at=wake_at,
            tags=None if self.known is not None and self.known.tags == tags else tags,
            tenant=tenant,
            category=self.table.game.name,
            secret=self.secret,
            erase=erase,
        )

    def appended(self, tenant: str) -> Known:
        """The game as it stands once the append is done."""
        return Known(self.table, self._prev, self.at, tenant, self.secret, self._tags())

    def _tags(self) -> tuple[str, ...]:
        if self.known is not None and self.table.seats is self.known.table.seats:
            return self.known.tags
        imported = self.known is not None and IMPORTED in self.known.tags
        return tags_of(self.table, imported=imported)


def next_bot(table: Table) -> tuple[int, Seat] | None:
    """The bot that acts next of those that the game waits for now, and when: at once (0), or when
    its pace says."""
    played = bot_seats(table)
    if not played:
        return None
    waiting = [
        (table.due[seat] if table.paced(seat) else 0, seat)
        for seat in to_act(table)
        if seat in played
    ]
    return min(waiting, default=None)


def tags_of(table: Table, *, imported: bool = False) -> tuple[str, ...]:
    """What is looked up of a game where only the newest will do: whether it was imported, and the
    players' references, to erase them (lists are in `projections.games`)."""
    refs = {seat.ref for seat in table.seats if seat.ref is not None}
    return (*([IMPORTED] if imported else []), *[f"ref={ref}" for ref in sorted(refs)])


def new_event(entry: Entry) -> NewEvent:
    """An entry of the log as the store takes it."""
    return NewEvent(
        type=entry.type,
        schema=entry.schema,
        at=entry.at,
        actor=entry.actor,
        command=entry.command,
        data=entry.data,
        hash=entry.hash,
        sealed=tuple([SealedPart(p.audience, p.digest, p.salt, p.body) for p in entry.sealed]),
    )
