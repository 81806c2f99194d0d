"""Every operation of the OpenAPI document by every kind of token by whose the thing is.

The document says what operations there are; the table says what comes of each. One that is in only
one of the two fails.
"""

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from tests.api.running import HOST_KEY, METRICS_KEY, OTHER_KEY, bearer, running
from tests.api.security.corners import (
    CALLERS,
    NO_VALID_TOKEN,
    Corner,
    Corners,
    corners,
)
from tests.database import Databases

MATRIX = """
no valid     | own                | sibling            | foreign            | absent             |
token        | seat  watch  host  | seat  watch  host  | seat  watch  host  | seat  watch  host  |
-------------+--------------------+--------------------+--------------------+--------------------+
200          | 200   200    200   |                    |                    |                    | listRules
200          | 200   200    200   |                    |                    |                    | getRules
200          | 200   200    200   |                    |                    |                    | getKeys
200          | 200   200    200   |                    |                    |                    | isLive
200          | 200   200    200   |                    |                    |                    | isReady
401          | 403   403    200   |                    |                    |                    | listGames
401          | 403   403    201   |                    |                    |                    | createGame
401          | 200   200    200   | 404   404    200   | 404   404    404   | 404   404    404   | getGame
401          | 403   403    201   | 404   404    201   | 404   404    404   | 404   404    404   | abandonGame
401          | 201   403    403   | 404   404    403   | 404   404    404   | 404   404    404   | act
401          | 403   403    201   | 404   404    201   | 404   404    404   | 404   404    404   | takeSeat
401          | 201   403    403   | 404   404    403   | 404   404    404   | 404   404    404   | resign
401          | 403   403    201   | 404   404    201   | 404   404    404   | 404   404    404   | issueSeatToken
401          | 403   403    201   | 404   404    201   | 404   404    404   | 404   404    404   | issueSpectatorToken
401          | 200   200    200   | 404   404    200   | 404   404    404   | 404   404    404   | getGameAt
401          | 200   200    200   | 404   404    200   | 404   404    404   | 404   404    404   | listEvents
401          | 200   200    200   | 404   404    200   | 404   404    404   | 404   404    404   | replayGame
401          | 200   200    200   | 404   404    200   | 404   404    404   | 404   404    404   | getScores
401          | 200   200    200   | 404   404    200   | 404   404    404   | 404   404    404   | getChallenge
401          | 200   200    200   | 404   404    200   | 404   404    404   | 404   404    404   | listChallenges
401          | 200   200    200   | 404   404    200   | 404   404    404   | 404   404    404   | exportGame
401          | 200   200    200   | 404   404    200   | 404   404    404   | 404   404    404   | getReceipt
401          | 201   403    201   | 404   404    201   | 404   404    404   | 404   404    404   | openDispute
401          | 200   403    200   |                    |                    |                    | listDisputes
401          | 200   403    200   | 404   403    200   | 404   403    404   | 404   403    404   | getDispute
401          | 403   403    201   | 403   403    201   | 403   403    404   | 403   403    404   | resolveDispute
401          | 403   403    200   | 403   403    200   | 403   403    404   | 403   403    404   | getPlayer
401          | 403   403    200   | 403   403    200   | 403   403    200   | 403   403    200   | erasePlayer
401          | 403   403    200   |                    |                    |                    | getLeaderboard
401          | 403   403    200   |                    |                    |                    | listWebhooks
401          | 403   403    201   |                    |                    |                    | createWebhook
401          | 403   403    200   | 403   403    200   | 403   403    404   | 403   403    404   | listDeliveries
401          | 403   403    200   | 403   403    200   | 403   403    404   | 403   403    404   | getWebhook
401          | 403   403    204   | 403   403    204   | 403   403    404   | 403   403    404   | removeWebhook
401          | 403   403    202   | 403   403    202   | 403   403    404   | 403   403    404   | redeliver
"""  # noqa: E501
"""By whose the thing that the path names is. `watch` is a spectator. Where the path names nothing
of a host's, there is nothing to be another's. Erasing somebody who is not there finds nobody in any
game (`erasePlayer`), and answers so."""

BODIES: dict[str, Any] = {
    "createGame": {"game": "lodam", "players": [{"bot": "random"}] * 3},
    "act": {"type": "pass"},
    "takeSeat": {"name": "Eve"},
    "openDispute": {"version": 1, "claim": {"kind": "chain"}},
    "resolveDispute": {"outcome": "rejected"},
    "createWebhook": {"url": "https://app.invalid/", "kinds": ["turn"]},
}
WHOSE = ("own", "sibling", "foreign", "absent")
OF_A_HOST = {"game_id", "dispute_id", "webhook_id", "delivery_id", "ref"}
"""Parameters of paths that name what belongs to a host."""


def table() -> dict[str, dict[tuple[str, str], int]]:
    """Statuses by operation, then by caller and by whose the thing is."""
    found: dict[str, dict[tuple[str, str], int]] = {}
    for line in MATRIX.strip().splitlines()[3:]:
        invalid, *groups, name = [cell.strip() for cell in line.split("|")]
        cells: dict[tuple[str, str], int] = {}
        for whose, group in zip(WHOSE, groups, strict=True):
            if group:
                cells |= {(caller, whose): int(invalid) for caller in NO_VALID_TOKEN}
                numbers = zip(("seat", "spectator", "host"), group.split(), strict=True)
                cells |= {(caller, whose): int(number) for caller, number in numbers}
        assert name not in found, f"{name} stands there twice"
        found[name] = cells
    return found


TABLE = table()


@pytest.fixture(scope="module")
async def api(databases: Databases) -> AsyncIterator[httpx.AsyncClient]:
    with databases.fresh() as url:
        async with running(url, guess_rate=0, metrics_key=METRICS_KEY) as client:
            yield client


