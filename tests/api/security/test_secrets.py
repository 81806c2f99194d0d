"""Secrets stay where they belong: nothing at rest but what the operator's own files hold, and
nothing in what a process writes, whatever goes wrong.

A real `fairdeal serve` on a data folder of its own is played on, and hurt.
"""

import stat
from base64 import b64encode, urlsafe_b64encode
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import psycopg
import pytest
from psycopg import sql

from eventstore import embedded
from tests.api.processes import free_port, run, serving
from tests.api.running import HOST_KEY, METRICS_KEY, OTHER_KEY, SECRET, bearer
from tests.api.security.corners import Corners, corners
from tests.api.test_proof_commands import fairdeal
from tests.database import open_folder

pytestmark = pytest.mark.postgres

PASSWORD = "pass-word-of-the-database"

KEPT = ("host.key", "secret", "signing.keys")
"""The operator's own files."""


@dataclass(frozen=True)
class Run:
    """A server that has run: its folder, what it wrote, and what nobody else may know."""

    folder: Path
    written: str
    tokens: tuple[str, ...]
    webhook_secret: str


@pytest.fixture(scope="module")
async def ended() -> AsyncIterator[Run]:
    """A server after whole games with a challenge, disputes, webhooks, and all kinds of errors."""
    with open_folder("fairdeal-secrets-") as folder:
        for name, text in (
            ("host.key", f"host:{HOST_KEY},other:{OTHER_KEY}"),
            ("secret", SECRET),
        ):
            (folder / name).write_text(text)
            (folder / name).chmod(0o600)
        given = {"FAIRDEAL_DATA_DIR": str(folder), "FAIRDEAL_METRICS_KEY": METRICS_KEY}
        with serving(free_port(), "--workers", "2", **given) as server:
            async with httpx.AsyncClient(base_url=server.address, timeout=60) as api:
                there = await corners(api, challenged=True)
                hook = {"url": "https://app.invalid/secret", "kinds": ["turn"]}
                made = await api.post("/v1/webhooks", json=hook, headers=bearer(HOST_KEY))
                figures = await api.get("/metrics", headers=bearer(METRICS_KEY) | {"Via": "x"})
                assert figures.status_code == 200
                await _mistakes(api, there)
                with embedded.server(folder) as url:
                    await _trouble(api, there, url)
            _, out, err = server.end()
        log = (folder / "postgres" / "server.log").read_text(errors="replace")
        tokens = [header.get("Authorization", "") for header in there.callers.values()]
        for corner in (there.own, there.sibling, there.foreign):
            assert corner.game is not None
            tokens += [token for token in corner.game.tokens if token]
        yield Run(
            folder,
            out + err + log,
            tuple({t.removeprefix("Bearer ") for t in tokens if t.count(".") == 2}),
            made.json()["secret"],
        )


async def _mistakes(api: httpx.AsyncClient, there: Corners) -> None:
    """Requests that are refused, with secrets in every place where people put them."""
    game = there.own.game
    assert game is not None
    token = game.token(0)
    for path in (
        f"/v1/games?token={token}",
        f"/v1/games/{token}",
        f"{game.path}?access_token={HOST_KEY}",
        f"/v1/players/{token}",
    ):
        for headers in there.callers.values():
            await api.get(path, headers=headers)
    for body in (token, f'{{"type": "{token}"', f'{{"type": "pass", "{HOST_KEY}": 1}}'):
        answer = await api.post(f"{game.path}/actions", content=body, headers=bearer(token))
        assert answer.status_code == 400
    for secret in (HOST_KEY, METRICS_KEY, "a-guess-that-is-none"):
        answer = await api.get("/nowhere", headers={"X-Request-Id": secret})
        # As with any id: else whoever guesses at keys would learn here, unlimited, which is one.
        assert answer.headers["x-request-id"] == secret
    await api.get(game.path, headers=bearer(token) | {"X-Request-Id": token})
    for header in (f"Bearer {token}x", f"Bearer  {HOST_KEY} {HOST_KEY}", f"Basic {HOST_KEY}"):
        answer = await api.get(game.path, headers={"Authorization": header})
        assert answer.status_code == 401


