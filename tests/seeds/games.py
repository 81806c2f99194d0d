"""Whole games played in memory, as people or bots would, all drawn from one generator."""

import random
from collections.abc import Iterator, Sequence
from typing import Any
from uuid import UUID, uuid5

import msgspec

from domain.bots import Players
from domain.game import KeyedChance
from domain.log import GENESIS, Entry, record
from domain.registry import GAMES
from domain.seats import Seat
from domain.table.commands import BotName, Command, Create, Player
from domain.table.decide import Decision, create, decide, server_command, to_act
from domain.table.options import resolve
from domain.table.state import Table
from domain.table.views import playable_actions

START = 1_790_000_000_000_000
"""When the games begin, in microseconds since 1970 UTC."""

NAMES = ("Anna", "Balázs", "Csilla", "Dénes", "Eszter", "Ferenc", "Gizi", "Huba", "Ilka", "János")


class Played(msgspec.Struct, frozen=True):
    """A game played to its end: the final table and the whole log."""

    table: Table
    entries: tuple[Entry, ...]


def play(
    game: str,
    habits: Sequence[BotName],
    rules: dict[str, Any],
    chance: random.Random,
    most: int = 50_000,
) -> Played:
    """Play one game among people who act as these bots would. At most `most` commands."""
    table: Table | None = None
    entries: list[Entry] = []
    for decision, command, command_id, key in commands(game, habits, rules, chance, most):
        prev = entries[-1].hash if entries else GENESIS
        entries += record(decision, command, command_id, prev, key)
        table = decision.table
    assert table is not None
    return Played(table, tuple(entries))


def commands(
    game: str, habits: Sequence[BotName], rules: dict[str, Any], chance: random.Random, most: int
) -> Iterator[tuple[Decision, Command, str, bytes]]:
    """The game's commands one by one: decision, command, its id, and the key of its salts."""
    options, _ = resolve(GAMES[game], rules, len(habits))
    deal_id = _uuid(chance)
    # Games drawn from one number but played otherwise are games of their own.
    game_id = str(uuid5(UUID(deal_id), repr((game, tuple(habits), sorted(rules.items())))))
    players = tuple([Player(NAMES[seat], f"player-{seat}") for seat in range(len(habits))])
    ask = Create(
        id=game_id,
        game=game,
        options=options,
        deal_id=deal_id,
        seeded_by_host=False,
        players=players,
    )
    key = chance.randbytes(32)
    command = Command(ask, None, START, KeyedChance(key))
    decision = create(command)
    yield decision, command, _uuid(chance), key
    minds = _Minds(decision.table, habits)
    minds.watch(decision)
    for number in range(1, most):
        table = decision.table
        if table.status != "playing":
            return
        key = chance.randbytes(32)
        at = START + number * 1_700_000
        own = server_command(table)
        if own is not None:
            seat, action, forced = own
            command = Command(action, seat, at, KeyedChance(key), "server", forced)
        else:
            # Now and then somebody acts who is not waited for.
            willing = [s for s in range(len(habits)) if playable_actions(table, s)]
            seats = willing if chance.random() < 0.2 else list(to_act(table))
            seat = chance.choice(seats)
            action = minds.choose(table, seat, chance.getrandbits(32))
            command = Command(action, seat, at, KeyedChance(key))
        decision = decide(table, command)
        minds.watch(decision)
        yield decision, command, _uuid(chance), key
    raise AssertionError(f"{game} did not end within {most} commands")


class _Minds:
    """For each seat a bot of the wanted habit."""

    def __init__(self, table: Table, habits: Sequence[BotName]) -> None:
        self._players = []
        for seat, habit in enumerate(habits):
            seated = msgspec.structs.replace(table.seats[seat], bot=habit)
            seats = (*table.seats[:seat], seated, *table.seats[seat + 1 :])
            other = msgspec.structs.replace(table, seats=seats)
            self._players.append(Players(other, [seat]))

    def watch(self, decision: Decision) -> None:
        for players in self._players:
            players.watch(decision.events)

    def choose(self, table: Table, seat: Seat, word: int) -> Any:
        return self._players[seat].choose(table, seat, word)


def _uuid(chance: random.Random) -> str:
    return str(UUID(bytes=chance.randbytes(16), version=4))
