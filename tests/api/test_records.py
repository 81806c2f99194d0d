"""People across games, and leaderboards, over HTTP: what games bring, for their host alone."""

from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from eventstore.postgres import EventStore
from tests.api.running import HOST, OTHER_KEY, Game, Json, bearer, new_game, problem
from tests.api.samples import SEEDS, imported, log_of

LORUM = SEEDS / "lorum" / "samples" / "28-rounds-with-one-to-four-takers.ndjson"
LODAM = SEEDS / "lodam" / "samples" / "modern-three-players-with-stake.ndjson"


async def ok(api: httpx.AsyncClient, path: str, **more: Any) -> Json:
    answer = await api.get(path, headers=HOST, **more)
    assert answer.status_code == 200, answer.text
    body: Json = answer.json()
    return body


async def played(api: httpx.AsyncClient, chance: Random, **more: Any) -> Json:
    """The host's view of a game of three people played to its end."""
    game = await new_game(api, rules={"lives": 1, "stake": 5}, **more)
    return await game.play(chance)


async def test_what_games_brought_is_told_at_once(api: httpx.AsyncClient) -> None:
    chance = Random(20)
    views = [await played(api, chance) for _ in range(3)]
    for seat in range(3):
        own = await ok(api, f"/v1/players/ref-{seat}")
        assert (own["ref"], own["name"]) == (f"ref-{seat}", f"Player {seat}")
        assert own["games"] == 3
        assert own["wins"] == sum(seat in view["result"]["winners"] for view in views)
        assert own["chips"] == sum(view["result"]["balances"][seat] for view in views)
        assert own["by_game"].keys() == own["rating"].keys() == {"lodam"}
        record = own["by_game"]["lodam"]
        assert record["rating"] == own["rating"]["lodam"]
        assert record["chips_won"] - record["chips_lost"] == own["chips"]
        assert record["lives_lost"] == 3 - own["wins"]
        assert [met["ref"] for met in own["head_to_head"]] == [
            f"ref-{other}" for other in range(3) if other != seat
        ]
        for met in own["head_to_head"]:
            assert met["games"] == met["wins"] + met["losses"] + met["draws"] == 3
    board = await ok(api, "/v1/leaderboards/lodam")
    assert [item["rank"] for item in board["items"]] == [1, 2, 3]
    ratings = [item["rating"] for item in board["items"]]
    assert ratings == sorted(ratings, reverse=True)
    for item in board["items"]:
        own = await ok(api, f"/v1/players/{item['ref']}")
        assert item["rating"] == own["rating"]["lodam"]["rating"]
        assert item["rating"] == pytest.approx(item["mu"] - 3 * item["sigma"])
        for name in ("games", "wins", "chips"):
            assert item[name] == own[name]
    assert board["as_of"] >= sum(view["version"] for view in views)


async def test_a_game_that_goes_on_or_is_abandoned_is_no_result(api: httpx.AsyncClient) -> None:
    game = await new_game(api)
    for _ in range(2):
        own = await ok(api, "/v1/players/ref-0")
        assert (own["games"], own["wins"], own["chips"]) == (0, 0, 0)
        assert own["rating"] == own["by_game"] == {}
        assert own["head_to_head"] == []
        assert (await ok(api, "/v1/leaderboards/lodam"))["items"] == []
        await game.api.post(f"{game.path}/abandon", json={"reason": ""}, headers=HOST)


async def test_bots_and_guests_are_met_but_never_listed(api: httpx.AsyncClient) -> None:
    players = [{"name": "Ann", "ref": "ann"}, {"name": "Guest"}, {"bot": "careful"}]
    body = {"game": "loc", "players": players, "rules": {"hands": 2}}
    made = await api.post("/v1/games", json=body, headers=HOST)
    await Game(api, made.json()).play(Random(21))
    [item] = (await ok(api, "/v1/leaderboards/loc"))["items"]
    assert item["ref"] == "ann"
    own = await ok(api, "/v1/players/ann")
    assert own["games"] == 1
    assert own["head_to_head"] == []
    problem(await api.get("/v1/players/bot:careful", headers=HOST), 404, "not-found")


