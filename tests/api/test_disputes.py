"""Disputes through HTTP: opened, found, completed by themselves, listed, settled."""

import asyncio
from random import Random
from typing import Any
from uuid import uuid4

import httpx
import msgspec
import pytest

from api import disputes
from api.disputes import Disputes
from api.games import Games, History
from domain.log import Entry, fold
from domain.receipts import SigningKey
from eventstore.postgres import EventStore
from tests.api.running import (
    HOST,
    HOST_KEY,
    OTHER_KEY,
    Game,
    Json,
    bearer,
    new_game,
    problem,
    running,
)
from tests.api.samples import CHALLENGES, log_of, planted
from tests.proof.logs import changed, of_type, put, rechained

LOG = log_of(CHALLENGES)


async def dispute(
    game: Game, who: int | str, version: int, kind: str = "trick", **more: Any
) -> Json:
    headers = {"Idempotency_Key": more.pop("key")} if "key" in more else {}
    body = {"version": version, "claim": {"kind": kind, **more.pop("claim", {})}, **more}
    answer = await game.post(who, "/disputes", body, **headers)
    assert answer.status_code == 201, answer.text
    found: Json = answer.json()
    assert answer.headers["location"] == f"/v1/disputes/{found['id']}"
    return found


async def looked(api: httpx.AsyncClient, found: Json, token: str = HOST_KEY) -> Json:
    answer = await api.get(f"/v1/disputes/{found['id']}", headers=bearer(token))
    assert answer.status_code == 200, answer.text
    body: Json = answer.json()
    return body


async def completed(api: httpx.AsyncClient, found: Json) -> Json:
    """The dispute once its finding waits for nothing any more."""
    while (now := await looked(api, found))["finding"]["verdict"] == "pending":
        await asyncio.sleep(0.02)
    return now


async def a_trick(game: Game, chance: Random) -> int:
    """Play until a trick has been taken; the version of that."""
    while True:
        done = await game.step(chance)
        for event in done["events"]:
            if event["type"] == "TrickTaken":
                version: int = event["version"]
                return version


@pytest.fixture
async def quick(api: httpx.AsyncClient) -> Game:
    """A game of one hand without trades."""
    return await new_game(api, rules={"trading": "off", "lives": 1})


async def test_a_finding_waits_for_the_hand_and_then_completes_itself(quick: Game) -> None:
    chance = Random(3)
    version = await a_trick(quick, chance)
    text = "That trick was not theirs."
    found = await dispute(quick, 1, version, claim={"text": text})
    assert (found["game"], found["version"]) == (quick.id, version)
    assert found["claim"] == {"kind": "trick", "text": text}
    assert found["by"] == {"role": "seat", "seat": 1}
    assert found["state"] == "pending"
    assert found["resolution"] is None
    finding = found["finding"]
    assert finding["verdict"] == "pending"
    assert finding["trick"]["version"] == version
    assert finding["trick"]["rightful"] is finding["trick"]["swallowed"] is None
    statuses = {check["check"]: check["status"] for check in finding["checks"]}
    assert statuses["chain"] == "passed"
    assert statuses["deals"] == statuses["event"] == "not_yet_possible"
    await quick.play(chance)
    now = await completed(quick.api, found)
    assert now["state"] == "found"
    assert now["finding"]["verdict"] == "consistent"
    trick = now["finding"]["trick"]
    log = await quick.events()
    taken = log[version - 1]
    assert trick["taker"] == taken["data"]["seat"]
    assert trick["swallowed"] == taken["sealed"][0]["data"]["swallowed"]
    assert trick["swallowed"] == (trick["rightful"] != trick["taker"])
    rest = {name: now[name] for name in now.keys() - {"finding", "state"}}
    assert rest == {name: found[name] for name in rest}


