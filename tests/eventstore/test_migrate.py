"""Migrations: once each, in order, unaltered; and a schema that can be distributed by lane."""

import asyncio
import shutil
import subprocess
import sys
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
from psycopg import AsyncConnection

from eventstore import wire
from eventstore.migrate import MigrationError, migrate, pending, shipped
from eventstore.queries import named
from tests.database import Databases

CATALOGUE = """
SELECT c.relname, c.relkind::text, a.attnum, a.attname, format_type(a.atttypid, a.atttypmod),
    a.attnotnull, pg_get_expr(d.adbin, d.adrelid)
FROM pg_class c
LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
WHERE c.relnamespace = 'fairdeal'::regnamespace
UNION ALL
SELECT conrelid::regclass::text, 'constraint', 0, conname, pg_get_constraintdef(oid), null, null
FROM pg_constraint WHERE connamespace = 'fairdeal'::regnamespace
UNION ALL
SELECT tablename, 'index', 0, indexname, indexdef, null, null
FROM pg_indexes WHERE schemaname = 'fairdeal'
UNION ALL
SELECT tgrelid::regclass::text, 'trigger', 0, tgname, pg_get_triggerdef(t.oid), null,
    tgenabled::text
FROM pg_trigger t JOIN pg_class c ON c.oid = tgrelid
WHERE c.relnamespace = 'fairdeal'::regnamespace
UNION ALL
SELECT proname, 'function', 0, '', pg_get_functiondef(oid), null, proacl::text
FROM pg_proc WHERE pronamespace = 'fairdeal'::regnamespace
ORDER BY 1, 2, 3, 4, 5
"""

UNIQUE_KEYS = """
SELECT c.relname, i.indexrelid::regclass::text, array_agg(a.attname::text)
FROM pg_index i
JOIN pg_class c ON c.oid = i.indrelid
JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey)
WHERE i.indisunique AND c.relnamespace = 'fairdeal'::regnamespace
GROUP BY 1, 2
"""

FOREIGN_KEYS = """
SELECT conname, array_agg(a.attname::text)
FROM pg_constraint c
JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = ANY (c.conkey)
WHERE c.contype = 'f' AND c.connamespace = 'fairdeal'::regnamespace
GROUP BY 1
"""

NOT_BY_LANE = {"migrations"}
"""Tables that are the same on every node."""


def catalogue(url: str) -> list[tuple[object, ...]]:
    with psycopg.connect(url) as conn:
        return conn.execute(CATALOGUE).fetchall()


def copy_of_sql(folder: Path) -> Path:
    copied = folder / "sql"
    shutil.copytree(str(files("eventstore").joinpath("sql")), copied)
    return copied


async def test_a_second_run_changes_nothing(databases: Databases) -> None:
    names = tuple(migration.name for migration in shipped())
    with databases.fresh(migrated=False) as url:
        first = await migrate(url)
        before = catalogue(url)
        second = await migrate(url)

        assert (first.applied, first.already) == (names, 0)
        assert (second.applied, second.already) == ((), len(names))
        assert second.functions == first.functions > 0
        assert catalogue(url) == before


async def test_migrated_from_each_earlier_state_equals_fresh(
    databases: Databases, tmp_path: Path, database_url: str
) -> None:
    expected = catalogue(database_url)
    for kept in range(1, len(shipped())):
        folder = copy_of_sql(tmp_path / str(kept))
        for path in sorted((folder / "migrations").iterdir())[kept:]:
            path.unlink()
        with databases.fresh(migrated=False) as url:
            await migrate(url, folder)
            assert len((await migrate(url)).applied) == len(shipped()) - kept
            assert catalogue(url) == expected


async def test_pending_names_what_is_missing(databases: Databases, tmp_path: Path) -> None:
    names = [migration.name for migration in shipped()]
    folder = copy_of_sql(tmp_path)
    (folder / "migrations" / f"{names[-1]}.sql").unlink()
    with databases.fresh(migrated=False) as url:
        async with await AsyncConnection.connect(url, autocommit=True) as conn:
            assert await pending(conn) == names
            await migrate(url, folder)
            assert await pending(conn) == names[-1:]
            await migrate(url)
            assert await pending(conn) == []


async def test_many_processes_that_migrate_at_once_take_turns(databases: Databases) -> None:
    program = (
        "import asyncio, sys; from eventstore.migrate import migrate;"
        "print(len(asyncio.run(migrate(sys.argv[1])).applied))"
    )
    with databases.fresh(migrated=False) as url:
        processes = [
            await asyncio.create_subprocess_exec(
                sys.executable, "-c", program, url, stdout=subprocess.PIPE
            )
            for _ in range(3)
        ]
        answers = [(await process.communicate())[0] for process in processes]
        assert sorted(int(answer) for answer in answers) == [0, 0, len(shipped())]


