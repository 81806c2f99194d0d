"""Small things that could tell a player something: ids, counts, figures."""

from random import Random
from typing import Any
from uuid import UUID

import httpx
import pytest

from api.app import create_app
from api.settings import Settings
from domain.times import parse_at
from tests.api.running import HOST, HOST_KEY, SECRET, SIGNING_KEYS, new_game, problem

pytestmark = pytest.mark.postgres


async def test_command_ids_do_not_tell_how_long_a_bot_thought(api: httpx.AsyncClient) -> None:
    game = await new_game(api, people=1, bots=("careful", "random"))
    await game.play(Random(3), steps=5)
    events = await game.events()
    assert len({event["command"] for event in events}) > 10
    for event in events:
        assert UUID(event["command"]).int >> 80 == parse_at(event["at"]) // 1000


async def test_a_replay_counts_nobodys_points_before_the_hand_is_opened(
    api: httpx.AsyncClient,
) -> None:
    game = await new_game(api, rules={"trading": "off", "disclosure": "after_game"})
    chance = Random(5)
    while (view := await game.view())["hand"]["number"] < 2:
        await game.step(chance)
    assert view["status"] == "playing"
    told = (await game.get(path="/replay")).json()
    assert told["hands"][0]["tricks"]
    assert {trick["points"] for trick in told["hands"][0]["tricks"]} == {None}
    await game.post(HOST_KEY, "/abandon", {"reason": "enough"})
    told = (await game.get(path="/replay")).json()
    assert sum(trick["points"] for trick in told["hands"][0]["tricks"]) > 0


async def test_metrics_are_for_this_machine_and_for_hosts(database_url: str) -> None:
    app: Any = create_app(
        Settings(
            database_url=database_url,
            host_keys={"host": HOST_KEY},
            secret=SECRET,
            signing_keys=SIGNING_KEYS,
        )
    )
    far = httpx.ASGITransport(app, client=("203.0.113.9", 4711))
    near = httpx.ASGITransport(app, client=("::1", 4711))
    async with app.lifespan():
        async with httpx.AsyncClient(transport=far, base_url="http://api.test") as client:
            problem(await client.get("/metrics"), 401, "unauthorized")
            assert (await client.get("/metrics", headers=HOST)).status_code == 200
        async with httpx.AsyncClient(transport=near, base_url="http://api.test") as client:
            assert (await client.get("/metrics")).status_code == 200
