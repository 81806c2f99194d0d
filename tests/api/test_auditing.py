"""`fairdeal audit` on a store that a superuser has tampered with, its triggers switched off.

Every field of every kind of row, rows gone, swapped, doubled, a tail cut off, a head that says
something else: each is found, with the version and the reason.
"""

import asyncio
import json
from collections.abc import Iterator
from random import Random

import httpx
import msgspec
import psycopg
import pytest

from domain.log import fold
from eventstore.postgres import EventStore
from tests.api.running import (
    HOST,
    HOST_KEY,
    SIGNING_KEYS,
    Game,
    Json,
    bearer,
    filled_in,
    new_game,
)
from tests.api.samples import CHALLENGES, imported, log_of, planted
from tests.api.test_proof_commands import fairdeal
from tests.database import Databases
from tests.proof.logs import rechained

LOG = log_of(CHALLENGES)
LAST = len(LOG.entries)
DEALT = next(entry.version for entry in LOG.entries if entry.type == "HandDealt")
TAKEN = next(entry.version for entry in LOG.entries if entry.type == "SeatTaken")

EVENT = f"fairdeal.events SET {{}} WHERE version = {DEALT}"
SEALED = f"fairdeal.sealed SET {{}} WHERE version = {DEALT} AND part = 1"

OTHER_BYTE = "set_byte({0}, 5, get_byte({0}, 5) # 1)"

CHANGES: dict[str, tuple[str, int, str]] = {
    "data": (f"UPDATE {EVENT.format('data = ' + OTHER_BYTE.format('data'))}", DEALT, "hash"),
    "type": (f"UPDATE {EVENT.format(chr(39).join(['type = ', 'CardPlayed', '']))}", DEALT, "hash"),
    "actor": (f"UPDATE {EVENT.format('actor = 3')}", DEALT, "hash"),
    "time": (f"UPDATE {EVENT.format('at = at + 1')}", DEALT, "hash"),
    "schema": (f"UPDATE {EVENT.format('schema_version = 2')}", DEALT, "hash"),
    "command": (f"UPDATE {EVENT.format('command_id = gen_random_uuid()')}", DEALT, "hash"),
    "prev": (f"UPDATE {EVENT.format('prev = ' + OTHER_BYTE.format('prev'))}", DEALT, "prev"),
    "hash": (f"UPDATE {EVENT.format('hash = ' + OTHER_BYTE.format('hash'))}", DEALT, "hash"),
    "sealed body": (
        f"UPDATE {SEALED.format('body = ' + OTHER_BYTE.format('body'))}",
        DEALT,
        "sealed part 1 does not fit its digest",
    ),
    "salt": (
        f"UPDATE {SEALED.format('salt = ' + OTHER_BYTE.format('salt'))}",
        DEALT,
        "sealed part 1 does not fit its digest",
    ),
    "digest": (f"UPDATE {SEALED.format('digest = ' + OTHER_BYTE.format('digest'))}", DEALT, "hash"),
    "audience": (
        f"UPDATE {SEALED.format(chr(39).join(['audience = ', '[0,1]', '']))}",
        DEALT,
        "hash",
    ),
    "a part gone": (
        f"DELETE FROM fairdeal.sealed WHERE version = {DEALT} AND part = 1",
        DEALT,
        "hash",
    ),
    "a part erased that is no name": (
        f"UPDATE {SEALED.format('salt = NULL, body = NULL')}",
        DEALT,
        "sealed part 1 is gone",
    ),
    "an event gone": (
        f"DELETE FROM fairdeal.events WHERE version = {DEALT}",
        DEALT,
        "in its place",
    ),
    "two events swapped": (
        "UPDATE fairdeal.events SET version = CASE version"
        f" WHEN {DEALT} THEN 100000 ELSE {DEALT} END WHERE version IN ({DEALT}, {DEALT + 1});"
        f" UPDATE fairdeal.events SET version = {DEALT + 1} WHERE version = 100000",
        DEALT,
        "prev is not the hash",
    ),
    "an event doubled": (
        "INSERT INTO fairdeal.events SELECT 1000000, at, "
        f"{LAST + 1}, lane, schema_version, actor, stream, command_id, type, prev, hash, data"
        f" FROM fairdeal.events WHERE version = {LAST}",
        LAST + 1,
        "prev is not the hash",
    ),
    "the tail cut off": (
        f"DELETE FROM fairdeal.events WHERE version > {LAST - 2}",
        LAST - 1,
        f"the log ends at version {LAST - 2}",
    ),
    "all of it gone": ("DELETE FROM fairdeal.events", 0, "the log is empty"),
    "a head of another version": (
        "UPDATE fairdeal.streams SET version = version + 1",
        LAST + 1,
        f"the head says version {LAST + 1}",
    ),
    "a head of another hash": (
        f"UPDATE fairdeal.streams SET head_hash = {OTHER_BYTE.format('head_hash')}",
        LAST,
        "the head has another hash",
    ),
    "no longer in the feed": (
        f"DELETE FROM fairdeal.feed USING fairdeal.events e WHERE e.version = {DEALT}"
        " AND feed.lane = e.lane AND feed.alloc = e.alloc",
        DEALT,
        f"version {DEALT} is not in the feed",
    ),
    "under another number of the log": (
        f"UPDATE fairdeal.events SET alloc = 0 WHERE version = {DEALT}",
        DEALT,
        f"version {DEALT} is not in the feed",
    ),
    "out of order in the feed": (
        "UPDATE fairdeal.feed SET seq = f.seq FROM (SELECT alloc, 1000000 - seq AS seq"
        " FROM fairdeal.feed) f WHERE feed.alloc = f.alloc",
        DEALT,
        f"version {DEALT} comes in the feed before a version that it follows",
    ),
    "filed under another category": (
        "UPDATE fairdeal.streams SET category = 'zz'",
        LAST,
        "which is no category",
    ),
    "filed under other tags": (
        "UPDATE fairdeal.streams SET tags = tags || '{ref=nobody}'::text[]",
        LAST,
        "other tags",
    ),
}


