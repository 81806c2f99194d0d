"""One run: a place of its own with a Postgres and processes, callers at play, a fault, the end.

The fault itself is a function of `Run` (see `catalogue`). Once it has returned, every process is
ended, a new one is started, and every command whose fate is unknown is asked again with its key:
what it says then is the truth, because nothing can be under way any more. Then the checker judges.
"""

import asyncio
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from random import Random
from time import monotonic
from typing import Any, Final

import httpx
import msgspec

from domain.receipts import PublicKey
from eventstore import embedded
from eventstore.migrate import migrate
from eventstore.postgres import EventStore
from faults.callers import TABLES, Caller, Door, Game, Players
from faults.checker import judge
from faults.history import History
from faults.postgres import Server
from faults.processes import HOST_KEY, Process
from faults.soundness import (
    check_audit,
    check_clocks,
    check_feed,
    check_lag,
    check_logs,
    check_projections,
    clock_firings,
)
from faults.truth import Truth, read
from faults.violations import Violation

LIVE_SECONDS: Final = 10.0
"""Within this time everything has to be live again."""
_PROBE_SECONDS: Final = 2.0
_CALM_SECONDS: Final = 0.3
"""Between the moves of a player while something has to come back to life."""
_STUCK_SECONDS: Final = 120.0
"""A run in which nothing gets done for so long is broken."""

Tell = Callable[[str], None]
"""Told what goes on, in a few words."""


class Skipped(Exception):
    """The fault cannot be brought about on this machine; the message says why."""


class Stuck(Exception):
    """The run cannot go on: nothing gets done any more."""


