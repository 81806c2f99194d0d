"""A new version is rolled out: two services behind the proxy of docs/deploy, one after another."""

import asyncio
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
import pytest

from tests.api.load import check_kept, playing
from tests.api.processes import ROOT, Serving, free_port, serving
from tests.api.running import running
from tests.api.test_live_served import environment, figure

pytestmark = pytest.mark.postgres


@contextmanager
def proxy(home: Path, *upstreams: str) -> Iterator[str]:
    """The address of the proxy, before these processes; skips where there is none."""
    caddy = shutil.which("caddy")
    if caddy is None:
        pytest.skip("caddy is not installed")
    port = free_port()
    with subprocess.Popen(
        [caddy, "run", "--config", str(ROOT / "docs/deploy/Caddyfile"), "--adapter", "caddyfile"],
        env={
            "HOME": str(home),
            "PATH": os.environ["PATH"],
            "FAIRDEAL_SITE": f"http://127.0.0.1:{port}",
            "FAIRDEAL_UPSTREAMS": " ".join([u.removeprefix("http://") for u in upstreams]),
        },
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait()


async def until_served(address: str, path: str = "/health/live", status: int = 200) -> None:
    async with asyncio.timeout(60), httpx.AsyncClient() as http:
        while True:
            try:
                if (await http.get(f"{address}{path}")).status_code == status:
                    return
            except httpx.TransportError:
                pass
            await asyncio.sleep(0.05)


async def until_used(server: Serving) -> None:
    """Wait until the proxy sends requests of players to a server."""
    async with asyncio.timeout(60):
        while True:
            series = "fairdeal_append_seconds_count"
            if await asyncio.to_thread(figure, server.address, series) > 0:
                return
            await asyncio.sleep(0.1)


async def test_one_after_another_they_are_replaced_and_nobody_notices(
    database_url: str, tmp_path: Path
) -> None:
    settings = environment(database_url, FAIRDEAL_DRAIN_SECONDS="3")
    ports = [free_port(), free_port()]
    with ExitStack() as ending:
        servers = [ending.enter_context(serving(port, **settings)) for port in ports]
        address = ending.enter_context(proxy(tmp_path, *[s.address for s in servers]))
        await until_served(address)
        await until_served(address, "/metrics", 404)
        async with playing(address, 4) as load:
            await load.more(10)
            for port, old in zip(ports, servers, strict=True):
                code, _, complaints = await asyncio.to_thread(old.end)
                assert code == 0
                assert "Killing" not in complaints
                new = await asyncio.to_thread(ending.enter_context, serving(port, **settings))
                assert load.failures == []
                await until_used(new)
                await load.more(10)
        assert load.failures == []
    async with running(database_url) as api:
        await check_kept(load, api)