@pytest.fixture(scope="module")
def template(databases: Databases) -> Iterator[str]:
    """The URL of a database with one recorded game."""
    with databases.fresh() as url:
        result = fairdeal("import", CHALLENGES, "--host", "host", DATABASE_URL=url)
        assert result.exit_code == 0
        with psycopg.connect(url, autocommit=True) as conn:
            # One by one up to an event that is tampered with, then the others in a run.
            for limit in (*[1] * (DEALT + 1), 1_000_000):
                conn.execute("SELECT fairdeal.sequence(%s, true)", [limit])
        yield url


def tampered(url: str, statement: str) -> None:
    """What a superuser can do: even triggers that are ALWAYS on can be dropped."""
    with psycopg.connect(url) as conn:
        triggers = conn.execute(
            "SELECT tgname, tgrelid::regclass::text FROM pg_trigger"
            " WHERE NOT tgisinternal AND tgparentid = 0"
        ).fetchall()
        for name, table in triggers:
            conn.execute(f"DROP TRIGGER {name} ON {table}".encode())
        conn.execute(statement.encode())


def found(url: str, **environment: str) -> list[Json]:
    """What the audit tells of the only game there."""
    result = fairdeal("audit", "--json", DATABASE_URL=url, **environment)
    body = json.loads(result.stdout)
    assert result.exit_code == (1 if body["trouble"] else 0)
    trouble: list[Json] = body["trouble"]
    return trouble


@pytest.mark.parametrize("what", CHANGES)
def test_tampering_is_found_with_version_and_reason(
    databases: Databases, template: str, what: str
) -> None:
    statement, version, reason = CHANGES[what]
    with databases.copy_of(template) as url:
        assert found(url) == []
        tampered(url, statement)
        told = found(url)
        named = [t for t in told if t["stream"] == LOG.header.id and reason in t["reason"]]
        assert [t for t in named if version in t["versions"]], told
        text = fairdeal("audit", DATABASE_URL=url)
        assert text.exit_code == 1
        assert f"FAILED  {LOG.header.id}  {named[0]['check']}: {named[0]['reason']}" in text.stdout


def test_an_erased_name_is_no_trouble(databases: Databases, template: str) -> None:
    with databases.copy_of(template) as url:
        with psycopg.connect(url) as conn:
            conn.execute(
                f"UPDATE fairdeal.sealed SET salt = NULL, body = NULL WHERE version = {TAKEN}"
            )
            conn.execute("UPDATE fairdeal.streams SET tags = array_remove(tags, 'ref=player-0')")
        assert found(url) == []


