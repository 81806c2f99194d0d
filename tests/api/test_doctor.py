"""`fairdeal doctor`: what it finds, each thing where it is well and where it is not."""

import json
import os
import resource
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from api.doctor import database, place
from api.doctor.findings import Finding, worst
from eventstore import embedded
from eventstore.migrate import grant_app, migrate
from projections.registry import PROJECTIONS
from projections.standing import Feed, ParkedStream, Standing
from tests.api.processes import command, run
from tests.api.running import HOST_KEY, SECRET, SIGNING_KEYS
from tests.database import Databases, open_folder
from tests.pooler import pooler

Environment = dict[str, str]


@pytest.fixture
def folder() -> Iterator[Path]:
    with open_folder("fairdeal-doctor-") as found:
        yield found


def here(environment: Environment, check: str) -> Finding:
    """What one check without the database finds in an environment."""
    [found] = [f for f in place.findings(environment) if f.check == check]
    return found


async def there(url: str, **changes: Any) -> dict[str, Finding]:
    """What the checks of a database find."""
    asked: dict[str, Any] = {
        "embedded": False,
        "prepare": True,
        "listen_url": url,
        "connections": 8,
        "workers": 1,
        "lag_seconds": 60.0,
    }
    target = database.Target(url, **asked | changes)
    return {finding.check: finding async for finding in database.findings(target)}


def file(path: Path, text: str, mode: int = 0o600) -> None:
    path.write_text(text)
    path.chmod(mode)


def test_what_is_well_is_well(tmp_path: Path) -> None:
    file(tmp_path / "signing.keys", SIGNING_KEYS)
    file(tmp_path / "secret", SECRET)
    file(tmp_path / "host.key", f"host:{HOST_KEY}")
    found = list(place.findings({"FAIRDEAL_DATA_DIR": str(tmp_path)}))
    assert [f for f in found if f.state != "ok" and f.check not in ("disk", "open files")] == []
    assert worst(found[:4]) == "ok"


def test_every_check_is_made(tmp_path: Path) -> None:
    environment = {"FAIRDEAL_DATA_DIR": str(tmp_path)}
    always = [f.check for f in place.findings(environment)]
    assert always == [
        *("settings", "secret", "host keys", "signing keys"),
        *("disk", "open files", "versions"),
    ]
    more = {"FAIRDEAL_METRICS_KEY": "k" * 40, "FAIRDEAL_CHANNEL": "redis://127.0.0.1:1/0"}
    asked = {f.check for f in place.findings(environment | more)}
    assert asked - set(always) == {"metrics key", "channel"}


def test_keys_that_are_not_made_yet_are_no_trouble(tmp_path: Path) -> None:
    environment = {"FAIRDEAL_DATA_DIR": str(tmp_path)}
    for check in ("secret", "host keys", "signing keys"):
        found = here(environment, check)
        assert (found.state, "not there yet" in found.found) == ("ok", True)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("environment", "check", "state", "said"),
    [
        ({"FAIRDEAL_STALL_SECONDS": "no"}, "settings", "fail", "FAIRDEAL_STALL_SECONDS"),
        ({"FAIRDEAL_LOG": "loud"}, "settings", "fail", "FAIRDEAL_LOG"),
        ({"FAIRDEAL_OTEL": "yes"}, "settings", "fail", "FAIRDEAL_OTEL"),
        ({"FAIRDEAL_CHANEL": "memory"}, "settings", "warn", "FAIRDEAL_CHANEL"),
        ({"FAIRDEAL_SECRET": "short"}, "secret", "warn", "32 bytes"),
        ({"FAIRDEAL_HOST_KEYS": "no-colon"}, "host keys", "fail", "name:key"),
        ({"FAIRDEAL_HOST_KEYS": "a:easy"}, "host keys", "warn", "that of a"),
        ({"FAIRDEAL_SIGNING_KEYS": "nonsense"}, "signing keys", "fail", "secret:from:until"),
        ({"FAIRDEAL_SIGNING_KEYS_FILE": "/nowhere"}, "signing keys", "fail", "keys rotate"),
        ({"FAIRDEAL_CHANNEL": "redis://:pw@127.0.0.1:1"}, "channel", "fail", "does not answer"),
    ],
)
def test_what_is_set_wrongly_is_named(
    environment: Environment, check: str, state: str, said: str, tmp_path: Path
) -> None:
    found = here({"FAIRDEAL_DATA_DIR": str(tmp_path), **environment}, check)
    assert found.state == state
    assert said in found.found
    assert found.advice
    assert "pw" not in found.found


