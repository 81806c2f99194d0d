"""How much better the `careful` bots are than chance: 500 seeded games of each kind."""

import random
from collections import Counter
from typing import Any

from rich.console import Console
from rich.progress import track
from rich.table import Table

from bench.games import among_bots
from domain.table.commands import BotName

GAMES = 500

LINES: tuple[tuple[str, int, dict[str, Any]], ...] = (
    ("lodam", 4, {}),
    ("lodam", 4, {"profile": "modern"}),
    ("lorum", 4, {"rounds": 7}),
    ("loc", 4, {"hands": 10}),
)


def main() -> None:
    """Print who wins how often, half the seats careful and half random, shuffled."""
    shown = Table(title=f"careful against random, {GAMES} games a line")
    for heading in ("game", "seats", "options", "won by careful", "by random", "shared by both"):
        shown.add_column(heading)
    for game, seats, rules in LINES:
        won: Counter[str] = Counter()
        for number in track(range(GAMES), description=game):
            won[_winner(game, seats, rules, random.Random(number))] += 1
        options = " ".join([f"{name}={value}" for name, value in rules.items()]) or "-"
        counts = [str(won[who]) for who in ("careful", "random", "both")]
        shown.add_row(game, str(seats), options, *counts)
    Console(width=100).print(shown)


def _winner(game: str, seats: int, rules: dict[str, Any], chance: random.Random) -> str:
    bots: list[BotName] = ["careful", "random"] * (seats // 2)
    chance.shuffle(bots)
    *_, last = among_bots(game, bots, rules, chance)
    assert last.result is not None
    kinds = {bots[seat] for seat in last.result.winners}
    return kinds.pop() if len(kinds) == 1 else "both"
