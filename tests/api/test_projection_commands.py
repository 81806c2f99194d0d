"""`fairdeal project`, `projections` and `rebuild`, as one types them; readiness and metrics."""

import asyncio
import json
import re
import signal
import subprocess
from pathlib import Path
from types import MappingProxyType
from typing import Any

import httpx
import psycopg
import pytest

from api import upkeep
from eventstore.migrate import grant_app
from eventstore.postgres import EventStore
from projections import registry
from projections.projection import Projection
from tests.api.processes import command, free_port, serving
from tests.api.running import HOST_KEY, SECRET, SIGNING_KEYS, problem, running
from tests.api.test_proof_commands import fairdeal
from tests.database import Databases
from tests.eventstore.test_grants import role, url_of
from tests.projections.running import caught_up, runner
from tests.projections.tally import poison, rows, tally, write, wrong

__all__ = ["role"]


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> MappingProxyType[str, Projection]:
    """The test's projection, and no other, is what the service knows."""
    known = MappingProxyType({"tally": tally()})
    monkeypatch.setattr(registry, "PROJECTIONS", known)
    monkeypatch.setattr(upkeep, "PROJECTIONS", known)
    return known


async def typed(*arguments: str, url: str) -> Any:
    return await asyncio.to_thread(fairdeal, *arguments, DATABASE_URL=url)


@pytest.mark.usefixtures("registered")
async def test_a_rebuild_as_one_types_it(store: EventStore, database_url: str) -> None:
    await write(store, 6, 2)
    done = await typed("rebuild", "tally", url=database_url)
    assert done.exit_code == 0, done.stderr
    assert "Projection tally was built again from 12 events" in done.stdout
    assert "tally: 6 rows, the same" in done.stdout
    rows(database_url, "DELETE FROM projections.tally RETURNING 1")
    again = await typed("rebuild", "tally", "--json", url=database_url)
    assert again.exit_code == 0, again.stderr
    report = json.loads(again.stdout)
    assert report["different"] is True
    assert report["compared"][0] == {
        "table": "tally",
        "live_rows": 0,
        "rebuilt_rows": 6,
        "only_live": 0,
        "only_rebuilt": 6,
    }
    assert wrong(database_url) == []


@pytest.mark.usefixtures("registered")
async def test_a_rebuild_beside_another_exits_with_1(store: EventStore, database_url: str) -> None:
    with psycopg.connect(database_url) as other:
        other.execute("SELECT pg_advisory_xact_lock(6662, hashtext('tally'))")
        done = await typed("rebuild", "tally", url=database_url)
    assert done.exit_code == 1
    assert "Somebody else is rebuilding tally" in done.stderr


@pytest.mark.usefixtures("registered")
@pytest.mark.parametrize("words", [("rebuild", "nothing"), ("project", "tally", "nothing")])
async def test_an_unknown_name_exits_with_2(words: tuple[str, ...], database_url: str) -> None:
    done = await typed(*words, url=database_url)
    assert done.exit_code == 2
    assert "nothing is no projection" in done.stderr


@pytest.mark.usefixtures("registered")
@pytest.mark.parametrize("words", [("rebuild", "tally"), ("projections",), ("project",)])
async def test_a_database_without_tables_is_said(
    words: tuple[str, ...], databases: Databases
) -> None:
    with databases.fresh(migrated=False) as url:
        done = await typed(*words, url=url)
    assert done.exit_code == 1
    assert "fairdeal migrate" in done.stderr


@pytest.mark.usefixtures("registered")
async def test_how_projections_stand(store: EventStore, database_url: str) -> None:
    nothing = await typed("projections", url=database_url)
    assert nothing.exit_code == 1
    assert "not begun" in nothing.stdout
    async with runner(database_url):
        [append, _] = await write(store, 2)
        await caught_up(store)
        fine = await typed("projections", "--json", url=database_url)
        assert fine.exit_code == 0, fine.stderr
        [item] = json.loads(fine.stdout)["items"]
        assert (item["name"], item["state"], item["lag_events"]) == ("tally", "live", 0)
        assert item["heartbeat_seconds"] < 30
        await poison(store, append)
        await caught_up(store)
    await write(store, 3)
    told = await typed("projections", url=database_url)
    assert told.exit_code == 1
    assert f"{append.stream} from version 2: ValueError" in told.stdout
    [item] = json.loads((await typed("projections", "--json", url=database_url)).stdout)["items"]
    assert item["lag_events"] == 3
    assert item["lag_seconds"] > 0
    assert [parked["version"] for parked in item["parked"]] == [2]


