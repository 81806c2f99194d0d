"""Whole logs of random games to check: recorded, perhaps partly erased, as any viewer gets them."""

import random
from collections.abc import Iterator, Sequence
from uuid import UUID

import msgspec

from domain import export
from domain.actions import Action, CutChoice
from domain.export import Export
from domain.game import KeyedChance
from domain.log import GENESIS, Entry, Part, event_view, record
from domain.registry import GAMES
from domain.seats import Seat
from domain.table.commands import BotName, Clock, Command, Create, Player, Resign
from domain.table.decide import Decision, create, decide, server_command, to_act
from domain.table.state import Table
from domain.table.views import playable_actions
from tests.domain.random_games import setting, steps
from tests.spec import AT


class Recorded(msgspec.Struct, frozen=True):
    """A game's log, and the table after each command."""

    entries: tuple[Entry, ...]
    tables: tuple[Table, ...]


def recorded(game: str, number: int) -> Recorded:
    """The random game of this number."""
    entries: list[Entry] = []
    tables: list[Table] = []
    for step in steps(game, number):
        prev = entries[-1].hash if entries else GENESIS
        entries += record(step.decision, step.command, step.command_id, prev, step.key)
        tables.append(step.decision.table)
    return Recorded(tuple(entries), tuple(tables))


def against_the_clock(game: str, number: int, on_timeout: str) -> Recorded:
    """A random game of people and bots who often let their time pass, played as the server plays
    it: what is overdue, then bots, then whoever is waited for."""
    chance = random.Random(f"clock {game} {number}")
    seats, rules = setting(game, chance)
    clock = msgspec.convert({"turn_seconds": 30, "on_timeout": on_timeout}, Clock)
    kinds: list[BotName | None] = [None, "random", "careful"]
    bots = [chance.choice(kinds) for _ in range(seats - 1)]
    paces = random.Random(f"pace {game} {number}")
    players = [
        Player(f"Player {seat}", None, bot, paces.choice([0, 800]) if bot else 0)
        for seat, bot in enumerate([None, *bots])
    ]
    ask = Create(
        id=str(UUID(bytes=chance.randbytes(16), version=4)),
        game=game,
        options=msgspec.convert(rules, GAMES[game].options),
        deal_id="match",
        seeded_by_host=False,
        players=tuple(players),
        clock=clock,
    )
    entries: list[Entry] = []
    tables: list[Table] = []
    for decision, command in _played(ask, chance):
        prev = entries[-1].hash if entries else GENESIS
        name = str(UUID(bytes=chance.randbytes(16), version=4))
        entries += record(decision, command, name, prev, chance.randbytes(32))
        tables.append(decision.table)
    return Recorded(tuple(entries), tuple(tables))


def _played(ask: Create, chance: random.Random) -> Iterator[tuple[Decision, Command]]:
    at = AT
    command = Command(ask, None, at, KeyedChance(chance.randbytes(32)))
    decision = create(command)
    yield decision, command
    while decision.table.status == "playing":
        table = decision.table
        key = KeyedChance(chance.randbytes(32))
        own = server_command(table)
        waited = to_act(table)
        bots = [seat for seat in waited if table.bot_at(seat) is not None]
        if own is not None:
            command = Command(own[1], own[0], at, key, "server", own[2])
        elif bots:
            due, bot = min([(table.due[s] if table.paced(s) else at, s) for s in bots])
            at = max(at, due)
            command = Command(_any(table, bot, chance), bot, at, key, "bot")
        elif chance.random() < 0.2:
            assert table.deadline is not None
            at = max(at, table.deadline + chance.choice([0, 1_000_000]))
            late: Action | Resign = Resign()
            if table.clock is not None and table.clock.on_timeout == "bot":
                late = _any(table, waited[0], chance)
            command = Command(late, waited[0], at, key, "clock")
        else:
            at += 1_000_000
            seat = chance.choice(waited)
            command = Command(_any(table, seat, chance), seat, at, key)
        decision = decide(table, command)
        yield decision, command


def _any(table: Table, seat: Seat, chance: random.Random) -> Action:
    action = chance.choice(playable_actions(table, seat))
    return action.somewhere(chance.getrandbits(32)) if isinstance(action, CutChoice) else action


class _OfSeat(msgspec.Struct):
    seat: Seat


def erased(entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """The log as the store keeps it: the names that it says are erased are gone."""
    gone = {
        msgspec.json.decode(entry.data)["seat"] for entry in entries if entry.type == "PlayerErased"
    }
    return tuple([_without_name(entry) if _name_of(entry) in gone else entry for entry in entries])


def _name_of(entry: Entry) -> Seat | None:
    return msgspec.json.decode(entry.data, type=_OfSeat).seat if entry.type == "SeatTaken" else None


def _without_name(entry: Entry) -> Entry:
    parts = [Part(part.audience, part.digest, None, None) for part in entry.sealed]
    return msgspec.structs.replace(entry, sealed=tuple(parts))


def lines(game: Recorded, seat: Seat | None, commands: int) -> list[bytes]:
    """The file that a viewer at `seat` gets after the first so many commands of a game."""
    table = game.tables[commands - 1]
    header = export.Header(
        format=export.FORMAT,
        game=table.game.name,
        id=table.id,
        rules_version=table.rules_version,
        viewer={"role": "spectator"} if seat is None else {"role": "seat", "seat": seat},
    )
    entries = erased(game.entries[: table.version])
    views = [event_view(table.id, entry, seat, table.openings) for entry in entries]
    return list(export.lines(header, views))


def exported(game: Recorded, seat: Seat | None, commands: int) -> Export:
    """The same, read again."""
    return export.read(lines(game, seat, commands))
