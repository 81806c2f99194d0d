"""Players who play on at a server whatever becomes of it, and note what they were told."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random

import httpx

from tests.api.running import HOST_KEY, Game, Json, bearer, filled_in


class Load:
    """Games that are played at once. `acknowledged` holds each action's answer with its game,
    `failures` everything that was not as it should be."""

    def __init__(self, address: str, games: int) -> None:
        self._address = address
        self._games = games
        self.games: list[Game] = []
        self.acknowledged: list[tuple[str, Json]] = []
        self.failures: list[str] = []
        self._tasks: list[asyncio.Task[None]] = []
        self._over = False

    async def start(self) -> None:
        """Set the games up and begin to play."""
        for number in range(self._games):
            # Every other player makes a new connection for each request.
            limits = httpx.Limits(max_keepalive_connections=0 if number % 2 else None)
            http = httpx.AsyncClient(base_url=self._address, timeout=30, limits=limits)
            players = [{"name": name, "ref": f"{number}-{name}"} for name in "ABC"]
            body = {"game": "lodam", "players": players, "rules": {"lives": 9}}
            answer = await http.post("/v1/games", json=body, headers=bearer(HOST_KEY))
            assert answer.status_code == 201, answer.text
            self.games.append(Game(http, answer.json()))
            self._tasks.append(asyncio.create_task(self._play(self.games[-1], Random(number))))

    async def stop(self) -> None:
        """Have everybody finish what they are at."""
        self._over = True
        await asyncio.gather(*self._tasks)
        for game in self.games:
            await game.api.aclose()

    async def more(self, actions: int) -> None:
        """Wait until so many more actions have been acknowledged."""
        wanted = len(self.acknowledged) + actions
        async with asyncio.timeout(120):
            while len(self.acknowledged) < wanted and not all(t.done() for t in self._tasks):
                await asyncio.sleep(0.02)

    async def _play(self, game: Game, chance: Random) -> None:
        try:
            while not self._over:
                view = await self._get(game, HOST_KEY)
                if view["status"] != "playing":
                    break
                seat = chance.choice(view["to_act"])
                action = chance.choice((await self._get(game, game.token(seat)))["actions"])
                await self._act(game, seat, filled_in(action, chance))
        except (httpx.HTTPError, AssertionError) as error:
            self.failures.append(repr(error))

    async def _get(self, game: Game, token: str) -> Json:
        answer = await game.api.get(game.path, headers=bearer(token))
        assert answer.status_code == 200, f"GET {answer.status_code} {answer.text}"
        view: Json = answer.json()
        return view

    async def _act(self, game: Game, seat: int, action: Json) -> None:
        answer = await game.act(seat, action)
        assert answer.status_code == 201, f"POST {answer.status_code} {answer.text}"
        self.acknowledged.append((game.id, answer.json()))


@asynccontextmanager
async def playing(address: str, games: int = 6) -> AsyncIterator[Load]:
    """Games played at once while the block lasts."""
    load = Load(address, games)
    await load.start()
    try:
        yield load
    finally:
        await load.stop()


async def check_kept(load: Load, api: httpx.AsyncClient) -> None:
    """Every action that was acknowledged is in the log once, as it was told, and the versions leave
    nothing out."""
    assert load.acknowledged
    for game in load.games:
        log = await Game(api, game.created).events()
        hashes = {event["version"]: event["hash"] for event in log}
        assert list(hashes) == list(range(1, len(log) + 1))
        told = [e for id_, answer in load.acknowledged if id_ == game.id for e in answer["events"]]
        assert len({event["version"] for event in told}) == len(told)
        for event in told:
            assert hashes[event["version"]] == event["hash"]
