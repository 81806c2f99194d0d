"""`fairdeal verify`, `export`, `import` and `keys` as one types them."""

import json
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import psycopg
import pytest
from click.testing import Result
from typer.testing import CliRunner

from api.cli import app
from api.signing import Signer
from domain.export import lines
from domain.log import event_view, fold
from domain.receipts import Receipt, SigningKey
from tests.api.running import SIGNING_KEYS
from tests.api.samples import CHALLENGES, SEEDS, log_of
from tests.database import Databases
from tests.proof.played import exported, recorded

LOG = log_of(CHALLENGES)
GAME = LOG.header.id
LINES = CHALLENGES.read_bytes().splitlines(keepends=True)
KEY = SigningKey(bytes(range(32)))
"""The secret half of what SIGNING_KEYS says."""


def fairdeal(*arguments: object, **environment: str | None) -> Result:
    """Run a command in this process. The keys that this machine may have for real are not seen."""
    unset = dict.fromkeys(("DATABASE_URL", "HOST_KEYS", "SIGNING_KEYS", "SIGNING_KEYS_FILE"), None)
    there = {"DATA_DIR": "/nowhere"} | unset | environment
    env = {f"FAIRDEAL_{name}": value for name, value in there.items()}
    result = CliRunner().invoke(app, [str(a) for a in arguments], env=env | {"COLUMNS": "200"})
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, bytes | str], Path]:
    """Write a file to give to a command."""

    def written(name: str, content: bytes | str) -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return written


Write = Callable[[str, bytes | str], Path]


@pytest.fixture
def database(databases: Databases) -> Iterator[str]:
    with databases.fresh() as url:
        yield url


def told(result: Result) -> dict[str, list[tuple[str, list[int]]]]:
    """The statuses and versions by check, of a report as JSON."""
    found: dict[str, list[tuple[str, list[int]]]] = {}
    for check in json.loads(result.stdout)["checks"]:
        found.setdefault(check["check"], []).append((check["status"], check["versions"]))
    return found


def test_an_honest_log_has_every_check_passed_and_named() -> None:
    result = fairdeal("verify", CHALLENGES)
    assert result.exit_code == 0
    for word in ("form", "chain", "commands", "digests", "deals", "rederivation", "0 failed"):
        assert word in result.stdout
    as_json = fairdeal("verify", CHALLENGES, "--json")
    body = json.loads(as_json.stdout)
    assert (body["game"], body["versions"], body["failed"]) == (GAME, len(LINES) - 1, False)
    assert {status for found in told(as_json).values() for status, _ in found} == {"passed"}


def test_a_tampered_log_fails_by_version_and_exits_with_1(write: Write) -> None:
    changed = list(LINES)
    changed[40] = LINES[40].replace(b'"actor":', b'"actor":1', 1)
    path = write("changed.ndjson", b"".join(changed))
    result = fairdeal("verify", path)
    assert result.exit_code == 1
    assert "FAILED" in result.stdout
    assert "version 40: the hash does not fit the event" in result.stdout
    found = told(fairdeal("verify", path, "--json"))
    assert ("failed", [40]) in found["chain"]


def test_a_log_that_is_still_sealed_says_what_is_not_yet_possible(write: Write) -> None:
    upto = 60
    table = fold(GAME, LOG.entries[:upto])
    views = [event_view(GAME, entry, 2, table.openings) for entry in LOG.entries[:upto]]
    path = write("mine.ndjson", b"".join(lines(LOG.header, views)))
    result = fairdeal("verify", path, "--json")
    assert result.exit_code == 0
    found = told(result)
    assert [status for status, _ in found["deals"]] == ["not_yet_possible"]
    assert "not yet possible" in fairdeal("verify", path).stdout


def receipt(version: int) -> Receipt:
    return KEY.receipt(GAME, LOG.entries[version - 1])


def test_a_receipt_catches_a_tail_that_was_cut_and_a_history_rewritten(write: Write) -> None:
    kept = write("kept.json", msgspec.json.encode(receipt(300)))
    keys = write("jwks.json", msgspec.json.encode({"keys": Signer(SIGNING_KEYS).keys}))
    whole = fairdeal("verify", CHALLENGES, "--receipt", kept, "--keys", keys, "--json")
    assert whole.exit_code == 0
    assert told(whole)["receipt (kept)"] == [("passed", [300])]
    cut = write("cut.ndjson", b"".join(LINES[:250]))
    result = fairdeal("verify", cut, "--receipt", kept, "--keys", keys)
    assert result.exit_code == 1
    assert "its tail was cut" in result.stdout
    forged = write("forged.json", msgspec.json.encode(receipt(299)).replace(b"299,", b"298,"))
    assert fairdeal("verify", CHALLENGES, "--receipt", forged, "--keys", keys).exit_code == 1