@pytest.mark.usefixtures("registered")
async def test_serving_keeps_projections_up_and_tells(store: EventStore, database_url: str) -> None:
    async with running(database_url, projection_lag_seconds=3600.0) as api:
        [append] = await write(store, 1, 3)
        await caught_up(store)
        assert wrong(database_url) == []
        ready = (await api.get("/health/ready")).json()
        assert ready["status"] == "ready"
        assert ready["projections"]["tally"]["lag_events"] == 0
        assert ready["projections"]["tally"]["state"] == "current"
        await poison(store, append)
        await caught_up(store)
        metrics = (await api.get("/metrics")).text
    assert 'fairdeal_projection_parked{projection="tally"} 1.0' in metrics
    assert 'fairdeal_projection_lag_events{projection="tally"} 0.0' in metrics
    assert re.search(r'projection_applied_total\{projection="tally"\} [1-9]', metrics)


@pytest.mark.usefixtures("registered")
async def test_a_projection_far_behind_is_told_and_the_service_stays_ready(
    store: EventStore, database_url: str
) -> None:
    async with running(database_url, projections="elsewhere", projection_lag_seconds=0.01) as api:
        # What there is to read is there all the same.
        assert rows(database_url, "SELECT * FROM projections.tally") == []
        await write(store, 4)
        await asyncio.sleep(0.05)
        answer = await api.get("/health/ready")
        assert answer.status_code == 200
        told = answer.json()["projections"]["tally"]
        assert (told["state"], told["lag_events"]) == ("behind", 4)
        metrics = (await api.get("/metrics")).text
    assert "fairdeal_feed_unstamped 4.0" in metrics
    assert 'fairdeal_projection_lag_events{projection="tally"} 4.0' in metrics


@pytest.mark.usefixtures("registered")
async def test_metrics_of_a_database_that_is_away_are_no_old_ones(database_url: str) -> None:
    async with running(database_url) as api:
        assert 'lag_events{projection="tally"} 0.0' in (await api.get("/metrics")).text
    nowhere = "postgresql://nobody@127.0.0.1:1/none"
    async with running(nowhere, database_deadline_seconds=0.2) as api:
        problem(await api.get("/health/ready"), 503, "unavailable")
        assert 'lag_events{projection="tally"} NaN' in (await api.get("/metrics")).text


@pytest.mark.usefixtures("registered")
async def test_the_role_that_serves_can_project_and_rebuild(database_url: str, role: str) -> None:
    """And a rebuild by the owner leaves tables that the role can go on writing."""
    await grant_app(database_url, role)
    url = url_of(database_url, role)
    async with EventStore.open(url) as store, runner(url):
        await write(store, 5, 2)
        await caught_up(store)
        own = await typed("rebuild", "tally", url=url)
        assert own.exit_code == 0, own.stderr
        by_owner = await typed("rebuild", "tally", url=database_url)
        assert by_owner.exit_code == 0, by_owner.stderr
        await write(store, 5)
        await caught_up(store)
    assert wrong(database_url) == []
    owners = (
        "SELECT DISTINCT relowner::regrole::text FROM pg_class"
        " WHERE relnamespace = 'projections'::regnamespace AND relkind IN ('r', 'v')"
    )
    assert rows(database_url, owners) == [(role,)]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_project_runs_until_it_is_told_to_stop(database_url: str, number: int) -> None:
    with subprocess.Popen(
        **command("project", FAIRDEAL_DATABASE_URL=database_url),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as started:
        assert started.stdout is not None
        assert started.stdout.readline().startswith("Fairdeal keeps up: ")
        started.send_signal(number)
        _, complaints = started.communicate(timeout=60)
    assert (started.returncode, complaints) == (0, "")


def test_every_worker_answers_the_metrics_of_all(database_url: str, tmp_path: Path) -> None:
    environment = {
        "FAIRDEAL_DATABASE_URL": database_url,
        "FAIRDEAL_HOST_KEYS": f"host:{HOST_KEY}",
        "FAIRDEAL_SECRET": SECRET,
        "FAIRDEAL_SIGNING_KEYS": SIGNING_KEYS,
        "FAIRDEAL_DATA_DIR": str(tmp_path),
    }
    with serving(free_port(), "--workers", "2", **environment) as server:
        for _ in range(6):
            metrics = httpx.get(f"{server.address}/metrics").text
            assert len(re.findall(r"^fairdeal_feed_unstamped(?:\{.*\})? ", metrics, re.M)) == 1
