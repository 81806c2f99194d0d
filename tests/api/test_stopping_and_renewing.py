"""Servers that are stopped, renewed and lose workers while they are used."""

import asyncio
import os
import re
import shutil
import signal
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from tests.api.load import check_kept, playing
from tests.api.processes import Serving, create, free_port, serving
from tests.api.running import HOST_KEY, Json, bearer, running
from tests.api.test_live_served import ask, environment, until_figure

pytestmark = pytest.mark.postgres


def running_module(server: Serving, module: bytes) -> set[int]:
    """The processes of a server that run a module."""
    found = set()
    for pid in server.members():
        try:
            line = Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            continue
        if module in line.split(b"\0"):
            found.add(pid)
    return found


def workers(server: Serving) -> set[int]:
    """The worker processes of a server."""
    return running_module(server, b"api.worker")


async def until_renewed(server: Serving, before: set[int]) -> set[int]:
    """Wait until as many other workers have taken the place of these, and theirs alone."""
    async with asyncio.timeout(120):
        while (now := workers(server)) & before or len(now) != len(before):
            assert server.process.poll() is None, server.process.communicate()
            await asyncio.sleep(0.05)
    return now


def long_game(address: str) -> Json:
    """A game that is over and whose log is more than a connection holds."""
    bots = [{"bot": "random"}] * 8
    game = create(address, HOST_KEY, game="loc", players=bots, rules={"hands": 200})
    view = f"{address}/v1/games/{game['id']}"
    with httpx.Client(headers=bearer(HOST_KEY), timeout=60) as http:
        while (now := http.get(view).json())["status"] == "playing":
            http.get(f"{view}?wait=5&after={now['version']}")
    return game


@pytest.mark.parametrize("count", ["1", "2"])
async def test_renewed_again_and_again_it_fails_nobody(database_url: str, count: str) -> None:
    settings = environment(database_url)
    with serving(free_port(), "--workers", count, **settings) as server:
        async with playing(server.address) as load:
            await load.more(20)
            old = workers(server)
            assert len(old) == int(count)
            for _ in range(2):
                server.process.send_signal(signal.SIGHUP)
                old = await until_renewed(server, old)
                await load.more(20)
        assert load.failures == []
        code, _, complaints = await asyncio.to_thread(server.end)
        assert code == 0
        assert "Killing" not in complaints
        assert len(re.findall(r"worker \d has been renewed", complaints)) == 2 * int(count)
    async with running(database_url) as api:
        await check_kept(load, api)


async def test_a_renewed_worker_says_goodbye_to_its_streams_and_polls(database_url: str) -> None:
    with serving(free_port(), **environment(database_url)) as server:
        game = create(server.address, HOST_KEY)
        path = f"{server.address}/v1/games/{game['id']}"
        async with httpx.AsyncClient(headers=bearer(HOST_KEY), timeout=60) as http:
            accept = {"Accept": "text/event-stream"}
            async with http.stream("GET", f"{path}/events", headers=accept) as stream:
                lines = stream.aiter_lines()
                await anext(lines)
                poll = asyncio.create_task(http.get(f"{path}?wait=30"))
                await asyncio.sleep(0.3)
                old = workers(server)
                server.process.send_signal(signal.SIGHUP)
                rest = [line async for line in lines]
            assert "event: bye" in rest
            assert (await poll).status_code == 200
            await until_renewed(server, old)


@pytest.mark.parametrize("count", ["1", "2"])
async def test_stopped_under_load_it_ends_by_itself_and_keeps_its_word(
    database_url: str, count: str
) -> None:
    """Players act, streams and long polls are open, and some callers take nothing of what they have
    asked for."""
    settings = environment(database_url)
    with serving(free_port(), "--workers", count, **settings) as server, ExitStack() as ending:
        told = await asyncio.to_thread(long_game, server.address)
        for _ in range(4):
            # A live stream, and the whole log without one.
            ending.enter_context(ask(server.address, told, 0))
            ending.enter_context(ask(server.address, told, 0, "application/x-ndjson"))
        async with (
            playing(server.address) as load,
            httpx.AsyncClient(headers=bearer(HOST_KEY), timeout=60) as calm,
        ):
            path = f"{server.address}/v1/games/{load.games[0].id}"
            polls = [
                asyncio.create_task(calm.get(f"{path}?wait=30&after=1000000")) for _ in range(10)
            ]
            await load.more(30)
            code, _, complaints = await asyncio.to_thread(server.end)
            answers = await asyncio.gather(*polls)
        assert code == 0
        assert "Killing" not in complaints
        assert {answer.status_code for answer in answers} == {200}
    async with running(database_url) as api:
        await check_kept(load, api)


@pytest.mark.parametrize("module", [b"api.worker", b"api.projector"])
async def test_who_does_not_end_is_killed(database_url: str, module: bytes) -> None:
    settings = environment(database_url, FAIRDEAL_STOP_SECONDS="2")
    with serving(free_port(), "--workers", "2", **settings) as server:
        async with asyncio.timeout(60):
            while not (found := running_module(server, module)):
                await asyncio.sleep(0.05)
        os.kill(min(found), signal.SIGSTOP)
        code, _, complaints = await asyncio.to_thread(server.end)
        assert code == 0
        assert "Killing a process: it did not end in time" in complaints
        server.wait_gone()


