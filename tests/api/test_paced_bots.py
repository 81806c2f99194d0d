"""Bots that let time pass before they act (`delay_ms`), on the API."""

import asyncio
import signal
from datetime import datetime, timedelta
from random import Random
from typing import Any

import httpx
import pytest

from domain.export import read
from domain.verify import verify
from tests.api.live import reading
from tests.api.processes import free_port, serving
from tests.api.running import HOST, HOST_KEY, Game, Json, filled_in, new_game, problem, running
from tests.api.test_live_served import environment


async def paced_game(api: httpx.AsyncClient, *paces: int, **more: Any) -> Game:
    """A game of a person and of bots with these paces, in milliseconds."""
    players: list[Json] = [{"bot": "random", "delay_ms": pace} for pace in paces]
    body = {"game": "lodam", "players": [{"name": "Anna"}, *players], **more}
    answer = await api.post("/v1/games", json=body, headers=HOST)
    assert answer.status_code == 201, answer.text
    return Game(api, answer.json())


async def play(games: tuple[Game, ...], chance: Random) -> None:
    """Play seat 0 of a game to its end, at processes drawn at random. Where several may act, a bot
    may be quicker than who has just looked."""
    while True:
        game = chance.choice(games)
        view = await game.view(0)
        if view["status"] != "playing":
            return
        if 0 not in view["to_act"]:
            await game.get(0, f"?wait=5&after={view['version']}")
            continue
        answer = await game.act(0, filled_in(chance.choice(view["actions"]), chance))
        assert answer.status_code in (201, 409), answer.text


def time_of(text: str) -> datetime:
    return datetime.fromisoformat(text)


def commands(events: list[Json]) -> list[Json]:
    """The first event of each command."""
    return [event for event in events if "action" in event["data"]]


def check_times(events: list[Json]) -> int:
    """Fail unless every bot acts exactly when the log says that it is due; how many did."""
    [created, *_] = events
    paces = {seat["seat"]: seat.get("delay_ms", 0) for seat in created["data"]["seats"]}
    due: dict[int, Json] = {}
    acted = 0
    for event in events:
        if event["data"].get("action", {}).get("by") == "bot" and paces[event["actor"]]:
            assert event["at"] == due[event["actor"]]["data"]["due"]
            acted += 1
        if event["type"] == "BotTimed":
            seat = event["data"]["seat"]
            due[seat] = event
            wanted = time_of(event["at"]) + timedelta(milliseconds=paces[seat])
            assert time_of(event["data"]["due"]) == wanted
    return acted


async def test_a_bot_with_a_pace_lets_it_pass(api: httpx.AsyncClient) -> None:
    game = await paced_game(api, 30, 0, 50, rules={"trading": "off", "lives": 1})
    await play((game,), Random(4))
    events = await game.events()
    assert check_times(events) > 5
    seats = events[0]["data"]["seats"]
    assert [seat.get("delay_ms") for seat in seats] == [None, 30, None, 50]


async def test_a_whole_paced_game_verifies(api: httpx.AsyncClient) -> None:
    game = await paced_game(api, 1, 2, rules={"lives": 1, "trading": "off"})
    await play((game,), Random(5))
    assert check_times(await game.events()) > 10
    log = read((await game.get(path="/export")).text.encode().splitlines())
    report = verify(log)
    assert not report.failed
    assert all(check.status == "passed" for check in report.checks if check.check == "rederivation")


async def test_the_answer_to_an_action_waits_for_no_bot(api: httpx.AsyncClient) -> None:
    game = await paced_game(api, 60_000, 60_000, rules={"trading": "off", "first_dealer": 2})
    [seat] = (await game.view())["to_act"]
    assert seat == 0
    answer = await game.act(0, (await game.view(0))["actions"][0])
    assert answer.status_code == 201
    view = await game.view()
    assert view["to_act"] == [1]
    assert view["version"] == answer.json()["version"]
    assert (await game.events())[-1]["type"] == "BotTimed"


