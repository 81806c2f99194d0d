"""Two hosts with all that a host can have, and everybody who may knock: for tests of who is let in.

A *corner* is a game with what belongs to it. The caller's own, a sibling (the same host's), a
foreign one (another host's), and one that does not exist.
"""

import asyncio
import time
from dataclasses import dataclass
from random import Random
from typing import Any

import httpx
import jwt

from tests.api.running import HOST_KEY, METRICS_KEY, OTHER_KEY, SECRET, Game, Json, bearer

ABSENT = "01970000-0000-7000-8000-00000000ffff"

NO_VALID_TOKEN = ("none", "basic", "malformed", "forged", "expired", "revoked", "figures")
"""Callers who are let in nowhere; the key for figures reads these alone, which are no operation."""
SAME = {"trading": "off", "seed": "5e" * 32, "deal_id": "corner"}
"""The same deals, and so the same game, each time."""
CALLERS = (*NO_VALID_TOKEN, "seat", "spectator", "host")
"""Everybody, as seen from their own corner."""


@dataclass(frozen=True)
class Corner:
    """What the paths of the API can name, by the names of their parameters."""

    ids: dict[str, str]
    game: Game | None = None

    def path(self, template: str) -> str:
        """A path of the document with this corner's names in it. KeyError for one unknown here."""
        return template.format_map(self.ids)


@dataclass(frozen=True)
class Corners:
    """The four corners, and the headers of everybody."""

    own: Corner
    sibling: Corner
    foreign: Corner
    absent: Corner
    callers: dict[str, dict[str, str]]


async def corners(
    api: httpx.AsyncClient, *, open_seats: int = 0, challenged: bool = False
) -> Corners:
    """Set it all up; with `challenged` each game has had a challenge and each host has a record.
    Webhooks that were there are removed: a host has only so many."""
    for key in (HOST_KEY, OTHER_KEY):
        hooks = await api.get("/v1/webhooks", headers=bearer(key))
        assert hooks.status_code == 200, hooks.text
        for hook in hooks.json()["items"]:
            await api.delete(f"/v1/webhooks/{hook['id']}", headers=bearer(key))
    own = await _corner(api, HOST_KEY, "own", open_seats, challenged)
    sibling = await _corner(api, HOST_KEY, "own", open_seats, challenged)
    foreign = await _corner(api, OTHER_KEY, "foreign", open_seats, challenged)
    absent = Corner(
        {
            **dict.fromkeys(("game_id", "dispute_id", "webhook_id", "delivery_id"), ABSENT),
            "ref": "nobody",
            "number": "1",
            "version": "1",
            "seat": "0",
            "game": "lodam",
        }
    )
    assert own.game is not None
    return Corners(own, sibling, foreign, absent, await _callers(own.game))


async def _callers(game: Game) -> dict[str, dict[str, str]]:
    revoked = game.token(1)
    assert (await game.post(HOST_KEY, "/seats/1/token")).status_code == 201
    spectator = (await game.post(HOST_KEY, "/spectators")).json()["token"]
    claims = jwt.decode(game.token(0), SECRET, ["HS256"])
    expired = jwt.encode(claims | {"exp": int(time.time()) - 1}, SECRET, "HS256")
    forged = jwt.encode(claims, "another secret of at least thirty-two", "HS256")
    return {
        "none": {},
        "basic": {"Authorization": "Basic aG9zdDprZXk="},
        "malformed": bearer("nonsense"),
        "forged": bearer(forged),
        "expired": bearer(expired),
        "revoked": bearer(revoked),
        "figures": bearer(METRICS_KEY),
        "seat": bearer(game.token(0)),
        "spectator": bearer(spectator),
        "host": bearer(HOST_KEY),
    }


async def _corner(
    api: httpx.AsyncClient, key: str, whose: str, open_seats: int, challenged: bool
) -> Corner:
    headers = bearer(key)
    hook = await _made(
        api, key, "/v1/webhooks", {"url": "https://app.invalid/told", "kinds": ["event"]}
    )
    body = {
        "game": "lodam",
        "players": [{"name": f"Player {n}", "ref": f"{whose}-{n}"} for n in range(3)],
        "rules": SAME if challenged else {},
        "open_seats": open_seats,
    }
    game = Game(api, await _made(api, key, "/v1/games", body))
    if challenged:
        await _play_to_a_challenge(game, key)
        await _finish_another(api, key, whose)
    claim = {"version": 1, "claim": {"kind": "chain"}}
    dispute = await _made(api, key, f"{game.path}/disputes", claim)
    deliveries: list[Json] = []
    while not deliveries:
        found = await api.get(f"/v1/webhooks/{hook['id']}/deliveries", headers=headers)
        deliveries = found.json()["items"]
        await asyncio.sleep(0.01)
    ids = {
        "game_id": game.id,
        "dispute_id": dispute["id"],
        "webhook_id": hook["id"],
        "delivery_id": deliveries[-1]["id"],
        "ref": f"{whose}-0",
        "number": "1",
        "version": "1",
        "seat": "0",
        "game": "lodam",
    }
    return Corner(ids, game)


async def _made(api: httpx.AsyncClient, key: str, path: str, body: Any) -> Json:
    answer = await api.post(path, json=body, headers=bearer(key))
    assert answer.status_code == 201, answer.text
    made: Json = answer.json()
    return made


async def _play_to_a_challenge(game: Game, key: str) -> None:
    chance = Random(2)
    while True:
        for seat in range(3):
            listed = (await game.view(seat))["actions"]
            for action in listed:
                if action["type"] == "challenge":
                    assert (await game.act(seat, action)).status_code == 201
                    return
        seat = chance.choice((await game.view(key))["to_act"])
        action = chance.choice((await game.view(seat))["actions"])
        assert (await game.act(seat, action)).status_code == 201


async def _finish_another(api: httpx.AsyncClient, key: str, whose: str) -> None:
    """A game of one person who leaves it to bots, so that the person has a record."""
    players = [{"name": "Player 0", "ref": f"{whose}-0"}, {"bot": "random"}, {"bot": "random"}]
    body = {"game": "lodam", "players": players, "rules": {"lives": 1}}
    game = Game(api, await _made(api, key, "/v1/games", body))
    assert (await game.post(0, "/resign")).status_code == 201
    while (await game.view(key))["status"] != "finished":
        await asyncio.sleep(0.05)
