"""Who is let in, and to what (contract, *Who calls*)."""

import time
from typing import Any

import httpx
import jwt
import pytest

from tests.api.running import (
    HOST,
    HOST_KEY,
    OTHER_KEY,
    SECRET,
    Game,
    bearer,
    new_game,
    problem,
    running,
)

READS = ("", "/events", "/at/1", "/replay", "/scores")


def signed(secret: str = SECRET, **claims: Any) -> str:
    """A token with these claims that runs out in an hour."""
    return jwt.encode({"exp": int(time.time()) + 3600} | claims, secret, "HS256")


@pytest.mark.parametrize("header", [{}, {"Authorization": "Basic eDp5"}, bearer("nonsense")])
@pytest.mark.parametrize("path", READS)
async def test_without_a_valid_token_nothing_is_read(
    game: Game, header: dict[str, str], path: str
) -> None:
    answer = await game.api.get(game.path + path, headers=header)
    problem(answer, 401, "unauthorized")
    assert answer.headers["www-authenticate"] == "Bearer"


async def test_without_a_token_nothing_is_done(game: Game) -> None:
    for path in ("/actions", "/resign", "/abandon", "/seats", "/seats/0/token", "/spectators"):
        problem(await game.api.post(game.path + path, json={}), 401, "unauthorized")
    problem(await game.api.post("/v1/games", json={}), 401, "unauthorized")
    problem(await game.api.get("/v1/games"), 401, "unauthorized")


async def test_a_token_signed_with_another_secret_is_refused(game: Game) -> None:
    forged = signed("another secret of at least thirty-two", game=game.id, seat=0, gen=1)
    problem(await game.get(forged), 401, "unauthorized")


async def test_a_token_that_is_not_signed_is_refused(game: Game) -> None:
    claims = {"game": game.id, "seat": 0, "gen": 1, "exp": int(time.time()) + 3600}
    unsigned = jwt.encode(claims, "", "none")
    problem(await game.get(unsigned), 401, "unauthorized")


@pytest.mark.parametrize(
    "claims",
    [
        {"seat": 0},
        {"seat": 0, "gen": "1"},
        {"seat": "0", "gen": 1},
        {"seat": 99, "gen": 1},
        {"seat": -1, "gen": 1},
        {"seat": 0, "gen": 2},
        {"seat": 0, "gen": 0},
        {"gen": 1},
        {"spectator": True, "gen": 1},
        {"spectator": True, "gen": 0},
        {"seat": 0, "spectator": True, "gen": 1},
        {"seat": 0, "gen": 1, "game": "x"},
        {"seat": 0, "gen": 1, "game": 5},
        {"seat": 0, "gen": 1, "game": "01970000-0000-7000-8000-00000000fff\u0663"},
        {"seat": 0, "gen": 1, "game": "01970000-0000-7000-8000-00000000ffff\n"},
    ],
)
async def test_a_signed_token_with_other_claims_is_refused(
    game: Game, claims: dict[str, Any]
) -> None:
    problem(await game.get(signed(**{"game": game.id, **claims})), 401, "unauthorized")


async def test_a_token_that_has_run_out_is_refused(game: Game) -> None:
    claims = jwt.decode(game.token(0), SECRET, ["HS256"])
    assert claims["game"] == game.id
    assert (claims["seat"], claims["gen"]) == (0, 1)
    expired = jwt.encode(claims | {"exp": int(time.time()) - 1}, SECRET, "HS256")
    assert "expired" in problem(await game.get(expired), 401, "unauthorized")["detail"]


async def test_tokens_run_out_after_the_time_set(database_url: str) -> None:
    async with running(database_url, token_seconds=3600) as api:
        game = await new_game(api)
        claims = jwt.decode(game.token(0), SECRET, ["HS256"])
        assert claims["exp"] - claims["iat"] == 3600


async def test_a_token_for_one_game_does_not_open_another(game: Game) -> None:
    other = await new_game(game.api)
    for path in READS:
        problem(await other.get(game.token(0), path), 404, "not-found")
    problem(await other.post(game.token(0), "/actions", {"type": "pass"}), 404, "not-found")


async def test_another_hosts_games_do_not_exist(game: Game) -> None:
    for path in READS:
        problem(await game.get(OTHER_KEY, path), 404, "not-found")
    for path in ("/abandon", "/seats", "/seats/0/token", "/spectators"):
        problem(await game.post(OTHER_KEY, path, {"name": "Eve"}), 404, "not-found")
    listed = await game.api.get("/v1/games", headers=bearer(OTHER_KEY))
    assert listed.json()["items"] == []
    assert listed.json()["next"] is None


