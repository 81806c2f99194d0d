"""Webhooks when something is wrong: receivers that fail, processes that are killed, private
addresses, bad requests."""

import asyncio
import signal
from collections.abc import AsyncIterator
from ipaddress import ip_address
from typing import Any

import httpx
import psycopg
import pytest

from api.outbound import Outbound, Unreached, is_public
from api.webhooks import MOST
from tests.api.processes import create, free_port, serving
from tests.api.receiver import PAUSES, Receiver, deliveries, hook, receiving, until_delivery
from tests.api.running import (
    HOST,
    HOST_KEY,
    SECRET,
    SIGNING_KEYS,
    Json,
    bearer,
    new_game,
    problem,
    running,
)
from tests.api.test_figures import figures, rose

pytestmark = pytest.mark.postgres

PRIVATE: dict[str, Any] = {"webhooks_private": True, "webhooks_pauses": PAUSES}


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    async with receiving() as made:
        yield made


@pytest.fixture
async def hooked(database_url: str) -> AsyncIterator[httpx.AsyncClient]:
    """An API that may send to this machine."""
    async with running(database_url, **PRIVATE) as client:
        yield client


async def test_a_failure_is_tried_again_under_the_same_id(
    hooked: httpx.AsyncClient, receiver: Receiver
) -> None:
    answers = iter([500, 302])
    receiver.location = receiver.url + "/elsewhere"
    receiver.answer = lambda _: next(answers, 200)
    made = await hook(hooked, receiver.url)
    game = await new_game(hooked)
    version = (await game.view())["version"]
    done = await until_delivery(hooked, made, "delivered", version)
    assert [got.id for got in receiver.got[:3]] == [done[-1]["id"]] * 3
    assert done[-1]["attempts"] == 3
    assert {got.path for got in receiver.got} == {"/hook"}, "no redirect is followed"
    assert len(receiver.got) == version + 2


async def test_a_receiver_that_comes_back_gets_everything(hooked: httpx.AsyncClient) -> None:
    port = free_port()
    made = await hook(hooked, f"http://127.0.0.1:{port}/hook")
    game = await new_game(hooked)
    async with asyncio.timeout(30):
        while (
            not (await deliveries(hooked, made, "?limit=200"))[-1:]
            or not (await deliveries(hooked, made, "?limit=200"))[-1]["attempts"]
        ):
            await asyncio.sleep(0.01)
    version = (await game.view())["version"]
    first = (await deliveries(hooked, made, "?limit=200"))[-1]
    assert first["last_status"] is None
    assert first["last_error"].startswith("no connection")
    async with receiving(port) as receiver:
        for delivery in reversed(await deliveries(hooked, made, "?state=failed&limit=200")):
            path = f"/v1/webhooks/{made['id']}/deliveries/{delivery['id']}/redeliver"
            assert (await hooked.post(path, headers=HOST)).status_code == 202
        await until_delivery(hooked, made, "delivered", version)
        assert {e["version"] for e in receiver.of("event")} == set(range(1, version + 1))


async def test_it_is_given_up_in_the_end_and_can_be_sent_again(
    hooked: httpx.AsyncClient, receiver: Receiver
) -> None:
    receiver.answer = lambda _: 418
    series = 'fairdeal_webhook_deliveries_total{outcome="failed"}'
    before = await figures(hooked)
    made = await hook(hooked, receiver.url)
    game = await new_game(hooked)
    version = (await game.view())["version"]
    failed = await until_delivery(hooked, made, "failed", version)
    assert failed[-1]["attempts"] == len(PAUSES) + 1
    assert rose(before, await figures(hooked), series) >= 1
    assert (failed[-1]["last_status"], failed[-1]["last_error"]) == (418, "answered 418")
    receiver.answer = lambda _: 200
    path = f"/v1/webhooks/{made['id']}/deliveries/{failed[-1]['id']}/redeliver"
    again = await hooked.post(path, headers=HOST)
    assert (again.status_code, again.json()["state"]) == (202, "pending")
    [done] = await until_delivery(hooked, made, "delivered")
    assert done["id"] == failed[-1]["id"] == receiver.got[-1].id


async def test_410_disables(hooked: httpx.AsyncClient, receiver: Receiver) -> None:
    receiver.answer = lambda _: 410
    made = await hook(hooked, receiver.url)
    game = await new_game(hooked)
    failed = await until_delivery(hooked, made, "failed", (await game.view())["version"])
    path = f"/v1/webhooks/{made['id']}"
    assert (await hooked.get(path, headers=HOST)).json()["state"] == "disabled"
    assert len(receiver.got) == 1
    again = await hooked.post(f"{path}/deliveries/{failed[0]['id']}/redeliver", headers=HOST)
    problem(again, 403, "forbidden")
    async with receiving() as other:
        await hook(hooked, other.url)
        late = await new_game(hooked)
        await other.until(lambda: any(event["game"] == late.id for event in other.of("event")))
    assert len(receiver.got) == 1


