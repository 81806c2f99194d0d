"""Requests that are not valid: each answered 400 with where and why, never 500."""

from typing import Any

import httpx
import pytest

from tests.api.running import HOST, HOST_KEY, Game, bearer, new_game, problem

PLAYERS = [{"name": "Ann"}, {"name": "Bob"}, {"name": "Cleo"}]


def body(**changes: Any) -> dict[str, Any]:
    return {"game": "lodam", "players": PLAYERS} | changes


BAD_GAMES: list[tuple[Any, str]] = [
    ([], "$"),
    ({"players": PLAYERS}, "$.game"),
    ({"game": "lodam"}, "$.players"),
    (body(game="whist"), "$.game"),
    (body(game=1), "$.game"),
    (body(surprise=1), "$.surprise"),
    (body(players="Ann"), "$.players"),
    (body(players=[]), "$.players"),
    (body(players=PLAYERS[:2]), "$.players"),
    (body(players=[{"name": f"P{n}"} for n in range(11)]), "$.players"),
    (body(open_seats=8), "$.players"),
    (body(open_seats="1"), "$.open_seats"),
    (body(open_seats=-1), "$.open_seats"),
    (body(open_seats=10**30), "$.open_seats"),
    (body(players=[{}, *PLAYERS]), "$.players[0]"),
    (body(players=[{"name": ""}, *PLAYERS]), "$.players[0].name"),
    (body(players=[{"name": "   "}, *PLAYERS]), "$.players[0].name"),
    (body(players=[{"name": "x" * 65}, *PLAYERS]), "$.players[0].name"),
    (body(players=[{"name": "a\0b"}, *PLAYERS]), "$.players[0].name"),
    (body(players=[{"name": "a\n"}, *PLAYERS]), "$.players[0].name"),
    (body(players=[{"name": 7}, *PLAYERS]), "$.players[0].name"),
    (body(players=[{"name": "Ann", "ref": "x" * 129}, *PLAYERS]), "$.players[0].ref"),
    *[
        (body(players=[{"name": "Ann", "ref": ref}, *PLAYERS]), "$.players[0].ref")
        for ref in ("\0", "", "/", "//", ".", "..")
    ],
    (body(players=[{"name": "An\u202en"}, *PLAYERS]), "$.players[0].name"),
    (body(players=[{"name": "An\u2028n"}, *PLAYERS]), "$.players[0].name"),
    (body(players=[{"bot": "clever"}, *PLAYERS]), "$.players[0].bot"),
    (body(players=[{"bot": "random", "ref": "x"}, *PLAYERS]), "$.players[0]"),
    (body(players=[{"name": "Ann", "seat": 0}, *PLAYERS]), "$.players[0].seat"),
    (body(rules=[]), "$.rules"),
    (body(rules={"lives": 0}), "$.rules.lives"),
    (body(rules={"lives": 10}), "$.rules.lives"),
    (body(rules={"lives": "3"}), "$.rules.lives"),
    (body(rules={"lives": 3.5}), "$.rules.lives"),
    (body(rules={"lives": 10**400}), "$.rules.lives"),
    (body(rules={"unknown": 1}), "$.rules.unknown"),
    (body(rules={"profile": "baroque"}), "$.rules.profile"),
    (body(rules={"profile": []}), "$.rules.profile"),
    (body(rules={"announcing": False}), "$.rules.challenging"),
    (body(rules={"seed": "00"}), "$.rules.seed"),
    (body(rules={"deal_id": "x"}), "$.rules.deal_id"),
    (body(rules={"first_dealer": 3}), "$.rules.first_dealer"),
    (body(clock={}), "$.clock.turn_seconds"),
    (body(clock={"turn_seconds": 0}), "$.clock.turn_seconds"),
    (body(clock={"turn_seconds": 60, "on_timeout": "explode"}), "$.clock.on_timeout"),
    (body(labels={"room": 1}), "$.labels[...]"),
    (body(labels={"ROOM": "x"}), "$.labels"),
    (body(labels={"room\n": "x"}), "$.labels"),
    (body(rules={"seed": "0" * 64 + "\n"}), "$.rules.seed"),
    (body(labels={"room": "a\0"}), "$.labels[...]"),
    (body(labels={f"l{n}": "x" for n in range(17)}), "$.labels"),
]


