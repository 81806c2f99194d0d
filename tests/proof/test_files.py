"""Any bytes at all: a file is read, or is said to be no log; and whatever was read is judged
without stumbling."""

import json
from contextlib import suppress
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain import export
from domain.export import BadExport, Export
from domain.log import event_view
from domain.rederive import StillSealed, Unfollowable, derived, differences
from domain.verify import check_rederivation, verify
from domain.visibility import Openings
from tests.proof.logs import SAMPLES, named, put, rechained, sample, with_entries
from tests.proof.played import exported, lines, recorded

SMALL = lines(recorded("lodam", 3), None, 12)

LONG = named("trades-swallow-challenges")

WHOLE = named("modern-three-players-with-stake")


def judged(file: list[bytes]) -> str:
    """Read and verify a file; what came of it."""
    try:
        log = export.read(file)
    except BadExport:
        return "no log"
    report = verify(log)
    assert len(report.checks) >= 2
    return "failed" if report.failed else "passed"


def test_the_file_that_the_others_are_made_from_is_a_good_one() -> None:
    assert judged(SMALL) == "passed"


@given(st.lists(st.binary(max_size=60), max_size=5))
@settings(max_examples=100, deadline=None)
def test_any_bytes(file: list[bytes]) -> None:
    assert judged(file) == "no log"


@given(st.data())
@settings(max_examples=100, deadline=None)
def test_a_file_with_some_bytes_changed(data: st.DataObject) -> None:
    text = bytearray(b"".join(SMALL))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text) - 1))
        text[at] = data.draw(st.integers(0, 255))
    judged(bytes(text).splitlines(keepends=True))


words = st.text(st.characters(codec="utf-8"), max_size=4)

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats(allow_nan=False, allow_infinity=False)
    | words
    | st.sampled_from(["play", "AS", "table", "lodam", "[]", "00" * 32]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner),
    max_leaves=5,
)


def _replace(value: Any, chance: st.DataObject, other: Any) -> Any:
    """The JSON with one value somewhere in it replaced."""
    if isinstance(value, dict | list) and value and chance.draw(st.integers(0, 3)):
        keys: list[Any] = list(value) if isinstance(value, dict) else list(range(len(value)))
        key = chance.draw(st.sampled_from(keys))
        value[key] = _replace(value[key], chance, other)
        return value
    return other


@given(st.data(), json_values)
@settings(max_examples=100, deadline=None)
def test_a_file_with_any_value_anywhere_in_a_line(data: st.DataObject, other: Any) -> None:
    number = data.draw(st.integers(0, len(SMALL) - 1))
    line = _replace(json.loads(SMALL[number]), data, other)
    text = json.dumps(line).encode()
    judged([*SMALL[:number], text + b"\n", *SMALL[number + 1 :]])


@given(st.data(), json_values)
@settings(max_examples=50, deadline=None)
def test_any_value_in_an_event_under_hashes_that_fit(data: st.DataObject, other: Any) -> None:
    """The same with a consistent chain, so that the rules and the deal come to see it."""
    log = WHOLE
    entry = data.draw(st.sampled_from(log.entries))
    view = event_view(log.header.id, entry, None, Openings(((1, 10**9),)))
    line = {"event": json.loads(msgspec.json.encode(view))}
    part = data.draw(st.sampled_from(["data", "sealed", "type", "actor", "schema", "command"]))
    line["event"][part] = _replace(line["event"][part], data, other)
    read = export.read([SMALL[0], json.dumps(line).encode()])
    changed = [msgspec.structs.replace(e, version=entry.version) for e in read.entries]
    forged = with_entries(log, rechained(log.header.id, put(log.entries, *changed)))
    verify(forged)
    _derive(forged, entry.version)


def _derive(forged: Export, version: int) -> None:
    with suppress(StillSealed, Unfollowable):
        list(differences(derived(forged.header.id, forged.entries, version)))


HEADER = SMALL[0]
EVENT = json.loads(SMALL[1])["event"]

