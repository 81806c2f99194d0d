"""Backups taken while games are played, restored elsewhere, and what holds there."""

import asyncio
import json
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from random import Random

import httpx
import psycopg
import pytest

from eventstore import embedded, programs
from eventstore.migrate import migrate
from projections.registry import PROJECTIONS
from tests.api.load import playing
from tests.api.processes import create, free_port, run, serving
from tests.api.running import HOST_KEY, Game, Json, bearer, new_game, running
from tests.database import Databases, database_url, open_folder

pytestmark = pytest.mark.postgres

KEYS = ("host.key", "secret", "signing.keys")


@pytest.fixture
def folders() -> Iterator[tuple[Path, Path]]:
    """The data folder of a service, and one for what is restored, both with the same keys."""
    with ExitStack() as ending:
        one, two = (ending.enter_context(open_folder("fairdeal-backup-")) for _ in range(2))
        for name, text in zip(KEYS, (f"host:{HOST_KEY}", "s" * 40, None), strict=True):
            if text is not None:
                (one / name).write_text(text)
                (one / name).chmod(0o600)
        yield one, two


async def test_taken_while_games_are_played_it_goes_on_elsewhere(
    folders: tuple[Path, Path], tmp_path: Path
) -> None:
    here, there = folders
    file = tmp_path / "fairdeal.dump"
    keyed: list[tuple[Game, int, Json, Json]] = []
    with serving(free_port(), FAIRDEAL_DATA_DIR=str(here)) as server:
        async with (
            httpx.AsyncClient(base_url=server.address, timeout=30) as http,
            playing(server.address, 4) as load,
        ):
            await load.more(20)
            for number in range(3):
                game = Game(http, create(server.address, HOST_KEY))
                action = {"type": "pass"}
                done = await game.act(0, action, Idempotency_Key=f"k{number}")
                assert done.status_code == 201
                keyed.append((game, 0, action, done.json()))
            before = {id_: 0 for id_, _ in load.acknowledged}
            for id_, answer in load.acknowledged:
                before[id_] = max(before[id_], answer["version"])
            taken = await asyncio.to_thread(run, "backup", str(file), FAIRDEAL_DATA_DIR=str(here))
            assert taken.returncode == 0, taken.stderr
            await load.more(20)
            games = load.games
            await load.stop()
        assert server.end()[0] == 0
    for name in KEYS:
        shutil.copy(here / name, there / name)
    restored = run("restore", str(file), FAIRDEAL_DATA_DIR=str(there))
    assert restored.returncode == 0, restored.stderr
    audited = run("audit", "--json", FAIRDEAL_DATA_DIR=str(there))
    assert audited.returncode == 0, audited.stdout
    assert json.loads(audited.stdout)["streams"] == 7
    with serving(free_port(), FAIRDEAL_DATA_DIR=str(there)) as server:
        async with httpx.AsyncClient(base_url=server.address, timeout=30) as http:
            for number, (game, seat, action, first) in enumerate(keyed):
                again = Game(http, game.created)
                answer = await again.act(seat, action, Idempotency_Key=f"k{number}")
                assert answer.headers["idempotent-replayed"] == "true"
                assert answer.json()["receipt"] == first["receipt"]
            for game in games:
                # Tokens hold, nothing acknowledged before the backup is missing, play goes on.
                again = Game(http, game.created)
                assert (await again.view(0))["version"] >= before[game.id]
                await again.play(Random(3), 5)
            listed = (await http.get("/v1/games", headers=bearer(HOST_KEY))).json()["items"]
            assert len(listed) == 7
        for name in PROJECTIONS:
            built = await asyncio.to_thread(
                run, "rebuild", name, "--json", FAIRDEAL_DATA_DIR=str(there)
            )
            assert built.returncode == 0, built.stderr
            assert json.loads(built.stdout)["different"] is False, name
        assert server.end()[0] == 0
    assert run("audit", FAIRDEAL_DATA_DIR=str(there)).returncode == 0


def test_a_copy_of_the_folder_of_a_stopped_service_serves(folders: tuple[Path, Path]) -> None:
    here, there = folders
    with serving(free_port(), FAIRDEAL_DATA_DIR=str(here)) as server:
        game = create(server.address, HOST_KEY)
        path = f"/v1/games/{game['id']}"
        before = httpx.get(f"{server.address}{path}", headers=bearer(HOST_KEY)).json()["version"]
        assert server.end()[0] == 0
    there.rmdir()
    # Whose the files are is kept: Postgres' are its account's.
    subprocess.run(["cp", "-a", str(here), str(there)], check=True)
    with serving(free_port(), FAIRDEAL_DATA_DIR=str(there)) as server:
        headers = bearer(game["seats"][0]["token"])
        found = httpx.get(f"{server.address}{path}", headers=headers, timeout=30)
        assert found.json()["version"] == before
        assert server.end()[0] == 0