@pytest.mark.parametrize(("bad", "path"), BAD_GAMES, ids=[str(n) for n in range(len(BAD_GAMES))])
async def test_a_game_that_cannot_be_set_up_says_where(
    shared_api: httpx.AsyncClient, bad: Any, path: str
) -> None:
    answer = await shared_api.post("/v1/games", json=bad, headers=HOST)
    found = problem(answer, 400, "invalid-request")["errors"]
    assert [error["path"].startswith(path) for error in found] == [True], found
    assert found[0]["message"]


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"{",
        b"null",
        b'{"game": "lodam",}',
        b'{"game": "\\ud800", "players": []}',
        b'{"game": "\xff", "players": []}',
        b"[" * 60_000,
        b'{"a":' * 9_000,
        b"name=Ann",
    ],
)
async def test_a_body_that_is_no_json_is_refused(shared_api: httpx.AsyncClient, raw: bytes) -> None:
    answer = await shared_api.post("/v1/games", content=raw, headers=HOST)
    problem(answer, 400, "invalid-request")


async def test_a_huge_body_is_refused(shared_api: httpx.AsyncClient) -> None:
    answer = await shared_api.post("/v1/games", json=body(labels={"a": "x" * 70_000}), headers=HOST)
    problem(answer, 413, "too-large")
    assert answer.headers["connection"] == "close"


async def test_a_bad_query_value_blames_nothing_else(
    shared_api: httpx.AsyncClient, shared_game: Game
) -> None:
    answer = await shared_game.get(path="?wait=31")
    assert [e["path"] for e in problem(answer, 400, "invalid-request")["errors"]] == ["wait"]


async def test_an_unknown_kind_of_answer_is_refused(shared_game: Game) -> None:
    answer = await shared_game.get(path="/events", Accept="image/png")
    problem(answer, 406, "not-acceptable")


BAD_ACTIONS: list[tuple[Any, str]] = [
    ({}, "$.type"),
    ({"type": "fly"}, "$.type"),
    ({"type": 1}, "$.type"),
    ({"type": "play"}, "$.card"),
    ({"type": "play", "card": "1H"}, "$.card"),
    ({"type": "play", "card": "TH\n"}, "$.card"),
    ({"type": "play", "card": 5}, "$.card"),
    ({"type": "play", "card": "TH", "extra": 1}, "$.extra"),
    ({"type": "pass", "hand": "1"}, "$.hand"),
    ({"type": "pass", "hand": -1}, "$.hand"),
    ({"type": "pass", "hand": 1.5}, "$.hand"),
    ({"type": "leave", "seat": "2"}, "$.seat"),
    ({"type": "leave", "seat": 10**30}, "$.seat"),
    ({"type": "cut", "at": 5, "nonce": "x" * 65}, "$.nonce"),
    ([], "$"),
    (None, "$"),
]


@pytest.mark.parametrize(
    ("bad", "path"), BAD_ACTIONS, ids=[str(n) for n in range(len(BAD_ACTIONS))]
)
async def test_an_action_that_is_none_says_where(shared_game: Game, bad: Any, path: str) -> None:
    answer = await shared_game.act(0, bad)
    found = problem(answer, 400, "invalid-request")["errors"]
    assert [error["path"].startswith(path) for error in found] == [True], found


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("?wait=31&after=0", "wait"),
        ("?wait=-1&after=0", "wait"),
        ("?wait=nan&after=0", "wait"),
        ("?wait=soon", "wait"),
        ("?wait=0&after=-1", "after"),
        ("?after=99999999999", "after"),
        ("/events?after=x", "after"),
        ("/events?after=-1", "after"),
        ("/events?after=99999999999", "after"),
        ("/events?limit=0", "limit"),
        ("/events?limit=1001", "limit"),
        ("/events?limit=1.5", "limit"),
    ],
)
async def test_a_bad_query_value_is_named(shared_game: Game, path: str, name: str) -> None:
    answer = await shared_game.get(0, path)
    found = problem(answer, 400, "invalid-request")["errors"]
    assert [error["path"] for error in found] == [name]


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("status=asleep", "status"),
        ("limit=0", "limit"),
        ("limit=201", "limit"),
        ("cursor=abc", "cursor"),
        ("label=room", "label"),
        ("ref=a%00b", "query"),
        ("ref=", "ref"),
        ("game=", "game"),
        ("game=whist", "game"),
    ],
)
async def test_a_bad_filter_is_named(shared_api: httpx.AsyncClient, query: str, name: str) -> None:
    answer = await shared_api.get(f"/v1/games?{query}", headers=HOST)
    found = problem(answer, 400, "invalid-request")["errors"]
    assert [error["path"] for error in found] == [name]