async def test_workers_that_are_killed_again_and_again_are_replaced(database_url: str) -> None:
    with serving(free_port(), "--workers", "2", **environment(database_url)) as server:
        game = create(server.address, HOST_KEY)
        old = workers(server)
        for _ in range(3):
            for pid in old:
                os.kill(pid, signal.SIGKILL)
            old = await until_renewed(server, old)
        async with httpx.AsyncClient(headers=bearer(HOST_KEY), timeout=60) as http:
            # Whoever came meanwhile was kept waiting, not turned away.
            path = f"{server.address}/v1/games/{game['id']}"
            assert (await http.get(path)).status_code == 200
        code, _, _ = await asyncio.to_thread(server.end)
        assert code == 0


async def test_who_connects_while_the_only_worker_is_dead_is_answered(database_url: str) -> None:
    with serving(free_port(), **environment(database_url)) as server:
        game = create(server.address, HOST_KEY)
        [pid] = workers(server)
        os.kill(pid, signal.SIGKILL)
        async with httpx.AsyncClient(headers=bearer(HOST_KEY), timeout=60) as http:
            answer = await http.get(f"{server.address}/v1/games/{game['id']}")
        assert answer.status_code == 200


async def test_figures_of_killed_workers_are_no_longer_told(database_url: str) -> None:
    with serving(free_port(), "--workers", "2", **environment(database_url)) as server:
        game = create(server.address, HOST_KEY)
        with ExitStack() as ending:
            for _ in range(20):
                ending.enter_context(ask(server.address, game, 0))
            until_figure(server.address, "fairdeal_live_streams", 20)
            old = workers(server)
            for pid in old:
                os.kill(pid, signal.SIGKILL)
            await until_renewed(server, old)
        until_figure(server.address, "fairdeal_live_streams", 0)
        until_figure(server.address, "fairdeal_workers", 2)


def test_workers_that_never_serve_are_given_up(database_url: str, tmp_path: Path) -> None:
    """Something of the machine's that ends each of them at once, and nobody else."""
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\nif 'api.worker' in sys.orig_argv:\n    sys.exit(3)\n"
    )
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    server = Serving(free_port(), PYTHONPATH=path, **environment(database_url))
    out, complaints = server.process.communicate(timeout=120)
    assert server.process.returncode == 1
    assert "giving up" in complaints, out + complaints
    server.wait_gone()


NOWHERE = "postgresql://nobody@127.0.0.1:1/none"
EARLY = """
import contextlib, signal, subprocess, sys

class Stopping:
    def find_spec(self, name, path=None, target=None):
        if name == {loaded!r}:
            with contextlib.suppress({unheard}):
                signal.raise_signal({number})

def start(*arguments, **more):
    if {loaded!r} in arguments[0]:
        signal.raise_signal({number})
    return popen(*arguments, **more)

if "api.worker" not in sys.orig_argv:
    sys.meta_path.insert(0, Stopping())
    popen, subprocess.Popen = subprocess.Popen, start
"""


def stopped_early(
    folder: Path, number: int, loaded: str, unheard: str = "", url: str = NOWHERE
) -> Serving:
    """A server that is sent a signal as its parent loads a module, or starts a worker."""
    text = EARLY.format(number=int(number), loaded=loaded, unheard=unheard)
    (folder / "sitecustomize.py").write_text(text)
    path = os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])
    settings = environment(url, TMPDIR=str(folder))
    return Serving(free_port(), "--workers", "2", PYTHONPATH=path, **settings)


@pytest.mark.parametrize(
    ("number", "loaded"),
    [
        (signal.SIGINT, "typer"),
        (signal.SIGINT, "api.serving"),
        (signal.SIGTERM, "api.serving"),
        (signal.SIGINT, "api.worker"),
        (signal.SIGTERM, "api.worker"),
        (signal.SIGINT, "psycopg"),
    ],
)
def test_who_stops_it_while_it_starts_hears_no_more_of_it(
    tmp_path: Path, number: int, loaded: str
) -> None:
    server = stopped_early(tmp_path, number, loaded)
    out, complaints = server.process.communicate(timeout=120)
    assert (server.process.returncode, out, complaints) == (128 + number, "", "")
    server.wait_gone()
    assert list(tmp_path.glob("fairdeal-run-*")) == []


def test_a_signal_while_it_starts_is_not_lost_where_its_exit_is(
    database_url: str, tmp_path: Path
) -> None:
    """As in callbacks of the garbage collector's, out of which nothing can be raised."""
    server = stopped_early(tmp_path, signal.SIGINT, "api.serving", "SystemExit", database_url)
    _, complaints = server.process.communicate(timeout=120)
    assert (server.process.returncode, complaints) == (0, "")
    server.wait_gone()


