"""Receipts with every answer, public keys, exports: what a player takes home."""

import hashlib
import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from pathlib import Path
from random import Random

import httpx
import jwt
import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from api.signing import Signer, key_file, rotate
from domain.export import Export, read
from domain.receipts import PublicKey, Receipt
from domain.verify import verify
from tests.api.running import (
    HOST_KEY,
    OTHER_KEY,
    SIGNING_KEYS,
    Game,
    Json,
    bearer,
    new_game,
    problem,
    running,
)


async def keys_of(api: httpx.AsyncClient) -> list[Json]:
    answer = await api.get("/.well-known/jwks.json")
    assert answer.status_code == 200
    found: list[Json] = answer.json()["keys"]
    return found


def check_signature(receipt: Json, keys: list[Json]) -> None:
    """By RFC 7638, 8032 and 8785, with none of our code. Raises InvalidSignature."""
    [key] = [key for key in keys if key["kid"] == receipt["key"]]
    assert (key["kty"], key["crv"], key["alg"], key["use"]) == ("OKP", "Ed25519", "EdDSA", "sig")
    members = f'{{"crv":"Ed25519","kty":"OKP","x":"{key["x"]}"}}'
    thumbprint = urlsafe_b64encode(hashlib.sha256(members.encode()).digest())
    assert thumbprint.rstrip(b"=").decode() == key["kid"]
    rest = {name: value for name, value in receipt.items() if name != "signature"}
    signed = json.dumps(rest, sort_keys=True, separators=(",", ":")).encode()
    raw = [urlsafe_b64decode(text + "==") for text in (key["x"], receipt["signature"])]
    Ed25519PublicKey.from_public_bytes(raw[0]).verify(raw[1], signed)


async def test_every_accepted_command_gives_a_receipt_for_its_last_event(
    api: httpx.AsyncClient,
) -> None:
    game = await new_game(api, open_seats=1)
    answers = [game.created]
    for who, path, body in [
        (HOST_KEY, "/seats", {"name": "Dan"}),
        (HOST_KEY, "/spectators", None),
        (0, "/actions", {"type": "pass"}),
        (HOST_KEY, "/seats/1/token", None),
        (2, "/resign", None),
        (HOST_KEY, "/abandon", {"reason": "enough"}),
    ]:
        answer = await game.post(who, path, body)
        assert answer.status_code == 201, answer.text
        answers.append(answer.json())
    log = await game.events()
    keys = await keys_of(api)
    for answer in answers:
        receipt = answer["receipt"]
        event = log[answer["version"] - 1]
        assert receipt.keys() == {"game", "version", "hash", "at", "key", "signature"}
        assert (receipt["game"], receipt["version"]) == (game.id, answer["version"])
        assert (receipt["hash"], receipt["at"]) == (event["hash"], event["at"])
        check_signature(receipt, keys)


async def test_a_receipt_on_demand_is_for_the_newest_version(game: Game) -> None:
    keys = await keys_of(game.api)
    spectator = (await game.post(HOST_KEY, "/spectators")).json()["token"]
    head = (await game.events())[-1]
    for who in (0, spectator, HOST_KEY):
        receipt = (await game.get(who, "/receipt")).json()
        assert (receipt["version"], receipt["hash"]) == (head["version"], head["hash"])
        check_signature(receipt, keys)


async def test_a_repeated_request_gives_the_same_receipt_whichever_key_signs_today(
    database_url: str, tmp_path: Path
) -> None:
    path = key_file({"FAIRDEAL_DATA_DIR": str(tmp_path)})
    async with running(database_url, signing_keys="", signing_keys_file=str(path)) as api:
        game = await new_game(api)
        first = await game.act(0, {"type": "pass"}, Idempotency_Key="k")
        rotate(path)
        again = await game.act(0, {"type": "pass"}, Idempotency_Key="k")
        assert again.headers["idempotent-replayed"] == "true"
        assert again.json() == first.json()
        later = (await game.get(path="/receipt")).json()
        assert later["key"] != first.json()["receipt"]["key"]
        keys = await keys_of(api)
        assert [key.get("exp") for key in keys] == [keys[1]["nbf"], None]
        assert all(key["nbf"] for key in keys)
        for receipt in (first.json()["receipt"], later):
            check_signature(receipt, keys)