@pytest.mark.parametrize("key", ["", "k" * 256])
async def test_an_idempotency_key_has_1_to_255_characters(shared_game: Game, key: str) -> None:
    answer = await shared_game.act(0, {"type": "pass"}, Idempotency_Key=key)
    [error] = problem(answer, 400, "invalid-request")["errors"]
    assert error["path"] == "Idempotency-Key"


@pytest.mark.parametrize("version", ["0", "-1", "99999", "9" * 30, "x", "1.0"])
async def test_a_version_that_is_not_there_is_not_found(shared_game: Game, version: str) -> None:
    problem(await shared_game.get(0, f"/at/{version}"), 404, "not-found")


async def test_unknown_paths_and_methods_are_problems_too(shared_game: Game) -> None:
    api = shared_game.api
    problem(await api.get("/nothing"), 404, "not-found")
    problem(await api.get("/v1/nothing"), 404, "not-found")
    problem(await shared_game.get(0, "/nothing"), 404, "not-found")
    answer = await api.delete("/v1/games", headers=HOST)
    problem(answer, 405, "method-not-allowed")
    assert "POST" in answer.headers["allow"]


async def test_the_names_of_joining_players_are_judged_alike(api: httpx.AsyncClient) -> None:
    game = await new_game(api, people=2, open_seats=1)
    for bad in ({}, {"name": ""}, {"name": "x" * 65}, {"name": "Eve", "bot": "random"}):
        problem(await game.post(HOST_KEY, "/seats", bad), 400, "invalid-request")
    assert (await game.view())["status"] == "waiting"


async def test_a_reason_too_long_is_refused(shared_game: Game) -> None:
    answer = await shared_game.post(HOST_KEY, "/abandon", {"reason": "x" * 201})
    problem(answer, 400, "invalid-request")


async def test_who_is_not_let_in_learns_nothing_about_the_body(shared_game: Game) -> None:
    answer = await shared_game.api.post(
        shared_game.path + "/actions", content=b"{", headers=bearer("nonsense")
    )
    problem(answer, 401, "unauthorized")


@pytest.mark.parametrize("path", ["/resign", "/spectators", "/seats/0/token"])
@pytest.mark.parametrize(
    ("sent", "status", "where"),
    [
        (b"garbage", 400, "$"),
        (b"[]", 400, "$"),
        (b'{"hand": 7}', 400, "$.hand"),
        (b"x" * 3_000_000, 413, None),
    ],
)
async def test_what_has_no_body_is_given_none(
    api: httpx.AsyncClient, path: str, sent: bytes, status: int, where: str | None
) -> None:
    game = await new_game(api)
    version = (await game.view())["version"]
    headers = bearer(game.token(0) if path == "/resign" else HOST_KEY)
    answer = await api.post(game.path + path, content=sent, headers=headers)
    told = problem(answer, status, "invalid-request" if status == 400 else "too-large")
    if where is not None:
        assert told["errors"][0]["path"] == where
    assert (await game.view())["version"] == version
    for nothing in (b"", b"{}"):
        again = await api.post(game.path + path, content=nothing, headers=headers)
        assert again.status_code == (409 if path == "/resign" and nothing else 201)


async def test_the_instance_is_a_reference_of_uris(shared_api: httpx.AsyncClient) -> None:
    """RFC 9457, 3.1.5: as the path was sent."""
    for path in ("/v1/players/a%20b%2F%C3%BC%3C%3E%22", "/v1/games/none%00", "/v1/games/a;b=c@d"):
        answer = await shared_api.get(f"{path}?q=1", headers=HOST)
        assert answer.status_code == 404
        assert answer.json()["instance"] == path
