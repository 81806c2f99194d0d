"""Made-up histories: games of the rules, and what callers would have been told of them by a service
that does everything right. Tests spoil them."""

import copy
import random
from functools import cache

import msgspec

from domain.codec import read_event
from domain.log import Entry, event_view, fold
from domain.receipts import SigningKey
from domain.table.events import GameCreated
from domain.table.state import created, evolve
from domain.table.views import view
from domain.visibility import Openings, Viewer
from faults.history import Attempt, Command, History, Reading
from faults.truth import GameLog, LogCommand, Truth
from tests.projections.played import random_log

KEY = SigningKey(bytes(range(32)))
LONGEST = 120
"""Versions of a game that are taken."""


class Made(msgspec.Struct):
    """A history and the truth that it is about."""

    history: History
    truth: Truth

    @property
    def log(self) -> GameLog:
        """The log of the one game."""
        [log] = self.truth.games.values()
        return log

    def acted(self) -> list[Command]:
        """The commands of seats."""
        return [command for command in self.history.commands if command.seat is not None]


@cache
def _game(game: str, number: int) -> tuple[str, tuple[Entry, ...]]:
    """A random game, to the end of a command. Not one in which somebody was erased."""
    for candidate in range(number, number + 100):
        log = random_log(game, candidate)
        taken: list[Entry] = []
        for command in log.commands:
            if len(taken) + len(command) > LONGEST:
                break
            taken += command
        if not any(entry.type == "PlayerErased" for entry in log.entries):
            return log.table.id, tuple(taken)
    raise AssertionError("everybody is erased")


def made(game: str, number: int) -> Made:
    """A game with every command acknowledged at once, one after the other, each read afterwards."""
    return copy.deepcopy(_made(game, number))


@cache
def _made(game: str, number: int) -> Made:
    game_id, entries = _game(game, number)
    log = GameLog(game_id, len(entries), entries[-1].hash, list(entries))
    feed = {0: [(entry.version, game_id, entry.version) for entry in entries]}
    truth = Truth({game_id: log}, feed, (KEY.public(),))
    history = History()
    commands, openings = log.commands(), openings_of(log)
    for place, recorded in enumerate(commands):
        if not recorded.own:
            continue
        last = recorded.last
        for each in commands[place + 1 :]:
            if each.own:
                break
            last = each.last
        _answered(history, log, recorded, openings[last])
        if recorded.actor is not None:
            _read(history, log, recorded.actor, last, openings)
    return Made(history, truth)


def openings_of(log: GameLog) -> list[Openings]:
    """What lies open at each version by the domain's own rule; nothing at version 0."""
    found = [Openings()]
    table = None
    for entry in log.entries:
        event = read_event(entry)
        if table is None:
            assert isinstance(event, GameCreated)
            table = created(log.id, event)
        else:
            evolve(table, event)
        found.append(table.openings)
    return found


def _answered(history: History, log: GameLog, recorded: LogCommand, now: Openings) -> None:
    number = len(history.commands) + 1
    new = recorded.first == 1
    game = None if new else log.id
    asks = {"type": "x"} if new else {k: v for k, v in recorded.action.items() if k != "forced"}
    command = history.command(f"key-{number}", game, recorded.actor, asks)
    receipt = KEY.receipt(log.id, log.entries[recorded.last - 1])
    answer: dict[str, object] = {"id": log.id, "receipt": receipt}
    if recorded.actor is not None:
        own = log.entries[recorded.first - 1 : recorded.last]
        answer["events"] = [event_view(log.id, entry, recorded.actor, now) for entry in own]
        table = fold(log.id, log.entries[: recorded.last])
        answer["view"] = view(table, Viewer("seat", recorded.actor), now)
    body = msgspec.Raw(msgspec.json.encode(answer))
    at = 10.0 * number
    command.attempts.append(Attempt("a", at, at + 1, 201, body=body))
    history.done += 1


def _read(
    history: History, log: GameLog, seat: int, version: int, openings: list[Openings]
) -> None:
    at = 10.0 * len(history.commands) + 2
    table = fold(log.id, log.entries[:version])
    body = msgspec.json.encode(view(table, Viewer("seat", seat), openings[version]))
    attempt = Attempt("b", at, at + 1, 200, body=msgspec.Raw(body))
    history.readings.append(Reading(log.id, seat, "view", attempt))
    events = [event_view(log.id, e, seat, openings[version]) for e in log.entries[:version]]
    body = msgspec.json.encode({"items": events, "next": None})
    attempt = Attempt("b", at + 2, at + 3, 200, body=msgspec.Raw(body))
    history.readings.append(Reading(log.id, seat, "events", attempt))


def respoken(attempt: Attempt, **changes: object) -> None:
    """Change fields of an answer."""
    answer = msgspec.json.decode(attempt.body)
    attempt.body = msgspec.Raw(msgspec.json.encode(answer | changes))


def somewhere(items: list[Command], chance: random.Random) -> Command:
    """A command that is neither the first nor the last."""
    return chance.choice(items[1:-1])
