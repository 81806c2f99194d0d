"""The API running in this process, and a game on it as its host and players see it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random
from typing import Any

import httpx

from api.app import create_app
from api.settings import Settings

HOST_KEY = "key-of-the-host-under-test"
OTHER_KEY = "key-of-another-host"
METRICS_KEY = "key-for-the-figures-alone"
SIGNING_KEYS = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8:1750000000"
SECRET = "a secret of at least thirty-two bytes"

Json = dict[str, Any]


@asynccontextmanager
async def running(database_url: str, **changes: Any) -> AsyncIterator[httpx.AsyncClient]:
    """A client of one process of the API on this database."""
    settings = Settings(
        database_url=database_url,
        host_keys={"host": HOST_KEY, "other": OTHER_KEY},
        secret=SECRET,
        **{"signing_keys": SIGNING_KEYS, **changes},
    )
    app: Any = create_app(settings)
    started, ended = asyncio.Event(), asyncio.Event()

    async def live() -> None:
        async with app.lifespan():
            started.set()
            await ended.wait()

    # In a task of its own: a fixture's halves may run in different ones, a lifespan's may not.
    life = asyncio.create_task(live())
    starting = asyncio.create_task(started.wait())
    await asyncio.wait([life, starting], return_when=asyncio.FIRST_COMPLETED)
    if life.done():
        starting.cancel()
        life.result()
    transport = httpx.ASGITransport(app)
    try:
        async with httpx.AsyncClient(transport=transport, base_url="http://api.test") as client:
            yield client
    finally:
        ended.set()
        await life


def bearer(token: str, **more: str) -> dict[str, str]:
    """The headers of whoever has this key or token."""
    headers = {name.replace("_", "-"): value for name, value in more.items()}
    return {"Authorization": f"Bearer {token}", **headers}


HOST = bearer(HOST_KEY)


class Game:
    """A game on the API."""

    def __init__(self, api: httpx.AsyncClient, created: Json) -> None:
        self.api = api
        self.created = created
        self.id: str = created["id"]
        self.path = f"/v1/games/{self.id}"
        self.tokens: list[str | None] = [seat["token"] for seat in created["seats"]]

    def token(self, seat: int) -> str:
        token = self.tokens[seat]
        assert token is not None
        return token

    async def get(
        self, who: int | str = HOST_KEY, path: str = "", **headers: str
    ) -> httpx.Response:
        """GET as a seat, or with a key or token."""
        token = self.token(who) if isinstance(who, int) else who
        return await self.api.get(self.path + path, headers=bearer(token, **headers))

    async def view(self, who: int | str = HOST_KEY) -> Json:
        answer = await self.get(who)
        assert answer.status_code == 200, answer.text
        view: Json = answer.json()
        return view

    async def post(
        self, who: int | str, path: str, body: Any = None, **headers: str
    ) -> httpx.Response:
        token = self.token(who) if isinstance(who, int) else who
        return await self.api.post(self.path + path, json=body, headers=bearer(token, **headers))

    async def act(self, seat: int, action: Json, **headers: str) -> httpx.Response:
        return await self.post(seat, "/actions", action, **headers)

    async def events(self, who: int | str = HOST_KEY) -> list[Json]:
        """The whole log as somebody sees it."""
        answer = await self.get(who, "/events?limit=1000")
        assert answer.status_code == 200, answer.text
        items: list[Json] = answer.json()["items"]
        return items

    async def step(self, chance: Random) -> Json:
        """Let a person who is waited for make a legal action; its answer."""
        view = await self.view()
        # A long run of bots goes on in appends of its own; wait for the end of it.
        while not (people := [seat for seat in view["to_act"] if self.tokens[seat]]):
            view = (await self.get(path=f"?wait=30&after={view['version']}")).json()
            if view["status"] != "playing":
                return {"view": view, "events": []}
        seat = chance.choice(people)
        action = chance.choice((await self.view(seat))["actions"])
        answer = await self.act(seat, filled_in(action, chance))
        assert answer.status_code == 201, answer.text
        done: Json = answer.json()
        return done

    async def play(self, chance: Random, steps: int = 10_000) -> Json:
        """Play on until the game is over, or so many steps; the host's view then."""
        for _ in range(steps):
            view = await self.view()
            if view["status"] != "playing":
                return view
            await self.step(chance)
        return await self.view()


def filled_in(action: Json, chance: Random) -> Json:
    """A listed action as it can be sent: `cut` with one place of its range."""
    if isinstance(action.get("at"), dict):
        return action | {"at": chance.randint(action["at"]["min"], action["at"]["max"])}
    return action


async def new_game(
    api: httpx.AsyncClient, people: int = 3, bots: tuple[str, ...] = (), **more: Any
) -> Game:
    """A game of Losing Lodam of so many people, then bots."""
    players: list[Json] = [{"name": f"Player {n}", "ref": f"ref-{n}"} for n in range(people)]
    body = {"game": "lodam", "players": players + [{"bot": bot} for bot in bots], **more}
    answer = await api.post("/v1/games", json=body, headers=HOST)
    assert answer.status_code == 201, answer.text
    return Game(api, answer.json())


def problem(answer: httpx.Response, status: int, kind: str) -> Json:
    """The problem that an answer is; fails where it is another."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    body: Json = answer.json()
    assert body["type"] == f"/problems/{kind}"
    assert body["status"] == status
    assert body["title"]
    assert body["detail"]
    assert body["instance"] == answer.request.url.raw_path.decode().partition("?")[0]
    return body