@pytest.fixture(scope="module")
async def changing_api(databases: Databases) -> AsyncIterator[httpx.AsyncClient]:
    """One for those who change things."""
    with databases.fresh() as url:
        async with running(url, guess_rate=0, metrics_key=METRICS_KEY) as client:
            yield client


@pytest.fixture(scope="module")
async def operations(api: httpx.AsyncClient) -> dict[str, tuple[str, str]]:
    """Method and path of every operation of the document."""
    document = (await api.get("/schema/openapi.json")).json()
    return {
        operation["operationId"]: (method.upper(), path)
        for path, item in document["paths"].items()
        for method, operation in item.items()
    }


@pytest.fixture(scope="module")
async def settled(api: httpx.AsyncClient) -> Corners:
    """Corners that nobody changes."""
    return await corners(api, challenged=True)


async def ask(
    api: httpx.AsyncClient, name: str, operation: tuple[str, str], corner: Corner, caller: Any
) -> httpx.Response:
    method, path = operation
    return await api.request(method, corner.path(path), json=BODIES.get(name), headers=caller)


async def test_the_table_has_every_operation_and_no_other(
    operations: dict[str, tuple[str, str]],
) -> None:
    assert TABLE.keys() == operations.keys()
    for name, (_, path) in operations.items():
        names_something = any(f"{{{parameter}}}" in path for parameter in OF_A_HOST)
        places = WHOSE if names_something else ("own",)
        assert TABLE[name].keys() == {(c, w) for c in CALLERS for w in places}, name


@pytest.mark.parametrize("name", TABLE)
async def test_each_caller_gets_what_the_table_says(
    api: httpx.AsyncClient,
    changing_api: httpx.AsyncClient,
    operations: dict[str, tuple[str, str]],
    settled: Corners,
    name: str,
) -> None:
    method, _ = operations[name]
    here = settled if method == "GET" else None
    api = api if method == "GET" else changing_api
    for (caller, whose), status in TABLE[name].items():
        if here is None:
            here = await corners(api, open_seats=int(name == "takeSeat"))
        corner: Corner = getattr(here, whose)
        answer = await ask(api, name, operations[name], corner, here.callers[caller])
        assert answer.status_code == status, (caller, whose, answer.text)
        if status >= 400:
            assert answer.json()["status"] == status
            assert (status == 401) == ("www-authenticate" in answer.headers)
        elif method != "GET":
            here = None  # what was changed serves no other caller


@pytest.mark.parametrize("name", TABLE)
async def test_what_is_not_ones_own_looks_like_what_does_not_exist(
    api: httpx.AsyncClient,
    operations: dict[str, tuple[str, str]],
    settled: Corners,
    name: str,
) -> None:
    """The whole answer, headers included, is the same; and it changes nothing of the other's."""
    before = await api.get(f"/v1/games/{settled.foreign.ids['game_id']}", headers=bearer(OTHER_KEY))
    for caller, whose in TABLE[name]:
        strange = whose == "foreign" or (
            whose == "sibling" and caller in (*NO_VALID_TOKEN, "seat", "spectator")
        )
        if not strange:
            continue
        method_and_path, who = operations[name], settled.callers[caller]
        there = await ask(api, name, method_and_path, getattr(settled, whose), who)
        absent = await ask(api, name, method_and_path, settled.absent, who)
        assert told(there) == told(absent), (caller, whose)
    after = await api.get(f"/v1/games/{settled.foreign.ids['game_id']}", headers=bearer(OTHER_KEY))
    assert after.json() == before.json()


_OF_THE_REQUEST = {"content-length", "x-request-id"}


def told(answer: httpx.Response) -> Any:
    """All that an answer says, but for the path that was asked for and the id of the request."""
    body = answer.json()
    body.pop("instance", None)
    headers = {k: v for k, v in answer.headers.items() if k not in _OF_THE_REQUEST}
    return answer.status_code, headers, body


async def test_a_delivery_is_found_under_its_own_webhook_alone(
    api: httpx.AsyncClient, settled: Corners
) -> None:
    for other in (settled.sibling, settled.foreign, settled.absent):
        path = "/v1/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver".format_map(
            settled.own.ids | {"delivery_id": other.ids["delivery_id"]}
        )
        assert (await api.post(path, headers=bearer(HOST_KEY))).status_code == 404


async def test_lists_hold_what_is_the_callers_own(api: httpx.AsyncClient, settled: Corners) -> None:
    foreign = settled.foreign.ids
    for path in ("/v1/games?limit=200", "/v1/disputes?limit=200", "/v1/webhooks"):
        text = (await api.get(path, headers=bearer(HOST_KEY))).text
        assert settled.own.ids["game_id"] in text or "webhooks" in path
        assert not [value for value in foreign.values() if len(value) > 30 and value in text]
        assert "foreign-" not in text
    board = (await api.get("/v1/leaderboards/lodam", headers=bearer(HOST_KEY))).json()["items"]
    assert {item["ref"] for item in board} == {"own-0"}


@pytest.mark.parametrize("whose", ["foreign", "absent"])
async def test_a_filter_by_anothers_game_finds_what_one_by_no_game_does(
    api: httpx.AsyncClient, settled: Corners, whose: str
) -> None:
    corner: Corner = getattr(settled, whose)
    for path in (
        f"/v1/disputes?game={corner.ids['game_id']}",
        f"/v1/games?ref={corner.ids['ref']}",
    ):
        assert (await api.get(path, headers=bearer(HOST_KEY))).json()["items"] == []
    by_seat = f"/v1/disputes?game={corner.ids['game_id']}"
    assert (await api.get(by_seat, headers=settled.callers["seat"])).json()["items"] == []
