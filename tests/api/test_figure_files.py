"""What ended workers have counted: told once, in few files, whatever happens meanwhile."""

import asyncio
import fcntl
import os
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from prometheus_client.mmap_dict import MmapedDict, mmap_key

from api import metrics
from api.figure_files import METRICS_FOLDER_ENV, WholeFiles, fold, hold_room, unchanged
from tests.api.processes import ROOT, create, free_port, serving
from tests.api.running import HOST_KEY, bearer, running
from tests.api.test_figures import figures, read
from tests.api.test_live_served import environment
from tests.api.test_stopping_and_renewing import until_renewed, workers

Figures = dict[tuple[str, frozenset[tuple[str, str]]], float]


def write(folder: Path, kind: str, pid: int, values: dict[str, float]) -> None:
    """A file as a worker has it: series by their label `l`, or buckets by `le`."""
    file = MmapedDict(str(folder / f"{kind}_{pid}.db"))  # type: ignore[no-untyped-call]
    for label, value in values.items():
        sample = {"counter": "n_total", "histogram": "s_bucket"}.get(kind, kind)
        name = "le" if kind == "histogram" else "l"
        key = mmap_key(sample.partition("_bucket")[0], sample, [name], [label], "Words")
        file.write_value(key, value, 0.0)
    file.close()  # type: ignore[no-untyped-call]


def told(folder: Path) -> Figures:
    """What a scrape finds in the files."""
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for metric in WholeFiles(folder).collect()
        for sample in metric.samples
    }


def files(folder: Path) -> set[str]:
    return {path.name for path in folder.glob("*.db")}


def owner(name: str) -> str:
    """Whose file this is."""
    return name.removesuffix(".db").rpartition("_")[2]


def counted(folder: Path, pid: int) -> None:
    """What a worker has counted and tells of itself."""
    write(folder, "counter", pid, {"a": 1.5, f"of-{pid}": 2})
    write(folder, "histogram", pid, {"0.5": 3, "+Inf": pid})
    write(folder, "gauge_livesum", pid, {"a": 1})
    write(folder, "gauge_mostrecent", pid, {"a": 1})


ALIVE = ("gauge_livesum", frozenset({("l", "a")}))
KEPT = {"counter_ended.db", "histogram_ended.db"}


def test_counts_stay_what_they_are_and_what_was_present_goes(tmp_path: Path) -> None:
    for pid in (1, 2, 3, 11):
        counted(tmp_path, pid)
    before, living = told(tmp_path), {name for name in files(tmp_path) if name.endswith("_11.db")}
    assert fold(tmp_path, {1})
    assert fold(tmp_path, {2, 3})
    assert fold(tmp_path, {2})
    after = told(tmp_path)
    assert files(tmp_path) == living | KEPT
    assert after.pop(ALIVE) == 1
    assert before.pop(ALIVE) == 4
    assert after == before
    assert before["n_total", frozenset({("l", "a")})] == 6
    assert before["s_bucket", frozenset({("le", "+Inf")})] == 12 + 17


def test_many_series_that_only_figure_files_had_are_kept(tmp_path: Path) -> None:
    """More than a new file has room for."""
    for pid in range(1, 6):
        write(tmp_path, "counter", pid, {f"{pid}-{'x' * n}": n for n in range(400)})
    before = told(tmp_path)
    assert fold(tmp_path, range(1, 6))
    assert told(tmp_path) == before
    assert len(before) == 2_000


