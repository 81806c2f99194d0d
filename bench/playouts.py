"""Whole games by the pure engine: legal, decide and evolve, random play, one process."""

import random
import statistics
import time
from typing import Any

from rich.console import Console
from rich.table import Table

from bench.games import start
from domain.game import KeyedChance
from domain.table.commands import Command
from domain.table.decide import decide, server_command, to_act
from domain.table.views import playable_actions

RUNS = 7
GAMES = 20

LINES: tuple[tuple[str, int, dict[str, Any]], ...] = (
    ("lodam", 4, {"profile": "modern"}),
    ("lodam", 4, {}),
    ("lorum", 4, {"rounds": 7}),
    ("loc", 4, {"hands": 10}),
)


def main() -> None:
    """Print actions a second (the server's included): the median of the runs, and the best."""
    shown = Table(title=f"random playouts, {RUNS} runs of {GAMES} games")
    for heading in ("game", "options", "actions/s, median", "best"):
        shown.add_column(heading)
    for game, seats, rules in LINES:
        rates = [_rate(game, seats, rules, random.Random(run)) for run in range(RUNS)]
        options = " ".join([f"{name}={value}" for name, value in rules.items()]) or "-"
        shown.add_row(game, options, f"{statistics.median(rates):,.0f}", f"{max(rates):,.0f}")
    Console(width=100).print(shown)


def _rate(game: str, seats: int, rules: dict[str, Any], chance: random.Random) -> float:
    begin = time.perf_counter()
    count = sum([_play(game, seats, rules, chance) for _ in range(GAMES)])
    return count / (time.perf_counter() - begin)


def _play(game: str, seats: int, rules: dict[str, Any], chance: random.Random) -> int:
    key = KeyedChance(chance.randbytes(32))
    table = start(game, [None] * seats, rules, key).table
    count, draw = 0, chance.random
    while table.status == "playing":
        own = server_command(table)
        if own is not None:
            command = Command(own[1], own[0], 0, key, "server", own[2])
        else:
            seat = to_act(table)[0]
            actions = playable_actions(table, seat)
            command = Command(actions[int(draw() * len(actions))], seat, 0, key)
        table = decide(table, command).table
        count += 1
    return count
