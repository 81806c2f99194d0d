"""`/metrics`: every figure is documented, every documented figure is there, and they count."""

import asyncio
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
import yaml

from tests.api.running import HOST, Game, new_game, running

NOWHERE = "postgresql://nobody@127.0.0.1:1/none"
ROOT = Path(__file__).parents[2]
ALERTS = ROOT / "docs" / "deploy" / "alerts.yaml"

_PARTS = re.compile(r"(_bucket|_count|_sum)$")


async def figures(api: httpx.AsyncClient) -> dict[str, float]:
    """Every series with its value."""
    answer = await api.get("/metrics")
    assert answer.status_code == 200, answer.text
    return read(answer.text)


def read(text: str) -> dict[str, float]:
    """Every series of an answer with its value."""
    lines = [line.rpartition(" ") for line in text.splitlines() if "#" not in line]
    return {series: float(value) for series, _, value in lines}


async def names(api: httpx.AsyncClient) -> set[str]:
    """The names under which Prometheus would know the figures of ours."""
    text = (await api.get("/metrics")).text
    found = re.findall(r"^# TYPE (fairdeal_\w+) (\w+)$", text, re.M)
    return {name for name, _ in found}


def documented() -> set[str]:
    """The names of the tables in the documents."""
    pages = [ROOT / "docs" / name for name in ("operations.md", "webhooks.md")]
    rows = "\n".join([line for page in pages for line in page.read_text().splitlines()
                      if line.startswith("|")])  # fmt: skip
    return set(re.findall(r"`(fairdeal_[a-z_]+)[`{]", rows))


async def test_every_figure_is_documented_and_every_documented_one_is_there(
    api: httpx.AsyncClient,
) -> None:
    assert await names(api) == documented()


def alerts() -> list[dict[str, Any]]:
    groups = yaml.safe_load(ALERTS.read_text())["groups"]
    return [rule for group in groups for rule in group["rules"]]


async def test_every_alert_is_about_figures_that_are_there(shared_api: httpx.AsyncClient) -> None:
    there = await names(shared_api)
    rules = alerts()
    assert len(rules) > 10
    for rule in rules:
        used = set(re.findall(r"fairdeal_[a-z_]+", rule["expr"]))
        assert used, rule["alert"]
        assert {_PARTS.sub("", name) for name in used} <= there, rule["alert"]
        assert rule["annotations"].keys() == {"summary", "description"}


def test_the_alerts_are_well_formed() -> None:
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("promtool (Debian: prometheus) is not installed")
    done = subprocess.run(
        [promtool, "check", "rules", str(ALERTS)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def rose(before: dict[str, float], after: dict[str, float], series: str) -> float:
    return after.get(series, 0.0) - before.get(series, 0.0)


async def test_what_becomes_of_appends_is_counted(database_url: str) -> None:
    async with running(database_url) as api, running(database_url) as other:
        game = await new_game(api)
        there = Game(other, game.created)
        await there.get(1)
        before = await figures(api)
        for _ in range(2):
            answer = await game.act(0, {"type": "pass"}, Idempotency_Key="one")
            assert answer.status_code == 201
        answer = await game.act(0, {"type": "cut", "at": 5}, Idempotency_Key="one")
        assert answer.status_code == 422
        # The other process knows the game as it was before.
        assert (await there.act(1, {"type": "pass"})).status_code == 201
        after = await figures(api)
    assert rose(before, after, 'fairdeal_appends_total{outcome="appended"}') == 2
    assert rose(before, after, 'fairdeal_appends_total{outcome="wrong-version"}') >= 1
    assert rose(before, after, "fairdeal_append_seconds_count") >= 3


async def test_trouble_with_the_database_is_counted(database_url: str) -> None:
    async with running(database_url, database_deadline_seconds=0.3) as api:
        game = await new_game(api)
        before = await figures(api)
        assert before["fairdeal_database_up"] == 1
        with psycopg.connect(database_url, autocommit=True) as conn:
            conn.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE"
                " datname = current_database() AND application_name = 'fairdeal'"
            )
        assert (await game.get(0)).status_code in (200, 503)
        after = await figures(api)
        kinds = [name for name in after if name.startswith("fairdeal_database_errors_total")]
        assert sum([rose(before, after, name) for name in kinds]) > 0
        assert rose(before, after, "fairdeal_database_retries_total") > 0
    async with running(NOWHERE, database_deadline_seconds=1.5) as api:
        before = await figures(api)
        assert before["fairdeal_database_up"] == 0
        assert (await api.get("/v1/games", headers=HOST)).status_code == 503
        after = await figures(api)
        assert rose(before, after, "fairdeal_database_unavailable_total") >= 1
        assert rose(before, after, "fairdeal_pool_timeouts_total") >= 1


async def test_a_process_notes_how_it_does(database_url: str) -> None:
    async with running(database_url, database_connections=5) as api:
        async with asyncio.timeout(60):
            while (await figures(api)).get("fairdeal_channel_connected") != 1:
                await asyncio.sleep(0.05)
        now = await figures(api)
        assert 1 <= now["fairdeal_pool_size"] <= 5
        assert now["fairdeal_pool_in_use"] <= now["fairdeal_pool_size"]
        assert now["fairdeal_pool_waiting"] == 0
        assert now["fairdeal_event_loop_lag_seconds"] >= 0
        assert now["fairdeal_workers"] == 1


async def test_what_finds_no_route_is_counted_under_one_name(
    shared_api: httpx.AsyncClient,
) -> None:
    for number in range(3):
        await shared_api.request(f"ODD{number}", f"/nowhere/{number}")
    now = await figures(shared_api)
    found = [name for name in now if "fairdeal_requests_total" in name and "nowhere" in name]
    assert found == []
    assert now['fairdeal_requests_total{method="other",path="(none)",status_code="404"}'] == 3
    assert os.environ.get("PROMETHEUS_MULTIPROC_DIR") is None
