"""Faults of time: a clock that steps back, and turn clocks that several processes mind."""

import asyncio
from pathlib import Path
from time import monotonic, time
from typing import Final

import msgspec

from domain.times import parse_at
from faults.callers import Caller, Game
from faults.run import Run, Skipped

LIBRARIES: Final = (
    "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1",
    "/usr/lib/aarch64-linux-gnu/faketime/libfaketime.so.1",
    "/usr/lib/faketime/libfaketime.so.1",
)
STEPS: Final = ("+0", "-30", "-3600", "-10", "-86400")
"""Seconds by which one process's clock is off, one after the other: it steps back, and on again."""
TABLES: Final = 12
TURN_SECONDS: Final = 1
WAIT_SECONDS: Final = 30.0


async def clock_back(run: Run) -> None:
    """The wall clock of one of two processes steps back, up to a day, while games with turn clocks
    go on; the other's goes on as it does."""
    library = next((path for path in LIBRARIES if Path(path).exists()), None)
    if library is None:
        raise Skipped("libfaketime is not installed (Debian: apt-get install faketime)")
    begun = time() - 20
    off_by = run.folder / "off-by"
    off_by.write_text(f"{STEPS[0]}\n")
    fake = {
        "LD_PRELOAD": library,
        "FAKETIME_TIMESTAMP_FILE": str(off_by),
        "FAKETIME_NO_CACHE": "1",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        "DONT_FAKE_MONOTONIC": "1",
    }
    # The Postgres is this process's, so that no fake clock gets into it.
    with run.database() as url:
        await run.migrated(url)
        plain = {"FAIRDEAL_DATABASE_URL": url}
        async with run.serving(plain, plain | fake) as processes:
            clock = {"turn_seconds": 2, "on_timeout": "bot"}
            async with run.playing(processes, clock=clock):
                for step in STEPS:
                    off_by.write_text(f"{step}\n")
                    run.note("steps of the clock", 1)
                    await run.acted(1 / (len(STEPS) + 1))
                    await run.live_again(processes, f"the clock is off by {step} s")
                await run.acted(1 / (len(STEPS) + 1))
    past = _begun_before(run, begun)
    run.note("games begun in the past", past)
    run.must(past, "no game was begun by a clock that had stepped back")


def _begun_before(run: Run, moment: float) -> int:
    """How many games say that they began before a moment, in seconds since 1970."""
    answers = [
        msgspec.json.decode(command.acknowledged[0].body)
        for command in run.history.commands
        if command.game is None and command.acknowledged
    ]
    return sum([1 for answer in answers if parse_at(answer["at"]) < moment * 1_000_000])


async def two_clocks(run: Run) -> None:
    """Games in which nobody acts but the clock, minded by two processes of which one is killed in
    the middle, then by the other: every deadline counts once, and none is forgotten."""
    async with run.serving({}, {}) as processes:
        ways = [(process.name, process.address) for process in processes]
        caller = Caller(run.history, run.chance, ways, 8.0)
        try:
            games = await _clocked_games(caller)
            for victim in (None, processes[0], processes[1]):
                if victim is not None:
                    victim.kill()
                    run.note("servers killed", 1)
                await _all_move(run, caller, games, [p.name for p in processes if p is not victim])
                if victim is not None:
                    victim.start()
                    await victim.ready()
        finally:
            await caller.close()


async def _clocked_games(caller: Caller) -> list[Game]:
    """New games with a short turn clock."""
    clock = {"turn_seconds": TURN_SECONDS, "on_timeout": "bot"}
    games: list[Game] = []
    for number in range(TABLES):
        door = caller.doors[number % len(caller.doors)]
        game = caller.opened(await caller.set_up(number, door, clock=clock))
        assert game is not None
        games.append(game)
    return games


async def _all_move(run: Run, caller: Caller, games: list[Game], doors: list[str]) -> None:
    """Wait until every game has moved on three times more, by what these doors say."""
    run.tell("waiting for the clock")
    for _ in range(3):
        end = monotonic() + WAIT_SECONDS
        waiting = {game.id: (game, game.version) for game in games if not game.over}
        while waiting:
            for game, version in list(waiting.values()):
                view = await caller.read(game, None, run.chance.choice(doors))
                if view is not None and view["status"] != "playing":
                    game.over = True
                if game.over or game.version > version:
                    del waiting[game.id]
            if monotonic() > end:
                run.must(False, f"the clock has forgotten {len(waiting)} games")
                return
            await asyncio.sleep(0.1)
