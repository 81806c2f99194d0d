"""`fairdeal serve` and its like as real processes: starting, stopping, being killed."""

import os
import re
import signal
import socket
import stat
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random

import httpx
import pytest

from api.signing import parse
from domain.registry import GAMES
from tests.api.processes import Serving, create, free_port, host_key, run, serving
from tests.api.running import HOST_KEY, SECRET, SIGNING_KEYS, Json, bearer
from tests.database import Databases, open_folder

pytestmark = pytest.mark.postgres


@pytest.fixture
def folder() -> Iterator[Path]:
    with open_folder("fairdeal-serve-") as found:
        yield found


@pytest.fixture
def environment(database_url: str) -> dict[str, str]:
    return {
        "FAIRDEAL_STOP_SECONDS": "50",
        "FAIRDEAL_DATABASE_URL": database_url,
        "FAIRDEAL_HOST_KEYS": f"host:{HOST_KEY}",
        "FAIRDEAL_SECRET": SECRET,
        "FAIRDEAL_SIGNING_KEYS": SIGNING_KEYS,
    }


def test_a_first_start_makes_keys_prints_them_once_and_leaves_nothing_running(
    folder: Path,
) -> None:
    with serving(free_port(), FAIRDEAL_DATA_DIR=str(folder)) as server:
        made = {name: (folder / name) for name in ("host.key", "secret", "signing.keys")}
        for path in made.values():
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
        kept = made["host.key"].read_text().strip().partition(":")[2]
        game = create(server.address, kept)
        signed_by = httpx.get(f"{server.address}/.well-known/jwks.json").json()["keys"]
        assert game["receipt"]["key"] == signed_by[0]["kid"]
        code, out, err = server.end()
        assert (code, err) == (0, "")
        assert server.address in out
        assert host_key(out) == kept
        server.wait_gone()
    with serving(free_port(), FAIRDEAL_DATA_DIR=str(folder)) as server:
        answer = httpx.get(f"{server.address}/v1/games/{game['id']}", headers=bearer(kept))
        assert answer.status_code == 200
        assert httpx.get(f"{server.address}/.well-known/jwks.json").json()["keys"] == signed_by
        token = game["seats"][0]["token"]
        answer = httpx.get(f"{server.address}/v1/games/{game['id']}", headers=bearer(token))
        assert answer.status_code == 200
        code, out, _ = server.end(signal.SIGINT)
        assert code == 0
        assert server.address in out
        assert kept not in out
        server.wait_gone()


def test_keys_rotated_while_it_serves_sign_at_once_in_every_worker(folder: Path) -> None:
    with serving(free_port(), "--workers", "2", FAIRDEAL_DATA_DIR=str(folder)) as server:
        key = (folder / "host.key").read_text().strip().partition(":")[2]
        before = create(server.address, key)["receipt"]["key"]
        assert run("keys", "rotate", FAIRDEAL_DATA_DIR=str(folder)).returncode == 0
        signers = {create(server.address, key)["receipt"]["key"] for _ in range(20)}
        known = httpx.get(f"{server.address}/.well-known/jwks.json").json()["keys"]
        assert [jwk["kid"] for jwk in known] == [before, *signers]


def test_a_port_in_use_is_said_and_nothing_is_started(
    folder: Path, environment: dict[str, str]
) -> None:
    with serving(free_port(), **environment) as server:
        port = server.address.rpartition(":")[2]
        second = run("serve", "--port", port, FAIRDEAL_DATA_DIR=str(folder))
        assert second.returncode == 1
        assert f"port {port}" in second.stderr
        assert "Traceback" not in second.stderr
        assert list(folder.iterdir()) == []
        assert httpx.get(f"{server.address}/health/live").status_code == 200