@pytest.mark.parametrize(
    ("statement", "number"),
    [
        ("DELETE FROM fairdeal.feed WHERE seq = 5", 6),
        (
            "INSERT INTO fairdeal.feed SELECT 7000000, 7000000, max(lane) FROM fairdeal.feed",
            7000000,
        ),
        ("UPDATE fairdeal.feed SET count = count - 1 WHERE count > 1", DEALT + 3),
        ("UPDATE fairdeal.feed SET alloc = alloc - 1 WHERE count > 1", DEALT + 2),
    ],
)
def test_numbers_of_the_feed_that_do_not_belong_are_found(
    databases: Databases, template: str, statement: str, number: int
) -> None:
    with databases.copy_of(template) as url:
        tampered(url, statement)
        told = [t for t in found(url) if t["stream"].startswith("lane ")]
        assert [t["check"] for t in told] == ["feed"]
        assert told[0]["reason"].endswith(f"number {number}")


def test_what_has_no_number_yet_is_no_trouble(databases: Databases) -> None:
    with databases.fresh() as url:
        assert fairdeal("import", CHALLENGES, "--host", "host", DATABASE_URL=url).exit_code == 0
        assert found(url) == []


async def looked_at(url: str, **environment: str) -> list[Json]:
    """The same, beside a running event loop."""
    return await asyncio.to_thread(found, url, **environment)


async def test_a_store_in_use_is_in_order_with_games_and_disputes_and_receipts(
    api: httpx.AsyncClient, database_url: str
) -> None:
    await kept_game(api)
    assert await looked_at(database_url, SIGNING_KEYS=SIGNING_KEYS) == []
    assert await looked_at(database_url) == []
    sample = await asyncio.to_thread(
        fairdeal, "audit", "--sample", "1", "--json", DATABASE_URL=database_url
    )
    assert json.loads(sample.stdout)["streams"] == 1
    everything = await asyncio.to_thread(fairdeal, "audit", DATABASE_URL=database_url)
    assert everything.stdout.startswith("3 streams with ")


async def kept_game(api: httpx.AsyncClient) -> Game:
    """A game of which the store keeps a receipt, with a dispute; and another game."""
    game = await new_game(api)
    done = await game.act(0, {"type": "pass"}, Idempotency_Key="kept")
    assert done.status_code == 201
    claim = {"version": 1, "claim": {"kind": "chain", "text": "x"}}
    opened = await game.post(0, "/disputes", claim, Idempotency_Key="opened")
    await api.post(
        f"/v1/disputes/{opened.json()['id']}/resolution",
        json={"outcome": "rejected"},
        headers=bearer(HOST_KEY, Idempotency_Key="resolved"),
    )
    await new_game(api)
    await game.play(Random(1), 3)
    return game


async def test_a_stored_receipt_gives_away_a_tail_that_was_cut_with_its_head(
    api: httpx.AsyncClient, database_url: str
) -> None:
    game = await kept_game(api)
    keep = game.created["version"]
    tampered(
        database_url,
        f"DELETE FROM fairdeal.events WHERE stream = '{game.id}' AND version > {keep};"
        f"DELETE FROM fairdeal.sealed WHERE stream = '{game.id}' AND version > {keep};"
        f"UPDATE fairdeal.streams SET version = {keep}, head_hash = "
        f"(SELECT hash FROM fairdeal.events WHERE stream = '{game.id}' AND version = {keep})"
        f" WHERE stream = '{game.id}'",
    )
    for environment in ({}, {"SIGNING_KEYS": SIGNING_KEYS}):
        told = await looked_at(database_url, **environment)
        # And the feed, where what is gone had a number.
        assert {t["stream"] for t in told if t["check"] != "feed"} == {game.id}
        [receipt] = [t for t in told if t["check"] == "receipt (stored)"]
        assert "its tail was cut" in receipt["reason"]


async def test_a_receipt_that_was_changed_with_the_log_has_no_signature(
    api: httpx.AsyncClient, database_url: str
) -> None:
    game = await kept_game(api)
    tampered(
        database_url,
        # The signature comes last.
        "UPDATE fairdeal.commands SET response = set_byte(response, length(response) - 1,"
        " get_byte(response, length(response) - 1) # 1)"
        f" WHERE stream = '{game.id}'",
    )
    assert await looked_at(database_url) == []
    [told] = await looked_at(database_url, SIGNING_KEYS=SIGNING_KEYS)
    assert "the signature does not fit the receipt" in told["reason"]


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE fairdeal.events SET data = 'x' WHERE type = 'DisputeOpened'",
        "UPDATE fairdeal.sealed SET body = 'x' WHERE audience = '\"all\"' AND version = 1",
        "DELETE FROM fairdeal.events WHERE type = 'DisputeFound'",
    ],
)
async def test_a_dispute_that_was_tampered_with_is_found(
    api: httpx.AsyncClient, database_url: str, statement: str
) -> None:
    await kept_game(api)
    [dispute] = (await api.get("/v1/disputes", headers=HOST)).json()["items"]
    tampered(database_url, statement)
    told = [t for t in await looked_at(database_url) if t["check"] != "feed"]
    assert {t["stream"] for t in told} == {dispute["id"]}