@pytest.mark.parametrize("path", ["/receipt", "/export", "/challenges", "/challenges/1"])
async def test_who_may_not_look_is_told_so(shared_game: Game, path: str) -> None:
    problem(await shared_game.api.get(shared_game.path + path), 401, "unauthorized")
    problem(await shared_game.get(OTHER_KEY, path), 404, "not-found")
    other = await new_game(shared_game.api)
    problem(await shared_game.get(other.token(0), path), 404, "not-found")
    await other.post(HOST_KEY, "/seats/0/token")
    problem(await other.get(0, path), 401, "unauthorized")


async def exported(game: Game, who: int | str) -> Export:
    answer = await game.get(who, "/export")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("application/x-ndjson")
    disposition = answer.headers["content-disposition"]
    assert disposition == f'attachment; filename="fairdeal-lodam-{game.id}.ndjson"'
    assert answer.content.endswith(b"\n")
    return read(answer.content.splitlines())


async def anchor_of(game: Game) -> list[PublicKey]:
    return msgspec.convert(await keys_of(game.api), list[PublicKey])


async def test_an_export_during_a_game_verifies_as_far_as_it_can(game: Game) -> None:
    chance = Random(5)
    kept: list[Receipt] = []
    for _ in range(12):
        done = await game.step(chance)
        kept.append(msgspec.convert(done["receipt"], Receipt))
    spectator = (await game.post(HOST_KEY, "/spectators")).json()["token"]
    anchor = await anchor_of(game)
    for who, viewer in (
        (1, {"role": "seat", "seat": 1}),
        (spectator, {"role": "spectator"}),
        (HOST_KEY, {"role": "host"}),
    ):
        log = await exported(game, who)
        assert log.header.viewer == viewer
        assert (log.header.game, log.header.id) == ("lodam", game.id)
        assert list(log.header.keys) == anchor
        views = await game.events(who)
        assert [entry.hash.hex() for entry in log.entries] == [view["hash"] for view in views]
        shown = [[part.body is not None for part in entry.sealed] for entry in log.entries]
        assert shown == [["data" in part for part in view["sealed"]] for view in views]
        report = verify(log, kept, anchor)
        assert not report.failed, report.checks
        sealed = {c.check for c in report.checks if c.status == "not_yet_possible"}
        assert sealed == {"digests", "deals", "rederivation"}
        passed = {c.check for c in report.checks if c.status == "passed"}
        assert {"chain", "receipt (file)", "receipt (kept)"} <= passed


async def test_an_export_of_a_finished_game_verifies_whole(api: httpx.AsyncClient) -> None:
    game = await new_game(api, bots=("careful",), rules={"lives": 1})
    receipts = [game.created["receipt"]]
    chance = Random(11)
    while (await game.view())["status"] == "playing":
        receipts.append((await game.step(chance))["receipt"])
    kept = [msgspec.convert(receipt, Receipt) for receipt in receipts]
    log = await exported(game, 0)
    report = verify(log, kept, await anchor_of(game))
    assert {check.status for check in report.checks} == {"passed"}
    assert len(report.checks) > len(kept)
    tail = msgspec.structs.replace(log, entries=log.entries[:-3], receipts=())
    cut = [c for c in verify(tail, kept, await anchor_of(game)).checks if c.status == "failed"]
    assert any("its tail was cut" in check.detail for check in cut)


async def test_a_long_export_comes_whole(api: httpx.AsyncClient) -> None:
    """Longer than a piece of the stream, and moving on meanwhile changes nothing."""
    game = await new_game(api, people=1, bots=("careful",) * 4, rules={"lives": 3})
    await game.play(Random(2))
    log = await exported(game, HOST_KEY)
    version = (await game.view())["version"]
    assert version > 300
    assert [entry.version for entry in log.entries] == list(range(1, version + 1))
    assert log.receipts[0].version == version


async def test_keys_are_public_and_hold_no_secret(shared_api: httpx.AsyncClient) -> None:
    for headers in ({}, bearer("nonsense")):
        answer = await shared_api.get("/.well-known/jwks.json", headers=headers)
        [key] = answer.json()["keys"]
        assert key.keys() == {"kid", "kty", "crv", "x", "use", "alg", "nbf"}
    assert "d" not in key


def test_a_verifier_of_others_can_read_the_keys() -> None:
    """PyJWT, which reads JWKs by the standards, takes them."""
    [key] = Signer(SIGNING_KEYS).keys
    found = jwt.PyJWK(msgspec.to_builtins(key))
    assert found.key_id == key.kid
    assert isinstance(found.key, Ed25519PublicKey)