async def _trouble(api: httpx.AsyncClient, there: Corners, url: str) -> None:
    """Errors of ours: Postgres refuses a row with sealed cards, and a table is not there."""
    game = there.foreign.game
    assert game is not None
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("ALTER TABLE fairdeal.sealed ADD CHECK (part < 0) NOT VALID")
        body = {"game": "lodam", "players": [{"name": "Confidential Person"}] * 3}
        answer = await api.post("/v1/games", json=body, headers=bearer(HOST_KEY))
        assert answer.status_code == 500
        assert "Confidential" not in answer.text
        connection.execute("ALTER TABLE fairdeal.events ADD CHECK (version < 2) NOT VALID")
        answer = await game.post(OTHER_KEY, "/abandon", {"reason": "enough"})
        assert answer.status_code == 500
        connection.execute("DROP TABLE webhooks.subscriptions CASCADE")
        answer = await api.get("/v1/webhooks", headers=bearer(HOST_KEY))
        assert answer.status_code >= 500
        assert "subscriptions" not in answer.text


def forms(secret: bytes) -> set[bytes]:
    """How a secret may stand somewhere: as it is, in hexadecimal, in Base64."""
    # Without the last letters, which depend on what follows.
    return {
        secret,
        secret.hex().encode(),
        b64encode(secret).rstrip(b"=")[:-1],
        urlsafe_b64encode(secret).rstrip(b"=")[:-1],
    }


def operators(folder: Path) -> list[bytes]:
    """What the operator's files keep secret."""
    signing = (folder / "signing.keys").read_text().strip().partition(":")[0]
    return [text.encode() for text in (HOST_KEY, OTHER_KEY, METRICS_KEY, SECRET, signing)]


def test_the_operators_files_are_theirs_alone(ended: Run) -> None:
    for name in KEPT:
        assert stat.S_IMODE((ended.folder / name).stat().st_mode) == 0o600
    assert len(ended.tokens) > 10
    assert all(len(secret) > 16 for secret in operators(ended.folder))


def test_no_file_of_the_data_folder_holds_a_key_or_a_token(ended: Run) -> None:
    secrets = [*operators(ended.folder), *[token.encode() for token in ended.tokens]]
    wanted = {form for secret in secrets for form in forms(secret)}
    searched = 0
    for path in ended.folder.rglob("*"):
        if path.is_file() and path.name not in KEPT:
            held = path.read_bytes()
            searched += 1
            assert not [form for form in wanted if form in held], path
    assert searched > 500  # the database's own files among them


def test_no_table_holds_a_key_or_a_token(ended: Run) -> None:
    """Rows as Postgres reads them, compressed values too. (The secret of a webhook does stand in
    its table: deliveries are signed with it.)"""
    secrets = [*operators(ended.folder), *[token.encode() for token in ended.tokens]]
    wanted = {form.decode() for secret in secrets for form in forms(secret)}
    rows = 0
    with embedded.server(ended.folder) as url, psycopg.connect(url) as connection:
        tables = connection.execute(
            "SELECT table_schema, table_name FROM information_schema.tables WHERE table_type ="
            " 'BASE TABLE' AND table_schema NOT IN ('pg_catalog', 'information_schema')"
        ).fetchall()
        assert {"fairdeal", "projections", "webhooks"} <= {schema for schema, _ in tables}
        for schema, table in tables:
            statement = sql.SQL("SELECT t::text FROM {} t").format(sql.Identifier(schema, table))
            for (row,) in connection.execute(statement):
                rows += 1
                assert not [form for form in wanted if form in row], (schema, table)
    assert rows > 500