def test_settings_that_make_no_sense_are_said(environment: dict[str, str]) -> None:
    ended = run("serve", "--port", str(free_port()), **environment | {"FAIRDEAL_HOST_KEYS": "x"})
    assert ended.returncode == 1
    assert "FAIRDEAL_HOST_KEYS" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_file_of_signing_keys_that_is_named_is_never_made_by_serving(
    environment: dict[str, str], tmp_path: Path
) -> None:
    path = tmp_path / "volume" / "signing.keys"
    del environment["FAIRDEAL_SIGNING_KEYS"]
    environment["FAIRDEAL_SIGNING_KEYS_FILE"] = str(path)
    ended = run("serve", "--port", str(free_port()), **environment)
    assert ended.returncode == 1
    assert ended.stderr.startswith(f"fairdeal: FAIRDEAL_SIGNING_KEYS_FILE: {path} cannot be read")
    assert not path.parent.exists()
    # As the message says.
    assert run("keys", "rotate", **environment).returncode == 0
    with serving(free_port(), **environment) as server:
        keys = httpx.get(f"{server.address}/.well-known/jwks.json").json()["keys"]
    assert [jwk["kid"] for jwk in keys] == [key.public.kid for key in parse(path.read_text(), "")]


def test_a_wrong_command_line_exits_with_2() -> None:
    assert run("serve", "--port", "none").returncode == 2
    assert run("fly").returncode == 2
    helped = run("serve", "--help")
    assert helped.returncode == 0
    assert "--workers" in helped.stdout


@pytest.mark.parametrize("workers", ["1", "2"])
def test_open_long_polls_are_answered_when_the_server_is_stopped(
    environment: dict[str, str], workers: str
) -> None:
    with serving(free_port(), "--workers", workers, **environment) as server:
        game = create(server.address, HOST_KEY)
        path = f"{server.address}/v1/games/{game['id']}?wait=30"
        ended: list[int] = []
        waiting = threading.Barrier(4)

        def poll() -> None:
            with httpx.Client(timeout=60) as http:
                http.get(path.partition("?")[0], headers=bearer(HOST_KEY))
                waiting.wait()
                ended.append(http.get(path, headers=bearer(HOST_KEY)).status_code)

        threads = [threading.Thread(target=poll) for _ in range(3)]
        for thread in threads:
            thread.start()
        waiting.wait()
        time.sleep(0.5)
        code, _, complaints = server.end()
        assert code == 0
        assert "Killing" not in complaints
        for thread in threads:
            thread.join()
        assert ended == [200, 200, 200]


def test_many_signals_at_once_end_the_server_as_one_does(environment: dict[str, str]) -> None:
    with serving(free_port(), "--workers", "2", **environment) as server:
        for _ in range(50):
            server.process.send_signal(signal.SIGTERM)
        code, _, _ = server.end()
        assert code == 0


@pytest.mark.parametrize(
    "rest",
    [
        b"Transfer-Encoding: chunked\r\n\r\nZZ\r\n",
        b"Transfer-Encoding: chunked\r\n\r\n5\r\n{}",
        b'Content-Length: 50\r\n\r\n{"ga',
    ],
)
def test_a_body_that_does_not_come_whole_is_a_bad_request(
    environment: dict[str, str], rest: bytes
) -> None:
    port = free_port()
    head = f"POST /v1/games HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {HOST_KEY}\r\n"
    with serving(port, **environment), socket.create_connection(("127.0.0.1", port)) as wire:
        wire.sendall(head.encode() + rest)
        wire.shutdown(socket.SHUT_WR)
        assert wire.recv(100).startswith(b"HTTP/1.1 400 ")


def test_a_body_that_does_not_come_is_waited_for_so_long(environment: dict[str, str]) -> None:
    port = free_port()
    head = f"POST /v1/games HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {HOST_KEY}\r\n"
    environment["FAIRDEAL_BODY_SECONDS"] = "0.3"
    with serving(port, **environment), socket.create_connection(("127.0.0.1", port)) as wire:
        wire.sendall(head.encode() + b'Content-Length: 50\r\n\r\n{"ga')
        wire.settimeout(60)
        answer = b""
        while piece := wire.recv(4096):
            answer += piece
        assert answer.startswith(b"HTTP/1.1 400 ")
        assert b"0.3 seconds" in answer