async def test_whoever_was_erased_since_the_backup_is_erased_again(
    databases: Databases, tmp_path: Path
) -> None:
    file = tmp_path / "fairdeal.dump"
    with databases.fresh() as here, databases.fresh(migrated=False) as there:
        async with running(here) as api:
            game = await new_game(api)
            taken = await asyncio.to_thread(run, "backup", str(file), FAIRDEAL_DATABASE_URL=here)
            assert taken.returncode == 0, taken.stderr
            assert (await api.delete("/v1/players/ref-0", headers=bearer(HOST_KEY))).is_success
            assert (await game.view())["seats"][0]["name"] != "Player 0"
        done = await asyncio.to_thread(run, "restore", str(file), FAIRDEAL_DATABASE_URL=there)
        assert done.returncode == 0, done.stderr
        async with running(there) as api:
            again = Game(api, game.created)
            assert (await again.view())["seats"][0]["name"] == "Player 0"
            erased = await api.delete("/v1/players/ref-0", headers=bearer(HOST_KEY))
            assert erased.json()["games"] == 1
            assert (await again.view())["seats"][0]["name"] != "Player 0"


def test_a_backup_is_private_and_replaces_nothing_half_way(
    database_url: str, tmp_path: Path
) -> None:
    file = tmp_path / "fairdeal.dump"
    assert run("backup", str(file), FAIRDEAL_DATABASE_URL=database_url).returncode == 0
    assert file.stat().st_mode & 0o777 == 0o600
    kept = file.read_bytes()
    nowhere = "postgresql://nobody:hidden@127.0.0.1:1/none"
    failed = run("backup", str(file), FAIRDEAL_DATABASE_URL=nowhere)
    assert failed.returncode == 1
    assert "hidden" not in failed.stderr
    assert "Traceback" not in failed.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["fairdeal.dump"]
    assert file.read_bytes() == kept


def test_a_backup_is_restored_into_nothing_else_than_an_empty_database(
    databases: Databases, database_url: str, tmp_path: Path
) -> None:
    file = tmp_path / "fairdeal.dump"
    assert run("backup", str(file), FAIRDEAL_DATABASE_URL=database_url).returncode == 0
    refused = run("restore", str(file), FAIRDEAL_DATABASE_URL=database_url)
    assert refused.returncode == 1
    assert "not empty" in refused.stderr
    with databases.fresh(migrated=False) as empty:
        broken = tmp_path / "broken.dump"
        broken.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
        assert run("restore", str(broken), FAIRDEAL_DATABASE_URL=empty).returncode == 1
        # Nothing was left of the attempt.
        assert run("restore", str(file), FAIRDEAL_DATABASE_URL=empty).returncode == 0
    assert (
        run("restore", str(tmp_path / "none"), FAIRDEAL_DATABASE_URL=database_url).returncode == 2
    )


OLDER = sorted(Path("/usr/lib/postgresql").glob("1[56]/bin/postgres"))


@pytest.mark.skipif(not OLDER, reason="no PostgreSQL 15 or 16 is installed")
def test_a_backup_goes_back_into_an_older_server_too(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """pg_restore would ask for settings that came with PostgreSQL 17."""
    file = tmp_path / "fairdeal.dump"
    with open_folder("fairdeal-older-") as folder, ExitStack() as ending:
        with monkeypatch.context() as without_wheel:
            without_wheel.setattr(programs, "_of_wheel", list)
            without_wheel.setattr(programs, "_of_system", lambda: [OLDER[-1].parent])
            url = ending.enter_context(embedded.server(folder, throwaway=True))
        with psycopg.connect(url, autocommit=True) as conn:
            assert conn.info.server_version < 170000
            for name in ("one", "two"):
                conn.execute(f"CREATE DATABASE {name}".encode())
        one, two = (database_url(url, name) for name in ("one", "two"))
        asyncio.run(migrate(one))
        assert run("backup", str(file), FAIRDEAL_DATABASE_URL=one).returncode == 0
        restored = run("restore", str(file), FAIRDEAL_DATABASE_URL=two)
        assert restored.returncode == 0, restored.stderr
        assert asyncio.run(migrate(two)).applied == ()