async def test_windows_hold_those_who_played_in_them(
    api: httpx.AsyncClient, database_url: str
) -> None:
    async with EventStore.open(database_url) as store:
        assert (await imported(store, log_of(LODAM))).outcome == "imported"
    await played(api, Random(22))
    everyone = await ok(api, "/v1/leaderboards/lodam?window=all")
    refs = {item["ref"] for item in everyone["items"]}
    assert refs == {*(f"player-{n}" for n in range(3)), *(f"ref-{n}" for n in range(3))}
    for window in ("day", "week"):
        recent = await ok(api, f"/v1/leaderboards/lodam?window={window}")
        assert {item["ref"] for item in recent["items"]} == {f"ref-{n}" for n in range(3)}
    found: list[Json] = []
    cursor = ""
    while cursor is not None:
        page = await ok(api, f"/v1/leaderboards/lodam?limit=2{cursor and f'&cursor={cursor}'}")
        found += page["items"]
        cursor = page["next"]
    assert found == everyone["items"]
    ratings = [item["rating"] for item in found]
    assert ratings == sorted(ratings, reverse=True)
    ranks = [1 + sum(other > rating for other in ratings) for rating in ratings]
    assert [item["rank"] for item in found] == ranks
    assert len(set(ranks)) < len(ranks), "nobody shares a rank, which would prove nothing"


async def test_who_is_erased_is_unknown_and_leaves_no_trace(api: httpx.AsyncClient) -> None:
    chance = Random(23)
    for _ in range(2):
        await played(api, chance)
    before = await ok(api, "/v1/players/ref-0")
    assert {met["ref"] for met in before["head_to_head"]} == {"ref-1", "ref-2"}
    await api.delete("/v1/players/ref-1", headers=HOST)
    problem(await api.get("/v1/players/ref-1", headers=HOST), 404, "not-found")
    after = await ok(api, "/v1/players/ref-0")
    assert [met["ref"] for met in after["head_to_head"]] == ["ref-2"]
    assert after["games"] == before["games"]
    board = await ok(api, "/v1/leaderboards/lodam")
    assert {item["ref"] for item in board["items"]} == {"ref-0", "ref-2"}
    games = await ok(api, "/v1/games")
    for text in (str(after), str(board), str(games)):
        assert "ref-1" not in text
        assert "Player 1" not in text
    assert (await ok(api, "/v1/games?ref=ref-1"))["items"] == []
    for item in games["items"]:
        assert item["names"] == ["Player 0", None, "Player 2"]
        scores = await ok(api, f"/v1/games/{item['id']}/scores")
        assert scores["seats"][1]["name"] is None
        for accept in ("application/json", "text/plain"):
            told = await api.get(
                f"/v1/games/{item['id']}/replay", headers={**HOST, "Accept": accept}
            )
            assert told.status_code == 200
            assert "Player 1" not in told.text


async def test_other_hosts_have_records_of_their_own(
    api: httpx.AsyncClient, database_url: str
) -> None:
    other = bearer(OTHER_KEY)
    await played(api, Random(24))
    problem(await api.get("/v1/players/ref-0", headers=other), 404, "not-found")
    assert (await api.get("/v1/leaderboards/lodam", headers=other)).json()["items"] == []
    async with EventStore.open(database_url) as store:
        await imported(store, log_of(LORUM), "other")
    assert (await api.get("/v1/players/player-0", headers=other)).json()["games"] == 1
    assert len((await api.get("/v1/leaderboards/lorum", headers=other)).json()["items"]) == 4
    assert (await ok(api, "/v1/leaderboards/lorum"))["items"] == []
    problem(await api.get("/v1/players/player-0", headers=HOST), 404, "not-found")


async def test_a_reference_is_taken_to_the_letter(api: httpx.AsyncClient) -> None:
    for ref in ("a/b", "/a/", "ä ö", "50%"):
        players = [{"name": "Ann", "ref": ref}, {"bot": "random"}]
        body = {"game": "loc", "players": players, "rules": {"hands": 1}}
        assert (await api.post("/v1/games", json=body, headers=HOST)).status_code == 201
        assert (await ok(api, f"/v1/players/{quote(ref, safe='')}"))["ref"] == ref


@pytest.mark.parametrize(
    "path",
    [
        "/v1/leaderboards/lodam?window=month",
        "/v1/leaderboards/lodam?cursor=x",
        "/v1/leaderboards/lodam?limit=0",
        "/v1/leaderboards/lodam?at_least=-1",
        "/v1/players/a?at_least=x",
        "/v1/players/a%00b",
    ],
)
async def test_bad_requests_are_refused(shared_api: httpx.AsyncClient, path: str) -> None:
    problem(await shared_api.get(path, headers=HOST), 400, "invalid-request")


async def test_they_are_for_hosts(shared_api: httpx.AsyncClient, shared_game: Game) -> None:
    for path in ("/v1/leaderboards/lodam", "/v1/players/ref-0"):
        assert (await shared_api.get(path)).status_code == 401
        refused = await shared_api.get(path, headers=bearer(shared_game.token(0)))
        problem(refused, 403, "forbidden")
    problem(await shared_api.get("/v1/leaderboards/chess", headers=HOST), 404, "not-found")


def test_the_samples_are_there() -> None:
    assert all(isinstance(path, Path) and path.exists() for path in (LORUM, LODAM))
