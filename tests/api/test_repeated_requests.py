"""Idempotency keys and `If-Match` (contract, POST …/actions)."""

import asyncio
from random import Random
from typing import Any

import httpx

from tests.api.running import HOST, HOST_KEY, OTHER_KEY, Game, bearer, new_game, problem, running

NEW = {"game": "lodam", "players": [{"name": "A"}, {"name": "B"}, {"name": "C"}]}


async def passed_trading(api: httpx.AsyncClient, **rules: Any) -> Game:
    """A game whose first trick is to be led."""
    return await new_game(api, rules={"trading": "off", **rules})


async def test_a_repeated_play_is_answered_again_though_the_card_is_gone(
    api: httpx.AsyncClient,
) -> None:
    game = await passed_trading(api)
    seat = (await game.view())["to_act"][0]
    card = (await game.view(seat))["private"]["cards"][0]
    play = {"type": "play", "card": card}
    first = await game.act(seat, play, Idempotency_Key="k1")
    assert first.status_code == 201
    assert "idempotent-replayed" not in first.headers
    again = await game.act(seat, play, Idempotency_Key="k1")
    assert again.status_code == 201
    assert again.headers["idempotent-replayed"] == "true"
    assert again.json() == first.json()
    without = await game.act(seat, play)
    problem(without, 409, "illegal-action")
    await game.step(Random(1))
    later = await game.act(seat, play, Idempotency_Key="k1")
    assert later.json() == first.json()
    plays = [e for e in await game.events() if e["type"] == "CardPlayed"]
    assert len(plays) == 2


async def test_an_answer_given_again_shows_what_may_be_seen_now(api: httpx.AsyncClient) -> None:
    game = await new_game(api, rules={"trade_offers": 1})
    kinds = {"K": "coat", "Q": "coat", "J": "coat", "A": "card", "T": "card"}
    card = next(c for c in (await game.view(0))["private"]["cards"] if c[0] in kinds)
    offer = {"type": "offer_trade", "kind": kinds[card[0]], "card": card}
    first = await game.act(0, offer, Idempotency_Key="k")
    assert first.json()["events"][0]["sealed"][0]["data"] == {"card": card}
    await game.post(HOST_KEY, "/abandon")
    again = await game.act(0, offer, Idempotency_Key="k")
    assert again.headers["idempotent-replayed"] == "true"
    assert again.json()["version"] == first.json()["version"]
    assert again.json()["events"] == first.json()["events"]
    # The hand has been opened since: the same version now shows everyone's cards.
    assert first.json()["view"]["opened"] is None
    assert again.json()["view"]["opened"]["hands"][1]
    assert again.json()["view"]["status"] == "playing"


async def test_a_card_covered_since_is_not_shown_again(api: httpx.AsyncClient) -> None:
    game = await passed_trading(api)
    chance, number = Random(1), 0
    while (await game.view())["hand"]["phase"] != "trump_shown":
        number += 1
        seat = (await game.view())["to_act"][0]
        play = chance.choice((await game.view(seat))["actions"])
        first = await game.act(seat, play, Idempotency_Key=str(number))
    version = first.json()["version"]

    async def told() -> list[dict[str, Any]]:
        """The turned card, as everything that shows that version tells it."""
        again = (await game.act(seat, play, Idempotency_Key=str(number))).json()
        assert again["version"] == version
        assert [e["type"] for e in again["events"]][-1] == "TrumpTurned"
        return [
            again["view"]["table"]["trump_card"],
            (await game.get(seat, f"/at/{version}")).json()["table"]["trump_card"],
            again["events"][-1]["sealed"][0].get("data", {}).get("card"),
            (await game.events(seat))[version - 1]["sealed"][0].get("data", {}).get("card"),
        ]

    card = first.json()["view"]["table"]["trump_card"]
    assert card is not None
    assert await told() == [card] * 4
    for one in range(3):
        await game.act(one, {"type": "see_trump"})
    assert await told() == [None] * 4
    await game.post(HOST_KEY, "/abandon")
    assert await told() == [card] * 4


async def test_the_same_key_with_another_request_is_refused(game: Game) -> None:
    await game.act(0, {"type": "pass"}, Idempotency_Key="k")
    other = await game.act(0, {"type": "announce"}, Idempotency_Key="k")
    problem(other, 422, "idempotency-mismatch")
    guarded = await game.act(0, {"type": "pass", "hand": 1}, Idempotency_Key="k")
    problem(guarded, 422, "idempotency-mismatch")
    matched = await game.act(0, {"type": "pass"}, Idempotency_Key="k", If_Match='"1"')
    problem(matched, 422, "idempotency-mismatch")
    elsewhere = await game.post(0, "/resign", Idempotency_Key="k")
    problem(elsewhere, 422, "idempotency-mismatch")


async def test_a_key_is_its_callers_own(game: Game) -> None:
    one = await game.act(0, {"type": "pass"}, Idempotency_Key="k")
    two = await game.act(1, {"type": "pass"}, Idempotency_Key="k")
    assert (one.status_code, two.status_code) == (201, 201)
    assert one.json()["version"] != two.json()["version"]
    other_game = await new_game(game.api)
    third = await other_game.act(0, {"type": "pass"}, Idempotency_Key="k")
    assert "idempotent-replayed" not in third.headers


