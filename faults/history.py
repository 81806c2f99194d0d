"""What the callers of a run did and were told: every command with all its attempts, every reading.

Written down as it happens and judged afterwards (`faults.checker`). Times are those of one
monotonic clock, in seconds. Knows no rule, no store.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, Literal

import msgspec

Fate = Literal["acknowledged", "refused", "unknown"]

NOT_ANSWERED: Final = frozenset({None, 503})
"""Statuses that leave open whether a command was carried out: no answer, or `unavailable`."""


class Attempt(msgspec.Struct):
    """One request: to whom, when, and what came back. Without `ended` nobody waits any more."""

    process: str
    asked: float
    ended: float | None = None
    status: int | None = None
    retry_after: str | None = None
    replayed: bool = False
    final: bool = False
    """Asked when no earlier attempt could be under way any more."""
    body: msgspec.Raw = msgspec.Raw(b"null")
    """The answer, JSON."""


class Command(msgspec.Struct):
    """What one caller wants to be done once, with one idempotency key: all attempts at it.

    `game` is None for the command that sets a game up, `seat` then too.
    """

    number: int
    key: str
    game: str | None
    seat: int | None
    asks: dict[str, Any]
    attempts: list[Attempt] = []

    @property
    def asked(self) -> float:
        """When it was first asked."""
        return self.attempts[0].asked

    @property
    def acknowledged(self) -> list[Attempt]:
        """The attempts that were answered as done."""
        return [attempt for attempt in self.attempts if attempt.status == 201]

    @property
    def fate(self) -> Fate:
        """What its caller may believe. Refused is what every attempt was, or the last word after
        all others were over."""
        if self.acknowledged:
            return "acknowledged"
        for attempt in self.attempts:
            if attempt.final and attempt.status not in NOT_ANSWERED:
                return "refused"
        if any(attempt.status in NOT_ANSWERED for attempt in self.attempts):
            return "unknown"
        return "refused"


class Reading(msgspec.Struct):
    """A look at a game: the view, or the list of its events, as one seat or the host (None)."""

    game: str
    seat: int | None
    what: Literal["view", "events"]
    attempt: Attempt


class Told(msgspec.Struct):
    """What the answer to an acknowledged command says was done."""

    game: str
    version: int
    """Of the command's last event."""
    hash: str
    receipt: dict[str, str]
    events: tuple[dict[str, Any], ...] = ()
    """The command's own events, where the answer has them (not of a new game)."""
    view: dict[str, Any] | None = None


class _Answer(msgspec.Struct):
    receipt: dict[str, Any]
    events: tuple[dict[str, Any], ...] = ()
    view: dict[str, Any] | None = None


def told(attempt: Attempt) -> Told:
    """Read the answer of an attempt that was acknowledged. Raises msgspec.ValidationError."""
    answer = msgspec.json.decode(attempt.body, type=_Answer)
    receipt = answer.receipt
    return Told(
        receipt["game"],
        receipt["version"],
        receipt["hash"],
        receipt,
        answer.events,
        answer.view,
    )


class History(msgspec.Struct):
    """Everything that happened in a run, as its callers know it."""

    commands: list[Command] = []
    readings: list[Reading] = []
    done: int = 0
    """How many commands have been acknowledged so far."""

    def command(
        self, key: str, game: str | None, seat: int | None, asks: dict[str, Any]
    ) -> Command:
        """Put down a command that is about to be asked."""
        made = Command(len(self.commands) + 1, key, game, seat, asks, [])
        self.commands.append(made)
        return made

    def attempts(self) -> Iterator[Attempt]:
        """Every request of the run."""
        for command in self.commands:
            yield from command.attempts
        for reading in self.readings:
            yield reading.attempt

    def counts(self) -> dict[str, int]:
        """How many commands had which fate, and how many requests there were of which kind."""
        found = {"acknowledged": 0, "refused": 0, "unknown": 0}
        for command in self.commands:
            found[command.fate] += 1
        attempts = list(self.attempts())
        return found | {
            "requests": len(attempts),
            "unanswered": sum([1 for a in attempts if a.status is None]),
            "unavailable": sum([1 for a in attempts if a.status == 503]),
            "replayed": sum([1 for a in attempts if a.replayed]),
            "readings": len(self.readings),
        }

    def write(self, path: Path) -> None:
        """Keep it as NDJSON, a command or a reading a line."""
        with path.open("wb") as file:
            for item in (*self.commands, *self.readings):
                file.write(msgspec.json.encode(item) + b"\n")
