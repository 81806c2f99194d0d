"""Erasing a person: gone from every answer, the log still verifies, tokens still work."""

import asyncio
import json
from random import Random
from urllib.parse import quote

import httpx
import pytest

from domain.export import read
from domain.verify import verify
from eventstore.postgres import EventStore
from tests.api.running import (
    HOST,
    HOST_KEY,
    OTHER_KEY,
    Game,
    Json,
    bearer,
    problem,
    running,
)
from tests.database import Databases

NAME = "Zsuzsanna Fekete"
REF = "person/17 ä"
WORDS = "I am Zsuzsanna, and that trick was mine."


async def with_person(api: httpx.AsyncClient, **more: object) -> Game:
    """A game in which the person sits at seat 1."""
    players = [{"name": "Ann", "ref": "a"}, {"name": NAME, "ref": REF}, {"name": "Bob"}]
    body = {"game": "lodam", "players": players, "rules": {"lives": 1}, **more}
    key = f"create-{json.dumps(more)}"
    answer = await api.post("/v1/games", json=body, headers=bearer(HOST_KEY, Idempotency_Key=key))
    assert answer.status_code == 201, answer.text
    return Game(api, answer.json())


async def erased(api: httpx.AsyncClient, ref: str = "person%2F17%20%C3%A4") -> int:
    answer = await api.delete(f"/v1/players/{ref}", headers=HOST)
    assert answer.status_code == 200, answer.text
    games: int = answer.json()["games"]
    return games


async def everything(game: Game) -> str:
    """All that can be read of a game, by all who can read it."""
    texts = []
    for who in (0, 1, 2, HOST_KEY):
        for path, accept in (
            ("", "application/json"),
            ("/events", "application/json"),
            ("/events", "application/x-ndjson"),
            ("/at/3", "application/json"),
            (f"/at/{game.created['version']}", "application/json"),
            ("/replay", "application/json"),
            ("/replay", "text/plain"),
            ("/scores", "application/json"),
            ("/export", "*/*"),
            ("/challenges", "application/json"),
        ):
            answer = await game.get(who, path, Accept=accept)
            assert answer.status_code == 200, (path, answer.text)
            texts.append(answer.text)
    for path in ("/v1/games", "/v1/disputes"):
        texts.append((await game.api.get(path, headers=HOST)).text)
    return "\n".join(texts)


def speaks_of_them(text: str) -> bool:
    return any(word in text for word in ("Zsuzsanna", "Fekete", "person/17"))


@pytest.mark.parametrize("steps", [0, 5, 10_000])
async def test_no_answer_speaks_of_them_any_more_and_the_log_verifies(
    api: httpx.AsyncClient, steps: int
) -> None:
    game = await with_person(api)
    chance = Random(8)
    await game.play(chance, steps)
    body = {"version": 1, "claim": {"kind": "chain", "text": WORDS}}
    found = (await game.post(1, "/disputes", body)).json()
    other = {"version": 1, "claim": {"kind": "chain", "text": "Ann has words too."}}
    kept = (await game.post(0, "/disputes", other)).json()
    assert speaks_of_them(await everything(game))
    before = await game.view()
    assert await erased(api) == 1
    assert not speaks_of_them(await everything(game))
    now = await game.view()
    assert now["version"] == before["version"] + 1
    assert [seat["name"] for seat in now["seats"]] == ["Ann", None, "Bob"]
    log = await game.events()
    assert (log[-1]["type"], log[-1]["data"]["seat"]) == ("PlayerErased", 1)
    [taken] = [e for e in log if e["type"] == "SeatTaken" and e["data"]["seat"] == 1]
    [part] = taken["sealed"]
    assert part.keys() == {"for", "digest", "erased"}
    assert part["erased"] is True
    for who in (1, HOST_KEY):
        report = verify(read((await game.get(who, "/export")).content.splitlines()))
        assert not report.failed, report.checks
    looked = (await api.get(f"/v1/disputes/{found['id']}", headers=HOST)).json()
    assert looked["claim"] == {"kind": "chain", "text": None}
    looked = (await api.get(f"/v1/disputes/{kept['id']}", headers=HOST)).json()
    assert looked["claim"]["text"] == "Ann has words too."


async def test_the_seat_plays_on_and_the_game_too(api: httpx.AsyncClient) -> None:
    game = await with_person(api)
    assert await erased(api) == 1
    assert (await game.get(1)).status_code == 200
    view = await game.play(Random(9))
    assert view["status"] == "finished"
    assert not speaks_of_them(await everything(game))