async def test_every_kind_of_claim_is_answered_and_about_any_event(quick: Game) -> None:
    await quick.play(Random(4))
    last = (await quick.view())["version"]
    for kind in ("trick", "deal", "score", "action", "chain"):
        for version in (1, last // 2, last):
            found = await dispute(quick, HOST_KEY, version, kind)
            assert found["state"] == "found"
            assert found["finding"]["verdict"] == "consistent", found
            assert found["finding"]["as_of"] == last
            assert found["by"] == {"role": "host", "seat": None}
            assert found["claim"]["text"] is None


async def test_what_a_crash_left_undone_is_done_later(
    database_url: str, store: EventStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody is told that the hand has been opened, as if who opened it had died then."""

    async def told_nothing(self: Disputes, game_id: str) -> None:
        return None

    monkeypatch.setattr(Disputes, "complete_of", told_nothing)
    async with running(database_url, wake_seconds=0.05) as api:
        game = await new_game(api, rules={"trading": "off", "lives": 1})
        chance = Random(3)
        found = await dispute(game, 0, await a_trick(game, chance))
        head = await store.head(found["id"])
        assert head is not None
        assert head.wake_at is not None
        monkeypatch.setattr(disputes, "_SOON", 0)
        monkeypatch.setattr(disputes, "_LATER", 50_000)
        await store.wake(found["id"], head.version, 0)
        await game.play(chance)
        assert (await completed(api, found))["state"] == "found"
        head = await store.head(found["id"])
        assert head is not None
        assert head.wake_at is None
        assert await store.due(2**62, 10) == []


async def test_disputes_are_listed_by_state_and_only_to_whom_they_concern(
    api: httpx.AsyncClient, quick: Game
) -> None:
    other = await new_game(api)
    chance = Random(6)
    version = await a_trick(quick, chance)
    waiting = await dispute(quick, 0, version)
    plain = await dispute(quick, 1, 1, "chain")
    elsewhere = await dispute(other, 2, 1, "chain")

    async def listed(token: str, query: str = "") -> list[str]:
        answer = await api.get(f"/v1/disputes{query}", headers=bearer(token))
        assert answer.status_code == 200, answer.text
        return [item["id"] for item in answer.json()["items"]]

    newest_first = [elsewhere["id"], plain["id"], waiting["id"]]
    assert await listed(HOST_KEY) == newest_first
    assert await listed(HOST_KEY, "?state=pending") == [waiting["id"]]
    assert await listed(HOST_KEY, "?state=found") == newest_first[:2]
    assert await listed(HOST_KEY, f"?game={other.id}") == [elsewhere["id"]]
    assert await listed(quick.token(2)) == newest_first[1:]
    assert await listed(quick.token(2), f"?game={other.id}") == []
    assert await listed(OTHER_KEY) == []
    pages: list[str] = []
    cursor = ""
    while cursor is not None:
        query = f"?limit=1{cursor and f'&cursor={cursor}'}"
        page = (await api.get(f"/v1/disputes{query}", headers=HOST)).json()
        pages += [item["id"] for item in page["items"]]
        cursor = page["next"]
    assert pages == newest_first
    await quick.play(chance)
    await completed(api, waiting)
    await resolved(api, plain)
    assert await listed(HOST_KEY, "?state=pending") == []
    assert await listed(HOST_KEY, "?state=resolved") == [plain["id"]]
    games = (await api.get("/v1/games", headers=HOST)).json()["items"]
    assert {item["id"] for item in games} == {quick.id, other.id}


async def resolved(
    api: httpx.AsyncClient, found: Json, outcome: str = "rejected", **headers: str
) -> Json:
    body = {"outcome": outcome, "note": "The log says so."}
    path = f"/v1/disputes/{found['id']}/resolution"
    answer = await api.post(path, json=body, headers=bearer(HOST_KEY, **headers))
    assert answer.status_code == 201, answer.text
    done: Json = answer.json()
    return done


@pytest.mark.parametrize("outcome", ["upheld", "rejected"])
async def test_a_host_settles_a_dispute_once(game: Game, outcome: str) -> None:
    found = await dispute(game, 0, 1, "chain")
    done = await resolved(game.api, found, outcome)
    assert done["state"] == "resolved"
    at = done["resolution"].pop("at")
    assert done["resolution"] == {"outcome": outcome, "note": "The log says so."}
    assert at >= found["opened_at"]
    assert done["finding"] == found["finding"]
    seen = await looked(game.api, found, game.token(1))
    assert seen["resolution"] == {"outcome": outcome, "note": "The log says so.", "at": at}
    path = f"/v1/disputes/{found['id']}/resolution"
    again = await game.api.post(path, json={"outcome": "upheld"}, headers=HOST)
    refused = problem(again, 409, "illegal-action")
    assert refused["rule"] == "dispute.resolved"


async def test_a_finding_completes_itself_after_the_dispute_was_settled_too(quick: Game) -> None:
    chance = Random(3)
    found = await dispute(quick, 0, await a_trick(quick, chance))
    assert (await resolved(quick.api, found))["state"] == "resolved"
    await quick.play(chance)
    now = await completed(quick.api, found)
    assert now["state"] == "resolved"
    assert now["finding"]["trick"]["rightful"] is not None


async def test_a_request_repeated_with_its_key_acts_once(game: Game) -> None:
    many = await asyncio.gather(*[dispute(game, 0, 2, "chain", key="k") for _ in range(6)])
    assert len({found["id"] for found in many}) == 1
    body = {"version": 2, "claim": {"kind": "chain"}}
    again = await game.post(0, "/disputes", body, Idempotency_Key="k")
    assert again.headers["idempotent-replayed"] == "true"
    assert again.json() == many[0]
    other = {"version": 3, "claim": {"kind": "chain"}}
    problem(
        await game.post(0, "/disputes", other, Idempotency_Key="k"), 422, "idempotency-mismatch"
    )
    first = await resolved(game.api, many[0], Idempotency_Key="r")
    assert await resolved(game.api, many[0], Idempotency_Key="r") == first
    after = await game.post(0, "/disputes", body, Idempotency_Key="k")
    assert after.json() == many[0]
    path = f"/v1/disputes/{many[0]['id']}/resolution"
    headers = bearer(HOST_KEY, Idempotency_Key="r")
    answer = await game.api.post(path, json={"outcome": "upheld"}, headers=headers)
    problem(answer, 422, "idempotency-mismatch")
    assert len((await game.api.get("/v1/disputes", headers=HOST)).json()["items"]) == 1


async def test_who_may_do_what(game: Game) -> None:
    body = {"version": 1, "claim": {"kind": "chain"}}
    found = await dispute(game, 0, 1, "chain")
    other = await new_game(game.api)
    spectator = (await game.post(HOST_KEY, "/spectators")).json()["token"]
    problem(await game.api.post(game.path + "/disputes", json=body), 401, "unauthorized")
    problem(await game.post(spectator, "/disputes", body), 403, "forbidden")
    problem(await game.post(other.token(0), "/disputes", body), 404, "not-found")
    problem(await game.post(OTHER_KEY, "/disputes", body), 404, "not-found")
    one = f"/v1/disputes/{found['id']}"
    for path in ("/v1/disputes", one):
        problem(await game.api.get(path), 401, "unauthorized")
        problem(await game.api.get(path, headers=bearer(spectator)), 403, "forbidden")
    for token in (OTHER_KEY, other.token(0)):
        problem(await game.api.get(one, headers=bearer(token)), 404, "not-found")
    for name in (str(uuid4()), game.id, "x"):
        path = f"/v1/disputes/{name}"
        problem(await game.api.get(path, headers=HOST), 404, "not-found")
    problem(await game.api.get(f"/v1/games/{found['id']}", headers=HOST), 404, "not-found")
    settle = {"outcome": "upheld"}
    path = f"{one}/resolution"
    answer = await game.api.post(path, json=settle, headers=bearer(game.token(0)))
    problem(answer, 403, "forbidden")
    answer = await game.api.post(path, json=settle, headers=bearer(OTHER_KEY))
    problem(answer, 404, "not-found")
    revoked = game.token(0)
    await game.post(HOST_KEY, "/seats/0/token")
    for path in ("/v1/disputes", one):
        problem(await game.api.get(path, headers=bearer(revoked)), 401, "unauthorized")


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({}, "$.version"),
        ({"version": 1}, "$.claim"),
        ({"version": "1", "claim": {"kind": "trick"}}, "$.version"),
        ({"version": 0, "claim": {"kind": "trick"}}, "$.version"),
        ({"version": 9_999, "claim": {"kind": "trick"}}, "$.version"),
        ({"version": 1, "claim": {"kind": "smell"}}, "$.claim.kind"),
        ({"version": 1, "claim": {"kind": "trick", "text": "a\u0000b"}}, "$.claim.text"),
        ({"version": 1, "claim": {"kind": "trick", "text": "x" * 2001}}, "$.claim.text"),
        ({"version": 1, "claim": {"kind": "trick", "why": ""}}, "$.claim.why"),
        ({"version": 1, "claim": {"kind": "trick"}, "outcome": "upheld"}, "$.outcome"),
        ({"version": 1, "claim": {"kind": "trick"}, "receipt": {"game": "x"}}, "$.receipt"),
    ],
)
async def test_a_dispute_that_makes_no_sense_is_told_where(
    shared_game: Game, body: Json, path: str
) -> None:
    answer = problem(await shared_game.post(0, "/disputes", body), 400, "invalid-request")
    assert answer["errors"][0]["path"].startswith(path)


@pytest.mark.parametrize("body", [{}, {"outcome": "won"}, {"outcome": "upheld", "note": 5}])
async def test_a_resolution_that_makes_no_sense_is_refused(shared_game: Game, body: Json) -> None:
    found = await dispute(shared_game, 0, 1, "chain")
    path = f"/v1/disputes/{found['id']}/resolution"
    answer = await shared_game.api.post(path, json=body, headers=HOST)
    problem(answer, 400, "invalid-request")


@pytest.mark.parametrize("query", ["state=open", "cursor=x", "limit=0", "limit=201", "game=%00"])
async def test_a_list_that_makes_no_sense_is_refused(
    shared_api: httpx.AsyncClient, query: str
) -> None:
    problem(await shared_api.get(f"/v1/disputes?{query}", headers=HOST), 400, "invalid-request")


async def test_a_receipt_that_the_service_never_gave_proves_nothing(game: Game) -> None:
    version = game.created["version"]
    entry = Entry(
        version=version,
        type="x",
        schema=1,
        at=0,
        actor=None,
        command="",
        data=b"",
        prev=b"",
        hash=bytes(32),
    )
    forged = msgspec.to_builtins(SigningKey(bytes(range(32, 64))).receipt(game.id, entry))
    changed_hash = game.created["receipt"] | {"hash": "0" * 64}
    another = (await new_game(game.api)).created["receipt"]
    for receipt in (forged, changed_hash, another):
        body = {"version": 1, "claim": {"kind": "chain"}, "receipt": receipt}
        answer = problem(await game.post(0, "/disputes", body), 400, "invalid-request")
        assert answer["errors"][0]["path"] == "$.receipt"
    found = await dispute(game, 0, 1, "chain", receipt=game.created["receipt"])
    assert found["receipt"] == game.created["receipt"]
    assert found["finding"]["verdict"] == "consistent"
    assert "receipt (given)" in {check["check"] for check in found["finding"]["checks"]}


async def test_a_receipt_contradicts_a_history_that_was_rewritten(
    database_url: str, api: httpx.AsyncClient, store: EventStore
) -> None:
    """The same game in the same store, but a minute later: everything about it fits."""
    table = fold(LOG.header.id, LOG.entries)
    late = [msgspec.structs.replace(e, at=e.at + 60_000_000) for e in LOG.entries]
    await planted(store, table, rechained(table.id, late))
    found = await claimed(api, table.id, 40, "chain")
    assert found["finding"]["verdict"] == "consistent"
    key = SigningKey(bytes(range(32)))
    receipt = msgspec.to_builtins(key.receipt(table.id, LOG.entries[99]))
    for kind in ("chain", "action"):
        found = await claimed(api, table.id, 40, kind, receipt=receipt)
        assert found["finding"]["verdict"] == "contradicted"
        [failed] = [c for c in found["finding"]["checks"] if c["status"] == "failed"]
        assert (failed["check"], failed["versions"]) == ("receipt (given)", [100])
        assert "history was rewritten" in failed["detail"]


async def claimed(
    api: httpx.AsyncClient, game_id: str, version: int, kind: str, **more: Any
) -> Json:
    body = {"version": version, "claim": {"kind": kind}, **more}
    answer = await api.post(f"/v1/games/{game_id}/disputes", json=body, headers=HOST)
    assert answer.status_code == 201, answer.text
    found: Json = answer.json()
    return found


async def test_a_log_with_a_wrong_taker_is_contradicted(
    api: httpx.AsyncClient, store: EventStore
) -> None:
    """Forged with hashes that fit: the trick goes to whom the rules do not give it."""
    taken = of_type(LOG.entries, "TrickTaken")[0]
    wrong = changed(taken, lambda data: data.update(seat=(data["seat"] + 1) % 5))
    table = fold(LOG.header.id, LOG.entries)
    await planted(store, table, rechained(table.id, put(LOG.entries, wrong)))
    for kind in ("trick", "action", "score"):
        found = await claimed(api, table.id, taken.version, kind)
        assert found["finding"]["verdict"] == "contradicted"
        failed = [c for c in found["finding"]["checks"] if c["status"] == "failed"]
        assert any(f"version {taken.version}" in check["detail"] for check in failed)
    assert (await claimed(api, table.id, taken.version, "chain"))["state"] == "found"


async def test_what_is_played_while_a_finding_is_made_accuses_nobody(
    game: Game, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The log is read at one moment; a receipt that is kept later tells of no tail cut off."""
    read = Games.history

    async def read_and_played_on(games: Games, *which: Any) -> History:
        history = await read(games, *which)
        monkeypatch.undo()
        done = await game.act(0, {"type": "pass"}, Idempotency_Key="meanwhile")
        assert done.status_code == 201
        return history

    monkeypatch.setattr(Games, "history", read_and_played_on)
    found = await dispute(game, 0, 1, "chain")
    assert found["finding"]["verdict"] == "consistent"
    assert (await dispute(game, 0, 1, "chain"))["finding"]["checks"][-1] == {
        "check": "receipt (stored)",
        "status": "passed",
        "versions": [(await game.view())["version"]],
        "detail": "signed by an anchored key and continued by this log",
    }
