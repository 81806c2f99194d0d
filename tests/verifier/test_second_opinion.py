"""`verify.mjs`, which shares nothing with the domain but its documents, comes to the same findings:
on every recorded game, on what a player or a spectator holds in mid-game, and on forged logs."""

import json
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from domain import export
from domain.log import Entry, event_view
from domain.receipts import SigningKey
from domain.registry import GAMES
from domain.verify import verify
from domain.visibility import Openings
from tests.proof.logs import (
    SAMPLES,
    changed,
    each_sample,
    of_type,
    part_changed,
    put,
    rechained,
    sample,
)
from tests.proof.played import lines, recorded

NODE = shutil.which("node")

pytestmark = pytest.mark.skipif(NODE is None, reason="no node on PATH to run verify.mjs with")

VERIFIER = Path(__file__).with_name("verify.mjs")

SHARED = ("form", "chain", "digests", "deals", "receipt (file)")
"""The checks that need no rules of a game."""

EVERYTHING = Openings(((1, 10**9),))

Finding = tuple[str, str, tuple[int, ...]]


def theirs(*arguments: Path | str) -> list[tuple[int, list[Finding]]]:
    """What the second opinion says of each file: a code, and each check, its status, versions."""
    assert NODE is not None
    command = [NODE, str(VERIFIER), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, check=False, timeout=60)
    assert done.stderr == b"", done.stderr.decode()
    reports = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == max(report["code"] for report in reports)
    return [
        (r["code"], [(c["check"], c["status"], tuple(c["versions"])) for c in r["checks"]])
        for r in reports
    ]


def ours(path: Path, keys: list[Any] | None = None) -> tuple[int, list[Finding]]:
    """What this Fairdeal says of the same."""
    try:
        with path.open("rb") as file:
            log = export.read(file)
    except export.BadExport:
        return 2, []
    found = [c for c in verify(log, (), keys).checks if c.check in SHARED]
    failed = any(c.status == "failed" for c in found)
    return int(failed), [(c.check, c.status, c.versions) for c in found]


def agree(*files: Path) -> list[tuple[int, list[Finding]]]:
    """Assert that both say the same of every file, and say it."""
    found = [ours(file) for file in files]
    others = theirs(*files)
    for file, (code, findings), (other_code, other_findings) in zip(
        files, found, others, strict=True
    ):
        assert sorted(set(other_findings)) == sorted(set(findings)), file.name
        assert other_code == code, file.name
    return found


def test_every_recorded_game() -> None:
    for code, findings in agree(*SAMPLES):
        assert code == 0
        assert {status for _, status, _ in findings} == {"passed"}


