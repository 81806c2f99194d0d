"""Games as hosts set them up and find them again (contract, *Games*)."""

import hashlib
import hmac
from random import Random
from typing import Any
from uuid import UUID

import httpx

from tests.api.running import HOST, HOST_KEY, OTHER_KEY, Game, bearer, new_game, problem


async def test_a_new_game_answers_with_its_seats_and_their_tokens(api: httpx.AsyncClient) -> None:
    body = {
        "game": "lodam",
        "players": [
            {"name": "Ann", "ref": "u1"},
            {"bot": "careful"},
            {"bot": "random", "name": "R"},
        ],
        "rules": {"lives": 2},
        "labels": {"room": "blue"},
    }
    answer = await api.post("/v1/games", json=body, headers=HOST)
    assert answer.status_code == 201
    created = answer.json()
    assert answer.headers["location"] == f"/v1/games/{created['id']}"
    assert UUID(created["id"]).version == 7
    assert created["status"] == "playing"
    assert created["rules"]["lives"] == 2
    assert created["labels"] == {"room": "blue"}
    assert created["deal_id"] == created["id"]
    ann, careful, random = created["seats"]
    assert {k: ann[k] for k in ("seat", "name", "kind", "ref")} == {
        "seat": 0,
        "name": "Ann",
        "kind": "human",
        "ref": "u1",
    }
    assert ann["token"]
    assert (careful["kind"], careful["bot"], careful["token"]) == ("bot", "careful", None)
    assert (random["name"], random["bot"], random["token"]) == ("R", "random", None)
    assert careful["name"]


async def test_the_server_has_cut_and_dealt_by_the_time_it_answers(game: Game) -> None:
    view = await game.view(0)
    assert view["hand"]["phase"] == "trading"
    assert len(view["private"]["cards"]) == 17
    events = await game.events()
    assert [e["type"] for e in events if e["type"] in ("PackCut", "HandDealt")] == [
        "PackCut",
        "HandDealt",
    ]
    [cut] = [e for e in events if e["type"] == "PackCut"]
    assert cut["data"]["action"]["by"] == "server"
    assert cut["data"]["auto"] is True


async def test_a_seed_is_never_on_view_and_two_games_of_one_deal_alike(
    api: httpx.AsyncClient,
) -> None:
    rules = {"seed": "5" * 64, "deal_id": "duplicate", "disclosure": "after_game"}
    one, two = [await new_game(api, rules=rules) for _ in range(2)]
    assert one.created["seeded_by_host"] is True
    assert one.created["deal_id"] == "duplicate"
    assert "seed" not in one.created["rules"]
    for seat in range(3):
        first, second = await one.view(seat), await two.view(seat)
        assert first["private"]["cards"] == second["private"]["cards"]
        assert first["hand"]["commitment"] == second["hand"]["commitment"]
    for who in (0, HOST_KEY):
        for path in ("", "/events", "/at/3", "/replay"):
            assert "5" * 64 not in (await one.get(who, path)).text


async def opened_seeds(api: httpx.AsyncClient, **more: Any) -> dict[int, str]:
    """The seeds of a game's hands, which is played until two are over and then abandoned."""
    game = await new_game(api, rules={"trading": "off", **more})
    chance = Random(8)
    while (await game.view())["hand"]["number"] < 3:
        await game.step(chance)
    await game.post(HOST_KEY, "/abandon")
    events = [event for event in await game.events() if event["type"] == "SeedRevealed"]
    return {event["data"]["hand"]: event["data"]["server_seed"] for event in events}


async def test_the_seeds_of_all_hands_follow_from_the_option(api: httpx.AsyncClient) -> None:
    """common, option `seed`: HMAC-SHA256 of the decoded bytes over deal and number of the hand."""
    key = "0f" * 16 + "a5" * 16
    found = await opened_seeds(api, seed=key, deal_id="duplicate")
    assert found == {
        hand: hmac.digest(bytes.fromhex(key), f"duplicate:{hand}".encode(), "sha256").hex()
        for hand in (1, 2, 3)
    }


async def test_without_it_every_hand_of_every_game_has_a_fresh_seed(api: httpx.AsyncClient) -> None:
    """common, The deal, 1; and none that anybody could reckon from the game's id."""
    games = [await new_game(api) for _ in range(3)]
    commitments = {(await game.view())["hand"]["commitment"] for game in games}
    assert len(commitments) == 3
    for game in games:
        guess = hmac.digest(bytes(32), f"{game.id}:1".encode(), "sha256")
        assert hashlib.sha256(guess).hexdigest() not in commitments
    assert len(set((await opened_seeds(api)).values())) == 3


