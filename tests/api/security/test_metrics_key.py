"""The key that reads `/metrics` and opens nothing else; what it may not is in the matrix."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest

from api.app import create_app
from api.doctor import place
from api.settings import Settings, SettingsError, from_environment
from tests.api.running import (
    HOST_KEY,
    METRICS_KEY,
    OTHER_KEY,
    SECRET,
    SIGNING_KEYS,
    bearer,
    problem,
)

pytestmark = pytest.mark.postgres

ELSEWHERE = ("198.51.100.7", 4711)
FIGURES = bearer(METRICS_KEY)


@asynccontextmanager
async def from_elsewhere(database_url: str, **more: Any) -> AsyncIterator[httpx.AsyncClient]:
    """A client on another machine than the process."""
    settings = Settings(
        database_url=database_url,
        host_keys={"host": HOST_KEY, "other": OTHER_KEY},
        secret=SECRET,
        signing_keys=SIGNING_KEYS,
        **more,
    )
    app: Any = create_app(settings)
    transport = httpx.ASGITransport(app, client=ELSEWHERE)
    async with (
        app.lifespan(),
        httpx.AsyncClient(transport=transport, base_url="http://api.test") as client,
    ):
        yield client


async def test_it_reads_the_figures_from_anywhere(database_url: str) -> None:
    async with from_elsewhere(database_url, metrics_key=METRICS_KEY) as client:
        answer = await client.get("/metrics", headers=FIGURES)
        assert answer.status_code == 200
        assert "fairdeal_workers" in answer.text
        for passed_on in ("X-Forwarded-For", "Via"):
            headers = FIGURES | {passed_on: "203.0.113.9"}
            assert (await client.get("/metrics", headers=headers)).status_code == 200
        assert (await client.head("/metrics", headers=FIGURES)).status_code == 200
        assert (await client.get("/metrics", headers=bearer(HOST_KEY))).status_code == 200
        for wrong in ({}, bearer(METRICS_KEY[:-1]), bearer(METRICS_KEY + "x"), bearer("")):
            problem(await client.get("/metrics", headers=wrong), 401, "unauthorized")
        basic = {"Authorization": f"Basic {METRICS_KEY}"}
        problem(await client.get("/metrics", headers=basic), 401, "unauthorized")
        # Where a host's key opens the door it does not.
        problem(await client.get("/v1/games", headers=FIGURES), 401, "unauthorized")


async def test_without_one_nobody_has_one(database_url: str) -> None:
    async with from_elsewhere(database_url) as client:
        for token in (METRICS_KEY, "", "None"):
            problem(await client.get("/metrics", headers=bearer(token)), 401, "unauthorized")


async def test_it_cannot_be_guessed_any_faster_than_a_host_key(database_url: str) -> None:
    async with from_elsewhere(database_url, metrics_key=METRICS_KEY, guess_rate=20) as client:
        seen = 0
        while (
            answer := await client.get("/metrics", headers=bearer(f"g{seen}"))
        ).status_code != 429:
            assert answer.status_code == 401
            seen += 1
        assert 20 <= seen <= 25
        # The answer to a right guess is that to a wrong one.
        problem(await client.get("/metrics", headers=FIGURES), 429, "rate-limited")
    async with from_elsewhere(database_url, metrics_key=METRICS_KEY, guess_rate=20) as client:
        assert (await client.get("/metrics", headers=FIGURES)).status_code == 200
        while (await client.get("/metrics", headers=bearer("guess"))).status_code != 429:
            pass
        # Who has shown it before goes on.
        assert (await client.get("/metrics", headers=FIGURES)).status_code == 200


NEEDED = {
    "FAIRDEAL_DATABASE_URL": "postgresql://x",
    "FAIRDEAL_HOST_KEYS": f"host:{HOST_KEY}",
    "FAIRDEAL_SECRET": SECRET,
}


def test_it_is_set_and_is_no_host_key() -> None:
    assert from_environment(NEEDED).metrics_key == ""
    found = from_environment(NEEDED | {"FAIRDEAL_METRICS_KEY": f"{METRICS_KEY}\n"})
    assert found.metrics_key == METRICS_KEY
    with pytest.raises(SettingsError, match="FAIRDEAL_METRICS_KEY") as refused:
        from_environment(NEEDED | {"FAIRDEAL_METRICS_KEY": HOST_KEY})
    assert HOST_KEY not in str(refused.value)


@pytest.mark.parametrize(("key", "state"), [(METRICS_KEY, "ok"), ("guess-me", "warn")])
def test_the_doctor_looks_at_it_and_shows_it_to_nobody(key: str, state: str) -> None:
    environment = NEEDED | {"FAIRDEAL_METRICS_KEY": key, "FAIRDEAL_DATA_DIR": "/nonexistent"}
    found = [finding for finding in place.findings(environment) if finding.check == "metrics key"]
    assert [finding.state for finding in found] == [state]
    assert key not in repr(list(place.listed(environment))) + repr(found)
