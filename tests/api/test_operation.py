"""What the operator sees: health, readiness, metrics, settings, a database that is away."""

import asyncio
from pathlib import Path

import httpx
import psycopg
import pytest

from api.settings import SettingsError, data_dir, from_environment, host_keys
from tests.api.running import HOST, problem, running
from tests.database import Databases

NOWHERE = "postgresql://nobody@127.0.0.1:1/none"


async def test_a_running_process_is_live_and_ready(shared_api: httpx.AsyncClient) -> None:
    assert (await shared_api.get("/health/live")).json() == {"status": "live"}
    ready = (await shared_api.get("/health/ready")).json()
    assert (ready["status"], ready["database"], ready["migrations"]) == ("ready", "ok", "ok")


async def test_without_a_database_the_process_lives_but_is_not_ready() -> None:
    async with running(NOWHERE, database_deadline_seconds=0.2) as api:
        assert (await api.get("/health/live")).status_code == 200
        problem(await api.get("/health/ready"), 503, "unavailable")
        answer = await api.get("/v1/games", headers=HOST)
        problem(answer, 503, "unavailable")
        assert answer.headers["retry-after"]
        body = {"game": "lodam", "players": [{"name": "A"}] * 3}
        problem(await api.post("/v1/games", json=body, headers=HOST), 503, "unavailable")


async def test_a_process_that_has_hardly_started_can_be_ended(database_url: str) -> None:
    """The first look at the database is under way then, and may take the cancellation for its
    own: see `api.app`."""
    async with asyncio.timeout(60):
        for number in range(40):
            async with running(database_url):
                for _ in range(number % 7):
                    await asyncio.sleep(0)


async def test_without_migrations_the_process_is_not_ready(databases: Databases) -> None:
    with databases.fresh(migrated=False) as url:
        async with running(url) as api:
            answer = problem(await api.get("/health/ready"), 503, "unavailable")
            assert "fairdeal migrate" in answer["detail"]


async def test_a_database_that_is_ahead_leaves_the_process_ready(database_url: str) -> None:
    """The next version has migrated it, and this one is to go on until its turn comes."""
    with psycopg.connect(database_url) as conn:
        conn.execute(
            "INSERT INTO fairdeal.migrations (number, name, checksum) VALUES (9999, '9999_x', '')"
        )
    async with running(database_url) as api:
        answer = await api.get("/health/ready")
        assert (answer.status_code, answer.json()["migrations"]) == (200, "ahead")


async def test_a_mistake_of_ours_tells_nothing(databases: Databases) -> None:
    with databases.fresh(migrated=False) as url:
        async with running(url) as api:
            answer = await api.get("/v1/games", headers=HOST)
            body = problem(answer, 500, "internal-error")
            assert "fairdeal." not in answer.text
            assert "SELECT" not in answer.text
            assert "Traceback" not in answer.text
            assert body.keys() == {"type", "title", "status", "detail", "instance", "request_id"}
            assert body["request_id"] == answer.headers["x-request-id"]


async def test_metrics_count_requests_by_route_and_never_by_game(
    shared_api: httpx.AsyncClient,
) -> None:
    body = {"game": "lodam", "players": [{"name": "A"}] * 3}
    created = (await shared_api.post("/v1/games", json=body, headers=HOST)).json()
    await shared_api.get(f"/v1/games/{created['id']}", headers=HOST)
    metrics = await shared_api.get("/metrics")
    assert metrics.headers["content-type"].startswith("text/plain")
    assert 'path="/v1/games/{game_id}"' in metrics.text
    assert created["id"] not in metrics.text


NEEDED = {
    "FAIRDEAL_DATABASE_URL": "postgresql://x",
    "FAIRDEAL_HOST_KEYS": "one:k1, two:k2",
    "FAIRDEAL_SECRET": "s",
}


def test_settings_come_from_the_environment() -> None:
    settings = from_environment(
        NEEDED
        | {
            "FAIRDEAL_DATABASE_CONNECTIONS": "3",
            "FAIRDEAL_DATABASE_PREPARE": "false",
            "FAIRDEAL_DATABASE_DEADLINE_SECONDS": "2.5",
            "FAIRDEAL_PROJECTIONS": "elsewhere",
        }
    )
    assert dict(settings.host_keys) == {"one": "k1", "two": "k2"}
    assert settings.database_connections == 3
    assert settings.database_prepare is False
    assert settings.database_deadline_seconds == 2.5
    assert settings.projections == "elsewhere"
    assert settings.token_seconds == 30 * 86_400
    assert settings.channel == "postgres"


@pytest.mark.parametrize("channel", ["memory", "redis://cache:6379/1", "unix:///run/redis.sock"])
def test_a_channel_is_taken_as_named(channel: str) -> None:
    settings = from_environment(NEEDED | {"FAIRDEAL_CHANNEL": channel})
    assert settings.channel == channel


@pytest.mark.parametrize("name", sorted(NEEDED))
def test_a_setting_that_is_needed_is_asked_for(name: str) -> None:
    with pytest.raises(SettingsError, match=name):
        from_environment({k: v for k, v in NEEDED.items() if k != name})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("FAIRDEAL_DATABASE_CONNECTIONS", "many"),
        ("FAIRDEAL_DATABASE_CONNECTIONS", "0"),
        ("FAIRDEAL_DATABASE_PREPARE", "perhaps"),
        ("FAIRDEAL_TOKEN_SECONDS", "-5"),
        ("FAIRDEAL_STALL_SECONDS", "0"),
        ("FAIRDEAL_CHANNEL", "pigeons"),
        ("FAIRDEAL_CHANNEL", "amqp://somewhere"),
        ("FAIRDEAL_PROJECTIONS", "perhaps"),
        ("FAIRDEAL_PROJECTION_LAG_SECONDS", "0"),
    ],
)
def test_a_setting_that_makes_no_sense_is_named(name: str, value: str) -> None:
    with pytest.raises(SettingsError, match=name):
        from_environment(NEEDED | {name: value})


@pytest.mark.parametrize("text", ["", "key", "a:", ":k", "a:k,a:l", "a:k,b:k", "a:k,b"])
def test_host_keys_that_make_no_sense_are_refused_without_being_quoted(text: str) -> None:
    with pytest.raises(SettingsError) as caught:
        host_keys(text)
    assert "k," not in str(caught.value)


def test_the_data_folder_is_the_one_set_or_the_users_own() -> None:
    assert data_dir({"FAIRDEAL_DATA_DIR": "/somewhere"}) == Path("/somewhere")