@pytest.mark.parametrize("game", list(GAMES))
def test_what_a_player_or_a_spectator_holds_in_mid_game(game: str, tmp_path: Path) -> None:
    files = []
    for number in range(3):
        played = recorded(game, number)
        dealt = [i for i, table in enumerate(played.tables, 1) if table.unopened]
        for seat in (None, 0):
            for commands in (dealt[0], dealt[len(dealt) // 2], len(played.tables)):
                file = tmp_path / f"{number}-{seat}-{commands}.ndjson"
                file.write_bytes(b"".join(lines(played, seat, commands)))
                files.append(file)
    found = agree(*files)
    assert {code for code, _ in found} == {0}
    assert any(f[:2] == ("digests", "not_yet_possible") for _, findings in found for f in findings)


Forgery = Callable[[Sequence[Entry]], Sequence[Entry]]


def _touched(entries: Sequence[Entry]) -> Sequence[Entry]:
    entry = of_type(entries, "HandDealt")[0]
    return put(entries, changed(entry, lambda data: data.update(stock=data["stock"] + 1)))


def _dropped(entries: Sequence[Entry]) -> Sequence[Entry]:
    return [*entries[:20], *entries[21:]]


def _swapped(entries: Sequence[Entry]) -> Sequence[Entry]:
    return [*entries[:20], entries[21], entries[20], *entries[22:]]


def _part(entries: Sequence[Entry]) -> Sequence[Entry]:
    entry = of_type(entries, "HandDealt")[0]
    return put(entries, part_changed(entry, 0, lambda data: data["cards"].reverse()))


def _dealt(entries: Sequence[Entry]) -> Sequence[Entry]:
    return rechained(_game(entries), _part(entries))


def _seed(entries: Sequence[Entry]) -> Sequence[Entry]:
    entry = of_type(entries, "SeedRevealed")[0]
    forged = changed(entry, lambda data: data.update(server_seed="ab" * 32))
    return rechained(_game(entries), put(entries, forged))


def _cut(entries: Sequence[Entry]) -> Sequence[Entry]:
    entry = of_type(entries, "PackCut")[0]
    forged = changed(entry, lambda data: data.update(at=data["at"] % 30 + 1))
    return rechained(_game(entries), put(entries, forged))


def _never_opened(entries: Sequence[Entry]) -> Sequence[Entry]:
    entry = of_type(entries, "SeedRevealed")[-1]
    return rechained(_game(entries), [e for e in entries if e is not entry])


def _hidden(entries: Sequence[Entry]) -> Sequence[Entry]:
    entry = of_type(entries, "HandDealt")[0]
    bare = [msgspec.structs.replace(part, salt=None, body=None) for part in entry.sealed]
    return put(entries, msgspec.structs.replace(entry, sealed=tuple(bare)))


def _lot(entries: Sequence[Entry]) -> Sequence[Entry]:
    entry = of_type(entries, "HandStarted")[0]
    forged = changed(entry, lambda data: data.update(dealer=(data["dealer"] + 1) % 2, by_lot=True))
    return rechained(_game(entries), put(entries, forged))


_ids = {entries: log.header.id for log in map(sample, SAMPLES) for entries in [log.entries[0].hash]}


def _game(entries: Sequence[Entry]) -> str:
    return _ids[entries[0].hash]


FORGERIES: tuple[Forgery, ...] = (
    _touched,
    _dropped,
    _swapped,
    _part,
    _dealt,
    _seed,
    _cut,
    _never_opened,
    _hidden,
    _lot,
)


@each_sample
def test_forged_logs(path: Path, tmp_path: Path) -> None:
    log = sample(path)
    files = []
    for forge in FORGERIES:
        views = [event_view(log.header.id, e, None, EVERYTHING) for e in forge(log.entries)]
        file = tmp_path / f"{forge.__name__}.ndjson"
        text = b"".join(export.lines(log.header, views))
        file.write_bytes(text.replace(b',"erased":true', b""))
        files.append(file)
    assert [code for code, _ in agree(*files)] == [1] * len(FORGERIES)


OUT_OF_FORM = [
    (b'"schema":1', b'"schema":0', 1),
    (b'"schema":1', b'"schema":1.5', 1),
    (b'"hash":"', b'"hash":"0', 1),
    (b'"at":"2', b'"at":"3', 1),
    (b'"data":{', b'"data":{"more":1,', 1),
    (b'{"event"', b"{event", 2),
    (b"fairdeal-log/1", b"fairdeal-log/9", 2),
]


def test_files_out_of_form(tmp_path: Path) -> None:
    files = []
    for number, (text, instead, _) in enumerate(OUT_OF_FORM):
        file = tmp_path / f"{number}.ndjson"
        file.write_bytes(SAMPLES[0].read_bytes().replace(text, instead, 1))
        files.append(file)
    assert [code for code, _ in agree(*files)] == [code for _, _, code in OUT_OF_FORM]


def test_receipts(tmp_path: Path) -> None:
    """A good one, one of another key, one that the log does not continue; with keys and without."""
    log = sample(SAMPLES[0])
    key, stranger = SigningKey(b"\x01" * 32), SigningKey(b"\x02" * 32)
    good = key.receipt(log.header.id, log.entries[9])
    foreign = stranger.receipt(log.header.id, log.entries[10])
    rewritten = key.receipt(log.header.id, msgspec.structs.replace(log.entries[11], hash=b"0" * 32))
    file = tmp_path / "receipts.ndjson"
    receipts = b"".join(list(export.lines(log.header, (), [good, foreign, rewritten]))[1:])
    file.write_bytes(SAMPLES[0].read_bytes() + receipts)
    keys = tmp_path / "jwks.json"
    keys.write_bytes(msgspec.json.encode({"keys": [key.public()]}))
    anchored = [("receipt (file)", s, (v,)) for s, v in _three("passed", "failed", "failed")]
    assert ours(file, [key.public()])[1][-3:] == anchored
    assert theirs("--keys", keys, file)[0][1][-3:] == anchored
    unanchored = _three("not_yet_possible", "not_yet_possible", "failed")
    assert [f[1:] for f in agree(file)[0][1][-3:]] == [(s, (v,)) for s, v in unanchored]


def _three(*statuses: str) -> list[tuple[str, int]]:
    return list(zip(statuses, (10, 11, 12), strict=True))