async def test_a_history_rewritten_to_fit_is_beyond_an_audit_without_receipts(
    database_url: str, store: EventStore
) -> None:
    """What docs/proof.md says: then only receipts that players kept can tell."""
    table = fold(LOG.header.id, LOG.entries)
    late = [msgspec.structs.replace(e, at=e.at + 60_000_000) for e in LOG.entries]
    await planted(store, table, rechained(table.id, late))
    assert await looked_at(database_url) == []
    assert (await imported(store, LOG)).reason == "the store holds another history of this game"


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("UPDATE fairdeal.events SET at = 9223372036854775807", "the hash does not fit"),
        ("UPDATE fairdeal.events SET actor = -5, type = ''", "the hash does not fit"),
        ("UPDATE fairdeal.commands SET response = 'x'", "it cannot be checked"),
    ],
)
async def test_rows_that_nothing_can_read_stop_no_audit(
    api: httpx.AsyncClient, database_url: str, statement: str, reason: str
) -> None:
    game = await kept_game(api)
    tampered(database_url, f"{statement} WHERE stream = '{game.id}'")
    told = await looked_at(database_url)
    assert {t["stream"] for t in told} == {game.id}
    assert any(reason in t["reason"] for t in told)


def test_a_row_gone_from_the_streams_is_found(databases: Databases, template: str) -> None:
    with databases.fresh() as url:
        assert fairdeal("import", CHALLENGES, "--host", "host", DATABASE_URL=url).exit_code == 0
        tampered(url, "DELETE FROM fairdeal.streams")
        [trouble] = found(url)
        assert "its row among the streams is gone" in trouble["reason"]


async def test_the_receipt_of_a_game_that_was_set_up_with_a_key_is_judged(
    api: httpx.AsyncClient, database_url: str
) -> None:
    players = [{"name": name} for name in "ABC"]
    answer = await api.post(
        "/v1/games",
        json={"game": "lodam", "players": players},
        headers=bearer(HOST_KEY, Idempotency_Key="k"),
    )
    game = Game(api, answer.json())
    assert await looked_at(database_url, SIGNING_KEYS=SIGNING_KEYS) == []
    tampered(
        database_url,
        # The hash comes after the version, which is small here.
        "UPDATE fairdeal.commands SET response = set_byte(response, 4, get_byte(response, 4) # 1)",
    )
    told = await looked_at(database_url, SIGNING_KEYS=SIGNING_KEYS)
    assert {(t["stream"], t["check"]) for t in told} == {(game.id, "receipt (stored)")}


async def test_a_key_that_is_missing_is_one_line_a_game(
    api: httpx.AsyncClient, database_url: str
) -> None:
    game = await kept_game(api)
    receipts = []
    for number in range(3):
        [seat, *_] = (await game.view())["to_act"]
        action = filled_in((await game.view(seat))["actions"][0], Random(number))
        done = await game.act(seat, action, Idempotency_Key=f"k{number}")
        receipts.append(done.json()["receipt"])
    versions = [receipt["version"] for receipt in receipts]
    other = "AgECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8:1750000000"
    trouble = await looked_at(database_url, SIGNING_KEYS=other)
    [mine] = [t for t in trouble if t["stream"] == game.id]
    assert mine["check"] == "receipt (stored)"
    assert mine["versions"][-3:] == versions
    first, count = mine["versions"][0], len(mine["versions"])
    kid = receipts[0]["key"]
    cause = f"key {kid} is not among the keys"
    assert mine["reason"] == f"{count} times, at versions {first} to {versions[-1]}: {cause}"
    assert count >= 4
    said = await asyncio.to_thread(fairdeal, "audit", DATABASE_URL=database_url, SIGNING_KEYS=other)
    assert said.exit_code == 1
    assert len([line for line in said.stdout.splitlines() if kid in line]) == len(trouble)