async def test_a_repeated_request_answers_without_the_name(api: httpx.AsyncClient) -> None:
    game = await with_person(api)
    assert game.created["seats"][1]["name"] == NAME
    await erased(api)
    again = await with_person(api)
    assert again.id == game.id
    assert [again.created["seats"][1][key] for key in ("name", "ref")] == [None, None]
    assert again.created["receipt"] == game.created["receipt"]


async def test_other_processes_forget_too(database_url: str) -> None:
    async with running(database_url) as one, running(database_url) as two:
        game = await with_person(one)
        there = Game(two, game.created)
        assert speaks_of_them(await everything(there))
        assert await erased(one) == 1
        assert not speaks_of_them(await everything(there))


async def test_asking_again_changes_nothing(api: httpx.AsyncClient) -> None:
    game = await with_person(api)
    assert await erased(api) == 1
    version = (await game.view())["version"]
    assert await erased(api) == 0
    assert await erased(api, "nobody") == 0
    assert (await game.view())["version"] == version


async def test_in_every_game_of_the_host_and_in_no_one_elses(api: httpx.AsyncClient) -> None:
    games = [await with_person(api, labels={"n": str(number)}) for number in range(4)]
    players = [{"name": NAME, "ref": REF}, {"name": "B"}, {"name": "C"}]
    body = {"game": "lodam", "players": players}
    other = await api.post("/v1/games", json=body, headers=bearer(OTHER_KEY))
    both = [{"name": NAME, "ref": REF}] * 2 + [{"name": "C"}]
    twice = await api.post("/v1/games", json={"game": "lodam", "players": both}, headers=HOST)
    waiting = {"game": "loc", "players": players[:1], "open_seats": 1}
    open_game = (await api.post("/v1/games", json=waiting, headers=HOST)).json()
    assert await erased(api) == 6
    for game in [*games, Game(api, twice.json())]:
        assert not speaks_of_them(await everything(game))
    seats = (await api.get(f"/v1/games/{open_game['id']}", headers=HOST)).json()["seats"]
    assert [seat["name"] for seat in seats] == [None, None]
    theirs = await api.get(f"/v1/games/{other.json()['id']}", headers=bearer(OTHER_KEY))
    assert theirs.json()["seats"][0]["name"] == NAME
    listed = (await api.get("/v1/games?ref=person/17 ä", headers=HOST)).json()
    assert listed["items"] == []


async def test_erasing_while_the_game_moves_on_loses_neither(api: httpx.AsyncClient) -> None:
    game = await with_person(api)
    chance = Random(10)
    steps = asyncio.create_task(game.play(chance, 25))
    await asyncio.sleep(0)
    assert await erased(api) == 1
    await steps
    assert not speaks_of_them(await everything(game))
    log = await game.events()
    assert sum(event["type"] == "PlayerErased" for event in log) == 1


async def test_the_event_and_the_erasure_come_together_or_not_at_all(
    databases: Databases,
) -> None:
    """A database that does the one and fails at the other has done neither."""
    with databases.fresh() as url:
        async with running(url) as api, EventStore.open(url) as store:
            game = await with_person(api)
            before = await game.view()
            async with store.connection() as conn:
                await conn.execute(
                    "CREATE FUNCTION fairdeal.fail() RETURNS trigger LANGUAGE plpgsql AS "
                    "$$ BEGIN RAISE EXCEPTION 'the disk is full'; END $$"
                )
                await conn.execute(
                    "CREATE TRIGGER failing BEFORE UPDATE ON fairdeal.sealed "
                    "FOR EACH ROW EXECUTE FUNCTION fairdeal.fail()"
                )
            answer = await api.delete("/v1/players/person%2F17%20%C3%A4", headers=HOST)
            assert answer.status_code == 500
            assert await game.view() == before
            assert await store.find("host", (f"ref={REF}",)) != []
            async with store.connection() as conn:
                await conn.execute("DROP TRIGGER failing ON fairdeal.sealed")
            assert await erased(api) == 1