@pytest.mark.parametrize(
    ("name", "check", "text"),
    [
        ("secret", "secret", SECRET),
        ("host.key", "host keys", f"host:{HOST_KEY}"),
        ("signing.keys", "signing keys", SIGNING_KEYS),
    ],
)
def test_a_secret_that_others_may_read_is_named(
    name: str, check: str, text: str, tmp_path: Path
) -> None:
    file(tmp_path / name, text, 0o644)
    found = here({"FAIRDEAL_DATA_DIR": str(tmp_path)}, check)
    assert found.state == "warn"
    assert "chmod 600" in found.advice
    assert text not in found.found


@pytest.mark.parametrize(
    ("name", "check"), [("host.key", "host keys"), ("signing.keys", "signing keys")]
)
def test_keys_that_are_malformed_fail_whoever_may_read_them(
    name: str, check: str, tmp_path: Path
) -> None:
    file(tmp_path / name, "malformed", 0o644)
    assert here({"FAIRDEAL_DATA_DIR": str(tmp_path)}, check).state == "fail"


def test_keys_that_cannot_be_read_fail(tmp_path: Path) -> None:
    (tmp_path / "signing.keys").mkdir()
    assert here({"FAIRDEAL_DATA_DIR": str(tmp_path)}, "signing keys").state == "fail"


@pytest.mark.parametrize(("free", "state"), [(10**11, "ok"), (10**9, "warn"), (10**7, "fail")])
def test_a_disk_that_is_nearly_full_is_said(free: int, state: str) -> None:
    assert place.space_left(free, "free").state == state


@pytest.mark.parametrize(("skew", "state"), [(0.01, "ok"), (5.0, "warn")])
def test_clocks_that_disagree_are_said(skew: float, state: str) -> None:
    assert database.skewed(skew).state == state


def test_every_setting_is_listed_with_its_source_and_no_secret(tmp_path: Path) -> None:
    environment = {
        "FAIRDEAL_DATA_DIR": str(tmp_path),
        "FAIRDEAL_DATABASE_URL": "postgresql://me:hidden@db/fairdeal",
        "FAIRDEAL_HOST_KEYS": f"host:{HOST_KEY}",
        "FAIRDEAL_SECRET": SECRET,
        "FAIRDEAL_SIGNING_KEYS": SIGNING_KEYS,
        "FAIRDEAL_CHANNEL": "redis://:hidden@cache:6379/1",
    }
    listed = {setting.name: setting for setting in place.listed(environment)}
    assert listed["FAIRDEAL_STALL_SECONDS"].source == "default"
    assert listed["FAIRDEAL_SECRET"].source == "environment"
    assert listed["FAIRDEAL_HOST_KEYS"].value == "keys of host"
    text = repr(list(listed.values()))
    for secret in ("hidden", HOST_KEY, SECRET, SIGNING_KEYS):
        assert secret not in text
    pages = [Path(__file__).parents[2] / name for name in ("README.md", "docs/operations.md")]
    documented = "".join([page.read_text() for page in pages])
    for name in listed:
        assert f"`{name}" in documented, name


async def test_a_database_that_does_not_answer_fails_alone() -> None:
    found = await there("postgresql://nobody@127.0.0.1:1/none")
    assert list(found) == ["connection"]
    assert found["connection"].state == "fail"


