"""Whole games by the pure engine: legal, decide and evolve, random play, one process; and other
libraries' engines in the same run. Rates are by the process's own time on the processor, so that
whatever else the machine does counts less."""

import random
import time
from typing import Any, Final

from bench.games import start
from bench.peers.playing import OPENSPIEL_HEARTS, RLCARD_BRIDGE, Playout, peers
from bench.report import Runs, Targets
from bench.serving import NoPeer
from domain.game import KeyedChance
from domain.table.commands import Command
from domain.table.decide import decide, server_command, to_act
from domain.table.views import playable_actions

RUNS: Final = 7
SECONDS: Final = 1.0

LINES: tuple[tuple[str, int, dict[str, Any]], ...] = (
    ("lodam", 4, {"profile": "modern"}),
    ("lodam", 4, {}),
    ("lorum", 4, {"rounds": 7}),
    ("loc", 4, {"hands": 10}),
)


def main() -> None:
    """Print actions a second (the server's included) of each game, and of the peers."""
    runs, targets = Runs(), Targets()
    playing: dict[str, Playout] = {}
    for line in LINES:
        playing[_named(line)] = _ours(*line)
    for name, made in peers().items():
        try:
            playing[name] = made()
        except NoPeer as missing:
            targets.missing(str(missing))
    for number in range(RUNS):
        for name, play in playing.items():
            runs.add(name, _rate(play, random.Random(number)))
    runs.show("random playouts", "actions/s")
    for line in LINES[:3]:
        name = _named(line)
        targets.at_least(name, runs.median(name), 150_000, " actions/s")
        for peer, wanted in ((RLCARD_BRIDGE, 5), (OPENSPIEL_HEARTS, 0.5)):
            if peer in runs:
                targets.at_least(f"{name} : {peer}", runs.ratio(name, peer), wanted, "x")
    targets.show()


def _named(line: tuple[str, int, dict[str, Any]]) -> str:
    game, _, rules = line
    return " ".join(["fairdeal,", game, *[f"{name}={value}" for name, value in rules.items()]])


def _rate(play: Playout, chance: random.Random) -> float:
    count, begun = 0, time.process_time()
    while (taken := time.process_time() - begun) < SECONDS:
        count += play(chance)
    return count / taken


def _ours(game: str, seats: int, rules: dict[str, Any]) -> Playout:
    def play(chance: random.Random) -> int:
        key = KeyedChance(chance.randbytes(32))
        table = start(game, [None] * seats, rules, key).table
        count, draw = 0, chance.random
        while table.status == "playing":
            waiting = to_act(table)
            if waiting:
                actions = playable_actions(table, waiting[0])
                command = Command(actions[int(draw() * len(actions))], waiting[0], 0, key)
            else:
                own = server_command(table)
                assert own is not None
                command = Command(own[1], own[0], 0, key, "server", own[2])
            table = decide(table, command).table
            count += 1
        return count

    return play