async def test_what_a_killed_process_was_sending_another_sends(
    database_url: str, receiver: Receiver
) -> None:
    environment = {
        "FAIRDEAL_DATABASE_URL": database_url,
        "FAIRDEAL_HOST_KEYS": f"host:{HOST_KEY}",
        "FAIRDEAL_SECRET": SECRET,
        "FAIRDEAL_SIGNING_KEYS": SIGNING_KEYS,
        "FAIRDEAL_WEBHOOKS_PRIVATE": "true",
    }
    hang = asyncio.Event()

    async def never(_: object) -> int:
        await hang.wait()
        return 200

    def served() -> Json:
        with serving(free_port(), **environment) as server:
            body = {"url": receiver.url, "kinds": ["event"]}
            headers = bearer(HOST_KEY)
            made = httpx.post(f"{server.address}/v1/webhooks", json=body, headers=headers).json()
            game = create(server.address, HOST_KEY)
            reached = asyncio.run_coroutine_threadsafe(
                receiver.until(lambda: len(receiver.got) == 3), loop
            )
            reached.result(60)
            path = f"{server.address}/v1/games/{game['id']}"
            version = httpx.get(path, headers=headers).json()["version"]
            server.end(signal.SIGKILL)
            return {"hook": made, "version": version}

    loop = asyncio.get_running_loop()
    receiver.answer = lambda got: never(got) if len(receiver.got) == 3 else 200
    found = await asyncio.to_thread(served)
    receiver.answer = lambda _: 200
    with psycopg.connect(database_url, autocommit=True) as conn:
        # Instead of waiting until the lease of the dead is over.
        held = conn.execute("UPDATE webhooks.queues SET due_at = now() RETURNING 1").fetchall()
        assert len(held) == 1
    async with running(database_url, **PRIVATE) as api:
        await until_delivery(api, found["hook"], "delivered", found["version"])
    ids = [got.id for got in receiver.got]
    assert ids[3] == ids[2], "sent again under its id"
    assert len(set(ids)) == found["version"] == len(ids) - 1


async def test_while_something_is_sent_nobody_else_sends_it(
    database_url: str, receiver: Receiver
) -> None:
    answer = asyncio.Event()

    async def late(_: object) -> int:
        await answer.wait()
        return 200

    receiver.answer = late
    async with running(database_url, **PRIVATE) as api, running(database_url, **PRIVATE) as other:
        made = await hook(api, receiver.url)
        game = await new_game(api)
        await receiver.until(lambda: receiver.got)
        async with receiving() as busy:
            # Meanwhile both processes have claimed and sent what else there is.
            second = await hook(other, busy.url)
            for _ in range(3):
                played = await new_game(other)
                await until_delivery(other, second, "delivered", (await played.view())["version"])
        sent = [got for got in receiver.got if got.json["data"]["game"] == game.id]
        assert [got.json["data"]["version"] for got in sent] == [1]
        answer.set()
        await until_delivery(api, made, "delivered", 12)


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "10.1.2.3",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "0.0.0.0",
        "224.0.1.1",
        "239.1.1.1",
        "240.0.0.1",
        "255.255.255.255",
        "198.18.0.1",
        "192.0.2.1",
        "::1",
        "::",
        "fe80::1",
        "fc00::1",
        "fec0::1",
        "ff02::1",
        "2001:db8::1",
        "2001::1",
        "::ffff:127.0.0.1",
        "::ffff:10.0.0.1",
        "::127.0.0.1",
        "64:ff9b::7f00:1",
        "64:ff9b:1::1",
        "2002:7f00:1::",
    ],
)
def test_an_address_that_is_not_public(address: str) -> None:
    assert not is_public(ip_address(address))


@pytest.mark.parametrize("address", ["8.8.8.8", "2606:4700::1111", "64:ff9b::808:808"])
def test_an_address_that_is_public(address: str) -> None:
    assert is_public(ip_address(address))


@pytest.mark.parametrize("addresses", [["127.0.0.1"], ["8.8.8.8", "127.0.0.1"], ["::1"]])
async def test_a_name_of_a_private_address_is_refused_when_it_is_connected_to(
    receiver: Receiver, addresses: list[str]
) -> None:
    async def resolve(host: str, _: int) -> list[str]:
        assert host == "innocent.example"
        return addresses

    port = receiver.url.rpartition(":")[2].removesuffix("/hook")
    url = f"http://innocent.example:{port}/hook"
    async with Outbound(private=False, seconds=5, resolve=resolve) as outbound:
        with pytest.raises(Unreached, match="private address"):
            await outbound.post(url, {}, b"{}")
    assert receiver.got == []


async def test_a_connection_goes_to_an_address_that_was_judged(receiver: Receiver) -> None:
    asked: list[str] = []

    async def resolve(host: str, _: int) -> list[str]:
        asked.append(host)
        return ["127.0.0.1"]

    port = receiver.url.rpartition(":")[2].removesuffix("/hook")
    async with Outbound(private=True, seconds=5, resolve=resolve) as outbound:
        assert await outbound.post(f"http://no.such.name.invalid:{port}/x", {}, b"{}") == 204
    assert asked == ["no.such.name.invalid"]
    assert receiver.got[0].headers["host"] == f"no.such.name.invalid:{port}"


