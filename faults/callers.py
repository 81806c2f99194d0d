"""The callers of a run: an HTTP client that writes everything down, and players who use it.

A command that was not answered is asked again with its key, of another process, until an answer
comes: acknowledged, or refused by the rules.
"""

import asyncio
import itertools
from collections.abc import Sequence
from random import Random
from time import monotonic
from typing import Any, Final
from uuid import UUID

import httpx
import msgspec

from faults.history import NOT_ANSWERED, Attempt, Command, History, Reading
from faults.processes import HOST_KEY

Door = tuple[str, str]
"""Name and address of a way to a process."""

_PAUSE_SECONDS: Final = 0.1
"""Between attempts at one command."""
_HANG_UP_SECONDS: Final = 0.05
"""Within this time one hangs up who does."""

TABLES: Final[tuple[dict[str, Any], ...]] = (
    {"game": "lodam", "players": 4, "rules": {"profile": "modern"}},
    {"game": "loc", "players": 4, "rules": {}},
    {"game": "lorum", "players": 4, "rules": {}},
    {"game": "lodam", "players": 3, "bots": ["careful"], "rules": {}},
    {"game": "loc", "players": 3, "bots": ["random"], "rules": {}},
    {"game": "lorum", "players": 3, "bots": ["careful"], "rules": {}},
)
"""What is played, one after the other."""


class Game:
    """A game that was acknowledged, as its players know it."""

    def __init__(self, created: dict[str, Any]) -> None:
        self.id: Final[str] = created["id"]
        self.tokens: Final = {s["seat"]: s["token"] for s in created["seats"] if s["token"]}
        self.version = int(created["version"])
        self.to_act: list[int] = list(self.tokens)
        """Whom it waited for when it was last looked at."""
        self.over = False

    def saw(self, view: dict[str, Any]) -> None:
        """Take in a view, if it is not an old one."""
        if view["version"] >= self.version:
            self.version = view["version"]
            self.to_act = [seat for seat in view["to_act"] if seat in self.tokens]


class Caller:
    """Asks commands and reads, at any of several doors, and puts all of it down."""

    def __init__(
        self,
        history: History,
        chance: Random,
        doors: Sequence[Door],
        seconds: float,
        impatience: float = 0.0,
    ) -> None:
        """`seconds`: how long an answer is waited for; `impatience`: how likely one hangs up
        within some milliseconds instead."""
        self.history: Final = history
        self.chance: Final = chance
        self._numbers: Final = itertools.count(1)
        self._seconds: Final = seconds
        self._impatience: Final = impatience
        self._clients: Final = {
            name: httpx.AsyncClient(base_url=address, timeout=seconds) for name, address in doors
        }
        self.doors: Final = [name for name, _ in doors]
        self.tokens: Final[dict[tuple[str, int], str]] = {}
        """By game and seat."""
        self._games: Final[list[Game]] = []

    async def close(self) -> None:
        """Close all connections."""
        for client in self._clients.values():
            await client.aclose()

    async def set_up(self, kind: int, door: str, **more: Any) -> Command:
        """Ask for a new game of a kind of TABLES."""
        table = TABLES[kind % len(TABLES)]
        players = [{"name": f"P{n}", "ref": f"ref-{n}"} for n in range(table["players"])]
        bots = [{"bot": bot} for bot in table.get("bots", ())]
        asks = {"game": table["game"], "players": players + bots, "rules": table["rules"], **more}
        command = self.history.command(self.key(), None, None, asks)
        await self.ask(command, HOST_KEY, door)
        return command

    def opened(self, command: Command) -> Game | None:
        """The game that a command has set up, if it was acknowledged."""
        if not command.acknowledged:
            return None
        game = Game(msgspec.json.decode(command.acknowledged[0].body))
        self.tokens.update({(game.id, seat): token for seat, token in game.tokens.items()})
        self._games.append(game)
        return game

    def games(self) -> list["Game"]:
        """The games that have been set up and were not seen to end."""
        return [game for game in self._games if not game.over]

    async def act(self, game: Game, seat: int, action: dict[str, Any], door: str) -> Command:
        """Ask for an action once."""
        command = self.history.command(self.key(), game.id, seat, action)
        await self.ask(command, game.tokens[seat], door)
        return command

    async def ask(self, command: Command, token: str, door: str, *, final: bool = False) -> Attempt:
        """One more attempt at a command."""
        attempt = Attempt(door, monotonic(), final=final)
        command.attempts.append(attempt)
        path = "/v1/games" if command.game is None else f"/v1/games/{command.game}/actions"
        headers = {"Authorization": f"Bearer {token}", "Idempotency-Key": command.key}
        await self._send(attempt, "POST", path, headers, command.asks)
        if attempt.status == 201 and len(command.acknowledged) == 1:
            self.history.done += 1
        return attempt

    async def insist(self, command: Command, token: str, door: str, until: asyncio.Event) -> None:
        """Ask again, at one door after the other, until there is an answer or it is over."""
        place = self.doors.index(door)
        while not (command.acknowledged or until.is_set()):
            if command.attempts[-1].status not in NOT_ANSWERED:
                return
            await asyncio.sleep(self.chance.uniform(0, _PAUSE_SECONDS))
            place += 1
            await self.ask(command, token, self.doors[place % len(self.doors)])

    async def read(
        self, game: Game, seat: int | None, door: str, wait: bool = False
    ) -> dict[str, Any] | None:
        """The view of a seat or the host; with `wait`, once the game has moved on."""
        query = f"?wait=1&after={game.version}" if wait else ""
        reading = Reading(game.id, seat, "view", Attempt(door, monotonic()))
        return await self._read(reading, game, f"/v1/games/{game.id}{query}")

    async def read_events(self, game: Game, seat: int | None, door: str) -> None:
        """All events as a seat or the host may see them."""
        reading = Reading(game.id, seat, "events", Attempt(door, monotonic()))
        await self._read(reading, game, f"/v1/games/{game.id}/events?limit=1000")

    async def _read(self, reading: Reading, game: Game, path: str) -> dict[str, Any] | None:
        self.history.readings.append(reading)
        token = HOST_KEY if reading.seat is None else game.tokens[reading.seat]
        headers = {"Authorization": f"Bearer {token}"}
        await self._send(reading.attempt, "GET", path, headers)
        if reading.attempt.status == 404:
            game.over = True
        if reading.attempt.status != 200:
            return None
        body: dict[str, Any] = msgspec.json.decode(reading.attempt.body)
        if reading.what == "view":
            game.saw(body)
        return body

    async def _send(
        self, attempt: Attempt, method: str, path: str, headers: dict[str, str], body: Any = None
    ) -> None:
        # The library's limits are for each read: this one is for the whole.
        seconds = self._seconds + 1
        if self.chance.random() < self._impatience:
            seconds = self.chance.uniform(0, _HANG_UP_SECONDS)
        try:
            async with asyncio.timeout(seconds):
                answer = await self._clients[attempt.process].request(
                    method, path, headers=headers, json=body
                )
        except (httpx.TransportError, TimeoutError):
            attempt.ended = monotonic()
            return
        attempt.ended = monotonic()
        attempt.status = answer.status_code
        attempt.retry_after = answer.headers.get("Retry-After")
        attempt.replayed = answer.headers.get("Idempotent-Replayed") == "true"
        if answer.content:
            attempt.body = _json(answer.content)

    def key(self) -> str:
        """A new idempotency key."""
        return f"{next(self._numbers)}-{UUID(int=self.chance.getrandbits(128))}"


