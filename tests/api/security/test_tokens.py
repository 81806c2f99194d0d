"""Tokens that somebody has made up, and how tokens are compared."""

import hmac
import json
import time
from base64 import urlsafe_b64encode
from contextlib import suppress
from typing import Any

import httpx
import jwt
import pytest

from api.identity import Keyring
from api.problems import Problem
from tests.api.running import HOST_KEY, SECRET, Game, bearer, problem

KEYS = {"one": "k" * 40, "two": "l" * 40, "three": "m" * 40}


def part(value: Any) -> str:
    return urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


def made_up(game: Game) -> list[str]:
    """Tokens made from a good one, or by its claims, without the secret."""
    good = game.token(0)
    head, body, signature = good.split(".")
    claims = jwt.decode(good, SECRET, ["HS256"])
    other = {**claims, "seat": 1}
    return [
        f"{head}.{part(other)}.{signature}",
        f"{head}.{body}.{signature[:-3]}AAA",
        f"{head}.{body}.",
        f"{head}.{body}",
        f"{good}.{signature}",
        f"{part({'alg': 'none', 'typ': 'JWT'})}.{body}.",
        f"{part({'alg': 'NONE'})}.{body}.{signature}",
        f"{part({'alg': 'HS256', 'crit': ['x']})}.{body}.{signature}",
        *[jwt.encode(claims, SECRET.ljust(64, "\0"), alg) for alg in ("HS384", "HS512")],
        *[jwt.encode(claims, key, "HS256") for key in ("0" * 32, HOST_KEY.ljust(32, "0"))],
        good.swapcase(),
        f"Bearer {good}",
        f"{good} {good}",
        "." * 60_000,
        "\xff\xfe",
    ]


async def test_a_token_that_is_made_up_is_none(shared_api: httpx.AsyncClient) -> None:
    body = {"game": "lodam", "players": [{"name": name} for name in "ABC"]}
    created = await shared_api.post("/v1/games", json=body, headers=bearer(HOST_KEY))
    game = Game(shared_api, created.json())
    for token in made_up(game):
        headers = {"Authorization": f"Bearer {token}".encode("latin-1")}
        answer = await shared_api.get(game.path, headers=headers)  # type: ignore[arg-type]
        problem(answer, 401, "unauthorized")
    assert (await game.get(0)).status_code == 200


@pytest.mark.parametrize("presented", [*KEYS.values(), "n" * 40, ""])
def test_a_key_is_held_against_every_host_in_constant_time(
    presented: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """How long it takes tells neither which host it is nor how much of a key is right."""
    compared: list[tuple[int, int]] = []
    compare = hmac.compare_digest

    def watched(left: Any, right: Any) -> bool:
        compared.append((len(left), len(right)))
        return compare(left, right)

    keyring = Keyring(KEYS, SECRET, 3600)
    monkeypatch.setattr(hmac, "compare_digest", watched)
    with suppress(Problem):
        keyring.caller(f"Bearer {presented}")
    if presented:
        assert compared[:3] == [(32, 32)] * 3  # digests, of one length whatever is presented


def test_a_signature_is_compared_in_constant_time(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = []
    compare = hmac.compare_digest

    def watched(left: Any, right: Any) -> bool:
        compared.append(left)
        return compare(left, right)

    keyring = Keyring({"one": KEYS["one"]}, SECRET, 3600)
    token = keyring.seat_token("game", 0, 1, int(time.time()) * 1_000_000)
    monkeypatch.setattr(hmac, "compare_digest", watched)
    with pytest.raises(Problem):
        keyring.caller(f"Bearer {token[:-4]}AAAA")
    assert len(compared) == 2  # the host's key, then the signature