async def test_proxies_of_the_environment_are_not_used(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "all_proxy"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{free_port()}")
    async with Outbound(private=True, seconds=5) as outbound:
        assert await outbound.post(receiver.url, {}, b"{}") == 204


async def test_a_receiver_that_does_not_answer_is_left(receiver: Receiver) -> None:
    async def never(_: object) -> int:
        await asyncio.Event().wait()
        return 200

    receiver.answer = never
    async with Outbound(private=True, seconds=0.2) as outbound:
        with pytest.raises(Unreached, match=r"no answer within 0\.2 seconds"):
            await outbound.post(receiver.url, {}, b"{}")


async def test_private_addresses_are_refused_unless_allowed(
    database_url: str, receiver: Receiver
) -> None:
    async with running(database_url, webhooks_pauses=()) as api:
        for url in (
            "https://127.0.0.1/x",
            "https://[::1]/x",
            "https://[::ffff:10.0.0.1]/x",
            "https://169.254.169.254/latest",
            "http://example.com/x",
        ):
            body = {"url": url, "kinds": ["event"]}
            answer = await api.post("/v1/webhooks", json=body, headers=HOST)
            assert problem(answer, 400, "invalid-request")["errors"][0]["path"] == "$.url"
        made = await hook(api, "https://localhost:1/x")
        await new_game(api)
        [*_, first] = await until_delivery(api, made, "failed")
        assert "private address" in first["last_error"]
        assert first["last_status"] is None


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"url": "ftp://example.com/"}, "$.url"),
        ({"url": "https://user:pass@example.com/"}, "$.url"),
        ({"url": "https://example.com/#part"}, "$.url"),
        ({"url": "https://"}, "$.url"),
        ({"url": "https://example.com:99999/"}, "$.url"),
        ({"url": "https://[::1/"}, "$.url"),
        ({"url": "https://exa mple.com/"}, "$.url"),
        ({"url": "https://example.com\\@127.0.0.1/"}, "$.url"),
        ({"url": "https://example.com/" + "x" * 2000}, "$.url"),
        ({"url": 5}, "$.url"),
        ({"kinds": []}, "$.kinds"),
        ({"kinds": ["event", "cards"]}, "$.kinds[1]"),
        ({"games": []}, "$.games"),
        ({"games": ["lodam", "poker"]}, "$.games[1]"),
        ({"secret": "whsec_c2hvcnQ="}, "$.secret"),
        ({"secret": "plain"}, "$.secret"),
        ({"more": 1}, "$.more"),
    ],
)
async def test_a_bad_request_names_the_field(
    shared_api: httpx.AsyncClient, change: Json, path: str
) -> None:
    body = {"url": "https://app.example/x", "kinds": ["event"], **change}
    answer = await shared_api.post("/v1/webhooks", json=body, headers=HOST)
    found = problem(answer, 400, "invalid-request")
    assert found["errors"][0]["path"] == path
    if "secret" in change:
        assert change["secret"] not in answer.text


async def test_the_same_key_makes_one_webhook(hooked: httpx.AsyncClient) -> None:
    headers = HOST | {"Idempotency-Key": "once"}
    secret = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
    body: Json = {"url": "https://app.example/x", "kinds": ["turn"], "secret": secret}
    first = await hooked.post("/v1/webhooks", json=body, headers=headers)
    again = await hooked.post("/v1/webhooks", json=body, headers=headers)
    assert first.json() == again.json()
    assert first.json()["secret"] == secret
    assert first.headers["location"] == f"/v1/webhooks/{first.json()['id']}"
    assert "idempotent-replayed" not in first.headers
    assert again.headers["idempotent-replayed"] == "true"
    other = await hooked.post("/v1/webhooks", json=body | {"kinds": ["event"]}, headers=headers)
    problem(other, 422, "idempotency-mismatch")


async def test_a_host_has_so_many_at_most(hooked: httpx.AsyncClient) -> None:
    for _ in range(MOST):
        await hook(hooked, "https://app.example/x")
    body = {"url": "https://app.example/x", "kinds": ["event"]}
    problem(await hooked.post("/v1/webhooks", json=body, headers=HOST), 403, "forbidden")


async def test_they_are_for_hosts(hooked: httpx.AsyncClient) -> None:
    game = await new_game(hooked)
    for path in ("/v1/webhooks", f"/v1/webhooks/{game.id}", f"/v1/webhooks/{game.id}/deliveries"):
        problem(await hooked.get(path), 401, "unauthorized")
        problem(await hooked.get(path, headers=bearer(game.token(0))), 403, "forbidden")


async def test_metrics_count_what_is_pending(hooked: httpx.AsyncClient, receiver: Receiver) -> None:
    receiver.answer = lambda _: 500
    made = await hook(hooked, receiver.url)
    game = await new_game(hooked)
    await until_delivery(hooked, made, "failed", (await game.view())["version"])
    text = (await hooked.get("/metrics", headers=HOST)).text
    assert "fairdeal_webhook_pending 0.0" in text
    assert 'fairdeal_webhook_deliveries_total{outcome="failed"}' in text
