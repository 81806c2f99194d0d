"""Each figure of `/metrics` moves with what it is about."""

import asyncio
import math
import time

import httpx
import pytest

from api import hook_sender, metrics
from api.execute import Executor
from eventstore.pool import PoolState
from eventstore.postgres import EventStore
from eventstore.records import StoreUnavailable
from projections.standing import Feed, ParkedStream, Standing
from tests.api.running import HOST_KEY, Game, bearer, new_game, problem, running
from tests.api.test_figures import figures, rose

pytestmark = pytest.mark.postgres


async def until(api: httpx.AsyncClient, series: str, least: float) -> float:
    """The figure, once it is so high."""
    async with asyncio.timeout(60):
        while (now := (await figures(api))[series]) < least:
            await asyncio.sleep(0.02)
    return now


async def test_a_key_that_another_process_has_met_is_counted(database_url: str) -> None:
    async with running(database_url) as api, running(database_url) as other:
        game = await new_game(api)
        there = Game(other, game.created)
        await there.get(0)
        before = await figures(api)
        for where in (game, there):
            # The other knows the game as it was: its append finds the key.
            answer = await where.act(0, {"type": "pass"}, Idempotency_Key="k")
            assert answer.status_code == 201
        fresh = await new_game(api)
        await Game(other, fresh.created).get(0)
        assert (await fresh.act(0, {"type": "pass"}, Idempotency_Key="k")).status_code == 201
        late = await Game(other, fresh.created).act(
            0, {"type": "pass", "hand": 1}, Idempotency_Key="k"
        )
        problem(late, 422, "idempotency-mismatch")
        after = await figures(api)
    assert rose(before, after, 'fairdeal_appends_total{outcome="replayed"}') == 1
    assert rose(before, after, 'fairdeal_appends_total{outcome="mismatch"}') == 1


async def test_the_pool_is_told_as_it_is(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(EventStore, "pool_state", lambda _: PoolState(7, 5, 3))
    async with running(database_url) as api:
        await until(api, "fairdeal_pool_size", 7)
        now = await figures(api)
    assert (now["fairdeal_pool_in_use"], now["fairdeal_pool_waiting"]) == (5, 3)


async def test_a_loop_that_was_held_up_is_told(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(metrics, "_SAMPLE_SECONDS", 0.2)
    async with running(database_url) as api:
        async with asyncio.timeout(60):
            while (await figures(api))["fairdeal_event_loop_lag_seconds"] < 0.1:
                time.sleep(0.4)


async def test_the_standing_of_projections_and_webhooks_is_told(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    parked = ParkedStream("a", 1, "E", 0)
    stands = Standing("scores", 1, 2, "live", 11, 12.5, 13.5, (parked, parked))
    building = Standing("games", 2, 9, "building", 99, 99.0, 99.0, ())

    async def standing(_: EventStore) -> Feed:
        return Feed(14, (stands, building))

    async def pending(_: EventStore) -> tuple[int, float]:
        return 15, 16.5

    monkeypatch.setattr(metrics, "standing", standing)
    monkeypatch.setattr(hook_sender, "pending", pending)
    async with running(database_url) as api:
        now = await figures(api)
    told = {
        name: now[f'fairdeal_projection_{name}{{projection="scores"}}']
        for name in ("lag_events", "lag_seconds", "heartbeat_seconds", "parked")
    }
    assert told == {"lag_events": 11, "lag_seconds": 12.5, "heartbeat_seconds": 13.5, "parked": 2}
    assert now["fairdeal_feed_unstamped"] == 14
    assert now["fairdeal_webhook_pending"] == 15
    assert now["fairdeal_webhook_pending_seconds"] == 16.5
    assert not any(value == 99 for value in now.values() if not math.isnan(value))


async def test_what_is_refused_for_its_rate_is_counted(database_url: str) -> None:
    async with running(database_url, token_rate=0.1, host_rate=0.1, guess_rate=0.1) as api:
        game = await new_game(api)
        before = await figures(api)
        for by, token in (("token", game.token(0)), ("host", HOST_KEY), ("address", "b" * 40)):
            async with asyncio.timeout(60):
                while (await api.get(game.path, headers=bearer(token))).status_code != 429:
                    pass
            series = f'fairdeal_rate_limited_total{{by="{by}"}}'
            assert rose(before, await figures(api), series) == 1


async def test_trouble_with_what_wants_attention_is_counted(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    series = "fairdeal_attention_failures_total"

    async def fails(*_: object) -> None:
        raise RuntimeError("it fails")

    async def is_away(*_: object) -> None:
        raise StoreUnavailable("it is away")

    async with running(database_url) as api:
        before = (await figures(api))[series]
        with monkeypatch.context() as patch:
            patch.setattr(Executor, "go_on", fails)
            await new_game(api, clock={"turn_seconds": 1})
            await until(api, series, before + 1)
    async with running(database_url, wake_seconds=0.05) as api:
        before = (await figures(api))[series]
        with monkeypatch.context() as patch:
            patch.setattr(EventStore, "due", is_away)
            await until(api, series, before + 1)