@pytest.mark.parametrize(
    "url",
    [
        "mysql://a:s3cr3tpw@b/c",
        "postgres//a:s3cr3tpw@b/c",
        "postgresql://a:x s3cr3tpw@b/c",
        "postgresql://a:x%ZZs3cr3tpw@127.0.0.1:1/c",
        "postgresql://a:x@s3cr3tpw@127.0.0.1:1/c",
    ],
)
async def test_an_address_that_cannot_be_read_is_not_quoted(url: str) -> None:
    assert "s3cr3tpw" not in str(await there(url))
    listed = place.listed({"FAIRDEAL_DATABASE_URL": url, "FAIRDEAL_DATA_DIR": "/nonexistent"})
    assert "s3cr3tpw" not in str(listed)


async def test_missing_migrations_fail(databases: Databases) -> None:
    with databases.fresh(migrated=False) as url:
        found = await there(url)
    assert found["migrations"].state == "fail"
    assert "0001_streams" in found["migrations"].found
    assert "role" not in found


async def test_migrations_that_are_others_by_now_fail(database_url: str) -> None:
    with psycopg.connect(database_url) as conn:
        conn.execute("UPDATE fairdeal.migrations SET checksum = '' WHERE number = 3")
    assert (await there(database_url))["migrations"].state == "fail"


async def test_a_database_that_is_ahead_is_warned_of(database_url: str) -> None:
    with psycopg.connect(database_url) as conn:
        conn.execute("INSERT INTO fairdeal.migrations VALUES (999, '0999_later', '')")
    found = (await there(database_url))["migrations"]
    assert found.state == "warn"
    assert "0999_later" in found.found


async def test_a_server_that_does_not_wait_for_the_disk_fails(database_url: str) -> None:
    with psycopg.connect(database_url, autocommit=True) as conn:
        name = conn.info.dbname
        conn.execute(f'ALTER DATABASE "{name}" SET synchronous_commit = off'.encode())
    found = (await there(database_url))["durability"]
    assert found.state == "fail"
    assert "synchronous_commit" in found.found


async def test_what_the_url_turns_off_is_off(database_url: str) -> None:
    url = make_conninfo(database_url, options="-c synchronous_commit=off")
    assert (await there(url))["durability"].state == "fail"


async def test_a_server_of_our_own_is_well(folder: Path) -> None:
    """One that is not given up to speed, as the tests' own is."""
    with embedded.server(folder) as url:
        await migrate(url)
        found = await there(url, embedded=True)
    states = {name: f.state for name, f in found.items() if not name.startswith("projection ")}
    assert set(states.values()) == {"ok"}, found
    assert len(states) == 9


async def test_a_role_that_could_change_history_is_named(database_url: str) -> None:
    found = (await there(database_url))["role"]
    assert (found.state, "superuser" in found.found) == ("warn", True)


async def test_a_role_that_can_only_serve_is_well_and_one_that_cannot_is_not(
    database_url: str,
) -> None:
    with psycopg.connect(database_url, autocommit=True) as conn:
        for name in ("fairdeal_doctor_app", "fairdeal_doctor_none"):
            conn.execute(f"DROP ROLE IF EXISTS {name}".encode())
            conn.execute(f"CREATE ROLE {name} LOGIN".encode())
    try:
        await grant_app(database_url, "fairdeal_doctor_app")
        parts = conninfo_to_dict(database_url)
        app, none = (
            make_conninfo("", **parts | {"user": user})
            for user in ("fairdeal_doctor_app", "fairdeal_doctor_none")
        )
        assert (await there(app))["role"].state == "ok"
        assert (await there(none))["migrations"].state == "fail"
    finally:
        with psycopg.connect(database_url, autocommit=True) as conn:
            for name in ("fairdeal_doctor_app", "fairdeal_doctor_none"):
                conn.execute(f"DROP OWNED BY {name}".encode())
                conn.execute(f"DROP ROLE {name}".encode())


async def test_more_workers_than_the_server_has_connections_for(database_url: str) -> None:
    assert (await there(database_url))["connections"].state == "ok"
    assert (await there(database_url, workers=256))["connections"].state == "warn"


