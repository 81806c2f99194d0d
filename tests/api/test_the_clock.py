"""Turns that take too long (contract, `clock`)."""

import asyncio
from random import Random
from typing import Any

import httpx
import pytest

from tests.api.running import HOST_KEY, Game, new_game, running


async def until(game: Game, **wanted: Any) -> dict[str, Any]:
    """The first event with these fields of its action, waited for."""
    async with asyncio.timeout(30):
        while True:
            for event in await game.events():
                action = event["data"].get("action", {})
                if all(action.get(name) == value for name, value in wanted.items()):
                    return event
            version = (await game.view())["version"]
            await game.get(HOST_KEY, f"?wait=5&after={version}")


async def test_a_careful_bot_acts_for_who_is_late(api: httpx.AsyncClient) -> None:
    game = await new_game(api, clock={"turn_seconds": 1})
    view = await game.view(0)
    assert view["deadline"] is not None
    assert view["clock"] == {"turn_seconds": 1, "on_timeout": "bot"}
    event = await until(game, by="clock")
    assert event["at"] >= view["deadline"]
    assert event["actor"] in (0, 1, 2)
    assert event["data"]["action"]["type"] in ("pass", "offer_trade")


async def test_who_is_late_forfeits(api: httpx.AsyncClient) -> None:
    game = await new_game(
        api,
        people=1,
        bots=("careful", "careful"),
        rules={"trading": "off"},
        clock={"turn_seconds": 1, "on_timeout": "forfeit"},
    )
    event = await until(game, by="clock", type="resign")
    assert (event["type"], event["actor"]) == ("PlayerResigned", 0)
    async with asyncio.timeout(30):
        while (view := await game.view())["status"] == "playing":
            await game.get(HOST_KEY, f"?wait=5&after={view['version']}")
    assert 0 not in view["result"]["winners"]


async def test_a_game_without_a_clock_waits_for_ever(game: Game) -> None:
    assert (await game.view())["deadline"] is None


async def test_two_processes_act_for_the_late_once(database_url: str) -> None:
    async with (
        running(database_url, wake_seconds=0.02) as one,
        running(database_url, wake_seconds=0.02),
    ):
        game = await new_game(one, rules={"trading": "off"}, clock={"turn_seconds": 1})
        event = await until(game, by="clock", type="play")
        plays = [
            e for e in await game.events() if e["type"] == "CardPlayed" and e["at"] == event["at"]
        ]
        assert len(plays) == 1


async def test_who_is_late_is_not_made_to_answer_what_was_asked_only_then(
    api: httpx.AsyncClient,
) -> None:
    """A seat that let its time to trade pass has time for an offer that the clock makes then."""
    games = [await new_game(api, people=4, clock={"turn_seconds": 1}) for _ in range(12)]
    offers = 0
    for game in games:
        await until(game, by="clock")
        offered: dict[int, str] = {}
        for event in await game.events():
            match event["type"]:
                case "TradeOffered":
                    offered[event["data"]["offer"]] = event["at"]
                    offers += event["data"]["action"].get("by") == "clock"
                case "TradeConcluded" | "TradeDeclined":
                    assert event["at"] > offered[event["data"]["offer"]]
    assert offers, "nobody has offered anything, which proves nothing"


async def test_acting_in_time_starts_the_clock_for_the_next(api: httpx.AsyncClient) -> None:
    game = await new_game(api, clock={"turn_seconds": 3600}, rules={"trading": "off"})
    before = (await game.view())["deadline"]
    await game.step(Random(1))
    assert (await game.view())["deadline"] > before


@pytest.mark.parametrize("early", [0, 1, 2])
async def test_acting_early_gives_the_others_no_more_time(
    api: httpx.AsyncClient, early: int
) -> None:
    game = await new_game(api, clock={"turn_seconds": 3600})
    before = (await game.view())["deadline"]
    await game.act(early, {"type": "pass"})
    assert (await game.view())["deadline"] == before


async def test_time_that_ran_out_while_no_process_ran_is_seen_to(database_url: str) -> None:
    async with running(database_url) as api:
        game = await new_game(api, clock={"turn_seconds": 1}, rules={"trading": "off"})
        deadline = (await game.view())["deadline"]
    await asyncio.sleep(1.1)
    async with running(database_url) as api:
        event = await until(Game(api, game.created), by="clock")
        assert event["at"] >= deadline
