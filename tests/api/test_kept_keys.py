"""Keys that were made anew on a database with receipts of others: who starts or asks is told."""

import json
from pathlib import Path

import psycopg
import pytest

from api import kept_keys
from api.kept_keys import named, strangers
from api.signing import parse
from tests.api.processes import free_port, run, serving
from tests.api.running import SIGNING_KEYS, Game, new_game, running
from tests.api.test_live_served import environment
from tests.database import Databases

[OURS] = [key.public.kid for key in parse(SIGNING_KEYS, "")]
OTHERS = "AgECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8:1750000001"
[THEIRS] = [key.public.kid for key in parse(OTHERS, "")]


async def found(url: str, *known: str) -> list[str]:
    async with await psycopg.AsyncConnection.connect(url) as conn:
        return await strangers(conn, known)


async def played(game: Game) -> None:
    for seat, key in enumerate("abc"):
        answer = await game.act(seat, {"type": "pass"}, Idempotency_Key=key)
        assert answer.status_code == 201


async def test_the_keys_of_receipts_are_known_from_some_of_them(database_url: str) -> None:
    assert await found(database_url) == []
    async with running(database_url) as api:
        await played(await new_game(api))
        assert await found(database_url, OURS) == []
        assert await found(database_url) == [OURS]
    async with running(database_url, signing_keys=OTHERS) as api:
        await played(await new_game(api))
    assert await found(database_url, OURS) == [THEIRS]
    assert await found(database_url) == sorted([OURS, THEIRS])
    with psycopg.connect(database_url) as conn:
        # What is no receipt is left out, and so is what is none of ours.
        conn.execute("ALTER TABLE fairdeal.commands DISABLE TRIGGER USER")
        conn.execute("UPDATE fairdeal.commands SET response = 'x' WHERE last_version > 0")
    assert await found(database_url) == []


async def test_a_large_table_is_looked_at_in_part(database_url: str) -> None:
    async with running(database_url) as api:
        await played(await new_game(api))
    with psycopg.connect(database_url) as conn:
        conn.execute(
            "INSERT INTO fairdeal.commands SELECT first_version, last_version, lane, scope,"
            " gen_random_uuid(), fingerprint, stream, command_id, response"
            " FROM fairdeal.commands, generate_series(1, 5000)"
        )
        [(pages,)] = conn.execute(kept_keys._SIZE).fetchall()
    assert pages > kept_keys._PAGES
    assert await found(database_url) == [OURS]


def test_many_keys_are_named_in_part() -> None:
    assert named(["a", "b"]) == "a, b"
    assert named(list("abcdefg")) == "a, b, c, d, e and 2 more"


async def test_serve_and_doctor_say_so(database_url: str, tmp_path: Path) -> None:
    async with running(database_url) as api:
        await played(await new_game(api))
    ours = environment(database_url, FAIRDEAL_DATA_DIR=str(tmp_path))
    made_anew = {name: value for name, value in ours.items() if name != "FAIRDEAL_SIGNING_KEYS"}

    def looked_into(where: dict[str, str]) -> tuple[str, str]:
        report = json.loads(run("doctor", "--json", **where).stdout)
        [finding] = [f for f in report["findings"] if f["check"] == "receipts"]
        return finding["state"], finding["found"]

    # Before the first start too, which would make keys.
    assert looked_into(made_anew)[0] == "warn"
    for where, wrong in ((ours, False), (made_anew, True)):
        with serving(free_port(), **where) as server:
            _, _, said = server.end()
        lines = [line for line in said.splitlines() if "not among the signing keys" in line]
        assert len(lines) == wrong
        assert all(OURS in line for line in lines)
        state, told = looked_into(where)
        assert (state, OURS in told) == (("warn", True) if wrong else ("ok", False))


def test_what_cannot_be_asked_or_read_is_told_of_by_others(
    databases: Databases, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAIRDEAL_SIGNING_KEYS", SIGNING_KEYS)
    with databases.fresh(migrated=False) as url:
        kept_keys.warn_of_strangers(url)
    kept_keys.warn_of_strangers("postgresql://nobody@127.0.0.1:1/none")
    monkeypatch.setenv("FAIRDEAL_SIGNING_KEYS", "not a key")
    kept_keys.warn_of_strangers("postgresql://nobody@127.0.0.1:1/none")