async def test_a_pooler_in_the_way_is_noticed(database_url: str) -> None:
    with pooler(database_url) as pooled:
        found = await there(pooled)
        assert found["connection"].state == "fail"
        assert "FAIRDEAL_DATABASE_PREPARE" in found["connection"].advice
        found = await there(pooled, prepare=False)
        assert found["channel"].state == "warn"
        assert "FAIRDEAL_LISTEN_URL" in found["channel"].advice
        found = await there(pooled, prepare=False, listen_url=database_url)
        assert found["channel"].state == "ok"


async def test_a_way_to_listen_that_leads_nowhere_fails(database_url: str) -> None:
    found = await there(database_url, listen_url="postgresql://nobody@127.0.0.1:1/none")
    assert found["channel"].state == "fail"


def build(name: str, **changes: Any) -> Standing:
    stand: dict[str, Any] = {"lag_events": 0, "lag_seconds": 0.0, "heartbeat_seconds": 0.1}
    return Standing(name, 1, 1, "live", **{"parked": (), **stand, **changes})


def test_projections_that_lag_are_parked_or_are_missing_are_named() -> None:
    first, second, third, *_ = PROJECTIONS
    parked = (ParkedStream("s", 1, "KeyError", 0),)
    feed = Feed(
        20_000,
        (build(first, lag_events=5, lag_seconds=300.0), build(second, parked=parked), build(third)),
    )
    found = {f.check: f for f in database.judged(feed, 60.0)}
    assert found["feed"].state == "warn"
    assert "behind" in found[f"projection {first}"].found
    assert "parked" in found[f"projection {second}"].found
    states = [found[f"projection {name}"].state for name in PROJECTIONS]
    assert states == ["warn", "warn", "ok", *["warn"] * (len(PROJECTIONS) - 3)]
    assert all(f.advice for f in found.values() if f.state != "ok")


def test_the_command_says_so_and_exits_with_1_where_something_fails(folder: Path) -> None:
    environment = {
        "FAIRDEAL_DATA_DIR": str(folder),
        "FAIRDEAL_DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none",
    }
    told = run("doctor", COLUMNS="200", **environment)
    assert (told.returncode, told.stderr) == (1, "")
    assert "FAIL" in told.stdout
    assert "FAIRDEAL_DATABASE_URL" in told.stdout
    listed = run("doctor", "--json", **environment)
    assert listed.returncode == 1
    report = json.loads(listed.stdout)
    assert report["state"] == "fail"
    assert {f["check"]: f["state"] for f in report["findings"]}["connection"] == "fail"
    assert run("doctor", "--fast").returncode == 2


def test_the_command_makes_no_postgres_and_ends_one_that_it_had_to_start(folder: Path) -> None:
    environment = {"FAIRDEAL_DATA_DIR": str(folder)}
    told = run("doctor", "--json", **environment)
    assert told.returncode == 0
    assert list(folder.iterdir()) == []
    assert run("migrate", **environment).returncode == 0
    told = run("doctor", "--json", **environment)
    findings = {f["check"]: f for f in json.loads(told.stdout)["findings"]}
    assert told.returncode == 0, findings
    assert findings["connection"]["state"] == "ok"
    assert not (folder / "postgres" / "postmaster.pid").exists()


def test_too_few_open_files_are_said(tmp_path: Path) -> None:
    def few() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))

    told = subprocess.run(
        **command("doctor", "--json", FAIRDEAL_DATA_DIR=str(tmp_path)),
        capture_output=True,
        check=False,
        preexec_fn=few if os.name == "posix" else None,
    )
    findings = {f["check"]: f for f in json.loads(told.stdout)["findings"]}
    assert findings["open files"]["state"] == "warn"


@pytest.mark.parametrize(("text", "state"), [("", "fail"), ("ab", "warn"), ("x" * 40, "ok")])
def test_a_secret_that_can_be_guessed_is_told_of(tmp_path: Path, text: str, state: str) -> None:
    (tmp_path / "secret").write_text(text)
    (tmp_path / "secret").chmod(0o600)
    found = {f.check: f for f in place.findings({"FAIRDEAL_DATA_DIR": str(tmp_path)})}
    assert found["secret"].state == state
