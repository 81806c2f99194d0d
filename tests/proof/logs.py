"""Logs to check, and ways to forge them: the recorded samples, and entries changed one by one.

`rechained` makes a forgery consistent: digests, hashes and `prev` fit again, so that only what the
log says can give it away.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from domain import export
from domain.events import encode_canonical
from domain.export import Export
from domain.log import GENESIS, Entry, Part, digest, event_hash
from domain.verify import Check, Report, check_chain, check_digests, verify
from tests.seeds.record import SEEDS

SAMPLES = sorted(SEEDS.glob("*/samples/*.ndjson"))

each_sample = pytest.mark.parametrize("path", SAMPLES, ids=[path.stem for path in SAMPLES])

_read: dict[Path, Export] = {}


def sample(path: Path) -> Export:
    """A recorded game, read once."""
    if path not in _read:
        with path.open("rb") as file:
            _read[path] = export.read(file)
    return _read[path]


def named(stem: str) -> Export:
    """The recorded game of this name."""
    return sample(next(path for path in SAMPLES if path.stem == stem))


def with_entries(log: Export, entries: Sequence[Entry]) -> Export:
    """The file with other entries."""
    return msgspec.structs.replace(log, entries=tuple(entries))


def verified(log: Export, entries: Sequence[Entry]) -> Report:
    """The report on the file with these entries."""
    return verify(with_entries(log, entries))


def rechained(game_id: str, entries: Sequence[Entry]) -> list[Entry]:
    """The entries with digests, hashes and `prev` made to fit, versions counted from 1."""
    prev = GENESIS
    found: list[Entry] = []
    for version, entry in enumerate(entries, 1):
        sealed = [
            part
            if part.salt is None or part.body is None
            else msgspec.structs.replace(part, digest=digest(part.salt, part.body))
            for part in entry.sealed
        ]
        forged = msgspec.structs.replace(entry, version=version, prev=prev, sealed=tuple(sealed))
        prev = event_hash(game_id, forged)
        found.append(msgspec.structs.replace(forged, hash=prev))
    return found


def changed(entry: Entry, change: Callable[[dict[str, Any]], None]) -> Entry:
    """The entry with its public data changed in place."""
    data = msgspec.json.decode(entry.data)
    change(data)
    return msgspec.structs.replace(entry, data=encode_canonical(data))


def part_changed(entry: Entry, index: int, change: Callable[[dict[str, Any]], None]) -> Entry:
    """The entry with the data of one sealed part changed in place."""
    parts = list(entry.sealed)
    body = parts[index].body
    assert body is not None
    data = msgspec.json.decode(body)
    change(data)
    old = parts[index]
    parts[index] = Part(old.audience, old.digest, old.salt, encode_canonical(data))
    return msgspec.structs.replace(entry, sealed=tuple(parts))


def put(entries: Sequence[Entry], *others: Entry) -> list[Entry]:
    """The entries with these in the places of the same versions."""
    by_version = {entry.version: entry for entry in others}
    return [by_version.get(entry.version, entry) for entry in entries]


def of_type(entries: Sequence[Entry], name: str) -> list[Entry]:
    """All the entries of a type."""
    return [entry for entry in entries if entry.type == name]


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every scalar in some JSON, in lists those of the first and the last item."""
    if isinstance(value, dict | list):
        items = (
            value.items() if isinstance(value, dict) else list(enumerate(value))[:: _step(value)]
        )
        for key, inner in items:
            yield from leaves(inner, (*path, key))
    else:
        yield path


def _step(items: list[Any]) -> int:
    return max(1, len(items) - 1)


def flip(value: Any, path: tuple[Any, ...]) -> None:
    """Change the scalar at a path, in place, to another of its kind."""
    *way, last = path
    for key in way:
        value = value[key]
    value[last] = other(value[last])


def other(scalar: Any) -> Any:
    """Another scalar of the same kind."""
    match scalar:
        case bool():
            return not scalar
        case int():
            return scalar + 1
        case None:
            return 0
        case str() if len(scalar) == 2 and scalar[0] in "23456789TJQKUOA":
            return ("2" if scalar[0] != "2" else "3") + scalar[1]  # a card
        case str() if scalar and scalar[0] in "0123456789abcdef":
            return ("1" if scalar[0] != "1" else "2") + scalar[1:]  # hex, a digit
        case _:
            return scalar + "x"


def failures(checks: Sequence[Check], version: int) -> list[Check]:
    """The failed checks that name a version, in numbers and in words."""
    return [
        check
        for check in checks
        if check.status == "failed"
        and version in check.versions
        and f"version {version}" in check.detail
    ]


def fits(log: Export, entries: Sequence[Entry]) -> bool:
    """Whether chain and digests find nothing: the forgery is a consistent one."""
    checks: list[Check] = [*check_chain(log.header.id, entries), *check_digests(entries)]
    return all(check.status == "passed" for check in checks)


def caught(log: Export, entries: Sequence[Entry], check: str, version: int, reason: str) -> None:
    """Assert that the forgery fits its hashes, and that this check finds it."""
    forged = rechained(log.header.id, entries)
    assert fits(log, forged)
    found = [c for c in failures(verified(log, forged).checks, version) if c.check == check]
    assert any(reason in c.detail for c in found), verified(log, forged).checks
