"""Live streams of real servers: killed, stopped, cut off from their database, not listened to."""

import asyncio
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from random import Random

import httpx
import psycopg
import pytest

from eventstore import embedded
from eventstore.migrate import migrate
from tests.api.live import Reader, parts, reading, reading_over_the_wire
from tests.api.processes import create, free_port, serving
from tests.api.running import HOST_KEY, SECRET, SIGNING_KEYS, Game, Json, bearer, new_game, running
from tests.api.test_live import NEVER, follows, heard, play_some
from tests.database import open_folder
from tests.eventstore.test_trouble import kill_postmaster

pytestmark = pytest.mark.postgres


def environment(database_url: str, **more: str) -> dict[str, str]:
    """Settings under which nobody is killed because the machine is busy: a worker that does not
    end by itself would be waited for until the test fails."""
    return {
        "FAIRDEAL_STOP_SECONDS": "50",
        "FAIRDEAL_DATABASE_URL": database_url,
        "FAIRDEAL_HOST_KEYS": f"host:{HOST_KEY}",
        "FAIRDEAL_SECRET": SECRET,
        "FAIRDEAL_SIGNING_KEYS": SIGNING_KEYS,
        **more,
    }


async def served(address: str, http: httpx.AsyncClient) -> Game:
    """A game of three people on a server."""
    created = await asyncio.to_thread(create, address, HOST_KEY)
    return Game(http, created)


async def test_every_worker_tells_every_stream(database_url: str) -> None:
    settings = environment(database_url)
    with serving(free_port(), "--workers", "2", **settings) as server:
        async with httpx.AsyncClient(base_url=server.address) as http, asyncio.TaskGroup() as tasks:
            game = await served(server.address, http)
            begun, played = asyncio.Barrier(9), asyncio.Event()
            last: dict[str, int] = {}

            async def read() -> None:
                address = f"{server.address}{game.path}/events"
                async with reading_over_the_wire(address, HOST_KEY) as reader:
                    start = int((await reader.event()).id or 0)
                    await begun.wait()
                    await played.wait()
                    follows([m.json for m in await reader.until(last["version"])], start)

            for _ in range(8):
                tasks.create_task(read())
            await begun.wait()
            last["version"] = await play_some(game)
            played.set()


async def test_a_killed_server_is_resumed_without_loss_or_repetition(database_url: str) -> None:
    port = free_port()
    seen: list[Json] = []
    headers: dict[str, str] = {}
    created: Json = {}
    for round_ in range(3):
        with serving(port, **environment(database_url)) as server:
            created = created or create(server.address, HOST_KEY)
            async with httpx.AsyncClient(base_url=server.address) as http:
                game = Game(http, created)
                address = f"{server.address}{game.path}/events"
                if not headers:
                    headers = {"Last_Event_ID": str(created["version"])}
                async with reading_over_the_wire(address, game.token(0), **headers) as reader:
                    version = await play_some(game, 6, seed=round_)
                    seen += [m.json for m in await reader.until(version - round_)]
                    server.process.kill()
                    seen += [m.json for m in await reader.rest() if m.event == "message"]
                    headers = {"Last_Event_ID": str(seen[-1]["version"])}
            server.process.communicate()
            server.wait_gone()
    with serving(port, **environment(database_url)) as server:
        async with httpx.AsyncClient(base_url=server.address) as http:
            game = Game(http, created)
            version = (await game.view())["version"]
            address = f"{server.address}{game.path}/events"
            if seen[-1]["version"] < version:
                async with reading_over_the_wire(address, game.token(0), **headers) as reader:
                    seen += [m.json for m in await reader.until(version)]
            follows(seen, created["version"])
            log = {event["version"]: event for event in await game.events(0)}
            assert [event["hash"] for event in seen] == [
                log[event["version"]]["hash"] for event in seen
            ]
            assert seen[-1]["version"] == version


@pytest.mark.parametrize("workers", ["1", "2"])
async def test_a_stopped_server_ends_its_streams(database_url: str, workers: str) -> None:
    with serving(free_port(), "--workers", workers, **environment(database_url)) as server:
        async with httpx.AsyncClient(base_url=server.address) as http:
            game = await served(server.address, http)
            address = f"{server.address}{game.path}/events"
            async with (
                reading_over_the_wire(address, game.token(0)) as one,
                reading_over_the_wire(address, HOST_KEY) as two,
            ):
                await one.event()
                await two.event()
                code, _, complaints = await asyncio.to_thread(server.end, signal.SIGTERM)
                assert code == 0
                assert "Killing" not in complaints
                for reader in (one, two):
                    [bye] = await reader.rest()
                    assert (bye.event, bye.json) == ("bye", {"reason": "shutdown"})


def figure(address: str, name: str) -> float:
    """A metric of a server."""
    for line in httpx.get(f"{address}/metrics", timeout=60).text.splitlines():
        if line.startswith(f"{name} "):
            return float(line.split()[1])
    raise AssertionError(f"no metric {name}")


def until_figure(address: str, name: str, wanted: float) -> None:
    end = time.monotonic() + 60
    while figure(address, name) != wanted:
        assert time.monotonic() < end, f"{name} is {figure(address, name)}"
        time.sleep(0.02)


def ask(server: str, game: Json, after: int, accept: str = "text/event-stream") -> socket.socket:
    """A connection on which a game's events have been asked for, and nothing read."""
    host, _, port = server.removeprefix("http://").partition(":")
    wire = socket.socket()
    wire.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    wire.connect((host, int(port)))
    head = (
        f"GET /v1/games/{game['id']}/events?after={after} HTTP/1.1\r\nHost: x\r\n"
        f"Authorization: Bearer {HOST_KEY}\r\nAccept: {accept}\r\n\r\n"
    )
    wire.sendall(head.encode())
    return wire


