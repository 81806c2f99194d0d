"""Views, ETags, long polls, events, earlier versions, replays and scores."""

import asyncio
import json
from random import Random

import httpx
import pytest

from tests.api.running import HOST_KEY, Game, new_game, running


async def test_the_etag_is_the_version_and_saves_the_answer(game: Game) -> None:
    answer = await game.get(0)
    version = answer.json()["version"]
    assert answer.headers["etag"] == f'"{version}"'
    for known in (f'"{version}"', f'W/"{version}"', f'"1", "{version}"', "*"):
        unchanged = await game.get(0, If_None_Match=known)
        assert unchanged.status_code == 304
        assert unchanged.content == b""
        assert unchanged.headers["etag"] == f'"{version}"'
    for other in ('"1"', '"x"', f'"{version}0"'):
        assert (await game.get(0, If_None_Match=other)).status_code == 200
    await game.step(Random(1))
    assert (await game.get(0, If_None_Match=f'"{version}"')).status_code == 200


async def test_a_long_poll_answers_at_once_where_there_is_news(game: Game) -> None:
    answer = await game.get(0, "?wait=30&after=1")
    assert answer.json()["version"] > 1


async def test_a_long_poll_answers_when_somebody_acts(game: Game) -> None:
    version = (await game.view())["version"]
    polls = [
        asyncio.create_task(game.get(who, f"?wait=30&after={version}"))
        for who in (0, 1, 2, HOST_KEY)
    ]
    polls.append(asyncio.create_task(game.get(0, "?wait=30", If_None_Match=f'"{version}"')))
    polls.append(asyncio.create_task(game.get(0, "?wait=30")))
    await asyncio.sleep(0.05)
    assert not any(poll.done() for poll in polls)
    await game.act(0, {"type": "pass"})
    for answer in await asyncio.gather(*polls):
        assert answer.status_code == 200
        assert answer.json()["version"] == version + 1


async def test_a_long_poll_hears_of_what_another_process_did(database_url: str) -> None:
    async with running(database_url) as one, running(database_url) as two:
        game = await new_game(one)
        there = Game(two, game.created)
        version = (await there.view())["version"]
        poll = asyncio.create_task(there.get(1, f"?wait=30&after={version}"))
        await asyncio.sleep(0.05)
        await game.act(0, {"type": "pass"})
        assert (await poll).json()["version"] == version + 1


async def test_a_long_poll_ends_with_the_time(game: Game) -> None:
    version = (await game.view())["version"]
    answer = await game.get(0, f"?wait=0.05&after={version}")
    assert answer.json()["version"] == version
    unchanged = await game.get(0, "?wait=0.05", If_None_Match=f'"{version}"')
    assert unchanged.status_code == 304


async def test_who_is_locked_out_meanwhile_gets_no_news(game: Game) -> None:
    version = (await game.view())["version"]
    poll = asyncio.create_task(game.get(0, f"?wait=30&after={version}"))
    await asyncio.sleep(0.05)
    await game.post(HOST_KEY, "/seats/0/token")
    assert (await poll).status_code == 401


async def test_events_come_in_pages_or_all_as_lines(game: Game) -> None:
    await game.play(Random(2), steps=30)
    everything = await game.events(1)
    assert [event["version"] for event in everything] == list(range(1, len(everything) + 1))
    paged: list[object] = []
    after: int | None = 0
    while after is not None:
        page = (await game.get(1, f"/events?after={after}&limit=7")).json()
        assert len(page["items"]) <= 7
        assert page["version"] == len(everything)
        paged += page["items"]
        after = page["next"]
    assert paged == everything
    lines = await game.get(1, "/events", Accept="application/x-ndjson")
    assert lines.headers["content-type"].startswith("application/x-ndjson")
    assert [json.loads(line) for line in lines.text.splitlines()] == everything
    rest = await game.get(1, "/events?after=5", Accept="application/x-ndjson")
    assert [json.loads(line) for line in rest.text.splitlines()] == everything[5:]
    beyond = (await game.get(1, f"/events?after={len(everything)}")).json()
    assert (beyond["items"], beyond["next"]) == ([], None)


async def test_an_earlier_version_is_seen_as_it_was(game: Game) -> None:
    seen = [await game.view(0)]
    for _ in range(12):
        await game.step(Random(len(seen)))
        seen.append(await game.view(0))
    for view in seen:
        answer = await game.get(0, f"/at/{view['version']}")
        assert answer.status_code == 200
        # The same hand is still on, so nothing has been opened or covered since.
        assert answer.json() == view


async def test_every_version_can_be_looked_at(api: httpx.AsyncClient) -> None:
    game = await new_game(api, rules={"lives": 1, "trading": "off"})
    await game.play(Random(3), steps=60)
    for version in range(1, (await game.view())["version"] + 1):
        for who in (0, HOST_KEY):
            view = (await game.get(who, f"/at/{version}")).json()
            assert view["version"] == version


async def test_a_replay_is_json_or_a_text_to_read(api: httpx.AsyncClient) -> None:
    game = await new_game(api, rules={"lives": 1})
    await game.play(Random(4))
    told = (await game.get(0, "/replay")).json()
    assert told["names"] == ["Player 0", "Player 1", "Player 2"]
    assert told["status"] == "finished"
    assert [hand["opened"] for hand in told["hands"]] == [True] * len(told["hands"])
    assert len(told["hands"][0]["tricks"]) == 17
    text = await game.get(0, "/replay", Accept="text/plain")
    assert text.headers["content-type"] == "text/plain; charset=utf-8"
    assert "Hand 1" in text.text
    assert "Player 1" in text.text


@pytest.mark.parametrize("disclosure", ["after_hand", "after_game"])
async def test_scores_count_swallowed_tricks_of_opened_hands_alone(
    api: httpx.AsyncClient, disclosure: str
) -> None:
    game = await new_game(api, rules={"lives": 3, "trading": "off", "disclosure": disclosure})
    chance = Random(5)
    while (await game.view())["hand"]["number"] == 1:
        await game.step(chance)
    scores = (await game.get(0, "/scores")).json()
    [hand] = scores["hands"]
    assert hand["hand"] == 1
    assert 97 <= sum(hand["points"]) <= 108  # one card is left in the stock
    assert ("swallowed" in hand) == (disclosure == "after_hand")
    assert scores["as_of"] == (await game.view())["version"]
    assert [seat["seat"] for seat in scores["seats"]] == [0, 1, 2]
    await game.post(HOST_KEY, "/abandon")
    scores = (await game.get(0, "/scores")).json()
    assert "swallowed" in scores["hands"][0]
