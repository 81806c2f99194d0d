"""Games that came from a file: read like others, argued about, and otherwise left as they are."""

from typing import Any

import httpx
import pytest

from eventstore.postgres import EventStore
from tests.api.running import HOST, HOST_KEY, Game, problem
from tests.api.samples import CHALLENGES, imported, log_of

LOG = log_of(CHALLENGES)


@pytest.fixture
async def game(api: httpx.AsyncClient, store: EventStore) -> Game:
    """A recorded game on the API."""
    assert (await imported(store, LOG)).outcome == "imported"
    return Game(api, {"id": LOG.header.id, "seats": []})


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/seats/0/token", None),
        ("/spectators", None),
        ("/seats", {"name": "Zoe"}),
        ("/abandon", {"reason": "no more"}),
    ],
)
async def test_nothing_is_added_to_them(game: Game, path: str, body: Any) -> None:
    before = await game.view()
    refused = problem(await game.post(HOST_KEY, path, body), 403, "forbidden")
    assert refused["detail"] == "The game was imported: it stays as it is."
    assert await game.view() == before
    assert before["version"] == len(LOG.entries)


async def test_they_are_read_and_disputed(game: Game) -> None:
    for path in ("/events", "/replay", "/scores", "/export", "/challenges", "/at/3"):
        assert (await game.get(path=path)).status_code == 200
    claim = {"version": 5, "claim": {"kind": "chain"}}
    assert (await game.post(HOST_KEY, "/disputes", claim)).status_code == 201


async def test_people_are_erased_from_them_and_they_stay_as_they_are(game: Game) -> None:
    done = await game.api.delete("/v1/players/player-0", headers=HOST)
    assert done.json()["games"] == 1
    assert (await game.view())["version"] == len(LOG.entries) + 1
    problem(await game.post(HOST_KEY, "/spectators"), 403, "forbidden")
