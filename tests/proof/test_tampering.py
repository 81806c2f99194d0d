"""Whatever is changed in a file of a log, without making hashes fit again, is found and named."""

import json
from pathlib import Path
from typing import Any

import pytest

from domain import export
from domain.export import Export
from domain.log import Entry, event_view
from domain.verify import Check, check_chain, check_commands, check_digests, check_form, verify
from domain.visibility import Openings
from tests.proof.logs import (
    SAMPLES,
    each_sample,
    failures,
    flip,
    leaves,
    sample,
    verified,
    with_entries,
)

EVERYTHING = Openings(((1, 10**9),))


def line_of(log: Export, entry: Entry) -> dict[str, Any]:
    """The event as it stands in the file."""
    view = event_view(log.header.id, entry, None, EVERYTHING)
    return dict(json.loads(b"".join(export.lines(log.header, [view])).splitlines()[1])["event"])


def reread(log: Export, event: dict[str, Any], entry: Entry) -> Export:
    """The file with this event in place of the entry."""
    header = next(export.lines(log.header, ()))
    text = json.dumps({"event": event}, ensure_ascii=False).encode()
    alone = export.read([header, text])
    others = [e for e in log.entries if e.version != entry.version]
    at = entry.version - 1
    entries = others[:at] + list(alone.entries) + others[at:]
    faults = [export.Fault(entry.version + 1, entry.version, f.reason) for f in alone.faults]
    return export.Export(log.header, tuple(entries), (), tuple(faults))


def hashed(log: Export) -> list[Check]:
    """What form, chain and digests say of a file."""
    found = [*check_form(log), *check_chain(log.header.id, log.entries)]
    return [*found, *check_commands(log.entries), *check_digests(log.entries)]


def one_of_each_type(log: Export) -> list[Entry]:
    """The last event of each type: with all that stands before it."""
    return list({entry.type: entry for entry in log.entries}.values())


@each_sample
def test_a_change_of_any_value_of_any_type_of_event(path: Path) -> None:
    log = sample(path)
    tried = 0
    for entry in one_of_each_type(log):
        event = line_of(log, entry)
        for leaf in leaves(event):
            forged = json.loads(json.dumps(event))
            flip(forged, leaf)
            found = failures(hashed(reread(log, forged, entry)), entry.version)
            assert found, f"version {entry.version} {entry.type}: {leaf} changed unseen"
            tried += 1
    assert tried > 150


BITS = [1, 2, 4, 8, 16, 32]


@each_sample
def test_a_flipped_bit_anywhere_in_an_event(path: Path) -> None:
    """Every character of one event, whatever the file then says; those that leave JSON are no log,
    and those that change nothing but the way of writing it do not count."""
    log = sample(path)
    entry = next(e for e in log.entries if e.type == "HandDealt")
    before, good, after = log.entries[: entry.version - 1], line_of(log, entry), ()
    text = json.dumps({"event": good}, separators=(",", ":")).encode()
    header = next(export.lines(log.header, ()))
    unseen = []
    for place in range(0, len(text), 3):
        bit = BITS[place // 3 % len(BITS)]
        flipped = text[:place] + bytes([text[place] ^ bit]) + text[place + 1 :]
        try:
            alone = export.read([header, flipped])
        except export.BadExport:
            continue
        faults = tuple(export.Fault(f.line, entry.version, f.reason) for f in alone.faults)
        read = export.Export(log.header, (*before, *alone.entries, *after), (), faults)
        if alone.entries != (entry,) and not any(c.status == "failed" for c in hashed(read)):
            unseen.append(flipped)
    assert unseen == []


def _dropped(entries: tuple[Entry, ...], at: int) -> list[Entry]:
    return [*entries[: at - 1], *entries[at:]]


def _swapped(entries: tuple[Entry, ...], at: int) -> list[Entry]:
    return [*entries[: at - 1], entries[at], entries[at - 1], *entries[at + 1 :]]


def _twice(entries: tuple[Entry, ...], at: int) -> list[Entry]:
    return [*entries[:at], entries[at - 1], *entries[at:]]


def _inserted(entries: tuple[Entry, ...], at: int) -> list[Entry]:
    return [*entries[:at], entries[len(entries) // 2 + 3], *entries[at:]]


@each_sample
@pytest.mark.parametrize("disorder", [_dropped, _swapped, _twice, _inserted])
@pytest.mark.parametrize("at", [1, 2, 40])
def test_an_event_dropped_swapped_doubled_or_inserted(path: Path, disorder: Any, at: int) -> None:
    log = sample(path)
    report = verified(log, disorder(log.entries, at))
    chain = [check for check in report.checks if check.check == "chain"]
    assert [check.status for check in chain] == ["failed"]
    assert chain[0].versions == (at + 1 if disorder in (_twice, _inserted) else at,)
    assert "the event in its place says version" in chain[0].detail


@each_sample
def test_a_header_of_another_game_or_other_rules(path: Path) -> None:
    log = sample(path)
    for name, value in (("game", "whist"), ("rules_version", 9)):
        fields = {**json.loads(next(export.lines(log.header, ())))["header"], name: value}
        header = json.dumps({"header": fields}).encode()
        other = export.read([header]).header
        report = verify(export.Export(other, log.entries, ()))
        assert [c.check for c in report.checks if c.status == "failed"] == ["form"]
    fields["id"] = "0190d3a2-7c1e-7b3a-9f00-00000000000d"
    other = export.read([json.dumps({"header": fields}).encode()]).header
    assert failures(verify(export.Export(other, log.entries, ())).checks, 1)


@each_sample
def test_what_was_opened_may_not_be_left_out(path: Path) -> None:
    """A finished game has no secrets: a part without its card is a part that somebody hides."""
    log = sample(path)
    for entry in one_of_each_type(log):
        for index, part in enumerate(entry.sealed):
            if part.audience == '"all"':
                continue
            event = line_of(log, entry)
            del event["sealed"][index]["data"], event["sealed"][index]["salt"]
            found = failures(hashed(reread(log, event, entry)), entry.version)
            assert any("is not shown" in check.detail for check in found), entry.type


def test_an_empty_log_is_not_a_verified_log() -> None:
    log = sample(SAMPLES[0])
    report = verify(with_entries(log, ()))
    assert report.failed
    assert any("empty" in check.detail for check in report.checks)