def test_a_database_that_cannot_be_used_is_said_before_anyone_calls() -> None:
    ended = run(
        *("serve", "--port", str(free_port())),
        FAIRDEAL_DATABASE_URL="postgresql://nobody@127.0.0.1:1/none",
        FAIRDEAL_HOST_KEYS=f"host:{HOST_KEY}",
        FAIRDEAL_SECRET=SECRET,
    )
    assert ended.returncode == 1
    assert ended.stderr.startswith("fairdeal: the database cannot be used")
    assert "serves at" not in ended.stdout


def test_kill_9_between_actions_loses_nothing_acknowledged(environment: dict[str, str]) -> None:
    chance = Random(13)
    port = free_port()
    acknowledged: list[Json] = []
    game: Json = {}
    for _ in range(3):
        with serving(port, **environment) as server:
            game = game or create(server.address, HOST_KEY, rules={"trading": "off"})
            path = f"{server.address}/v1/games/{game['id']}"
            for _ in range(chance.randint(3, 9)):
                acknowledged.append(_step(path, game, chance))
            server.process.kill()
            server.process.communicate()
            server.wait_gone()
    with serving(port, **environment) as server:
        path = f"{server.address}/v1/games/{game['id']}/events?limit=1000"
        log = httpx.get(path, headers=bearer(HOST_KEY)).json()["items"]
        by_version = {event["version"]: event for event in log}
        assert sorted(by_version) == list(range(1, len(log) + 1))
        for answer in acknowledged:
            for event in answer["events"]:
                assert by_version[event["version"]]["hash"] == event["hash"]
        plays = [event for event in log if event["type"] == "CardPlayed"]
        sent = [e for a in acknowledged for e in a["events"] if e["type"] == "CardPlayed"]
        assert len(plays) == len(sent)
        _step(path.partition("/events")[0], game, chance)


def test_kill_9_in_the_middle_of_requests_and_repeating_them_acts_once(
    environment: dict[str, str],
) -> None:
    """Each seat sends its pass under a key until it is acknowledged, whatever dies meanwhile."""
    port = free_port()
    server = Serving(port, **environment)
    server.wait_ready()
    games = [create(server.address, HOST_KEY) for _ in range(20)]
    answers: dict[tuple[int, int], Json] = {}

    def insist(number: int) -> None:
        game = games[number]
        for seat in range(3):
            headers = bearer(game["seats"][seat]["token"], Idempotency_Key=f"pass-{seat}")
            url = f"{server.address}/v1/games/{game['id']}/actions"
            while True:
                try:
                    answer = httpx.post(url, json={"type": "pass"}, headers=headers, timeout=10)
                except httpx.TransportError:
                    continue
                assert answer.status_code == 201, answer.text
                answers[number, seat] = answer.json()
                break

    threads = [threading.Thread(target=insist, args=(number,)) for number in range(20)]
    try:
        for thread in threads:
            thread.start()
        for _ in range(2):
            server.process.kill()
            server.process.communicate()
            server.wait_gone()
            server = Serving(port, **environment)
            server.wait_ready()
        for thread in threads:
            thread.join(120)
        assert len(answers) == 60
        for number, game in enumerate(games):
            url = f"{server.address}/v1/games/{game['id']}/events?limit=1000"
            log = httpx.get(url, headers=bearer(HOST_KEY)).json()["items"]
            passes = [(e["actor"], e["version"]) for e in log if e["type"] == "Passed"]
            told = [(seat, answers[number, seat]["version"]) for seat in range(3)]
            assert sorted(passes) == sorted(told)
    finally:
        server.process.kill()
        server.process.communicate()
        server.wait_gone()


def test_several_workers_serve_one_game_and_count_together(environment: dict[str, str]) -> None:
    chance = Random(14)
    with serving(free_port(), "--workers", "2", **environment) as server:
        game = create(server.address, HOST_KEY, rules={"trading": "off"})
        path = f"{server.address}/v1/games/{game['id']}"
        for _ in range(20):
            _step(path, game, chance)
        metrics = httpx.get(f"{server.address}/metrics").text
        counts = re.findall(
            r'fairdeal_requests_total\{[^}]*path="/v1/games/\{game_id\}/actions"[^}]*\} (\S+)',
            metrics,
        )
        assert sum(map(float, counts)) == 20
        code, _, err = server.end()
        assert (code, err) == (0, "")