def _json(content: bytes) -> msgspec.Raw:
    """The body as JSON; what is none is kept as a text, to be complained about."""
    try:
        msgspec.json.decode(content)
    except msgspec.DecodeError:
        return msgspec.Raw(msgspec.json.encode(content.decode(errors="replace")))
    return msgspec.Raw(content)


class Players:
    """Tables at which people play at random, each watched over by two callers who do not wait for
    each other."""

    def __init__(
        self, caller: Caller, tables: int, games: Sequence[Game] = (), **more: Any
    ) -> None:
        """`games` are gone on with; `more` goes into every new game."""
        self._caller: Final = caller
        self._more: Final = more
        self._games: Final[list[Game | None]] = [*games[:tables], *[None] * tables][:tables]
        self._opening: Final = [asyncio.Lock() for _ in range(tables)]
        self._opened = itertools.count()
        self.over: Final = asyncio.Event()
        self.pause_seconds = 0.0
        """Between the moves of each."""

    async def play(self) -> None:
        """Play until `over` is set."""
        async with asyncio.TaskGroup() as group:
            for table in range(len(self._games)):
                for hand in range(2):
                    group.create_task(self._sit(table, hand))

    async def _sit(self, table: int, hand: int) -> None:
        doors = self._caller.doors
        while not self.over.is_set():
            game = await self._game(table)
            if game is None:
                await asyncio.sleep(_PAUSE_SECONDS)
                continue
            # Mostly one's own door, so that two processes meet over one game.
            door = doors[(table + hand) % len(doors)]
            if self._caller.chance.random() < 0.1:
                door = self._caller.chance.choice(doors)
            await self._move(game, door)
            await asyncio.sleep(self.pause_seconds)

    async def _game(self, table: int) -> Game | None:
        async with self._opening[table]:
            game = self._games[table]
            if game is None or game.over:
                caller = self._caller
                door = caller.chance.choice(caller.doors)
                command = await caller.set_up(next(self._opened), door, **self._more)
                await caller.insist(command, HOST_KEY, door, self.over)
                game = self._games[table] = caller.opened(command)
            return game

    async def _move(self, game: Game, door: str) -> None:
        """One action of somebody who is to act, or a look where nobody is."""
        caller, chance = self._caller, self._caller.chance
        seat = chance.choice(game.to_act or list(game.tokens))
        view = await caller.read(game, seat, door)
        if view is None:
            await asyncio.sleep(chance.uniform(0, 3 * _PAUSE_SECONDS))
            return
        if view["status"] != "playing":
            await caller.read_events(game, seat, door)
            game.over = True
            return
        if not view["actions"]:
            if not game.to_act:
                await caller.read(game, None, door, wait=True)
            return
        if chance.random() < 0.02:
            await caller.read_events(game, chance.choice([None, seat]), door)
        action = filled_in(chance.choice(view["actions"]), chance)
        if chance.random() < 0.05:
            await self._twice(game, seat, action)
            return
        command = await caller.act(game, seat, action, door)
        await caller.insist(command, game.tokens[seat], door, self.over)
        for attempt in command.acknowledged:
            game.saw(msgspec.json.decode(attempt.body)["view"])

    async def _twice(self, game: Game, seat: int, action: dict[str, Any]) -> None:
        """The same command with the same key at two doors at once."""
        caller = self._caller
        command = caller.history.command(caller.key(), game.id, seat, action)
        doors = (caller.doors[0], caller.doors[-1])
        await asyncio.gather(*[caller.ask(command, game.tokens[seat], door) for door in doors])
        await caller.insist(command, game.tokens[seat], doors[0], self.over)


def filled_in(action: dict[str, Any], chance: Random) -> dict[str, Any]:
    """A listed action as it can be sent: `cut` with one place of its range."""
    if isinstance(action.get("at"), dict):
        return action | {"at": chance.randint(action["at"]["min"], action["at"]["max"])}
    return action
