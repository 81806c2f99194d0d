"""Lists and scores over HTTP: as new as they say, page by page, with cursors that tell nothing."""

import base64
import re
from random import Random

import httpx
import pytest

from api import freshness
from api.cursors import Cursors
from api.problems import Problem
from projections.games import Place
from tests.api.running import (
    HOST,
    HOST_KEY,
    OTHER_KEY,
    SECRET,
    Game,
    Json,
    bearer,
    new_game,
    problem,
    running,
)


async def listed(api: httpx.AsyncClient, query: str = "") -> Json:
    answer = await api.get(f"/v1/games{query}", headers=HOST)
    assert answer.status_code == 200, answer.text
    body: Json = answer.json()
    return body


async def test_a_game_is_listed_as_it_stands(api: httpx.AsyncClient) -> None:
    game = await new_game(api, people=2, open_seats=1, labels={"room": "red"})
    [item] = (await listed(api))["items"]
    assert item["names"] == ["Player 0", "Player 1", None]
    assert (item["status"], item["ended_at"]) == ("waiting", None)
    assert item["created_at"] == game.created["at"]
    assert item["labels"] == {"room": "red"}
    await game.post(HOST_KEY, "/seats", {"name": "Late", "ref": "late"})
    [item] = (await listed(api))["items"]
    assert (item["status"], item["names"][2]) == ("playing", "Late")
    assert item["refs"] == ["late", "ref-0", "ref-1"]
    assert item["version"] == (await game.view())["version"]
    await game.post(HOST_KEY, "/abandon", {"reason": ""})
    page = await listed(api)
    [item] = page["items"]
    assert item["status"] == "abandoned"
    assert item["ended_at"] >= item["created_at"]
    assert page["as_of"] == item["version"] == (await game.view())["version"]


async def test_games_that_begin_while_one_pages_are_not_repeated(api: httpx.AsyncClient) -> None:
    first = {(await new_game(api)).id for _ in range(5)}
    seen: list[str] = []
    query = "?limit=2"
    while True:
        page = await listed(api, query)
        seen += [item["id"] for item in page["items"]]
        await new_game(api)
        if page["next"] is None:
            break
        query = f"?limit=2&cursor={page['next']}"
    assert sorted(seen) == sorted(first)


async def test_a_cursor_tells_no_time_and_no_id(api: httpx.AsyncClient) -> None:
    games = [(await new_game(api)).id for _ in range(2)]
    cursor = (await listed(api, "?limit=1"))["next"]
    assert re.fullmatch(r"[A-Za-z0-9_-]+", cursor)
    raw = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
    for game in games:
        assert game.encode() not in raw
        assert bytes.fromhex(game.replace("-", "")) not in raw
    assert b"created_at" not in raw


async def test_a_cursor_is_good_for_its_list_and_reader_alone(api: httpx.AsyncClient) -> None:
    for _ in range(2):
        await new_game(api)
    cursor = (await listed(api, "?limit=1"))["next"]
    for path, key in (("games", OTHER_KEY), ("disputes", HOST_KEY)):
        answer = await api.get(f"/v1/{path}?cursor={cursor}", headers=bearer(key))
        problem(answer, 400, "invalid-request")
    for other in (cursor[:-2], cursor[1:], cursor.swapcase(), "", "x"):
        answer = await api.get(f"/v1/games?cursor={other}", headers=HOST)
        problem(answer, 400, "invalid-request")


def test_cursors_are_those_of_every_process_with_the_secret() -> None:
    place = Place(17, "01970000-0000-7000-8000-000000000001")
    cursor = Cursors(SECRET).write("games", "host", place)
    assert Cursors(SECRET).read("games", "host", cursor, Place) == place
    with pytest.raises(Problem):
        Cursors("another secret").read("games", "host", cursor, Place)


async def test_a_player_sees_what_their_action_has_brought(api: httpx.AsyncClient) -> None:
    game = await new_game(api, rules={"profile": "modern", "lives": 1})
    chance = Random(30)
    while (view := await game.view())["status"] == "playing":
        done = await game.step(chance)
        if chance.random() < 0.1:
            scores = (await game.get(0, "/scores")).json()
            assert scores["as_of"] >= done["version"]
            named = [{**score, "name": f"Player {score['seat']}"} for score in scores["seats"]]
            assert named == scores["seats"]
    scores = (await game.get(0, "/scores")).json()
    assert scores["as_of"] == view["version"]
    assert scores["seats"] == view["scores"]
    assert len(scores["hands"]) == view["hand"]["number"]
    assert all("swallowed" in hand for hand in scores["hands"])


async def test_one_may_wait_for_a_version_or_position_but_not_for_ever(
    api: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    game = await new_game(api)
    version = (await game.view())["version"]
    assert (await game.get(0, f"/scores?at_least={version}")).json()["as_of"] == version
    position = (await listed(api))["as_of"]
    assert (await listed(api, f"?at_least={position}"))["as_of"] == position
    monkeypatch.setattr(freshness, "ASKED_SECONDS", 0.1)
    late = await game.get(0, f"/scores?at_least={version + 1}")
    assert (late.status_code, late.json()["as_of"]) == (200, version)
    assert (await listed(api, f"?at_least={position + 1}"))["as_of"] == position
    for path in (
        f"{game.path}/scores?at_least=0",
        f"{game.path}/scores?at_least=x",
        "/v1/games?at_least=-1",
        f"/v1/disputes?at_least={2**63}",
    ):
        problem(await api.get(path, headers=HOST), 400, "invalid-request")


async def test_while_nobody_runs_projections_lists_stand_still_and_scores_are_counted(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(freshness, "OWN_WRITES_SECONDS", 0.1)
    async with running(database_url, projections="elsewhere") as api:
        game = await new_game(api)
        page = await listed(api)
        assert (page["items"], page["as_of"]) == ([], 0)
        scores = await game.get(0, "/scores")
        assert scores.json()["as_of"] == (await game.view())["version"]
        assert len((await game.get(0, "/replay")).json()["hands"]) == 1
        played: Game = game
    monkeypatch.undo()
    async with running(database_url) as api:
        page = await listed(api)
        assert [item["id"] for item in page["items"]] == [played.id]
