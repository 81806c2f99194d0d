"""The whole API under a role that owns nothing: what `fairdeal migrate --app-role` grants is enough
for everything and no more."""

import asyncio
from random import Random

import psycopg

from tests.api.receiver import PAUSES, hook, receiving, until_delivery
from tests.api.running import HOST, new_game, running
from tests.api.test_live import NEVER, heard
from tests.api.test_proof_commands import fairdeal
from tests.eventstore.test_grants import role, url_of

__all__ = ["role"]


async def test_a_game_a_dispute_and_an_erasure_under_the_role(database_url: str, role: str) -> None:
    granted = await asyncio.to_thread(
        fairdeal, "migrate", "--app-role", role, DATABASE_URL=database_url
    )
    assert granted.exit_code == 0, granted.stderr
    url = url_of(database_url, role)
    async with running(url) as api:
        assert (await api.get("/health/ready")).status_code == 200
        game = await new_game(api, bots=("careful",), rules={"lives": 1})
        body = {"version": 12, "claim": {"kind": "deal"}}
        found = (await game.post(0, "/disputes", body)).json()
        assert found["state"] == "pending"
        await game.play(Random(2))
        path = f"/v1/disputes/{found['id']}"
        while (now := (await api.get(path, headers=HOST)).json())["state"] == "pending":
            await asyncio.sleep(0.02)
        assert now["finding"]["verdict"] == "consistent"
        erased = await api.delete("/v1/players/ref-0", headers=HOST)
        assert erased.json() == {"games": 1}
    audit = await asyncio.to_thread(fairdeal, "audit", DATABASE_URL=url)
    assert audit.exit_code == 0, audit.output
    with psycopg.connect(url) as conn:
        assert conn.execute("SELECT usesuper FROM pg_user WHERE usename = user").fetchone() == (
            False,
        )


async def test_webhooks_under_the_role(database_url: str, role: str) -> None:
    await asyncio.to_thread(fairdeal, "migrate", "--app-role", role, DATABASE_URL=database_url)
    url = url_of(database_url, role)
    more = {"webhooks_private": True, "webhooks_pauses": PAUSES}
    async with receiving() as receiver, running(url, **more) as api:
        made = await hook(api, receiver.url, "event", "turn")
        game = await new_game(api)
        version = (await game.view())["version"]
        done = await until_delivery(api, made, "delivered", version + 1)
        path = f"/v1/webhooks/{made['id']}"
        redelivered = f"{path}/deliveries/{done[-1]['id']}/redeliver"
        assert (await api.post(redelivered, headers=HOST)).status_code == 202
        await receiver.until(lambda: len(receiver.got) == version + 2)
        receiver.answer = lambda _: 410
        await new_game(api)
        await until_delivery(api, made, "failed")
        assert (await api.delete(path, headers=HOST)).status_code == 204


async def test_streams_across_processes_under_the_role(database_url: str, role: str) -> None:
    await asyncio.to_thread(fairdeal, "migrate", "--app-role", role, DATABASE_URL=database_url)
    url = url_of(database_url, role)
    async with running(url, **NEVER) as one, running(url, **NEVER) as two:
        await heard(one, two)


async def test_a_role_that_cannot_be_is_said(database_url: str) -> None:
    refused = await asyncio.to_thread(
        fairdeal, "migrate", "--app-role", "nobody-here", DATABASE_URL=database_url
    )
    assert refused.exit_code == 1
    assert "nobody-here" in refused.stderr