async def test_a_file_that_has_just_been_made_spoils_no_scrape(
    shared_api: httpx.AsyncClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(METRICS_FOLDER_ENV, str(tmp_path))
    counted(tmp_path, 1)
    (tmp_path / "counter_2.db").touch()
    (tmp_path / "gauge_livesum_2.db").write_bytes(bytes(65_536))
    assert (await figures(shared_api))['n_total{l="a"}'] == 1.5


def test_what_a_kill_left_half_made_counts_nothing(tmp_path: Path) -> None:
    counted(tmp_path, 1)
    (tmp_path / "counter_2.db").touch()
    (tmp_path / "histogram_2.db").write_bytes(bytes(65_536))
    (tmp_path / "counter_3.db").write_bytes(b"\xff\xff\0\0\0\0\0\0\xff\xff" + bytes(100_000))
    assert fold(tmp_path, {1, 2, 3})
    assert files(tmp_path) == KEPT
    assert told(tmp_path)["n_total", frozenset({("l", "a")})] == 1.5


def test_nothing_is_folded_while_somebody_scrapes(tmp_path: Path) -> None:
    counted(tmp_path, 1)
    before = files(tmp_path)
    with unchanged(tmp_path) as still, unchanged(tmp_path) as also:
        assert (still, also) == (True, True)
        assert not fold(tmp_path, {1})
        assert files(tmp_path) == before
    assert fold(tmp_path, {1})


def test_a_full_disk_loses_no_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: Path, __: bytes) -> int:
        raise OSError(28, "No space left on device")

    counted(tmp_path, 1)
    before = told(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", full)
        assert not fold(tmp_path, {1})
    before.pop(ALIVE)
    assert before.items() <= told(tmp_path).items()
    assert fold(tmp_path, {1})
    assert told(tmp_path) == before


async def test_a_scrape_waits_for_the_folder_but_not_for_long(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(METRICS_FOLDER_ENV, str(tmp_path))
    counted(tmp_path, 1)
    async with running(database_url) as api:
        with open(tmp_path / "lock", "a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            with monkeypatch.context() as patch:
                patch.setattr(metrics, "_PATIENCE_SECONDS", 0.1)
                assert (await api.get("/metrics")).status_code == 503
            monkeypatch.setattr(metrics, "_PATIENCE_SECONDS", 60.0)
            asking = asyncio.create_task(figures(api))
            await asyncio.sleep(0.1)
            assert not asking.done()
            fcntl.flock(lock, fcntl.LOCK_UN)
            assert (await asking)['n_total{l="a"}'] == 1.5


@pytest.mark.postgres
async def test_counts_of_workers_that_are_killed_and_renewed_only_rise(
    database_url: str, tmp_path: Path
) -> None:
    series = 'fairdeal_requests_total{method="GET",path="/v1/games/{game_id}",status_code="200"}'
    settings = environment(database_url, TMPDIR=str(tmp_path))
    with serving(free_port(), "--workers", "2", **settings) as server:
        path = f"{server.address}/v1/games/{create(server.address, HOST_KEY)['id']}"
        [folder] = tmp_path.glob("fairdeal-run-*/metrics")
        seen, answered, over = [0.0], 0, False

        async def watch() -> None:
            while not over:
                async with httpx.AsyncClient(base_url=server.address, timeout=60) as api:
                    try:
                        answer = await api.get("/metrics")
                    except httpx.TransportError:
                        continue
                    # While the counts of those that ended are put in order it may be 503.
                    assert answer.status_code in (200, 503), answer.text
                    if answer.status_code == 200:
                        seen.append(read(answer.text).get(series, 0.0))

        watching = asyncio.create_task(watch())
        async with httpx.AsyncClient(headers=bearer(HOST_KEY), timeout=60) as http:
            for number in (signal.SIGKILL, signal.SIGHUP, signal.SIGKILL):
                for _ in range(10):
                    answered += (await http.get(path)).status_code == 200
                old = workers(server)
                for pid in old if number == signal.SIGKILL else {server.process.pid}:
                    os.kill(pid, number)
                await until_renewed(server, old)
        over = True
        await watching
        async with httpx.AsyncClient(base_url=server.address, timeout=60) as api:
            while (await api.get("/health/ready")).status_code != 200:
                await asyncio.sleep(0.05)
            now = await figures(api)
        assert answered == now[series] == 30
        assert seen == sorted(seen)
        async with (
            asyncio.timeout(60),
            httpx.AsyncClient(base_url=server.address, timeout=60) as api,
        ):
            # Each says within a second that it is one.
            while (await figures(api))["fairdeal_workers"] != 2:
                await asyncio.sleep(0.05)
        async with asyncio.timeout(60):
            # Every process has counts of its own, the parent too.
            while {owner(name) for name in files(folder)} - set(map(str, server.members())) != {
                "ended"
            }:
                await asyncio.sleep(0.01)
        assert server.end()[0] == 0


def test_what_a_process_may_count_has_its_room_from_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(METRICS_FOLDER_ENV, str(tmp_path))
    write(tmp_path, "counter", os.getpid(), {"a": 1.0})
    write(tmp_path, "counter", 1, {"a": 1.0})
    own, other = tmp_path / f"counter_{os.getpid()}.db", tmp_path / "counter_1.db"
    assert own.stat().st_blocks * 512 < own.stat().st_size
    hold_room()
    assert own.stat().st_blocks * 512 >= own.stat().st_size
    assert other.stat().st_blocks * 512 < other.stat().st_size
    assert told(tmp_path)["n_total", frozenset({("l", "a")})] == 2.0


def test_a_process_without_room_for_its_figures_says_so(tmp_path: Path) -> None:
    """It would be killed for counting, and nobody would know why."""
    folder = tmp_path / "none"
    code = (
        "import os\nfrom api import children, figure_files\n"
        "def full(*_): raise OSError(28, 'No space left on device')\n"
        "os.posix_fallocate = full\n"
        "open(f'{os.environ[figure_files.METRICS_FOLDER_ENV]}/counter_{os.getpid()}.db', 'wb')\n"
        "children.be_a_child()\n"
    )
    folder.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {METRICS_FOLDER_ENV: str(folder), "PYTHONPATH": str(ROOT)},
        input="{}\n",
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr == f"fairdeal: figures cannot be kept in {folder}: No space left on device\n"
