"""Webhooks: what arrives at a receiver, signed, in order, and nothing that is hidden."""

import asyncio
import json
from collections.abc import AsyncIterator
from random import Random

import httpx
import psycopg
import pytest

from tests.api.receiver import (
    PAUSES,
    Receiver,
    deliveries,
    hook,
    receiving,
    until_delivery,
)
from tests.api.running import (
    HOST,
    HOST_KEY,
    OTHER_KEY,
    Game,
    Json,
    bearer,
    new_game,
    running,
)

pytestmark = pytest.mark.postgres


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    async with receiving() as made:
        yield made


@pytest.fixture
async def hooked(database_url: str) -> AsyncIterator[httpx.AsyncClient]:
    """An API that may send to this machine."""
    async with running(database_url, webhooks_private=True, webhooks_pauses=PAUSES) as client:
        yield client


async def as_spectator(game: Game) -> list[Json]:
    answer = await game.post(HOST_KEY, "/spectators")
    return await game.events(answer.json()["token"])


async def test_each_event_arrives_signed_and_in_order(
    hooked: httpx.AsyncClient, receiver: Receiver
) -> None:
    before = await new_game(hooked)
    made = await hook(hooked, receiver.url)
    game = await new_game(hooked, bots=("random",), rules={"lives": 1})
    await game.play(Random(1), steps=15)
    version = (await game.view())["version"]
    await receiver.until(lambda: len(receiver.of("event")) >= version)
    for got in receiver.got:
        got.verify(made["secret"])
        assert got.headers["content-type"] == "application/json"
    events = receiver.of("event")
    assert [event["version"] for event in events] == list(range(1, version + 1))
    assert {event["game"] for event in events} == {game.id} != {before.id}
    [newest, *_] = await until_delivery(hooked, made, "delivered", version)
    assert newest["game"] == game.id
    assert (newest["kind"], newest["version"], newest["attempts"]) == ("event", version, 1)
    assert (newest["last_status"], newest["last_error"], newest["next_at"]) == (204, None, None)
    assert newest["delivered_at"] >= newest["created_at"]
    assert {item["id"] for item in await deliveries(hooked, made, "?limit=200")} == {
        got.id for got in receiver.got
    }


async def test_a_body_holds_what_a_spectator_sees_and_no_more(
    hooked: httpx.AsyncClient, receiver: Receiver
) -> None:
    await hook(hooked, receiver.url)
    game = await new_game(hooked, rules={"trading": "off"})
    await game.play(Random(2), steps=4)
    version = (await game.view())["version"]
    await receiver.until(lambda: len(receiver.of("event")) >= version)
    assert receiver.of("event") == (await as_spectator(game))[:version]
    hidden = [
        part["data"]
        for seat in range(3)
        for event in await game.events(seat)
        for part in event["sealed"]
        if "data" in part and isinstance(part["for"], list)
    ]
    assert hidden
    bodies = "\n".join(got.body.decode() for got in receiver.got)
    for data in hidden:
        assert json.dumps(data, separators=(",", ":")) not in bodies


async def test_what_is_erased_before_it_is_sent_does_not_go_out(
    database_url: str, receiver: Receiver
) -> None:
    receiver.answer = lambda _: 503
    async with running(database_url, webhooks_private=True, webhooks_pauses=(600,)) as api:
        made = await hook(api, receiver.url)
        game = await new_game(api)
        await receiver.until(lambda: receiver.got)
        assert receiver.got[0].json["data"]["type"] == "GameCreated", "which names nobody"
        await api.delete("/v1/players/ref-0", headers=HOST)
        receiver.answer = lambda _: 200
        [*_, first] = await deliveries(api, made, "?limit=200")
        path = f"/v1/webhooks/{made['id']}/deliveries/{first['id']}/redeliver"
        await api.post(path, headers=HOST)
        await until_delivery(api, made, "delivered", (await game.view())["version"])
    bodies = b"\n".join([got.body for got in receiver.got])
    assert b"Player 1" in bodies
    assert b"Player 0" not in bodies
    assert b"ref-0" not in bodies
    assert b'"erased":true' in bodies


async def test_turns_name_the_seats_waited_for(
    hooked: httpx.AsyncClient, receiver: Receiver
) -> None:
    await hook(hooked, receiver.url, "turn", "event")
    game = await new_game(hooked, clock={"turn_seconds": 600, "on_timeout": "bot"})
    before: set[int] = set()
    expected = []
    chance = Random(3)
    for _ in range(10):
        view = await game.view()
        if set(view["to_act"]) - before:
            turn = {name: view[name] for name in ("version", "to_act", "deadline")}
            expected.append({"game": game.id, **turn})
        before = set(view["to_act"])
        at = view["version"]
        await receiver.until(
            lambda at=at: receiver.of("event")[at - 1 :] and receiver.of("turn") == expected
        )
        await game.step(chance)
    assert len(expected) > 2


