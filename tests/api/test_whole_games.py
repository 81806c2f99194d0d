"""Whole games over HTTP, with bots and without; and nobody is shown what is not theirs."""

import re
from random import Random

import httpx
import pytest

from tests.api.running import HOST_KEY, Game, new_game

CARD = re.compile(r'"([2-9TJQKA][CDHS])"')


@pytest.mark.parametrize(
    ("people", "bots", "rules"),
    [
        (3, (), {"lives": 1}),
        (4, (), {"lives": 1, "cut": "manual", "deal": "manual", "trading": "any_time"}),
        (1, ("careful", "careful"), {"lives": 2}),
        (2, ("random", "careful", "random"), {"profile": "modern", "lives": 1, "stake": 5}),
        (1, ("careful",) * 9, {"lives": 1, "trump": "open"}),
    ],
)
async def test_a_game_is_played_to_its_end(
    api: httpx.AsyncClient, people: int, bots: tuple[str, ...], rules: dict[str, object]
) -> None:
    game = await new_game(api, people, bots, rules=rules)
    view = await game.play(Random(7))
    assert view["status"] == "finished"
    assert view["to_act"] == []
    assert len(view["result"]["winners"]) == 1
    assert view["result"]["reason"] == "played"
    assert sum(view["result"]["balances"]) + view["result"]["pot"] == 0
    events = await game.events()
    assert events[-1]["type"] == "GameEnded"
    assert len({event["hash"] for event in events}) == len(events)


async def test_bots_alone_play_to_the_end_by_themselves(api: httpx.AsyncClient) -> None:
    game = await new_game(api, people=0, bots=("careful", "random", "random"))
    view = await game.view()
    while view["status"] == "playing":
        version = view["version"]
        view = (await game.get(HOST_KEY, f"?wait=30&after={version}")).json()
        assert view["version"] > version
    assert view["status"] == "finished"
    actors = {
        e["data"]["action"]["by"]
        for e in await game.events()
        if "action" in e["data"] and e["data"]["action"]["type"] == "play"
    }
    assert actors == {"bot"}


async def test_at_rest_the_game_waits_for_a_person(api: httpx.AsyncClient) -> None:
    game = await new_game(api, people=1, bots=("careful", "random"), rules={"lives": 1})
    chance = Random(8)
    while (view := await game.view())["status"] == "playing":
        assert 0 in view["to_act"]
        await game.step(chance)


async def test_a_bot_plays_on_for_who_has_resigned(api: httpx.AsyncClient) -> None:
    game = await new_game(api, people=2, bots=("careful",), rules={"lives": 2})
    answer = await game.post(1, "/resign")
    assert answer.status_code == 201
    assert [event["type"] for event in answer.json()["events"]] == ["PlayerResigned"]
    assert (await game.view())["seats"][1]["resigned"] is True
    assert (await game.view(1))["actions"] == []
    late = await game.act(1, {"type": "pass"})
    assert late.json()["rule"] == "common.resigned"
    chance = Random(9)
    while (view := await game.view())["status"] == "playing" and view["hand"]["number"] == 1:
        assert 1 not in view["to_act"]
        await game.step(chance)
    assert view["scores"][1]["lives"] == 0


async def test_the_game_ends_when_but_one_is_left(game: Game) -> None:
    await game.post(0, "/resign")
    await game.post(1, "/resign")
    view = await game.play(Random(10))
    assert view["result"]["winners"] == [2]
    assert view["result"]["reason"] == "resigned"


async def test_nobody_is_shown_a_card_that_is_not_theirs(api: httpx.AsyncClient) -> None:
    """At every step of a hand, whatever is asked, a viewer sees their own cards, the cards played
    and the trump while it lies open; all the rest only when the hand is over."""
    game = await new_game(api, rules={"trading": "off"})
    spectator = (await game.post(HOST_KEY, "/spectators")).json()["token"]
    dealt = {seat: set((await game.view(seat))["private"]["cards"]) for seat in range(3)}
    assert sum(map(len, dealt.values())) == 51
    played: set[str] = set()
    chance = Random(11)
    while True:
        view = await game.view()
        if view["hand"]["number"] > 1:
            break
        shown = {view["table"]["trump_card"]} - {None}
        for who in (0, 1, 2, HOST_KEY, spectator):
            own = dealt[who] if isinstance(who, int) else set()
            for path in (
                "",
                "/events?limit=1000",
                "/replay",
                f"/at/{view['version'] - 1}",
                "/scores",
            ):
                text = (await game.get(who, path)).text
                assert set(CARD.findall(text)) <= own | played | shown, (who, path)
            lines = await game.get(who, "/events", Accept="application/x-ndjson")
            assert set(CARD.findall(lines.text)) <= own | played | shown
        for refused in ({"type": "play", "card": "TH"}, {"type": "take"}, {"type": "see_trump"}):
            for seat in range(3):
                if seat not in view["to_act"]:
                    answer = await game.act(seat, refused)
                    assert answer.status_code == 409
                    told = set(re.findall(r"[2-9TJQKA][CDHS]", answer.json()["detail"]))
                    assert told <= {refused.get("card")}
        for event in (await game.step(chance))["events"]:
            if event["type"] == "CardPlayed":
                played.add(event["data"]["card"])
    assert len(played) == 51
    opened = (await game.get(spectator, "/events?limit=1000")).text
    assert len(set(CARD.findall(opened))) == 52


async def test_whether_a_trick_was_swallowed_is_told_when_the_hand_is_over(
    api: httpx.AsyncClient,
) -> None:
    game = await new_game(api, rules={"trading": "off"})
    chance = Random(12)
    while (await game.view())["hand"]["number"] == 1:
        for who in (0, HOST_KEY):
            for path in ("", "/events?limit=1000", "/replay", "/scores"):
                text = (await game.get(who, path)).text
                assert '"swallowed":true' not in text
                assert '"swallowed":false' not in text
                assert '"swallowed":[' not in text
        await game.step(chance)
    text = (await game.get(0, "/events?limit=1000")).text
    assert text.count('"swallowed":') == 17
