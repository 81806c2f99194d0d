"""429 with `Retry-After`: by token, and by address for those who have no valid one."""

import asyncio
from typing import Any

import httpx
import pytest

from api.app import create_app
from api.limits import Buckets
from api.settings import Settings, SettingsError, from_environment
from tests.api.running import (
    HOST,
    HOST_KEY,
    OTHER_KEY,
    SECRET,
    SIGNING_KEYS,
    bearer,
    new_game,
    problem,
    running,
)

pytestmark = pytest.mark.postgres


def test_a_bucket_holds_its_burst_and_fills_at_its_pace() -> None:
    now = 100.0
    buckets = Buckets(2.0, 3, clock=lambda: now)
    assert [buckets.take("a") for _ in range(6)] == [0] * 6
    assert buckets.take("a") == 0.5
    assert buckets.take("b") == 0
    now += 0.4
    assert buckets.wait("a") == pytest.approx(0.1)
    assert buckets.take("a") == pytest.approx(0.1)
    now += 0.1
    assert buckets.wait("a") == 0
    assert buckets.take("a") == 0
    now += 1000
    assert [buckets.take("a") for _ in range(7)] == [0] * 6 + [0.5]


async def until_refused(api: httpx.AsyncClient, path: str, token: str, most: int) -> int:
    """How many requests are answered before the first 429, which says when to come back."""
    for count in range(most):
        answer = await api.get(path, headers=bearer(token))
        if answer.status_code != 200:
            problem(answer, 429, "rate-limited")
            assert int(answer.headers["retry-after"]) >= 1
            return count
    raise AssertionError(f"{most} requests were answered")


async def test_each_token_has_its_own_measure(database_url: str) -> None:
    async with running(database_url, token_rate=0.5) as api:
        game = await new_game(api)
        spectator = (await game.post(HOST_KEY, "/spectators")).json()["token"]
        # A bucket holds what ten seconds bring, and hardly fills within this test.
        assert 5 <= await until_refused(api, game.path, game.token(0), 30) <= 15
        assert (await game.get(1)).status_code == 200
        assert 5 <= await until_refused(api, game.path, spectator, 30) <= 15
        for _ in range(30):
            assert (await game.get()).status_code == 200  # a host key is another matter
        metrics = (await api.get("/metrics")).text
        assert 'fairdeal_rate_limited_total{by="token"}' in metrics


async def test_what_is_refused_does_nothing_and_can_be_tried_again(database_url: str) -> None:
    async with running(database_url, token_rate=2) as api:
        game = await new_game(api)
        await until_refused(api, game.path, game.token(0), 100)
        refused = await game.act(0, {"type": "pass"}, Idempotency_Key="k")
        while refused.status_code == 429:
            await asyncio.sleep(int(refused.headers["retry-after"]))
            refused = await game.act(0, {"type": "pass"}, Idempotency_Key="k")
        assert refused.status_code == 201
        assert "idempotent-replayed" not in refused.headers


async def test_each_host_key_has_its_own_measure(database_url: str) -> None:
    async with running(database_url, host_rate=0.5) as api:
        assert 5 <= await until_refused(api, "/v1/games", HOST_KEY, 30) <= 15
        assert (await api.get("/v1/games", headers=bearer(OTHER_KEY))).status_code == 200


async def test_health_and_what_is_open_to_all_are_never_refused(database_url: str) -> None:
    async with running(database_url, host_rate=0.1, token_rate=0.1, guess_rate=1) as api:
        for path in ("/health/live", "/health/ready", "/v1/rules", "/metrics", "/", "/schema"):
            for _ in range(5):
                assert (await api.get(path, headers=bearer("nonsense"))).status_code == 200


async def test_by_itself_a_token_may_ask_any_number_of_times(database_url: str) -> None:
    async with running(database_url) as api:
        game = await new_game(api)
        for token in (HOST_KEY, game.token(0)):
            for _ in range(300):
                assert (await game.get(token)).status_code == 200


async def test_guessing_from_an_address_comes_to_an_end(database_url: str) -> None:
    """Once it has, no host key is looked at that has not been good there before: the answer to a
    right guess is that to a wrong one. Who holds a token, which nobody guesses, plays on."""
    async with running(database_url, guess_rate=20) as api:
        game = await new_game(api)  # by the host, from this address
        seen = 0
        while (answer := await game.get(f"guess-{seen}")).status_code == 401:
            seen += 1
        assert 20 <= seen <= 25
        problem(answer, 429, "rate-limited")
        assert int(answer.headers["retry-after"]) >= 1
        problem(await game.get(OTHER_KEY), 429, "rate-limited")
        assert (await game.get(game.token(0))).status_code == 200
        assert (await game.get(HOST_KEY)).status_code == 200
        metrics = (await api.get("/metrics")).text
        assert 'fairdeal_rate_limited_total{by="address"}' in metrics