async def test_who_has_acted_and_is_waited_for_again_is_told_however_late(
    hooked: httpx.AsyncClient, receiver: Receiver, database_url: str
) -> None:
    await hook(hooked, receiver.url, "turn")
    game = await new_game(hooked)
    await receiver.until(lambda: receiver.of("turn"))
    first = set((await game.view())["to_act"])
    with psycopg.connect(database_url) as held:
        # Nobody follows meanwhile, so the next step finds all this at once.
        held.execute("SELECT FROM webhooks.checkpoints FOR UPDATE")
        chance = Random(3)
        waited = [first]
        # Until somebody is waited for again who has not been in between.
        while not waited[-1] - set.intersection(*waited):
            await game.step(chance)
            waited.append(set((await game.view())["to_act"]))
    version = (await game.view())["version"]
    await receiver.until(lambda: receiver.of("turn")[1:])
    told = receiver.of("turn")[1]
    assert (told["version"], set(told["to_act"])) == (version, waited[-1])


async def test_a_turn_that_is_over_is_not_told(
    hooked: httpx.AsyncClient, receiver: Receiver
) -> None:
    receiver.answer = lambda _: 500
    made = await hook(hooked, receiver.url, "turn")
    game = await new_game(hooked)
    await receiver.until(lambda: receiver.got)
    [turn] = await deliveries(hooked, made)
    await game.post(HOST_KEY, "/abandon", {"reason": ""})
    path = f"/v1/webhooks/{made['id']}/deliveries/{turn['id']}/redeliver"
    receiver.answer = lambda _: 200
    assert (await hooked.post(path, headers=HOST)).json()["state"] == "pending"
    [outdated] = await until_delivery(hooked, made, "outdated")
    assert outdated["delivered_at"] is None


async def test_only_the_kinds_of_game_asked_for(
    hooked: httpx.AsyncClient, receiver: Receiver
) -> None:
    await hook(hooked, receiver.url, games=["loc"])
    await new_game(hooked)
    game = await new_game(hooked, game="loc")
    version = (await game.view())["version"]
    await receiver.until(lambda: len(receiver.of("event")) >= version)
    assert {event["game"] for event in receiver.of("event")} == {game.id}


async def test_tenants_hear_of_their_own_games(hooked: httpx.AsyncClient) -> None:
    async with receiving() as mine, receiving() as others:
        own = await hook(hooked, mine.url)
        foreign = await hook(hooked, others.url, headers=bearer(OTHER_KEY))
        game = await new_game(hooked)
        body = {"game": "lodam", "players": [{"name": n} for n in "ABC"]}
        made = await hooked.post("/v1/games", json=body, headers=bearer(OTHER_KEY))
        for receiver, of in ((mine, game.id), (others, made.json()["id"])):
            await receiver.until(lambda receiver=receiver: len(receiver.of("event")) >= 4)
            assert {event["game"] for event in receiver.of("event")} == {of}
        path = f"/v1/webhooks/{foreign['id']}"
        [delivery, *_] = await deliveries(hooked, own)
        for method, more in (
            ("GET", ""),
            ("DELETE", ""),
            ("GET", "/deliveries"),
            ("POST", f"/deliveries/{delivery['id']}/redeliver"),
        ):
            answer = await hooked.request(method, path + more, headers=HOST)
            assert answer.status_code == 404, (method, more)
        listed = (await hooked.get("/v1/webhooks", headers=HOST)).json()["items"]
        assert [item["id"] for item in listed] == [own["id"]]
        assert "secret" not in listed[0]


async def test_nothing_comes_after_removal(hooked: httpx.AsyncClient) -> None:
    async with receiving() as one, receiving() as two:
        made = await hook(hooked, one.url)
        await hook(hooked, two.url)
        game = await new_game(hooked)
        await until_delivery(hooked, made, "delivered", (await game.view())["version"])
        path = f"/v1/webhooks/{made['id']}"
        assert (await hooked.delete(path, headers=HOST)).status_code == 204
        assert (await hooked.get(path, headers=HOST)).status_code == 404
        assert (await hooked.delete(path, headers=HOST)).status_code == 404
        told = len(one.got)
        other = await new_game(hooked)
        await two.until(lambda: any(event["game"] == other.id for event in two.of("event")))
        assert len(one.got) == told


async def test_two_processes_send_each_delivery_once(database_url: str, receiver: Receiver) -> None:
    more = {"webhooks_private": True, "webhooks_pauses": PAUSES}
    async with running(database_url, **more) as one, running(database_url, **more) as two:
        made = await hook(one, receiver.url)
        games = await asyncio.gather(*[new_game(api) for api in (one, two) for _ in range(5)])
        for game in games:
            await game.play(Random(4), steps=3)
        total = sum([(await game.view())["version"] for game in games])
        await receiver.until(lambda: len(receiver.got) >= total)
        count = 0
        query = "?limit=7"
        while query:
            path = f"/v1/webhooks/{made['id']}/deliveries{query}"
            page = (await two.get(path, headers=HOST)).json()
            count += len(page["items"])
            query = page["next"] and f"?limit=7&cursor={page['next']}"
        assert count == total
    assert len(receiver.got) == total == len({got.id for got in receiver.got})
    for game in games:
        versions = [e["version"] for e in receiver.of("event") if e["game"] == game.id]
        assert versions == sorted(versions)