async def test_a_key_outlives_the_token_it_was_used_with(game: Game) -> None:
    first = await game.act(0, {"type": "pass"}, Idempotency_Key="k")
    token = (await game.post(HOST_KEY, "/seats/0/token")).json()["token"]
    problem(await game.act(0, {"type": "pass"}, Idempotency_Key="k"), 401, "unauthorized")
    again = await game.post(token, "/actions", {"type": "pass"}, Idempotency_Key="k")
    assert again.headers["idempotent-replayed"] == "true"
    assert again.json() == first.json()


async def test_a_refusal_is_not_remembered(api: httpx.AsyncClient) -> None:
    game = await passed_trading(api)
    seat = (await game.view())["to_act"][0]
    last = (seat + 1) % 3
    card = (await game.view(last))["private"]["cards"][0]
    early = await game.act(last, {"type": "play", "card": card}, Idempotency_Key="k")
    problem(early, 409, "illegal-action")
    lead = (await game.view(seat))["private"]["cards"][0]
    await game.act(seat, {"type": "play", "card": lead})
    legal = (await game.view(last))["actions"][0]
    now = await game.act(last, legal, Idempotency_Key="k")
    assert now.status_code == 201


async def test_fifty_identical_requests_at_once_act_once(game: Game) -> None:
    before = (await game.view())["version"]
    answers = await asyncio.gather(
        *[game.act(0, {"type": "pass"}, Idempotency_Key="same") for _ in range(50)]
    )
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.text for answer in answers}) == 1
    replayed = [answer for answer in answers if "idempotent-replayed" in answer.headers]
    assert len(replayed) == 49
    assert (await game.view())["version"] == before + 1


async def test_identical_requests_to_two_processes_act_once(database_url: str) -> None:
    async with running(database_url) as one, running(database_url) as two:
        game = await new_game(one)
        there = Game(two, game.created)
        before = (await game.view())["version"]
        answers = await asyncio.gather(
            *[
                where.act(0, {"type": "pass"}, Idempotency_Key="same")
                for _ in range(10)
                for where in (game, there)
            ]
        )
        assert {answer.status_code for answer in answers} == {201}
        assert len({answer.text for answer in answers}) == 1
        assert (await game.view())["version"] == before + 1


async def test_a_game_is_created_once_for_a_key(api: httpx.AsyncClient) -> None:
    headers = HOST | {"Idempotency-Key": "new"}
    answers = await asyncio.gather(
        *[api.post("/v1/games", json=NEW, headers=headers) for _ in range(10)]
    )
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.text for answer in answers}) == 1
    assert len({answer.headers["location"] for answer in answers}) == 1
    game = Game(api, answers[0].json())
    for seat in range(3):
        assert (await game.get(seat)).status_code == 200
    listed = (await api.get("/v1/games", headers=HOST)).json()["items"]
    assert len(listed) == 1
    changed = NEW | {"rules": {"lives": 1}}
    mismatch = await api.post("/v1/games", json=changed, headers=headers)
    problem(mismatch, 422, "idempotency-mismatch")
    others = await api.post("/v1/games", json=NEW, headers=bearer(OTHER_KEY, Idempotency_Key="new"))
    assert "idempotent-replayed" not in others.headers
    assert others.json()["id"] != game.id


async def test_joining_and_tokens_give_the_same_token_again(api: httpx.AsyncClient) -> None:
    game = await new_game(api, people=2, open_seats=1)
    for path, body in (
        ("/seats", {"name": "Cy"}),
        ("/seats/0/token", None),
        ("/spectators", None),
    ):
        first = await game.post(HOST_KEY, path, body, Idempotency_Key=path)
        again = await game.post(HOST_KEY, path, body, Idempotency_Key=path)
        assert first.status_code == 201
        assert again.headers["idempotent-replayed"] == "true"
        assert again.json() == first.json()
        assert (await game.get(first.json()["token"])).status_code == 200
        fresh = await game.post(HOST_KEY, path, body)
        assert fresh.status_code in (201, 409)
        if fresh.status_code == 201:
            assert fresh.json()["token"] != first.json()["token"]


async def test_if_match_refuses_once_the_game_has_moved_on(game: Game) -> None:
    version = (await game.view())["version"]
    stale = await game.act(0, {"type": "pass"}, If_Match=f'"{version - 1}"')
    assert problem(stale, 412, "version-conflict")["version"] == version
    other = await game.act(0, {"type": "pass"}, If_Match='"what"')
    problem(other, 412, "version-conflict")
    done = await game.act(0, {"type": "pass"}, If_Match=f'"{version}"')
    assert done.status_code == 201
    repeated = await game.act(1, {"type": "pass"}, If_Match=f'"{version}"')
    assert problem(repeated, 412, "version-conflict")["version"] == version + 1
    any_version = await game.act(1, {"type": "pass"}, If_Match="*")
    assert any_version.status_code == 201


async def test_a_key_beats_if_match(game: Game) -> None:
    etag = f'"{(await game.view())["version"]}"'
    first = await game.act(0, {"type": "pass"}, If_Match=etag, Idempotency_Key="k")
    again = await game.act(0, {"type": "pass"}, If_Match=etag, Idempotency_Key="k")
    assert again.status_code == 201
    assert again.json() == first.json()


async def test_of_many_with_one_if_match_one_gets_through(game: Game) -> None:
    etag = f'"{(await game.view())["version"]}"'
    answers = await asyncio.gather(
        *[game.act(seat, {"type": "pass"}, If_Match=etag) for seat in range(3)]
    )
    assert sorted(answer.status_code for answer in answers) == [201, 412, 412]