def test_nothing_that_was_written_holds_a_secret_or_a_card(ended: Run) -> None:
    """Of two errors of ours there is word, and none of what must not be in it."""
    assert "POST /v1/games failed" in ended.written or "/v1/games" in ended.written
    assert "sealed" in ended.written  # the table where it happened
    secrets = {*operators(ended.folder), *[token.encode() for token in ended.tokens]}
    secrets.add(ended.webhook_secret.encode())
    with embedded.server(ended.folder) as url, psycopg.connect(url) as connection:
        for salt, body in connection.execute("SELECT salt, body FROM fairdeal.sealed"):
            secrets |= {part for part in (salt, body) if part is not None and len(part) > 11}
    assert len(secrets) > 100
    written = ended.written.encode()
    for secret in secrets:
        assert not [form for form in forms(secret) if form in written], secret
    assert "Confidential Person" not in ended.written
    assert b"Confidential Person".hex() not in ended.written


BAD_ADDRESSES = [
    "postgresql://u:{}@127.0.0.1:1/none",
    "postgresql://u:{}%zz@127.0.0.1:1/none",
    "postgresql://u:x@{}@127.0.0.1:1/none",
    "postgresql://u:{}/x@127.0.0.1:1/none",
    "postgresql://u:{}@[::1/none",
    "postgresql://127.0.0.1:{}/none",
    "postgres//u:{}@127.0.0.1/none",
    "host=127.0.0.1 port=1 user=u password={} bad",
    "host=127.0.0.1 port=1 user=u password='{}",
    "{}",
]


@pytest.mark.parametrize("address", BAD_ADDRESSES)
def test_a_start_that_fails_does_not_tell_the_password(address: str) -> None:
    ended = run(
        *("serve", "--port", str(free_port())),
        FAIRDEAL_DATABASE_URL=address.format(PASSWORD),
        FAIRDEAL_HOST_KEYS=f"host:{HOST_KEY}",
        FAIRDEAL_SECRET=SECRET,
    )
    _complains_without_secrets(ended.returncode, ended.stdout, ended.stderr)


@pytest.mark.parametrize("address", BAD_ADDRESSES)
@pytest.mark.parametrize("command", ["migrate", "project"])
def test_a_command_that_fails_does_not_tell_the_password(
    address: str, command: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """In this process, whose own output is looked through as well."""
    ended = fairdeal(command, DATABASE_URL=address.format(PASSWORD), HOST_KEYS=f"host:{HOST_KEY}")
    past = capfd.readouterr()
    assert not past.out + past.err
    _complains_without_secrets(ended.exit_code, ended.stdout, ended.stderr)


def _complains_without_secrets(code: int, out: str, err: str) -> None:
    assert code == 1
    assert err.startswith("fairdeal: the database cannot be used")
    for secret in (PASSWORD, HOST_KEY, SECRET):
        assert secret not in out + err


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("FAIRDEAL_LISTEN_URL", "postgresql://u:{}%zz@db/fairdeal"),
        ("FAIRDEAL_LISTEN_URL", "{}"),
        ("FAIRDEAL_CHANNEL", "redis://:{}/x@cache:6379/0"),
        ("FAIRDEAL_CHANNEL", "rediss:{}@cache"),
        ("FAIRDEAL_HOST_KEYS", "{}"),
        ("FAIRDEAL_SIGNING_KEYS", "{}"),
    ],
)
def test_a_setting_that_makes_no_sense_is_not_quoted_where_it_is_secret(
    database_url: str, name: str, value: str
) -> None:
    environment = {
        "FAIRDEAL_DATABASE_URL": database_url,
        "FAIRDEAL_HOST_KEYS": f"host:{HOST_KEY}",
        "FAIRDEAL_SECRET": SECRET,
        "FAIRDEAL_SIGNING_KEYS": "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8:1750000000",
    }
    environment[name] = value.format(PASSWORD)
    ended = run("serve", "--port", str(free_port()), **environment)
    assert ended.returncode == 1
    assert name in ended.stderr
    assert PASSWORD not in ended.stdout + ended.stderr