async def test_a_stream_sees_the_bots_act_one_after_another(api: httpx.AsyncClient) -> None:
    game = await paced_game(api, 20, 20, rules={"trading": "off", "first_dealer": 2})
    async with reading(api, f"{game.path}/events", game.token(0)) as reader:
        await reader.event()
        await game.act(0, (await game.view(0))["actions"][0])
        played: list[int] = []
        while len(played) < 3:
            event = (await reader.event()).json
            if event["type"] == "CardPlayed":
                played.append(event["actor"])
        assert played == [0, 1, 2]


async def test_two_processes_let_each_bot_act_once(database_url: str) -> None:
    async with (
        running(database_url, wake_seconds=0.01) as one,
        running(database_url, wake_seconds=0.01) as two,
    ):
        game = await paced_game(one, 5, 5, rules={"lives": 1, "trading": "off"})
        there = Game(two, game.created)
        await play((game, there), Random(6))
        assert check_times(await game.events()) > 10


async def test_a_bot_acts_although_its_process_was_killed(database_url: str) -> None:
    rules = {"trading": "off", "first_dealer": 2}
    with serving(free_port(), **environment(database_url)) as server:
        async with httpx.AsyncClient(base_url=server.address) as http:
            game = await paced_game(http, 1500, 0, rules=rules)
            created = game.created
            answer = await game.act(0, (await game.view(0))["actions"][0])
            version = answer.json()["version"]
            server.process.send_signal(signal.SIGKILL)
            await asyncio.to_thread(server.process.communicate)
    async with running(database_url) as api:
        game = Game(api, created)
        while (view := await game.view())["version"] <= version:
            await game.get(HOST_KEY, f"?wait=5&after={version}")
        assert view["version"] > version
        assert check_times(await game.events()) >= 1


async def test_the_clock_waits_for_people_and_not_for_paced_bots(api: httpx.AsyncClient) -> None:
    game = await paced_game(
        api,
        1500,
        1500,
        rules={"trading": "off", "first_dealer": 2},
        clock={"turn_seconds": 1, "on_timeout": "forfeit"},
    )
    await game.act(0, (await game.view(0))["actions"][0])
    assert (await game.view())["deadline"] is None
    async with asyncio.timeout(30):
        while len([e for e in await game.events() if e["type"] == "CardPlayed"]) < 3:
            view = await game.view()
            await game.get(HOST_KEY, f"?wait=5&after={view['version']}")
    assert not any(
        event["data"]["action"].get("by") == "clock" and event["actor"] in (1, 2)
        for event in commands(await game.events())
    )


@pytest.mark.parametrize(
    ("player", "path"),
    [
        ({"bot": "careful", "delay_ms": -1}, "$.players[2].delay_ms"),
        ({"bot": "careful", "delay_ms": 60_001}, "$.players[2].delay_ms"),
        ({"bot": "careful", "delay_ms": "800"}, "$.players[2].delay_ms"),
        ({"bot": "careful", "delay_ms": 0.5}, "$.players[2].delay_ms"),
        ({"name": "Cid", "delay_ms": 800}, "$.players[2]"),
    ],
)
async def test_a_pace_that_makes_no_sense_is_said(
    shared_api: httpx.AsyncClient, player: Json, path: str
) -> None:
    body = {"game": "lodam", "players": [{"name": "Ann"}, {"name": "Ben"}, player]}
    answer = await shared_api.post("/v1/games", json=body, headers=HOST)
    assert problem(answer, 400, "invalid-request")["errors"][0]["path"] == path


async def test_a_bot_of_no_pace_acts_at_once(api: httpx.AsyncClient) -> None:
    game = await new_game(api, people=1, bots=("random", "random"))
    assert not [event for event in await game.events() if event["type"] == "BotTimed"]


async def test_bots_that_were_due_use_up_no_tries_of_who_asks(database_url: str) -> None:
    async with running(database_url, tries=1, wake_seconds=600) as late:
        async with running(database_url) as early:
            created = (await paced_game(early, 1_000, 1_000)).created
        # Of the two processes the one that would have seen to the bots is gone.
        await asyncio.sleep(2)
        game = Game(late, created)
        # The rules allow it whatever the bots have done.
        answer = await game.post(0, "/resign")
        assert answer.status_code == 201, answer.text
        before = [
            e for e in await game.events() if e["version"] < answer.json()["events"][0]["version"]
        ]
        assert any(event["actor"] in (1, 2) for event in before)