async def test_an_open_game_waits_and_starts_when_it_is_full(api: httpx.AsyncClient) -> None:
    game = await new_game(api, people=1, open_seats=2)
    view = await game.view(0)
    assert (view["status"], view["hand"], view["to_act"]) == ("waiting", None, [])
    assert game.created["seats"][1]["token"] is None
    refused = await game.act(0, {"type": "pass"})
    assert problem(refused, 409, "illegal-action")["rule"] == "common.not-started"
    joined = (await game.post(HOST_KEY, "/seats", {"name": "Bea", "ref": "u2"})).json()
    assert (joined["seat"], joined["name"], joined["ref"]) == (1, "Bea", "u2")
    assert joined["status"] == "waiting"
    last = await game.post(HOST_KEY, "/seats", {"name": "Cy"})
    assert last.status_code == 201
    assert last.json()["seat"] == 2
    assert last.json()["status"] == "playing"
    for seat, token in ((1, joined["token"]), (2, last.json()["token"])):
        view = await game.view(token)
        assert view["viewer"] == {"role": "seat", "seat": seat}
        assert len(view["private"]["cards"]) == 17
    full = await game.post(HOST_KEY, "/seats", {"name": "Dee"})
    assert problem(full, 409, "illegal-action")["rule"] == "common.no-open-seat"


async def test_games_are_listed_newest_first_page_by_page(api: httpx.AsyncClient) -> None:
    made = [(await new_game(api)).id for _ in range(5)]
    await api.post(
        "/v1/games",
        json={"game": "lodam", "players": [{"name": "X"}] * 3},
        headers=bearer(OTHER_KEY),
    )
    found: list[str] = []
    cursor = ""
    while True:
        page = (await api.get(f"/v1/games?limit=2{cursor}", headers=HOST)).json()
        found += [item["id"] for item in page["items"]]
        if page["next"] is None:
            break
        assert len(page["items"]) == 2
        cursor = f"&cursor={page['next']}"
    assert found == made[::-1]


async def test_games_are_found_by_status_game_ref_and_label(api: httpx.AsyncClient) -> None:
    blue = await new_game(api, labels={"room": "blue", "table": "a=b:c"})
    red = await new_game(api, people=2, bots=("careful",), labels={"room": "red"})
    waiting = await new_game(api, people=1, open_seats=2)

    async def found(query: str) -> list[str]:
        answer = await api.get(f"/v1/games?{query}", headers=HOST)
        assert answer.status_code == 200, answer.text
        return [item["id"] for item in answer.json()["items"]]

    assert await found("status=waiting") == [waiting.id]
    assert await found("status=playing") == [red.id, blue.id]
    assert await found("game=lodam") == [waiting.id, red.id, blue.id]
    assert await found("game=loc") == []
    assert await found("ref=ref-2") == [blue.id]
    assert await found("label=room=blue") == [blue.id]
    assert await found("label=room:red") == [red.id]
    assert await found("label=table=a=b:c") == [blue.id]
    assert await found("label=room=blue&label=table=a=b:c") == [blue.id]
    assert await found("label=room=blue&label=table=x") == []
    assert await found("label=room=blue&status=waiting") == []
    await blue.post(HOST_KEY, "/abandon", {"reason": "late"})
    assert await found("status=abandoned") == [blue.id]
    assert await found("status=playing") == [red.id]
    [item] = (await api.get("/v1/games?status=abandoned", headers=HOST)).json()["items"]
    assert item["labels"] == {"room": "blue", "table": "a=b:c"}
    assert item["refs"] == ["ref-0", "ref-1", "ref-2"]
    assert item["version"] == (await blue.view())["version"]


async def test_an_abandoned_game_has_no_winners_and_is_opened(game: Game) -> None:
    answer = await game.post(HOST_KEY, "/abandon", {"reason": "the lights went out"})
    assert answer.status_code == 201
    view = answer.json()["view"]
    assert view["status"] == "abandoned"
    assert (view["result"]["winners"], view["result"]["reason"]) == ([], "abandoned")
    assert len(view["opened"]["hands"]) == 3
    types = [event["type"] for event in answer.json()["events"]]
    assert types == ["GameAbandoned", "SeedRevealed", "GameEnded"]
    again = await game.post(HOST_KEY, "/abandon")
    assert problem(again, 409, "illegal-action")["rule"] == "common.game-over"
    late = await game.act(0, {"type": "pass"})
    assert problem(late, 409, "illegal-action")["rule"] == "common.game-over"


async def test_a_game_is_abandoned_without_a_reason_too(game: Game) -> None:
    assert (await game.post(HOST_KEY, "/abandon")).status_code == 201


async def test_rules_are_told_with_options_and_rulebook(api: httpx.AsyncClient) -> None:
    [lodam] = [g for g in (await api.get("/v1/rules")).json()["items"] if g["game"] == "lodam"]
    rules = (await api.get(lodam["url"])).json()
    assert (rules["min_players"], rules["max_players"]) == (3, 10)
    options = rules["options"]["properties"]
    assert options["lives"] == {
        "type": "integer",
        "minimum": 1,
        "maximum": 9,
        "default": 3,
        "description": options["lives"]["description"],
    }
    assert {"seed", "deal_id", "profile", "first_dealer", "cut", "deal"} <= options.keys()
    assert rules["options"]["additionalProperties"] is False
    assert rules["profiles"]["modern"]["announcing"] is False
    assert rules["rulebook"].startswith("#")
