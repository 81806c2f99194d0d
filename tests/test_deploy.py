"""The files in docs/deploy: linted, and run as far as that goes without an engine for them."""

import os
import re
import shutil
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
import yaml
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from api import settings, signing
from eventstore import embedded
from eventstore.programs import account, find
from tests.api.processes import create, free_port, run, serving
from tests.api.running import HOST_KEY, bearer
from tests.api.test_live_served import environment
from tests.database import open_folder
from tests.pooler import pooler

ROOT = Path(__file__).parents[1]
DEPLOY = ROOT / "docs" / "deploy"
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
OURS = ("api-1", "api-2", "backup", "migrate", "pgbouncer", "caddy")

Service = dict[str, Any]


def program(name: str, *folders: Path) -> str:
    """A linter's path; skips where it is not installed."""
    path = os.pathsep.join([*map(str, folders), os.environ.get("PATH", ""), "/usr/sbin"])
    found = shutil.which(name, path=path)
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


def check(*command: str, **environment: str) -> None:
    done = subprocess.run(
        command, env=os.environ | environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_container_file_passes_its_linter() -> None:
    linter = program("hadolint", Path(sys.executable).parent)
    check(linter, "--failure-threshold", "info", str(DEPLOY / "Containerfile"))


def test_the_compose_file_passes_its_linter() -> None:
    linter = program("dclint", ROOT / ".lint" / "node_modules" / ".bin")
    check(linter, "--max-warnings", "0", str(DEPLOY / "compose.yaml"))


def test_the_proxys_file_is_well_formed(tmp_path: Path) -> None:
    place = ("--config", str(DEPLOY / "Caddyfile"), "--adapter", "caddyfile")
    check(program("caddy"), "validate", *place, HOME=str(tmp_path))


def services() -> dict[str, Service]:
    found: dict[str, Service] = COMPOSE["services"]
    return found


def test_images_are_pinned() -> None:
    named = [service["image"] for service in services().values() if "image" in service]
    named += re.findall(r"^FROM (\S+)", (DEPLOY / "Containerfile").read_text(), re.M)
    assert len(named) > 5
    for image in named:
        assert re.search(r":v?\d+\.\d+", image), image


@pytest.mark.parametrize("name", services())
def test_each_service_has_no_more_than_it_needs(name: str) -> None:
    service = services()[name]
    assert service["read_only"] is True
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert "privileged" not in service
    assert set(service["networks"]) <= {"front", "inside"}
    if name in OURS:
        assert service["cap_drop"] == ["ALL"]
    for word in (*(service.get("environment") or {}).values(), *service.get("command", ())):
        assert ":" not in str(word).partition("//")[2].partition("@")[0], "a password"


def test_what_the_containers_run_as_is_not_root() -> None:
    stages = (DEPLOY / "Containerfile").read_text().split("FROM ")
    for stage in stages[2:]:
        users = re.findall(r"^USER (\d+):\d+$", stage, re.M)
        assert users, stage
        assert int(users[-1]) > 1000
    assert services()["caddy"]["user"].split(":")[0] != "0"


def test_each_service_can_say_how_it_does() -> None:
    image_checks = (DEPLOY / "Containerfile").read_text().count("HEALTHCHECK")
    assert image_checks == 2
    for name in ("caddy", "postgres"):
        assert services()[name]["healthcheck"]["test"]


def test_the_processes_behind_the_pooler_are_set_for_it() -> None:
    for name in ("api-1", "api-2"):
        service = services()[name]
        given = {k: str(v) for k, v in service["environment"].items()}
        found = settings.from_environment(
            {"FAIRDEAL_HOST_KEYS": "host:key", "FAIRDEAL_SECRET": "secret", **given}
        )
        assert found.database_prepare is False
        assert "@pgbouncer:6432/" in found.database_url
        assert "@postgres:5432/" in found.listen_url
        grace = int(service["stop_grace_period"].removesuffix("s"))
        assert found.drain_seconds + 5 < grace
        assert service["depends_on"]["migrate"] == {
            "condition": "service_completed_successfully"
        }  # fmt: skip


def test_the_image_gets_every_package() -> None:
    copied = set(re.findall(r"^COPY (\w+)/ \1/$", (DEPLOY / "Containerfile").read_text(), re.M))
    ignored = (DEPLOY / "Containerfile.dockerignore").read_text()
    assert copied == {"api", "domain", "eventstore", "projections", "seeds"}
    for name in copied:
        assert f"!{name}/\n" in ignored


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """The secrets, as the script makes them."""
    if os.geteuid() != 0:
        pytest.skip("only root gives files to the accounts of the images")
    shutil.copy(DEPLOY / "make_secrets.py", tmp_path)
    done = subprocess.run(
        [sys.executable, str(tmp_path / "make_secrets.py")],
        capture_output=True,
        text=True,
        check=True,
    )
    folder = tmp_path / "secrets"
    assert done.stdout.strip().rpartition(" ")[2] in (folder / "api" / "host.key").read_text()
    again = subprocess.run(
        [sys.executable, str(tmp_path / "make_secrets.py")], capture_output=True, check=False
    )
    assert again.returncode == 1
    return folder


def test_the_secrets_fit_what_reads_them(made: Path) -> None:
    for path in made.rglob("*"):
        if path.is_file():
            assert stat.S_IMODE(path.stat().st_mode) == 0o400, path
            assert path.stat().st_uid not in (0, 1000)
    keys = settings.host_keys((made / "api/host.key").read_text())
    assert list(keys) == ["host"]
    assert signing.parse((made / "api/signing.keys").read_text(), "file")
    mounted = {
        source.removeprefix("./secrets/").partition(":")[0]
        for service in services().values()
        for source in service.get("volumes", ())
        if source.startswith("./secrets/")
    }
    assert mounted == {"api", "caddy", "migrate", "pgbouncer"}
    for secret in COMPOSE["secrets"].values():
        assert (made / secret["file"].removeprefix("./secrets/")).is_file()


@pytest.mark.postgres
def test_it_serves_with_the_roles_and_secrets_of_the_containers(made: Path) -> None:
    """Postgres asks for no password here; all else is what the containers do: the role is made by
    the script, `migrate` lets it serve, and the process finds its secrets in a folder that it does
    not write to."""
    with open_folder() as folder, embedded.server(folder, throwaway=True) as owner:
        programs = find(folder, account(), None)
        script = (DEPLOY / "roles.sh").read_text()
        password = (made / "database" / "app_password").read_text().strip()
        statement = re.search(r"<<'SQL'\n(.*)\nSQL\n", script, re.S)
        assert statement is not None
        subprocess.run(
            [
                programs.folder / "psql",
                "-v",
                "ON_ERROR_STOP=1",
                "-v",
                f"password={password}",
                owner,
            ],
            input=statement[1],
            text=True,
            check=True,
            capture_output=True,
        )
        [*arguments] = services()["migrate"]["command"]
        assert run(*arguments, FAIRDEAL_DATABASE_URL=owner).returncode == 0
        app = make_conninfo("", **conninfo_to_dict(owner) | {"user": "fairdeal_app"})
        before = sorted(path.name for path in (made / "api").iterdir())
        key = (made / "api" / "host.key").read_text().strip().partition(":")[2]
        given = {"FAIRDEAL_DATABASE_URL": app, "FAIRDEAL_DATA_DIR": str(made / "api")}
        with serving(free_port(), **given) as server:
            game = create(server.address, key)
            assert game["receipt"]["signature"]
            assert server.end()[0] == 0
        assert sorted(path.name for path in (made / "api").iterdir()) == before


def test_the_backups_are_apart_from_the_keys(made: Path) -> None:
    backups = made.with_name("backups")
    assert stat.S_IMODE(backups.stat().st_mode) == 0o700
    assert backups.stat().st_uid == (made / "migrate" / "pgpass").stat().st_uid
    service = services()["backup"]
    assert service["volumes"] == ["./secrets/migrate:/secrets:ro", "./backups:/backups"]
    assert service["environment"] == services()["migrate"]["environment"]
    # `up` starts no service that has a profile.
    assert service["profiles"] == ["backup"]


@pytest.fixture
def engine(tmp_path: Path) -> Path:
    """A folder for PATH with a `docker` that runs what the service would, without a container."""
    folder = tmp_path / "bin"
    folder.mkdir()
    words = "compose run --rm --no-deps --no-TTY backup "
    script = folder / "docker"
    script.write_text(
        "#!/bin/sh\nset -eu\n"
        f'case "$*" in "{words}"*) ;; *) exit 64 ;; esac\n'
        "shift 6\n"
        'name="$PWD$2"\n'
        f'cd "{ROOT}"\nexec "{sys.executable}" -m api "$1" "$name"\n'
    )
    script.chmod(0o755)
    return folder


@pytest.mark.postgres
def test_a_scheduled_backup_replaces_old_ones_once_it_is_there(
    database_url: str, tmp_path: Path, engine: Path
) -> None:
    shutil.copy(DEPLOY / "backup.sh", tmp_path)
    backups = tmp_path / "backups"
    backups.mkdir()
    ages = {"fairdeal-20200101T000000Z.dump": 20, "fairdeal-20200102T000000Z.dump": 3, "notes": 20}
    for name, days in ages.items():
        (backups / name).write_text("before")
        at = time.time() - days * 86_400
        os.utime(backups / name, (at, at))

    def backed_up(url: str) -> int:
        path = f"{engine}{os.pathsep}{os.environ['PATH']}"
        return subprocess.run(
            [tmp_path / "backup.sh"],
            env=os.environ | {"PATH": path, "FAIRDEAL_DATABASE_URL": url},
            capture_output=True,
            check=False,
        ).returncode

    assert backed_up("postgresql://nobody@127.0.0.1:1/none") != 0
    assert {path.name for path in backups.iterdir()} == ages.keys()
    assert backed_up(database_url) == 0
    [new] = {path.name for path in backups.iterdir()} - ages.keys()
    assert re.fullmatch(r"fairdeal-\d{8}T\d{6}Z\.dump", new)
    assert (backups / new).read_bytes().startswith(b"PGDMP")
    assert stat.S_IMODE((backups / new).stat().st_mode) == 0o600
    assert {path.name for path in backups.iterdir()} == {
        new,
        "fairdeal-20200102T000000Z.dump",
        "notes",
    }


@pytest.mark.postgres
def test_it_serves_through_the_pooler_as_it_is_set(database_url: str, tmp_path: Path) -> None:
    """With the very file of compose.yaml, its passwords included."""
    with open_folder("fairdeal-users-") as users:
        users.chmod(0o755)
        file = users / "userlist.txt"
        file.write_text('"postgres" "a password"\n')
        file.chmod(0o644)
        given = (DEPLOY / "pgbouncer.ini").read_text()
        assert "auth_file = /secrets/userlist.txt" in given
        lines = given.replace("/secrets/userlist.txt", str(file))
        with pooler(database_url, lines, password="a password") as pooled:
            wrong = pooled.replace("a%20password", "another")
            with pytest.raises(psycopg.OperationalError):
                psycopg.connect(wrong).close()
            more = {"FAIRDEAL_DATABASE_PREPARE": "false", "FAIRDEAL_LISTEN_URL": database_url}
            with serving(free_port(), "--workers", "2", **environment(pooled, **more)) as server:
                game = create(server.address, HOST_KEY)
                path = f"{server.address}/v1/games/{game['id']}"
                for _ in range(5):
                    seat = httpx.get(path, headers=bearer(HOST_KEY)).json()["to_act"][0]
                    token = game["seats"][seat]["token"]
                    view = httpx.get(path, headers=bearer(token)).json()
                    action = view["actions"][0]
                    if isinstance(action.get("at"), dict):
                        action["at"] = action["at"]["min"]
                    done = httpx.post(f"{path}/actions", json=action, headers=bearer(token))
                    assert done.status_code == 201, done.text
                found = httpx.get(f"{server.address}/v1/games", headers=bearer(HOST_KEY)).json()
                assert [item["id"] for item in found["items"]] == [game["id"]]
                code, _, said = server.end()
                assert code == 0
                assert "error" not in said
