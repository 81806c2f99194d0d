"""Games among bots in memory, for measurements: the pure engine and nothing else."""

import random
from collections.abc import Iterator, Sequence
from typing import Any

from domain.bots import Players
from domain.game import KeyedChance
from domain.registry import GAMES
from domain.table.commands import BotName, Command, Create, Player
from domain.table.decide import Decision, create, decide, server_command, to_act
from domain.table.options import resolve
from domain.table.state import Table


def start(
    game: str,
    bots: Sequence[BotName | None],
    rules: dict[str, Any],
    chance: KeyedChance,
    deal_id: str = "bench",
) -> Decision:
    """A new game with these bots (None: a person) at its seats."""
    options, _ = resolve(GAMES[game], rules, len(bots))
    players = tuple([Player(str(bot), bot=bot) for bot in bots])
    ask = Create(
        id="bench",
        game=game,
        options=options,
        deal_id=deal_id,
        seeded_by_host=False,
        players=players,
    )
    return create(Command(ask, None, 0, chance))


def among_bots(
    game: str, bots: Sequence[BotName], rules: dict[str, Any], chance: random.Random
) -> Iterator[Table]:
    """The tables of a game among bots, one after each command, the last one over."""
    decision = start(game, bots, rules, KeyedChance(chance.randbytes(32)))
    players = Players(decision.table, range(len(bots)))
    players.watch(decision.events)
    while decision.table.status == "playing":
        table = decision.table
        key = KeyedChance(chance.randbytes(32))
        own = server_command(table)
        if own is not None:
            command = Command(own[1], own[0], 0, key, "server", own[2])
        else:
            seat = chance.choice(to_act(table))
            action = players.choose(table, seat, chance.getrandbits(32))
            command = Command(action, seat, 0, key, "bot")
        decision = decide(table, command)
        players.watch(decision.events)
        yield decision.table