async def test_however_a_key_is_written_it_is_one(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody can make the process forget which hosts are known, or remember megabytes."""
    monkeypatch.setattr("api.limits._KEYS_KEPT", 10)
    async with running(database_url, guess_rate=20) as api:
        game = await new_game(api)
        other = await api.get("/v1/games", headers=bearer(OTHER_KEY))
        assert other.status_code == 200
        for spaces in range(30):
            assert (await game.get(" " * spaces + HOST_KEY)).status_code == 200
        while (await game.get("guess")).status_code == 401:
            pass
        other = await api.get("/v1/games", headers=bearer(OTHER_KEY))
        assert other.status_code == 200


async def test_a_revoked_token_counts_as_none(database_url: str) -> None:
    async with running(database_url, guess_rate=20) as api:
        game = await new_game(api)
        assert (await game.get(0)).status_code == 200
        await game.post(HOST_KEY, "/seats/0/token")
        statuses = [(await game.get(0)).status_code for _ in range(30)]
        assert statuses == [401] * 30
        assert (await game.get("guess")).status_code == 429


def application(database_url: str, **changes: Any) -> Any:
    return create_app(
        Settings(
            database_url=database_url,
            host_keys={"host": HOST_KEY},
            secret=SECRET,
            signing_keys=SIGNING_KEYS,
            **changes,
        )
    )


async def test_addresses_are_told_apart_past_trusted_proxies_alone(database_url: str) -> None:
    app = application(database_url, guess_rate=6, proxies="10.0.0.0/8, 192.0.2.7")

    async def guesses(address: str, forwarded: str, most: int = 12) -> int:
        """How many guesses from there are looked at."""
        transport = httpx.ASGITransport(app, client=(address, 4711))
        async with httpx.AsyncClient(transport=transport, base_url="http://api.test") as client:
            for count in range(most):
                headers = bearer("guess", X_Forwarded_For=forwarded)
                answer = await client.get("/v1/games", headers=headers)
                if answer.status_code == 429:
                    return count
        return most

    async with app.lifespan():
        assert 6 <= await guesses("10.1.2.3", "203.0.113.5") <= 8
        assert await guesses("10.1.2.3", "203.0.113.5, 192.0.2.7") == 0  # the same person
        assert await guesses("10.9.9.9", "1.1.1.1, 203.0.113.5") == 0  # who says what they like
        assert 6 <= await guesses("10.1.2.3", "203.0.113.6") <= 8
        assert 6 <= await guesses("198.51.100.1", "203.0.113.7") <= 8  # no proxy of ours:
        assert await guesses("198.51.100.1", "203.0.113.8") == 0  # its word counts nothing
        assert 6 <= await guesses("2001:db8::1", "") <= 8
        assert await guesses("2001:db8::ffff", "") == 0  # one network is one address
        assert 6 <= await guesses("2001:db8:0:1::1", "") <= 8


async def test_metrics_through_a_proxy_on_this_machine_are_for_hosts(database_url: str) -> None:
    app = application(database_url)
    near = httpx.ASGITransport(app, client=("127.0.0.1", 4711))
    async with (
        app.lifespan(),
        httpx.AsyncClient(transport=near, base_url="http://api.test") as client,
    ):
        for name in ("X-Forwarded-For", "Forwarded", "X-Real-IP", "Via"):
            headers = {name: "203.0.113.9"}
            problem(await client.get("/metrics", headers=headers), 401, "unauthorized")
            assert (await client.get("/metrics", headers=headers | HOST)).status_code == 200
        assert (await client.get("/metrics")).status_code == 200


NEEDED = {
    "FAIRDEAL_DATABASE_URL": "postgresql://x",
    "FAIRDEAL_HOST_KEYS": "one:k1",
    "FAIRDEAL_SECRET": "s",
}


def test_the_limits_come_from_the_environment() -> None:
    settings = from_environment(
        NEEDED
        | {
            "FAIRDEAL_TOKEN_RATE": "2.5",
            "FAIRDEAL_HOST_RATE": "100",
            "FAIRDEAL_GUESS_RATE": "0",
            "FAIRDEAL_PROXIES": "10.0.0.1",
        }
    )
    assert (settings.token_rate, settings.host_rate, settings.guess_rate) == (2.5, 100, 0)
    assert settings.proxies == "10.0.0.1"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("FAIRDEAL_TOKEN_RATE", "-1"),
        ("FAIRDEAL_HOST_RATE", "often"),
        ("FAIRDEAL_GUESS_RATE", "inf"),
        ("FAIRDEAL_GUESS_RATE", "nan"),
        ("FAIRDEAL_PROXIES", "proxy.example"),
        ("FAIRDEAL_PROXIES", "10.0.0.1/8"),
    ],
)
def test_a_limit_that_makes_no_sense_is_named(name: str, value: str) -> None:
    with pytest.raises(SettingsError, match=name):
        from_environment(NEEDED | {name: value})


async def test_a_port_makes_no_other_address(database_url: str) -> None:
    async with running(database_url, guess_rate=20, proxies="127.0.0.1") as api:
        statuses = set()
        for port in range(40):
            for hop in (f"192.0.2.7:{4000 + port}", f"[2001:db8::7]:{4000 + port}"):
                asked = bearer("guess") | {"X-Forwarded-For": hop}
                statuses.add((hop[:4], (await api.get("/v1/games", headers=asked)).status_code))
        assert statuses == {("192.", 401), ("192.", 429), ("[200", 401), ("[200", 429)}