@pytest.mark.parametrize("ref", ["a b", "a/b", "/a", "a/", "a//b", "?x=1", "%41", "a+b", "é"])
async def test_whatever_a_host_calls_people_by_can_be_erased(
    api: httpx.AsyncClient, ref: str
) -> None:
    body = {"game": "loc", "players": [{"name": NAME, "ref": ref}, {"bot": "random"}]}
    created = (await api.post("/v1/games", json=body, headers=HOST)).json()
    assert created["seats"][0]["ref"] == ref
    assert await erased(api, quote(ref, safe="")) == 1


async def test_who_may_not_erase(game: Game) -> None:
    problem(await game.api.delete("/v1/players/ref-0"), 401, "unauthorized")
    headers = bearer(game.token(0))
    problem(await game.api.delete("/v1/players/ref-0", headers=headers), 403, "forbidden")
    problem(await game.api.delete("/v1/players/%00", headers=HOST), 400, "invalid-request")
    view: Json = await game.view()
    assert view["seats"][0]["name"] == "Player 0"


async def test_who_has_been_erased_disputes_without_words(api: httpx.AsyncClient) -> None:
    game = await with_person(api)
    assert await erased(api) == 1
    claim = {"version": 1, "claim": {"kind": "chain", "text": WORDS}}
    refused = problem(await game.post(1, "/disputes", claim), 409, "illegal-action")
    assert refused["rule"] == "dispute.erased"
    wordless = {"version": 1, "claim": {"kind": "chain"}}
    assert (await game.post(1, "/disputes", wordless)).status_code == 201


async def test_erasing_and_writing_at_once_leaves_no_words_and_erases_once(
    api: httpx.AsyncClient,
) -> None:
    game = await with_person(api)
    claim = {"version": 1, "claim": {"kind": "chain", "text": WORDS}}
    *answers, _ = await asyncio.gather(
        *[erased(api) for _ in range(8)],
        asyncio.gather(*[game.post(1, "/disputes", claim) for _ in range(8)]),
    )
    assert sum(answers) == 1
    events = await game.events()
    assert [event["type"] for event in events].count("PlayerErased") == 1
    listed = await api.get("/v1/disputes", headers=HOST)
    assert listed.status_code == 200
    assert WORDS not in listed.text


async def dispute(game: Game, who: int, text: str | None, note: str | None = None) -> str:
    """A dispute, settled by the host if there is a note; its id."""
    claim = {"version": 1, "claim": {"kind": "chain", "text": text}}
    opened = await game.post(who, "/disputes", claim)
    assert opened.status_code == 201
    found: str = opened.json()["id"]
    if note is not None:
        settled = await settle(game, found, note)
        assert settled.status_code == 201
    return found


async def settle(game: Game, found: str, note: str | None) -> httpx.Response:
    body = {"outcome": "rejected", "note": note}
    return await game.api.post(f"/v1/disputes/{found}/resolution", json=body, headers=HOST)


async def test_what_others_wrote_about_them_is_erased_and_nothing_else(
    api: httpx.AsyncClient,
) -> None:
    game = await with_person(api)
    theirs = await dispute(game, 1, None, "Told the player so by telephone.")
    about = await dispute(game, 0, "It was zsuzsanna fekete's trick.", "person/17 ä knows.")
    other = await dispute(game, 2, "Zsuzsannas are many.", "Nothing of the kind.")
    assert await erased(api) == 1

    async def words(found: str) -> tuple[str | None, str | None]:
        looked = (await api.get(f"/v1/disputes/{found}", headers=HOST)).json()
        assert looked["resolution"]["outcome"] == "rejected"
        return looked["claim"]["text"], looked["resolution"]["note"]

    assert await words(theirs) == (None, None)
    assert await words(about) == (None, None)
    assert await words(other) == ("Zsuzsannas are many.", "Nothing of the kind.")


async def test_a_dispute_of_the_erased_is_settled_without_words(api: httpx.AsyncClient) -> None:
    game = await with_person(api)
    found = await dispute(game, 1, WORDS)
    assert await erased(api) == 1
    refused = problem(await settle(game, found, "He was right."), 409, "illegal-action")
    assert refused["rule"] == "dispute.erased"
    assert (await settle(game, found, None)).status_code == 201


async def test_erasing_and_settling_at_once_leaves_no_note(api: httpx.AsyncClient) -> None:
    game = await with_person(api)
    disputes = [await dispute(game, 1, None) for _ in range(6)]
    await asyncio.gather(erased(api), *[settle(game, found, WORDS) for found in disputes])
    assert WORDS not in (await api.get("/v1/disputes", headers=HOST)).text