def test_without_keys_from_elsewhere_no_signature_passes(write: Write) -> None:
    kept = write("kept.json", msgspec.json.encode(receipt(300)))
    result = fairdeal("verify", CHALLENGES, "--receipt", kept)
    assert result.exit_code == 0
    assert "signature not anchored" in result.stdout
    found = told(fairdeal("verify", CHALLENGES, "--receipt", kept, "--json"))
    assert found["receipt (kept)"] == [("not_yet_possible", [300])]


def test_receipts_are_read_as_they_were_kept(write: Write) -> None:
    one, two = [msgspec.json.encode(receipt(version)) for version in (10, 20)]
    for content in (
        one + b"\n" + two + b"\n",
        b"[" + one + b"," + two + b"]",
        b'{"version": 10, "view": {}, "receipt": ' + one + b'}\n{"receipt":' + two + b"}",
        json.dumps([json.loads(one), json.loads(two)], indent=2),
    ):
        path = write("receipts", content)
        found = told(fairdeal("verify", CHALLENGES, "--receipt", path, "--json"))
        assert [versions for _, versions in found["receipt (kept)"]] == [[10], [20]]


def test_an_event_is_explained_in_words(write: Write) -> None:
    result = fairdeal("verify", CHALLENGES, "--explain", 40)
    assert result.exit_code == 0
    assert "Version 40, " in result.stdout
    assert "Rulebook: lodam " in result.stdout
    body = json.loads(fairdeal("verify", CHALLENGES, "--explain", 40, "--json").stdout)
    assert body["explanation"]["version"] == 40
    assert body["explanation"]["follows"] is True
    result = fairdeal("verify", CHALLENGES, "--explain", 99_999)
    assert result.exit_code == 2
    assert "no version 99999" in result.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["missing.ndjson"],
        ["."],
        ["README.md"],
        [CHALLENGES, "--receipt", "missing"],
        [CHALLENGES, "--receipt", "README.md"],
        [CHALLENGES, "--keys", "missing"],
        [CHALLENGES, "--keys", "README.md"],
        [CHALLENGES, "--explain", "none"],
        [],
    ],
)
def test_what_cannot_be_read_exits_with_2(
    arguments: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(SEEDS)
    result = fairdeal("verify", *arguments)
    assert result.exit_code == 2
    assert result.stderr
    assert result.stdout == ""


def test_a_log_comes_in_by_the_standard_input_too() -> None:
    result = CliRunner().invoke(app, ["verify", "-", "--json"], input=b"".join(LINES))
    assert result.exit_code == 0
    assert json.loads(result.stdout)["versions"] == len(LINES) - 1


def test_samples_are_loaded_once_and_stay_what_they_are(database: str) -> None:
    first = fairdeal("import", "--samples", "--host", "host", "--json", DATABASE_URL=database)
    assert first.exit_code == 0, first.stderr
    items = json.loads(first.stdout)["items"]
    assert len(items) == len(list(SEEDS.glob("*/samples/*.ndjson")))
    assert {item["outcome"] for item in items} == {"imported"}
    before = contents(database)
    again = fairdeal("import", "--samples", "--host", "host", "--json", DATABASE_URL=database)
    assert again.exit_code == 0
    assert {item["outcome"] for item in json.loads(again.stdout)["items"]} == {"already here"}
    assert contents(database) == before
    for item in items:
        result = fairdeal("export", item["game"], DATABASE_URL=database)
        assert result.exit_code == 0
        assert result.stdout_bytes == Path(item["file"]).read_bytes()
    assert fairdeal("audit", DATABASE_URL=database).exit_code == 0


def contents(url: str) -> list[Any]:
    """All rows of the log."""
    with psycopg.connect(url) as conn:
        return [
            conn.execute(
                f"SELECT * FROM fairdeal.{table} ORDER BY 1, 2, 3, 4, 5".encode()
            ).fetchall()
            for table in ("streams", "events", "sealed", "commands")
        ]


def test_what_was_erased_here_stays_erased(database: str, write: Write) -> None:
    assert fairdeal("import", CHALLENGES, "--host", "host", DATABASE_URL=database).exit_code == 0
    taken = next(entry for entry in LOG.entries if entry.type == "SeatTaken")
    with psycopg.connect(database) as conn:
        conn.execute(
            "SELECT fairdeal.erase(lane, stream, ARRAY[%s::int], ARRAY[0::smallint])"
            " FROM fairdeal.streams",
            [taken.version],
        )
    result = fairdeal("import", CHALLENGES, "--host", "host", DATABASE_URL=database)
    assert "already here" in result.stdout
    exported = fairdeal("export", GAME, DATABASE_URL=database).stdout_bytes
    assert exported.splitlines()[taken.version].count(b'"erased":true') == 1
    path = write("erased.ndjson", exported)
    assert fairdeal("verify", path).exit_code == 0
    assert b"Anna" in CHALLENGES.read_bytes()
    assert b"Anna" not in exported


def test_a_log_with_an_erased_name_is_loaded_with_it_erased(
    databases: Databases, write: Write
) -> None:
    taken = next(entry for entry in LOG.entries if entry.type == "SeatTaken")
    line = json.loads(LINES[taken.version])
    [part] = line["event"]["sealed"]
    del part["salt"], part["data"]
    gone = [*LINES[: taken.version], json.dumps(line).encode() + b"\n", *LINES[taken.version + 1 :]]
    path = write("gone.ndjson", b"".join(gone))
    with databases.fresh() as url:
        result = fairdeal("import", path, "--host", "h", DATABASE_URL=url)
        assert result.stdout.startswith("imported")
        exported = fairdeal("export", GAME, DATABASE_URL=url).stdout_bytes
        assert exported.splitlines()[taken.version].count(b'"erased":true') == 1


def test_only_what_is_whole_over_and_ours_to_give_is_loaded(database: str, write: Write) -> None:
    def refused(content: bytes, reason: str, host: str = "host") -> None:
        path = write("file.ndjson", content)
        before = contents(database)
        result = fairdeal("import", path, "--host", host, DATABASE_URL=database)
        assert result.exit_code == 1, result.output
        assert result.stdout.startswith("refused")
        assert reason in result.stdout
        assert contents(database) == before

    whole = b"".join(LINES)
    refused(b"".join(LINES[:200]), "it is not an opened log")
    refused(whole.replace(b'"actor":0', b'"actor":1', 1), "it does not hold: chain")
    opened = next(e.version for e in LOG.entries if e.type == "SeedRevealed")
    command = LOG.entries[opened - 1].command
    start = next(e.version for e in LOG.entries if e.version > opened and e.type == "HandStarted")
    assert LOG.entries[start - 1].command == command
    refused(b"".join(LINES[:opened]), "it does not hold: rederivation")
    assert fairdeal("import", CHALLENGES, "--host", "one", DATABASE_URL=database).exit_code == 0
    refused(whole, "another host has a game of this id", "two")


def test_a_game_that_waits_for_players_is_not_loaded(database: str, write: Write) -> None:
    game = next(
        game
        for number in range(200)
        if (game := recorded("loc", number)).tables[0].status == "waiting"
    )
    log = exported(game, None, 1)
    views = [event_view(log.header.id, e, None, game.tables[0].openings) for e in log.entries]
    path = write("waiting.ndjson", b"".join(lines(log.header, views)))
    result = fairdeal("import", path, "--host", "h", DATABASE_URL=database)
    assert result.exit_code == 1
    assert "the game is not over: it is waiting" in result.stdout


def test_a_file_that_is_no_log_exits_with_2(database: str, write: Write) -> None:
    path = write("x", "nonsense")
    assert fairdeal("import", path, "--host", "h", DATABASE_URL=database).exit_code == 2
    assert fairdeal("import", DATABASE_URL=database).exit_code == 2


def test_the_first_host_gets_what_is_loaded(database: str, tmp_path: Path) -> None:
    result = fairdeal("import", CHALLENGES, DATABASE_URL=database, HOST_KEYS="a:1,b:2")
    assert result.exit_code == 0
    with psycopg.connect(database) as conn:
        assert conn.execute("SELECT tenant FROM fairdeal.streams").fetchall() == [("a",)]
    args = ("import", CHALLENGES, "--host", "c")
    result = fairdeal(*args, DATABASE_URL=database, HOST_KEYS="a:1,b:2")
    assert result.exit_code == 2
    assert "c is not one of the hosts: a, b" in result.stderr
    result = fairdeal("import", CHALLENGES, DATABASE_URL=database, DATA_DIR=str(tmp_path))
    assert result.exit_code == 1
    assert "say which host" in result.stderr


def test_an_export_is_signed_where_there_are_keys(
    database: str, tmp_path: Path, write: Write
) -> None:
    fairdeal("import", CHALLENGES, "--host", "host", DATABASE_URL=database)
    path = tmp_path / "out.ndjson"
    result = fairdeal("export", GAME, "-o", path, DATABASE_URL=database, SIGNING_KEYS=SIGNING_KEYS)
    assert (result.exit_code, result.stdout) == (0, "")
    keys = write("jwks.json", msgspec.json.encode({"keys": Signer(SIGNING_KEYS).keys}))
    found = told(fairdeal("verify", path, "--keys", keys, "--json"))
    assert found["receipt (file)"] == [("passed", [len(LINES) - 1])]


def test_an_export_that_cannot_be_is_said(database: str, tmp_path: Path) -> None:
    result = fairdeal("export", GAME, DATABASE_URL=database)
    assert result.exit_code == 1
    assert f"no game {GAME}" in result.stderr
    assert fairdeal("export", "x", DATABASE_URL=database).exit_code == 2
    fairdeal("import", CHALLENGES, "--host", "host", DATABASE_URL=database)
    result = fairdeal("export", GAME, "-o", tmp_path, DATABASE_URL=database)
    assert result.exit_code == 2


def test_a_database_without_tables_is_told_what_to_do(databases: Databases) -> None:
    with databases.fresh(migrated=False) as url:
        for command in (("export", GAME), ("audit",), ("import", CHALLENGES, "--host", "h")):
            result = fairdeal(*command, DATABASE_URL=url)
            assert result.exit_code == 1
            assert "fairdeal migrate" in result.stderr


def test_keys_are_listed_and_rotated_in_the_data_folder(tmp_path: Path) -> None:
    folder = str(tmp_path)
    assert "no keys yet" in fairdeal("keys", "list", DATA_DIR=folder).stdout
    assert json.loads(fairdeal("keys", "list", "--json", DATA_DIR=folder).stdout) == {"keys": []}
    result = fairdeal("keys", "rotate", "--json", DATA_DIR=folder)
    assert result.exit_code == 0
    kid = json.loads(result.stdout)["key"]["kid"]
    listed = json.loads(fairdeal("keys", "list", "--json", DATA_DIR=folder).stdout)["keys"]
    assert [(key["kid"] == kid, "exp" in key) for key in listed] == [(False, True), (True, False)]
    text = fairdeal("keys", "list", DATA_DIR=folder).stdout
    assert [line.split()[0] for line in text.splitlines()] == [key["kid"] for key in listed]
    assert "until today" in text.splitlines()[-1]
    assert fairdeal("keys", DATA_DIR=folder).stdout == text
    kept = (tmp_path / "signing.keys").read_text()
    assert stat.S_IMODE((tmp_path / "signing.keys").stat().st_mode) == 0o600
    for secret in [line.partition(":")[0] for line in kept.splitlines()]:
        assert secret not in text


def test_keys_of_the_environment_are_rotated_by_whoever_keeps_it(tmp_path: Path) -> None:
    result = fairdeal("keys", "rotate", SIGNING_KEYS=SIGNING_KEYS, DATA_DIR=str(tmp_path))
    assert result.exit_code == 0
    assert "Set FAIRDEAL_SIGNING_KEYS" in result.stderr
    [value] = result.stdout.splitlines()
    assert Signer(value).keys[0].kid == KEY.kid
    assert len(Signer(value).keys) == 2
    assert list(tmp_path.iterdir()) == []
    broken = fairdeal("keys", "rotate", SIGNING_KEYS="x")
    assert broken.exit_code == 1
    assert "FAIRDEAL_SIGNING_KEYS" in broken.stderr


def test_keys_of_other_kinds_are_passed_over(database: str, tmp_path: Path, write: Write) -> None:
    fairdeal("import", CHALLENGES, "--host", "host", DATABASE_URL=database)
    path = tmp_path / "out.ndjson"
    fairdeal("export", GAME, "-o", path, DATABASE_URL=database, SIGNING_KEYS=SIGNING_KEYS)
    ours = msgspec.to_builtins(Signer(SIGNING_KEYS).keys)
    other = {"kty": "RSA", "n": "AQAB", "e": "AQAB", "kid": "theirs"}
    keys = write("mixed.json", msgspec.json.encode({"keys": [other, *ours]}))
    found = told(fairdeal("verify", path, "--keys", keys, "--json"))
    assert [status for status, _ in found["receipt (file)"]] == ["passed"]