def test_who_left_is_forgotten(database_url: str) -> None:
    with serving(free_port(), **environment(database_url)) as server:
        game = create(server.address, HOST_KEY)
        wires = [ask(server.address, game, 0) for _ in range(20)]
        until_figure(server.address, "fairdeal_live_streams", 20)
        for wire in wires:
            wire.close()
        until_figure(server.address, "fairdeal_live_streams", 0)


def test_who_takes_nothing_is_dropped_by_a_real_server(database_url: str) -> None:
    """The buffers of the connection fill with a long log, then the stream waits and is dropped."""
    settings = environment(database_url, FAIRDEAL_STALL_SECONDS="0.5")
    with serving(free_port(), **settings) as server:
        bots = [{"bot": "random"}] * 8
        game = create(server.address, HOST_KEY, game="loc", players=bots, rules={"hands": 200})
        view = f"{server.address}/v1/games/{game['id']}"
        with httpx.Client(headers=bearer(HOST_KEY), timeout=60) as http:
            while (now := http.get(view).json())["status"] == "playing":
                http.get(f"{view}?wait=5&after={now['version']}")
            assert len(http.get(f"{view}/export").content) > 6_000_000
        with ExitStack() as ending:
            for _ in range(10):
                ending.enter_context(ask(server.address, game, 0))
            until_figure(server.address, "fairdeal_live_streams_stalled_total", 10)
            until_figure(server.address, "fairdeal_live_streams", 0)
            # The connections are gone too, although their peers still hold them open.
            code, _, complaints = server.end()
            assert code == 0
            assert "Killing" not in complaints


async def test_a_lost_listening_connection_is_made_again(database_url: str) -> None:
    async with running(database_url, **NEVER) as one, running(database_url, **NEVER) as two:
        game = await new_game(one)
        async with reading(two, f"{game.path}/events", game.token(0)) as reader:
            start = int((await reader.event()).id or 0)
            found: list[Json] = []
            for number in range(4):
                while not parts(two).notices.connected:
                    await asyncio.sleep(0.01)
                assert cut_listeners(database_url) == 2
                version = await play_some(game, 4, seed=number)
                found += [m.json for m in await reader.until(version)]
            follows(found, start)
        await heard(one, two)


def cut_listeners(database_url: str) -> int:
    """Terminate the listening connections; how many there were, once all are there."""
    query = (
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
        "WHERE application_name = 'fairdeal-listen' AND datname = current_database()"
    )
    with psycopg.connect(database_url, autocommit=True) as connection:
        row = connection.execute(query).fetchone()
        assert row is not None
        return int(row[0])


@pytest.mark.parametrize("how", ["killed", "stopped"])
async def test_postgres_goes_and_comes_back_under_the_streams(how: str) -> None:
    with open_folder() as folder, ExitStack() as ending:
        url = ending.enter_context(embedded.server(folder))
        await migrate(url)
        async with running(url, heartbeat_seconds=0.5) as one, running(url) as two:
            game = await new_game(one)
            there = Game(two, game.created)
            readers: list[tuple[Reader, int]] = []
            async with (
                reading(one, f"{game.path}/events", game.token(0)) as near,
                reading(two, f"{game.path}/events", game.token(1)) as far,
            ):
                for reader in (near, far):
                    readers.append((reader, int((await reader.event()).id or 0)))
                await play_some(game, 4)
                if how == "killed":
                    kill_postmaster(folder)
                else:
                    ending.close()
                    await asyncio.sleep(0.2)
                    ending.enter_context(embedded.server(folder))
                version = await play_again(there)
                for reader, start in readers:
                    follows([m.json for m in await reader.until(version)], start)


async def play_again(game: Game) -> int:
    """Play on as soon as the database lets one."""
    chance = Random(7)
    done = 0
    async with asyncio.timeout(60):
        while done < 5:
            view = await game.get()
            if view.status_code == 200:
                [seat, *_] = view.json()["to_act"]
                seen = await game.get(seat)
                if seen.status_code == 200:
                    action = chance.choice(seen.json()["actions"])
                    done += (await game.act(seat, action)).status_code == 201
            await asyncio.sleep(0.05)
        while (view := await game.get()).status_code != 200:
            await asyncio.sleep(0.05)
    version: int = view.json()["version"]
    return version


@contextmanager
def redis(folder: Path) -> Iterator[str]:
    """A Redis on a socket in the folder; skips where there is none."""
    program = shutil.which("redis-server")
    if program is None:
        pytest.skip("no redis-server on this machine")
    path = folder / "redis.sock"
    process = subprocess.Popen(
        [program, "--port", "0", "--unixsocket", str(path), "--save", "", "--dir", str(folder)],
        stdout=subprocess.DEVNULL,
    )
    try:
        end = time.monotonic() + 30
        while not path.exists():
            assert time.monotonic() < end, "redis-server made no socket"
            time.sleep(0.02)
        yield f"unix://{path}"
    finally:
        process.kill()
        process.wait()
        path.unlink(missing_ok=True)


async def test_redis_is_a_channel_too(database_url: str) -> None:
    with open_folder() as folder, ExitStack() as ending:
        url = ending.enter_context(redis(folder))
        settings = {**NEVER, "channel": url}
        async with (
            running(database_url, **settings) as one,
            running(database_url, **settings) as two,
        ):
            await heard(one, two)
            assert cut_listeners(database_url) == 0
            ending.close()
            while parts(one).notices.connected or parts(two).notices.connected:
                await asyncio.sleep(0.02)
            ending.enter_context(redis(folder))
            await heard(one, two)
