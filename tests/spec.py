"""Given a table, when somebody acts, then these events, or a refusal that changes nothing.

    given(table).after((0, play("AS"))).when(1, play("2H")).refused("lodam.follow-suit")

Works for every game; knows no rule. A failure prints the story so far.
"""

import copy
from typing import Any

import msgspec

from domain.actions import Action, Play
from domain.events import Event
from domain.game import KeyedChance, Refused
from domain.seats import Seat
from domain.table.commands import By, Command, TableCommand
from domain.table.decide import decide, server_command, to_act
from domain.table.state import Table
from domain.table.views import View, legal, view
from domain.visibility import HOST, SPECTATOR, Viewer

AT = 1_760_000_000_000_000
"""When everything happens, unless a test says otherwise (microseconds since 1970)."""

KEY = bytes(range(32))
"""The key of every deal, unless a test says otherwise."""


def command(
    ask: Action | TableCommand,
    seat: Seat | None = None,
    *,
    by: By | None = None,
    forced: bool = False,
    at: int = AT,
    key: bytes = KEY,
) -> Command:
    """What somebody asks, with the circumstances that the domain does not make itself."""
    return Command(ask, seat, at, KeyedChance(key), by, forced)


def snapshot(table: Table) -> dict[str, Any]:
    """A deep copy of all that a table remembers, to compare it with later."""
    return {
        name: copy.deepcopy(getattr(table, name))
        for name in table.__struct_fields__
        if name not in ("game", "rules")
    }


def _refusal(table: Table, ask: Command) -> Refused | None:
    try:
        decide(table, ask)
    except Refused as refusal:
        return refusal
    return None


class When:
    """An action about to be tried."""

    def __init__(self, given: "Given", ask: Command) -> None:
        self._given = given
        self._command = ask

    def accepted(self) -> "Given":
        """It is legal; the table goes on from there."""
        return self._given.apply(self._command)

    def then(self, *events: Event) -> "Given":
        """It brings about exactly these events, in this order."""
        after = self._given.apply(self._command)
        assert after.events == events, after.telling(
            "expected:", *[f"  {event}" for event in events]
        )
        return after

    def refused(self, rule: str) -> "Given":
        """It breaks this rule, and changes nothing."""
        table = self._given.table
        before = snapshot(table)
        refusal = _refusal(table, self._command)
        telling = self._given.telling
        assert refusal is not None, telling(f"{self._command.ask} was not refused")
        assert refusal.rule == rule, telling(f"not refused by {rule}, but {refusal}")
        assert refusal.detail, "a refusal says why in words"
        assert snapshot(table) == before, "a refused action changed the table"
        return self._given


class Given:
    """A table, and how it came about."""

    def __init__(
        self, table: Table, events: tuple[Event, ...] = (), story: tuple[str, ...] = ()
    ) -> None:
        self.table = table
        self.events = events
        """What the last command brought about."""
        self._story = story

    def when(
        self,
        seat: Seat | None,
        ask: Action | TableCommand,
        *,
        by: By | None = None,
        forced: bool = False,
        at: int = AT,
    ) -> When:
        """A seat (None: the host or the server) asks something."""
        return When(self, command(ask, seat, by=by, forced=forced, at=at))

    def apply(self, ask: Command) -> "Given":
        """The table after a command, which must leave the one before it as it was."""
        before = snapshot(self.table)
        try:
            decision = decide(self.table, ask)
        except Refused as refusal:
            raise AssertionError(
                self.telling(f"{ask.seat} {ask.ask} was refused: {refusal}")
            ) from None
        assert snapshot(self.table) == before, "deciding changed the table it was given"
        told = (f"{ask.seat}: {ask.ask}", *[f"  {event}" for event in decision.events])
        return Given(decision.table, decision.events, self._story + told)

    def after(self, *steps: tuple[Seat | None, Action | TableCommand]) -> "Given":
        """The table after these steps, each of which is legal."""
        given = self
        for seat, ask in steps:
            given = given.apply(command(ask, seat))
        return given

    def each(self, ask: Action, *seats: Seat) -> "Given":
        """The table after every one of these seats has done the same (default: all waited for)."""
        return self.after(*[(seat, ask) for seat in seats or to_act(self.table)])

    def plays(self, cards: str) -> "Given":
        """The table after these cards, each played by the seat whose turn it is."""
        given = self
        for text in cards.split():
            (seat,) = to_act(given.table)
            given = given.after((seat, Play(card=text)))
        return given

    def served(self) -> "Given":
        """The table after all that the server does by itself (cutting, dealing)."""
        given = self
        while (step := server_command(given.table)) is not None:
            seat, ask, forced = step
            given = given.apply(command(ask, seat, by="server", forced=forced))
        return given

    @property
    def to_act(self) -> tuple[Seat, ...]:
        """Who the game waits for."""
        return to_act(self.table)

    def legal(self, seat: Seat) -> list[Action]:
        """Every legal action of a seat."""
        return legal(self.table, seat)

    def view(self, seat: Seat | None = None, *, host: bool = False) -> View:
        """What a seat, a spectator (no seat) or the host sees now."""
        viewer = Viewer("seat", seat) if seat is not None else HOST if host else SPECTATOR
        return view(self.table, viewer, self.table.openings)

    def shown(self, seat: Seat | None = None) -> str:
        """The view as the JSON text that is sent."""
        return msgspec.json.encode(self.view(seat)).decode()

    def kinds(self) -> list[str]:
        """The types of the last command's events."""
        return [type(event).__name__ for event in self.events]

    def telling(self, *lines: str) -> str:
        """The story so far and these lines, for a failure."""
        return "\n".join(("", *self._story, *lines))


def given(table: Table) -> Given:
    """Begin a story."""
    return Given(table)