async def test_a_game_that_does_not_exist_looks_like_anothers(game: Game) -> None:
    absent = game.id[:-4] + ("0000" if game.id[-4:] != "0000" else "0001")
    answer = await game.api.get(f"/v1/games/{absent}", headers=HOST)
    others = await game.get(OTHER_KEY)
    left, right = problem(answer, 404, "not-found"), problem(others, 404, "not-found")
    del left["instance"], right["instance"]
    assert left == right
    problem(await game.api.get("/v1/games/none", headers=HOST), 404, "not-found")


async def test_each_role_may_do_what_is_its_own(game: Game) -> None:
    spectator = (await game.post(HOST_KEY, "/spectators")).json()["token"]
    for path in READS:
        for who in (0, HOST_KEY, spectator):
            assert (await game.get(who, path)).status_code == 200
    for path in ("/actions", "/resign"):
        for who in (HOST_KEY, spectator):
            problem(await game.post(who, path, {"type": "pass"}), 403, "forbidden")
    for path in ("/abandon", "/seats", "/seats/1/token", "/spectators"):
        for who in (0, spectator):
            problem(await game.post(who, path, {"name": "Eve"}), 403, "forbidden")
    for token in (game.token(0), spectator):
        problem(await game.api.get("/v1/games", headers=bearer(token)), 403, "forbidden")
        answer = await game.api.post("/v1/games", json={}, headers=bearer(token))
        problem(answer, 403, "forbidden")


async def test_the_view_says_as_whom_one_looks(game: Game) -> None:
    spectator = (await game.post(HOST_KEY, "/spectators")).json()["token"]
    assert (await game.view(1))["viewer"] == {"role": "seat", "seat": 1}
    assert (await game.view())["viewer"] == {"role": "host", "seat": None}
    assert (await game.view(spectator))["viewer"] == {"role": "spectator", "seat": None}
    assert (await game.view())["seats"][0]["ref"] == "ref-0"
    assert (await game.view(spectator))["seats"][0]["ref"] is None
    assert (await game.view(0))["seats"][0]["ref"] is None


async def test_issuing_a_token_anew_revokes_the_earlier_ones_and_all_can_see_it(
    game: Game,
) -> None:
    answer = await game.post(HOST_KEY, "/seats/1/token")
    assert answer.status_code == 201
    body = answer.json()
    assert (body["seat"], body["generation"]) == (1, 2)
    problem(await game.get(1), 401, "unauthorized")
    problem(await game.act(1, {"type": "pass"}), 401, "unauthorized")
    assert (await game.get(body["token"])).status_code == 200
    last = (await game.events(0))[-1]
    assert last["type"] == "SeatTokenIssued"
    assert last["data"]["seat"] == 1
    assert last["data"]["generation"] == 2


async def test_a_revoked_token_is_refused_by_a_process_that_had_not_heard(
    database_url: str,
) -> None:
    async with running(database_url) as one, running(database_url) as two:
        game = await new_game(one)
        there = Game(two, game.created)
        assert (await there.get(0)).status_code == 200
        assert (await game.post(HOST_KEY, "/seats/0/token")).status_code == 201
        problem(await there.act(0, {"type": "pass"}), 401, "unauthorized")
        problem(await there.get(0), 401, "unauthorized")


async def test_a_new_token_is_taken_by_a_process_that_had_not_heard(database_url: str) -> None:
    async with running(database_url) as one, running(database_url) as two:
        game = await new_game(one)
        there = Game(two, game.created)
        assert (await there.get(0)).status_code == 200
        token = (await game.post(HOST_KEY, "/seats/0/token")).json()["token"]
        assert (await there.post(token, "/actions", {"type": "pass"})).status_code == 201


async def test_no_token_is_issued_for_a_seat_without_a_person(api: httpx.AsyncClient) -> None:
    game = await new_game(api, people=2, bots=("random",))
    answer = await game.post(HOST_KEY, "/seats/2/token")
    assert problem(answer, 409, "illegal-action")["rule"] == "common.no-token"
    problem(await game.post(HOST_KEY, "/seats/3/token"), 404, "not-found")
    problem(await game.post(HOST_KEY, "/seats/-1/token"), 404, "not-found")


async def test_public_pages_need_no_token(api: httpx.AsyncClient) -> None:
    for path in ("/v1/rules", "/v1/rules/lodam", "/health/live", "/health/ready", "/metrics"):
        assert (await api.get(path)).status_code == 200
    problem(await api.get("/v1/rules/whist"), 404, "not-found")


async def test_every_answer_is_for_its_reader_alone(game: Game) -> None:
    answers = [await game.get(0), await game.get("nonsense"), await game.api.get("/nowhere")]
    for answer in answers:
        assert answer.headers["cache-control"] == "private, no-cache"
        assert "Authorization" in answer.headers["vary"]
        assert answer.headers["x-content-type-options"] == "nosniff"
