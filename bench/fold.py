"""Recorded games folded from events in memory: events that are decoded already, and stored ones
that are decoded and whose chain of hashes is checked. Rates are by the process's own time on the
processor, so that whatever else the machine does counts less."""

import time
from collections.abc import Callable
from functools import partial
from typing import Final

from api.checking import read_log
from api.importing import samples
from bench.load import EVENTS, long_games, path_game
from bench.report import RUNS, Runs, Targets
from domain.codec import read_event
from domain.export import Export
from domain.log import chain_breaks, fold
from domain.table.events import GameCreated
from domain.table.state import created, evolve

_SECONDS: Final = 0.5


def main() -> None:
    """Print the tables of targets.md's rows *fold alone* and *decode, check the chain and fold*."""
    logs: dict[str, list[Export]] = {}
    for path in samples():
        log = read_log(path)
        logs.setdefault(path_game(log), []).append(log)
    targets = Targets()
    _folds(logs, targets)
    _stored(targets)
    targets.show()


def _folds(logs: dict[str, list[Export]], targets: Targets) -> None:
    runs = Runs()
    events = {
        game: [[read_event(entry) for entry in log.entries] for log in found]
        for game, found in logs.items()
    }

    def once(game: str) -> int:
        count = 0
        for first, *others in events[game]:
            assert isinstance(first, GameCreated)
            table = created("bench", first)
            for event in others:
                evolve(table, event)
            count += table.version
        return count

    for _ in range(RUNS):
        for game in events:
            runs.add(game, _rate(partial(once, game)))
    runs.show("decoded events folded, recorded games", "events/s")
    for game in events:
        targets.at_least(f"fold alone, {game}", runs.median(game), 800_000, " events/s")


def _stored(targets: Targets) -> None:
    runs = Runs()
    logs = long_games()

    def whole(log: Export) -> int:
        entries = log.entries[:EVENTS]
        assert chain_breaks(log.header.id, entries) is None
        return fold(log.header.id, entries).version

    def chain(log: Export) -> int:
        assert chain_breaks(log.header.id, log.entries[:EVENTS]) is None
        return EVENTS

    def decoded(log: Export) -> int:
        return len([read_event(entry) for entry in log.entries[:EVENTS]])

    steps = (("chain checked", chain), ("decoded", decoded), ("all, with the fold", whole))
    for _ in range(RUNS):
        for game, log in logs.items():
            for words, step in steps:
                rate = _rate(partial(step, log))
                runs.add(f"{game}: {words}", EVENTS / rate * 1000)
    runs.show(f"{EVENTS} stored events of a recorded game", "ms", places=2)
    for game in logs:
        found = runs.median(f"{game}: all, with the fold")
        targets.at_most(
            f"decode, check the chain and fold {EVENTS} events, {game}", found, 1, " ms"
        )


def _rate(work: Callable[[], int]) -> float:
    """Events a second of work that tells how many it has dealt with."""
    count, begun = 0, time.process_time()
    while (taken := time.process_time() - begun) < _SECONDS:
        count += work()
    return count / taken
