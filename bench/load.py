"""A game of 500 events loaded from the store and folded, beside `eventsourcing` doing the same with
an aggregate of 500 events. Nothing is kept in memory between loads on either side."""

import asyncio
import time
from typing import Any, Final

from api.batch import new_event
from api.checking import read_log
from api.importing import samples
from bench.report import RUNS, Runs, Targets
from bench.serving import NoPeer
from bench.stores import with_postgres
from domain.export import Export
from domain.log import fold
from eventstore.postgres import EventStore
from eventstore.records import GENESIS, Answer, Append

EVENTS: Final = 500
LOADS: Final = 100
GAMES: Final = ("lodam", "lorum")
PEER: Final = "eventsourcing, an aggregate"


def main() -> None:
    """Print the table of targets.md's row *load and fold*."""
    with_postgres(_measure)


def long_games() -> dict[str, Export]:
    """A recorded game of at least EVENTS events of each kind that has one."""
    found: dict[str, Export] = {}
    for path in samples():
        log = read_log(path)
        game = path_game(log)
        if game in GAMES and len(log.entries) >= EVENTS:
            found.setdefault(game, log)
    return found


def path_game(log: Export) -> str:
    """The name of the game that a log is of."""
    return fold(log.header.id, log.entries[:1]).game.name


async def _measure(url: str) -> None:
    runs, targets = Runs(), Targets()
    logs = long_games()
    peer, theirs = _peer(url, targets)
    async with EventStore.open(url) as store:
        for game, log in logs.items():
            await store.append(_prefix(game, log))
        for _ in range(RUNS):
            for game, log in logs.items():
                milliseconds = await _loads(store, log.header.id)
                runs.add(f"fairdeal, {game}", milliseconds)
            if peer is not None:
                runs.add(PEER, await asyncio.to_thread(_their_loads, peer, theirs))
    if peer is not None:
        peer.close()
    runs.show(f"a game of {EVENTS} events loaded and folded", "ms each", places=2)
    for game in logs:
        targets.at_most(
            f"load and fold {EVENTS} events, {game}", runs.median(f"fairdeal, {game}"), 2, " ms"
        )
        if PEER in runs:
            ratio = runs.ratio(PEER, f"fairdeal, {game}")
            targets.at_least(f"eventsourcing : fairdeal, {game}", ratio, 1, "x")
    targets.show()


def _prefix(game: str, log: Export) -> Append:
    entries = log.entries[:EVENTS]
    return Append(
        stream=log.header.id,
        expected=0,
        prev=GENESIS,
        events=tuple([new_event(entry) for entry in entries]),
        command=entries[-1].command,
        answer=Answer(log.header.id, 1, EVENTS, b""),
        tenant="host",
        category=game,
    )


async def _loads(store: EventStore, game: str) -> float:
    """Milliseconds for each of many loads, one after another."""
    begun = time.perf_counter()
    for _ in range(LOADS):
        loaded = await store.load(game)
        assert loaded is not None
        table = fold(game, loaded[1])
        assert table.version == EVENTS
    return (time.perf_counter() - begun) / LOADS * 1000


def _peer(url: str, targets: Targets) -> tuple[Any, Any]:
    try:
        from bench.peers.eventsourced import Games, environment
    except NoPeer as missing:
        targets.missing(str(missing))
        return None, None
    peer = Games(environment(url, safe=True, pool=2))
    return peer, peer.played(EVENTS)


def _their_loads(peer: Any, game: Any) -> float:
    begun = time.perf_counter()
    for _ in range(LOADS // 5):
        assert peer.loaded(game) == EVENTS - 1
    return (time.perf_counter() - begun) / (LOADS // 5) * 1000