FAULTY = [
    ('"version":1', '"version":1,"version":2', "a member name twice"),
    ('"data":{', '"data":{"é":1,', "outside ASCII"),
    ('"schema":1', '"schema":1.0', "not whole"),
    ('"data":{', '"data":{"hand":1.5,', "not whole"),
    ('"data":{', '"data":{"hand":9007199254740993,', "not everyone reads alike"),
    ('"data":{', '"data":{"hand":' + "9" * 5000 + ",", "not everyone reads alike"),
    ('"schema":1', '"schema":0', ""),
    ('"version":1', '"version":"1"', ""),
    ('"actor":null', '"actor":-1', ""),
    ('"type":"GameCreated"', '"type":"Game\\"Created"', "not a plain name"),
    ('"type":"GameCreated"', '"type":"Gamé\\u0000"', "not a plain name"),
    ('"sealed":[]', '"sealed":{}', ""),
    ('"sealed":[]', '"sealed":[{"for":"nobody","digest":"' + "00" * 32 + '"}]', ""),
    ('"sealed":[]', '"sealed":[{"for":[2,1],"digest":"' + "00" * 32 + '"}]', "ascending"),
    ('"sealed":[]', '"sealed":[{"for":[],"digest":"00"}]', "64 lower-case hex digits"),
    ('"sealed":[]', '"sealed":[{"for":[],"digest":"' + "AB" * 32 + '"}]', "lower-case"),
    (
        '"sealed":[]',
        '"sealed":[{"for":[],"salt":"AA=","data":{},"digest":"' + "00" * 32 + '"}]',
        "base64url",
    ),
    (f'"game":"{EVENT["game"]}","version"', '"game":"another","version"', "event of game"),
]


@pytest.mark.parametrize(("text", "instead", "reason"), FAULTY)
def test_an_event_that_departs_from_the_form_is_a_fault(
    text: str, instead: str, reason: str
) -> None:
    """It is named with its line and version, and everything else is checked all the same."""
    line = SMALL[1].decode()
    assert text in line
    read = export.read([HEADER, line.replace(text, instead, 1).encode(), *SMALL[2:]])
    assert [(fault.line, fault.version) for fault in read.faults] == [(2, 1)]
    assert reason in read.faults[0].reason
    report = verify(read)
    assert report.failed
    assert report.checks[0].check == "form"
    assert report.checks[0].detail.startswith("version 1 (line 2): ")


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ([], 1),
        ([b"\n", b"\n"], 1),
        ([b"{}\n"], 1),
        ([b"[]"], 1),
        ([SMALL[1]], 1),
        ([HEADER, b"\n", HEADER], 3),
        ([HEADER, b'{"event":1,"receipt":2}'], 2),
        ([HEADER, b'{"events":1}'], 2),
        ([HEADER, SMALL[1][:-9]], 2),
        ([HEADER, b"\xff"], 2),
        ([HEADER, SMALL[1].replace(b'"data":{', b'"data":{"text":"\\ud800",')], 2),
        ([HEADER, b"[" * 100_000], 2),
        ([HEADER.replace(b"fairdeal-log/1", b"fairdeal-log/2")], 1),
        ([HEADER.replace(b'"keys":[]', b'"keys":[{}]')], 1),
        ([HEADER.replace(b'"id":"', b'"id":"\\"')], 1),
    ],
)
def test_what_is_no_log_at_all(file: list[bytes], line: int) -> None:
    with pytest.raises(BadExport) as caught:
        export.read(file)
    assert caught.value.line == line


def test_a_deeply_nested_event_is_a_fault() -> None:
    deep = b'{"event":{"data":' + b"[" * 900 + b"]" * 900 + b"}}"
    assert len(export.read([HEADER, deep]).faults) == 1


def test_a_file_that_was_reformatted_reads_the_same() -> None:
    """Order of members, spaces and escapes are the writer's; canonical bytes are what counts."""
    for path in SAMPLES:
        log = sample(path)
        lines_ = path.read_bytes().splitlines()
        loose = [json.dumps(_reversed(json.loads(line))).encode() for line in lines_]
        assert export.read(loose).entries == log.entries


def _reversed(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _reversed(value[key]) for key in reversed(value)}
    return [_reversed(inner) for inner in value] if isinstance(value, list) else value


def test_a_long_list_of_failures_is_cut_short_and_counted() -> None:
    entries = rechained(LONG.header.id, [LONG.entries[0], *LONG.entries[10:]])
    checks = list(check_rederivation(LONG.header.id, entries))
    assert all(check.status == "failed" for check in checks)
    assert len(checks) <= 21


def test_progress_is_told_in_events() -> None:
    told: list[int] = []
    verify(exported(recorded("lodam", 3), None, 12), progress=told.append)
    assert told[0] >= 1
    assert told == sorted(told)