def test_a_signing_key_that_is_none_is_said_before_anything_is_served(database_url: str) -> None:
    settings = environment(database_url) | {"FAIRDEAL_SIGNING_KEYS": "garbage"}
    server = Serving(free_port(), **settings)
    out, complaints = server.process.communicate(timeout=120)
    assert (server.process.returncode, out) == (1, "")
    assert "FAIRDEAL_SIGNING_KEYS" in complaints
    assert complaints.count("\n") == 1
    server.wait_gone()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP])
async def test_what_a_terminal_tells_all_processes_is_for_the_parent(
    database_url: str, number: signal.Signals
) -> None:
    with serving(free_port(), "--workers", "2", **environment(database_url)) as server:
        old = workers(server)
        os.killpg(server.process.pid, number)
        if number == signal.SIGHUP:
            await until_renewed(server, old)
            server.process.send_signal(signal.SIGTERM)
        _, complaints = await asyncio.to_thread(server.process.communicate)
        assert server.process.returncode == 0
        assert "has died" not in complaints


async def test_a_server_that_drains_goes_on_but_is_not_ready(database_url: str) -> None:
    settings = environment(database_url, FAIRDEAL_DRAIN_SECONDS="2")
    with serving(free_port(), **settings) as server:
        game = create(server.address, HOST_KEY)
        async with httpx.AsyncClient(base_url=server.address, timeout=60) as http:
            ending = asyncio.create_task(asyncio.to_thread(server.end))
            # The connection is kept open by nobody from now on, so this is the last request on it.
            async with asyncio.timeout(60):
                while (await http.get("/health/ready")).status_code == 200:
                    await asyncio.sleep(0.01)
            code, _, complaints = await ending
        assert (code, "Killing" in complaints) == (0, False)
    async with running(database_url) as api:
        path = f"/v1/games/{game['id']}"
        assert (await api.get(path, headers=bearer(HOST_KEY))).status_code == 200


async def test_a_second_signal_ends_the_draining(database_url: str) -> None:
    settings = environment(database_url, FAIRDEAL_DRAIN_SECONDS="600")
    with serving(free_port(), **settings) as server:
        async with httpx.AsyncClient(base_url=server.address, timeout=60) as http:
            server.process.send_signal(signal.SIGINT)
            async with asyncio.timeout(60):
                while (await http.get("/health/ready")).status_code == 200:
                    await asyncio.sleep(0.01)
        assert server.process.poll() is None
        code, _, complaints = await asyncio.to_thread(server.end)
        assert (code, "Killing" in complaints) == (0, False)


@pytest.mark.parametrize("lost", ["", "metrics"])
async def test_a_run_folder_that_somebody_removes_ends_nothing(
    database_url: str, tmp_path: Path, lost: str
) -> None:
    settings = environment(database_url, TMPDIR=str(tmp_path))
    with serving(free_port(), "--workers", "2", **settings) as server:
        game = create(server.address, HOST_KEY)
        [folder] = tmp_path.glob("fairdeal-run-*")
        shutil.rmtree(folder / lost)
        for number in (signal.SIGKILL, signal.SIGHUP):
            old = workers(server)
            for pid in old if number == signal.SIGKILL else {server.process.pid}:
                os.kill(pid, number)
            await until_renewed(server, old)
            async with httpx.AsyncClient(headers=bearer(HOST_KEY), timeout=60) as http:
                answer = await http.get(f"{server.address}/v1/games/{game['id']}")
                assert answer.status_code == 200
        until_figure(server.address, "fairdeal_workers", 2)
        assert server.end()[0] == 0
    assert list(tmp_path.glob("fairdeal-run-*")) == []


async def test_a_worker_that_cannot_start_ends_no_service_that_has_another(
    database_url: str, tmp_path: Path
) -> None:
    """Something of the machine's that ends the successors of the first worker."""
    tries = tmp_path / "tries"
    (tmp_path / "sitecustomize.py").write_text(
        "import os, sys\nif 'api.worker' in sys.orig_argv:\n"
        f"    with open({str(tries)!r}, 'a') as file: file.write('1')\n"
        f"    if os.stat({str(tries)!r}).st_size > 2: os._exit(3)\n"
    )
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    settings = environment(database_url, PYTHONPATH=path)
    with serving(free_port(), "--workers", "2", **settings) as server:
        os.kill(min(workers(server)), signal.SIGKILL)
        async with asyncio.timeout(60):
            while tries.stat().st_size < 8:
                assert server.process.poll() is None
                await asyncio.sleep(0.05)
        assert server.end()[0] == 0


async def test_others_are_replaced_while_one_is_renewed(database_url: str) -> None:
    with serving(free_port(), "--workers", "2", **environment(database_url)) as server:
        first, second = sorted(workers(server))
        server.process.send_signal(signal.SIGHUP)
        async with asyncio.timeout(60):
            while not (new := workers(server) - {first, second}):
                await asyncio.sleep(0.01)
            [frozen] = new
            os.kill(frozen, signal.SIGSTOP)
            try:
                os.kill(second, signal.SIGKILL)
                while len(workers(server) - {first, frozen}) != 1 or second in workers(server):
                    await asyncio.sleep(0.02)
                assert {first, frozen} <= workers(server)
            finally:
                os.kill(frozen, signal.SIGCONT)