def test_a_worker_that_dies_is_replaced(environment: dict[str, str]) -> None:
    with serving(free_port(), **environment) as server:
        game = create(server.address, HOST_KEY)
        [worker] = [
            pid
            for pid in server.members()
            if b"api.worker" in Path(f"/proc/{pid}/cmdline").read_bytes()
        ]
        os.kill(worker, signal.SIGKILL)
        server.wait_ready()
        path = f"{server.address}/v1/games/{game['id']}"
        assert httpx.get(path, headers=bearer(HOST_KEY)).status_code == 200


def test_migrate_reports_what_it_did(folder: Path) -> None:
    first = run("migrate", FAIRDEAL_DATA_DIR=str(folder))
    assert first.returncode == 0, first.stderr
    assert "0001_streams" in first.stdout
    second = run("migrate", "--json", FAIRDEAL_DATA_DIR=str(folder))
    assert second.returncode == 0
    assert '"applied": []' in second.stdout


def test_a_database_that_does_not_answer_is_said() -> None:
    ended = run("migrate", FAIRDEAL_DATABASE_URL="postgresql://nobody@127.0.0.1:1/none")
    assert ended.returncode == 1
    assert ended.stderr.startswith("fairdeal: the database cannot be used")
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize("game", [name for name in GAMES if name != "lodam"])
def test_the_demo_plays_any_game(game: str) -> None:
    shown = run("demo", "--game", game, "--option", "cut=manual", COLUMNS="200")
    assert shown.returncode == 0, shown.stderr
    assert f"A game of {GAMES[game].title}" in shown.stdout
    assert "FAILED" not in shown.stdout


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("--game", "whist"), 2, "whist is not one of lodam"),
        (("--option", "lives"), 2, "lives is not NAME=VALUE"),
        (("--option", "lives=0"), 1, "$.rules.lives"),
        (("--players", "2"), 1, "3 to 10 players"),
    ],
)
def test_a_demo_that_cannot_be_is_said(arguments: tuple[str, ...], code: int, said: str) -> None:
    ended = run("demo", *arguments, COLUMNS="200")
    assert ended.returncode == code
    assert said in ended.stderr
    assert "Traceback" not in ended.stderr


def test_the_demo_plays_tells_and_checks_a_whole_game() -> None:
    shown = run("demo", "--seed", "7", COLUMNS="200")
    assert shown.returncode == 0, shown.stderr
    assert "Hand 1" in shown.stdout
    assert re.search(r"Won by (Ann|Bob|Cleo|Dan)", shown.stdout)
    assert "FAILED" not in shown.stdout
    assert shown.stdout.count("passed") >= 3
    again = run("demo", "--seed", "7", COLUMNS="200")
    told = [re.findall(r"^  \d+\. .*$", text, re.M) for text in (shown.stdout, again.stdout)]
    assert told[0] == told[1]
    assert told[0]


def _step(path: str, game: Json, chance: Random) -> Json:
    """One legal action of somebody who is waited for."""
    seat = httpx.get(path, headers=bearer(HOST_KEY)).json()["to_act"][0]
    headers = bearer(game["seats"][seat]["token"])
    action = chance.choice(httpx.get(path, headers=headers).json()["actions"])
    answer = httpx.post(f"{path}/actions", json=action, headers=headers)
    assert answer.status_code == 201, answer.text
    done: Json = answer.json()
    return done


def test_a_database_without_migrations_is_told_of_once(databases: Databases) -> None:
    with databases.fresh(migrated=False) as url:
        server = Serving(
            free_port(), FAIRDEAL_DATABASE_URL=url, FAIRDEAL_HOST_KEYS=f"host:{HOST_KEY}"
        )
        try:
            told = server.process.stderr
            assert told is not None
            first = next(line for line in told if "migrate" in line)
        finally:
            server.end()
    assert "0001_streams" in first