class Run:
    """One run of one fault."""

    def __init__(
        self, seed: int, folder: Path, actions: int, tell: Tell, live_seconds: float = LIVE_SECONDS
    ) -> None:
        """`actions`: how many acknowledged commands the run is to have, about."""
        self.chance: Final = Random(seed)
        self.folder: Final = folder
        self.actions: Final = actions
        self.history = History()
        self.figures: Final[dict[str, float]] = {}
        """What is worth telling, by name."""
        self.violations: list[Violation] = []
        self._tell: Final = tell
        self._live_seconds: Final = live_seconds
        self._tokens: Final[dict[tuple[str, int], str]] = {}
        self._processes: Final[list[Process]] = []
        self._players: Players | None = None
        self.server = Server(folder / "data")
        """Where the Postgres is; `move` puts it elsewhere."""
        self._servers: Final = [self.server]
        self.concluded = False

    def tell(self, text: str) -> None:
        """Say what goes on."""
        self._tell(f"{self.history.done} acknowledged: {text}")

    def note(self, name: str, value: float) -> None:
        """Add to a figure."""
        self.figures[name] = self.figures.get(name, 0) + value

    def must(self, happened: object, text: str) -> None:
        """A fault that did not come about proves nothing: that is a violation too."""
        if not happened:
            self.violations.append(Violation("fault", text))

    def move(self, folder: Path) -> None:
        """From now on the Postgres is the one on this data folder."""
        self.server = Server(folder)
        self._servers.append(self.server)

    @contextmanager
    def database(self) -> Iterator[str]:
        """The run's Postgres held by this process, for processes that are given its address."""
        with embedded.server(self.server.folder) as url:
            yield url

    async def migrated(self, url: str) -> None:
        """Bring a database up to date, as `fairdeal migrate` does."""
        await migrate(url)

    def process(self, name: str, workers: int = 1, **environment: str) -> Process:
        """A process of the API, not started yet; on the embedded Postgres unless told otherwise."""
        own = {"FAIRDEAL_DATA_DIR": str(self.server.folder)}
        log = self.folder / f"{name}.log"
        made = Process(name, log, own | environment, workers)
        self._processes.append(made)
        return made

    @asynccontextmanager
    async def serving(
        self, *environments: Mapping[str, str], workers: int = 1
    ) -> AsyncIterator[list[Process]]:
        """Processes that serve, one for each environment; stopped in an orderly way at the end."""
        some = [
            self.process("abcdef"[number], workers, **environment)
            for number, environment in enumerate(environments)
        ]
        self.tell("starting")
        for process in some:
            process.start()
        await asyncio.gather(*[process.ready() for process in some])
        try:
            yield some
            await asyncio.gather(*[process.stop() for process in some])
        finally:
            for process in some:
                process.end()

    @asynccontextmanager
    async def playing(
        self,
        doors: Sequence[Process | Door],
        *,
        tables: int = 6,
        seconds: float = 8.0,
        games: Sequence[Game] = (),
        impatience: float = 0.0,
        **more: Any,
    ) -> AsyncIterator[Caller]:
        """People at play while the block lasts. `seconds`: how long they wait for an answer, or, so
        likely as `impatience`, do not; `games` are gone on with, `more` goes into every new game.
        """
        ways = [(d.name, d.address) if isinstance(d, Process) else d for d in doors]
        caller = Caller(self.history, self.chance, ways, seconds, impatience)
        players = self._players = Players(caller, tables, games, **more)
        task = asyncio.create_task(players.play())
        try:
            yield caller
            players.over.set()
            async with asyncio.timeout(_STUCK_SECONDS):
                await task
        finally:
            task.cancel()
            await asyncio.wait([task])
            self._tokens.update(caller.tokens)
            await caller.close()

    async def acted(self, share: float) -> None:
        """Wait until so large a share of the run's actions more has been acknowledged. Stuck where
        nothing gets done."""
        wanted = self.history.done + max(1, int(share * self.actions))
        done, since = self.history.done, monotonic()
        while self.history.done < wanted:
            await asyncio.sleep(0.02)
            if self.history.done > done:
                done, since = self.history.done, monotonic()
                self.tell("playing")
            if monotonic() - since > _STUCK_SECONDS:
                raise Stuck(f"nothing was acknowledged for {_STUCK_SECONDS:g} seconds")

    async def live_again(self, doors: Sequence[Process | Door], what: str) -> None:
        """Wait until a new game can be set up and read at every door; a violation where that takes
        longer than it may. The players take their time meanwhile: they share the machine with what
        has to start."""
        self.tell(f"{what}; waiting for life")
        if self._players is not None:
            self._players.pause_seconds = _CALM_SECONDS
        begun = monotonic()
        ways = [(d.name, d.address) if isinstance(d, Process) else d for d in doors]
        caller = Caller(self.history, self.chance, ways, _PROBE_SECONDS)
        try:
            await asyncio.gather(*[self._alive(caller, name) for name in caller.doors])
        finally:
            self._tokens.update(caller.tokens)
            await caller.close()
            if self._players is not None:
                self._players.pause_seconds = 0.0
        took = monotonic() - begun
        self.figures["longest s until live"] = round(
            max(took, self.figures.get("longest s until live", 0)), 2
        )
        if took > self._live_seconds:
            load, cores = os.getloadavg()[0], os.cpu_count()
            text = (
                f"{what}: it took {took:.1f} s until everything was live again"
                f" (load average {load:.1f} on {cores} cores)"
            )
            self.violations.append(Violation("alive", text))

    async def _alive(self, caller: Caller, door: str) -> None:
        begun = monotonic()
        command = await caller.set_up(self.chance.randrange(len(TABLES)), door)
        while (game := caller.opened(command)) is None:
            if monotonic() - begun > _STUCK_SECONDS:
                raise Stuck(f"{door} was not live again after {_STUCK_SECONDS:g} seconds")
            await asyncio.sleep(0.05)
            await caller.ask(command, HOST_KEY, door)
        while await caller.read(game, None, door) is None:
            if monotonic() - begun > _STUCK_SECONDS:
                raise Stuck(f"{door} could not be read from after {_STUCK_SECONDS:g} seconds")
            await asyncio.sleep(0.05)

    def end(self) -> None:
        """End whatever still runs of it."""
        for process in self._processes:
            process.end()
        for server in self._servers:
            server.kill()

    async def conclude(self) -> Truth:
        """Settle what is unknown, read the store, and judge. The violations are in `violations`."""
        self.tell("asking again what is unknown")
        keys = await self._settle()
        with self.database() as url:
            async with EventStore.open(url, deadline_seconds=60) as store:
                self.tell("reading the store")
                truth = await read(store, keys)
                self.tell("judging")
                self.violations += judge(self.history, truth)
                self.violations += check_logs(truth)
                self.violations += check_feed(truth)
                self.violations += check_clocks(truth)
                self.violations += await check_audit(store, keys)
            self.tell("folding projections from zero")
            self.concluded = True
            self.violations += await check_projections(url)
        self.figures["games"] = len(truth.games)
        self.figures["events"] = sum([len(log.entries) for log in truth.games.values()])
        if firings := clock_firings(truth):
            self.figures["acted for by the clock"] = firings
        return truth

    async def _settle(self) -> tuple[PublicKey, ...]:
        """The last word on every command, from a process that has met none of this; the public keys
        of the service. The projections must have come to the end of the log meanwhile."""
        last = self.process("last")
        last.start()
        await last.ready()
        caller = Caller(self.history, self.chance, [(last.name, last.address)], 30.0)
        try:
            for command in self.history.commands:
                if command.fate == "unknown":
                    token = HOST_KEY
                    if command.game is not None and command.seat is not None:
                        token = self._tokens[command.game, command.seat]
                    await caller.ask(command, token, last.name, final=True)
            async with httpx.AsyncClient(base_url=last.address, timeout=30) as http:
                answer = await http.get("/.well-known/jwks.json")
            keys = msgspec.convert(answer.json()["keys"], tuple[PublicKey, ...])
            async with EventStore.open(self.server.url) as store:
                self.violations += await check_lag(store, self._live_seconds)
        finally:
            await caller.close()
        await last.stop()
        return keys


@contextmanager
def workplace(parent: Path | None = None) -> Iterator[Path]:
    """A temporary folder that the account of an embedded Postgres may enter."""
    folder = Path(tempfile.mkdtemp(prefix="fairdeal-faults-", dir=parent))
    folder.chmod(0o711)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