async def test_a_changed_migration_is_refused(databases: Databases, tmp_path: Path) -> None:
    folder = copy_of_sql(tmp_path)
    changed = folder / "migrations" / f"{shipped()[0].name}.sql"
    changed.write_text(changed.read_text() + "\n-- Changed.\n")
    with databases.fresh() as url, pytest.raises(MigrationError, match="has changed since"):
        await migrate(url, folder)


async def test_other_line_ends_are_no_change(database_url: str, tmp_path: Path) -> None:
    folder = copy_of_sql(tmp_path)
    for path in (folder / "migrations").iterdir():
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))

    assert (await migrate(database_url, folder)).applied == ()


async def test_a_newer_database_is_refused(database_url: str, tmp_path: Path) -> None:
    with psycopg.connect(database_url) as conn:
        conn.execute(
            "INSERT INTO fairdeal.migrations (number, name, checksum) VALUES (9999, '9999_x', '')"
        )
    with pytest.raises(MigrationError, match="9999_x"):
        await migrate(database_url)


async def test_a_migration_that_fails_leaves_nothing(databases: Databases, tmp_path: Path) -> None:
    folder = copy_of_sql(tmp_path)
    number = len(shipped()) + 1
    (folder / "migrations" / f"{number:04}_broken.sql").write_text("SELECT 1; SELECT no_such;")
    with databases.fresh(migrated=False) as url:
        with pytest.raises(psycopg.errors.UndefinedColumn):
            await migrate(url, folder)
        with psycopg.connect(url) as conn:
            assert conn.execute("SELECT to_regnamespace('fairdeal')").fetchone() == (None,)


def test_numbers_follow_each_other(tmp_path: Path) -> None:
    folder = copy_of_sql(tmp_path)
    (folder / "migrations" / "0099_gap.sql").write_text("SELECT 1;")
    with pytest.raises(MigrationError, match="0099_gap"):
        shipped(folder)


def test_one_function_a_file_named_after_it() -> None:
    for path in files("eventstore").joinpath("sql/functions").iterdir():
        text = path.read_text()
        name = path.name.removesuffix(".sql")
        assert text.count("CREATE OR REPLACE FUNCTION") == 1
        assert f"CREATE OR REPLACE FUNCTION fairdeal.{name}(" in text


def test_named_statements_are_told_apart() -> None:
    assert named("-- a --\n-- Why.\nSELECT 1\n\n-- b --\nSELECT\n2\n") == {
        "a": "SELECT 1",
        "b": "SELECT\n2",
    }
    for broken in ("-- a --\n", "-- a --\nSELECT 1\n-- a --\nSELECT 2\n"):
        with pytest.raises(ValueError, match="empty or named twice"):
            named(broken)


def test_every_key_holds_the_lane(database_url: str) -> None:
    with psycopg.connect(database_url) as conn:
        unique = conn.execute(UNIQUE_KEYS).fetchall()
        foreign = conn.execute(FOREIGN_KEYS).fetchall()

    assert len(unique) > 5
    for table, index, columns in unique:
        assert table in NOT_BY_LANE or "lane" in columns, index
    for name, columns in foreign:
        assert "lane" in columns, name


def test_python_and_sql_agree_on_lanes(database_url: str) -> None:
    ids = [uuid4() for _ in range(200)]
    with psycopg.connect(database_url) as conn:
        rows = conn.execute(
            "SELECT get_byte(sha256(uuid_send(u)), 0) & 15 FROM unnest(%s::uuid[]) u", [ids]
        ).fetchall()

    lanes = [wire.lane(wire.uuid(str(one))) for one in ids]
    assert [lane for (lane,) in rows] == lanes
    assert set(lanes) == set(range(wire.LANES))
    assert lanes == [sha256(one.bytes).digest()[0] % wire.LANES for one in ids]


def test_a_row_in_a_wrong_lane_is_refused(database_url: str) -> None:
    one = uuid4()
    wrong = (wire.lane(one.bytes) + 1) % wire.LANES
    with psycopg.connect(database_url) as conn, pytest.raises(psycopg.errors.CheckViolation):
        conn.execute(
            "INSERT INTO fairdeal.streams"
            " (created_at, version, lane, stream, head_hash, tenant, category)"
            " VALUES (0, 1, %s, %s, sha256(''), '', '')",
            [wrong, one],
        )
