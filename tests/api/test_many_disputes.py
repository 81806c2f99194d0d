"""How many disputes a player may have about a game: the store is not theirs to fill."""

import asyncio

import httpx
import pytest

from api import disputes
from api.auditing import audit
from eventstore.postgres import EventStore
from tests.api.running import HOST, HOST_KEY, Game, new_game, problem, running

BODY = {"version": 1, "claim": {"kind": "chain"}}
MOST = 3


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """A limit that is soon reached."""
    monkeypatch.setattr(disputes, "MOST_UNSETTLED", MOST)


async def opened(game: Game, who: int | str, key: str = "") -> httpx.Response:
    headers = {"Idempotency_Key": key} if key else {}
    return await game.post(who, "/disputes", BODY, **headers)


async def count(api: httpx.AsyncClient, game: Game) -> int:
    answer = await api.get(f"/v1/disputes?game={game.id}&limit=200", headers=HOST)
    return len(answer.json()["items"])


@pytest.mark.usefixtures("few")
async def test_a_seat_with_too_many_is_refused_and_nobody_else(game: Game) -> None:
    first = [await opened(game, 0, f"k{number}") for number in range(MOST)]
    assert [answer.status_code for answer in first] == [201] * MOST
    refused = problem(await opened(game, 0), 409, "illegal-action")
    assert refused["rule"] == "dispute.too-many"
    assert refused["version"] == (await game.view())["version"]
    assert str(MOST) in refused["detail"]
    # What was done before is told again, not judged.
    again = await opened(game, 0, "k0")
    assert again.status_code == 201
    assert again.json() == first[0].json()
    # Other seats, the same seat of another game, and the host.
    other = await new_game(game.api)
    for who in (1, 2):
        assert (await opened(game, who)).status_code == 201
    assert (await opened(other, 0)).status_code == 201
    for _ in range(MOST + 2):
        assert (await opened(game, HOST_KEY)).status_code == 201


@pytest.mark.usefixtures("few")
async def test_what_the_host_settles_makes_room(game: Game) -> None:
    made = [(await opened(game, 1)).json() for _ in range(MOST)]
    problem(await opened(game, 1), 409, "illegal-action")
    path = f"/v1/disputes/{made[1]['id']}/resolution"
    settled = await game.api.post(path, json={"outcome": "rejected"}, headers=HOST)
    assert settled.status_code == 201
    assert (await opened(game, 1)).status_code == 201
    problem(await opened(game, 1), 409, "illegal-action")


@pytest.mark.usefixtures("few")
async def test_a_new_token_of_the_seat_changes_nothing(game: Game) -> None:
    for _ in range(MOST):
        assert (await opened(game, 0)).status_code == 201
    token = (await game.post(HOST_KEY, "/seats/0/token")).json()["token"]
    problem(await opened(game, token), 409, "illegal-action")


@pytest.mark.usefixtures("few")
async def test_many_at_once_do_not_slip_through(database_url: str, store: EventStore) -> None:
    """At one process none beyond the limit, at two at most one more."""
    async with running(database_url) as api, running(database_url) as other:
        game = await new_game(api)
        answers = await asyncio.gather(*[opened(game, 0) for _ in range(12)])
        codes = sorted([answer.status_code for answer in answers])
        assert codes == [201] * MOST + [409] * (12 - MOST)
        assert await count(api, game) == MOST
        there = Game(other, game.created)
        answers = await asyncio.gather(*[opened(at, 1) for at in (game, there) * 6])
        done = [answer.status_code for answer in answers].count(201)
        assert MOST <= done <= MOST + 1
        problem(await opened(there, 1), 409, "illegal-action")
        # One request sent often is one dispute, also where it is the last that there is room for.
        for _ in range(MOST - 1):
            await opened(game, 2)
        answers = await asyncio.gather(*[opened(game, 2, "last") for _ in range(6)])
        assert [answer.status_code for answer in answers] == [201] * 6
        assert len({answer.json()["id"] for answer in answers}) == 1
        assert (await audit(store, None, None, lambda _: None)).trouble == ()


async def test_a_store_from_before_they_were_counted_passes_an_audit(
    game: Game, store: EventStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as before:
        before.setattr(
            disputes,
            "dispute_tags",
            lambda dispute: ("dispute", f"of={dispute.opened.game}"),
        )
        assert (await opened(game, 0)).status_code == 201
    assert (await audit(store, None, None, lambda _: None)).trouble == ()
