"""A forger with the store in hand makes every hash fit. What the log says still gives it away: the
deal does not come out, or the rules give something else. What only a kept receipt finds is told.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from domain import shuffle
from domain.cards import Pack
from domain.events import encode_canonical
from domain.export import Export
from domain.log import Entry
from domain.receipts import Receipt, SigningKey
from domain.registry import GAMES
from domain.verify import verify
from tests.proof.logs import (
    SAMPLES,
    caught,
    changed,
    each_sample,
    failures,
    flip,
    leaves,
    of_type,
    part_changed,
    put,
    rechained,
    sample,
    verified,
    with_entries,
)

FREE = {
    # What nobody but the host decides, and nothing later follows from.
    "GameCreated": {"labels", "clock", "rules", "deal_id", "seeded_by_host"},
    "SeatTaken": {"name", "ref"},
}


def pack(log: Export) -> Pack:
    return GAMES[log.header.game].pack


@each_sample
def test_another_seed_under_the_same_commitment(path: Path) -> None:
    log = sample(path)
    revealed = of_type(log.entries, "SeedRevealed")[0]
    started = of_type(log.entries, "HandStarted")[0]
    seed = {"server_seed": "ab" * 32}
    forged = put(
        log.entries,
        changed(revealed, lambda data: data.update(seed)),
        part_changed(started, 0, lambda data: data.update(seed)),
    )
    caught(log, forged, "deals", revealed.version, "does not fit the commitment")


@each_sample
def test_another_seed_with_its_own_commitment(path: Path) -> None:
    """Then the lot, the server's cut or the cards are others."""
    log = sample(path)
    revealed = of_type(log.entries, "SeedRevealed")[0]
    started = of_type(log.entries, "HandStarted")[0]
    seed = {"server_seed": "ab" * 32}
    commitment = {"commitment": shuffle.commitment(bytes.fromhex("ab" * 32)).hex()}
    forged = put(
        log.entries,
        changed(revealed, lambda data: data.update(seed)),
        changed(part_changed(started, 0, lambda d: d.update(seed)), lambda d: d.update(commitment)),
    )
    dealt = of_type(log.entries, "HandDealt")[0]
    caught(log, forged, "deals", dealt.version, "by seed, nonce and cut")


@each_sample
def test_another_cut(path: Path) -> None:
    log = sample(path)
    cut, dealt = of_type(log.entries, "PackCut")[0], of_type(log.entries, "HandDealt")[0]

    def elsewhere(data: dict[str, Any]) -> None:
        data["at"] = data["action"]["at"] = data["at"] % (len(pack(log)) - 1) + 1

    caught(
        log,
        put(log.entries, changed(cut, elsewhere)),
        "deals",
        dealt.version,
        "by seed, nonce and cut",
    )


@each_sample
def test_another_nonce(path: Path) -> None:
    log = sample(path)
    cut, dealt = of_type(log.entries, "PackCut")[0], of_type(log.entries, "HandDealt")[0]

    def other(data: dict[str, Any]) -> None:
        data["nonce"] = data["action"]["nonce"] = "another"

    caught(
        log, put(log.entries, changed(cut, other)), "deals", dealt.version, "by seed, nonce and cut"
    )


@each_sample
def test_cards_dealt_to_another(path: Path) -> None:
    """One card each of two players change places."""
    log = sample(path)
    dealt = of_type(log.entries, "HandDealt")[-1]
    first, second = (msgspec.json.decode(dealt.sealed[i].body or b"")["cards"] for i in (0, 1))
    forged = part_changed(dealt, 0, lambda data: data["cards"].__setitem__(0, second[0]))
    forged = part_changed(forged, 1, lambda data: data["cards"].__setitem__(0, first[0]))
    caught(log, put(log.entries, forged), "deals", dealt.version, "by seed, nonce and cut")


@each_sample
def test_another_stock(path: Path) -> None:
    log = sample(path)
    dealt = of_type(log.entries, "HandDealt")[-1]
    forged = part_changed(dealt, -1, lambda data: data["cards"].append("AS"))
    caught(log, put(log.entries, forged), "deals", dealt.version, "the stock is another")


WITH_A_LOT = [path for path in SAMPLES if b'"by_lot":true' in path.read_bytes()]


@pytest.mark.parametrize("path", WITH_A_LOT, ids=[path.stem for path in WITH_A_LOT])
def test_a_dealer_not_drawn_by_lot(path: Path) -> None:
    log = sample(path)
    started = of_type(log.entries, "HandStarted")[0]

    def cheat(data: dict[str, Any]) -> None:
        data["dealer"] = (data["dealer"] + 1) % len(data["seats"])

    caught(
        log, put(log.entries, changed(started, cheat)), "deals", started.version, "the lot makes"
    )


@each_sample
def test_a_hand_that_is_never_opened(path: Path) -> None:
    log = sample(path)
    revealed = of_type(log.entries, "SeedRevealed")[-1]
    hand = msgspec.json.decode(revealed.data)["hand"]
    started = of_type(log.entries, "HandStarted")[hand - 1]
    forged = [entry for entry in log.entries if entry is not revealed]
    caught(log, forged, "deals", started.version, "was never opened")


@each_sample
def test_another_score_at_the_end(path: Path) -> None:
    log = sample(path)
    ended = of_type(log.entries, "GameEnded")[0]

    def richer(data: dict[str, Any]) -> None:
        data["scores"][0]["chips"] += 1

    forged = put(log.entries, changed(ended, richer))
    caught(log, forged, "rederivation", ended.version, "the rules give")


@each_sample
def test_another_winner(path: Path) -> None:
    log = sample(path)
    ended = of_type(log.entries, "GameEnded")[0]
    seats = len(msgspec.json.decode(log.entries[0].data)["seats"])

    def other(data: dict[str, Any]) -> None:
        data["winners"] = [(seat + 1) % seats for seat in data["winners"]]

    caught(
        log,
        put(log.entries, changed(ended, other)),
        "rederivation",
        ended.version,
        "the rules give",
    )


def with_event(name: str) -> list[Any]:
    """The samples in which such an event happens."""
    found = [path for path in SAMPLES if of_type(sample(path).entries, name)]
    assert found, f"no sample has {name}"
    return [pytest.param(path, id=path.stem) for path in found]


@pytest.mark.parametrize("path", with_event("TrickTaken"))
def test_another_taker_of_a_trick(path: Path) -> None:
    log = sample(path)
    taken = of_type(log.entries, "TrickTaken")[-1]
    seats = len(msgspec.json.decode(log.entries[0].data)["seats"])
    forged = changed(taken, lambda data: data.update(seat=(data["seat"] + 1) % seats))
    caught(log, put(log.entries, forged), "rederivation", taken.version, "the rules give")


@pytest.mark.parametrize("path", with_event("CardPlayed"))
def test_a_card_played_that_was_not_in_the_hand(path: Path) -> None:
    """The action is recorded as it would be; the rules refuse it."""
    log = sample(path)
    entries = log.entries
    dealt = of_type(entries, "HandDealt")[0]
    played = next(e for e in of_type(entries, "CardPlayed") if e.version > dealt.version)
    others = next(
        msgspec.json.decode(part.body or b"")["cards"]
        for part in dealt.sealed
        if part.audience != f"[{played.actor}]" and part.audience != "[]"
    )

    def another(data: dict[str, Any]) -> None:
        data["card"] = data["action"]["card"] = others[-1]

    caught(
        log, put(entries, changed(played, another)), "rederivation", played.version, "not-in-hand"
    )


@each_sample
def test_time_that_runs_back_and_a_command_taken_apart(path: Path) -> None:
    log = sample(path)
    entry = log.entries[-1]
    early = put(log.entries, *[_earlier(e) for e in log.entries if e.command == entry.command])
    first = next(e for e in log.entries if e.command == entry.command)
    caught(log, early, "commands", first.version, "earlier than the version before")
    apart = put(log.entries, msgspec.structs.replace(entry, command=log.entries[0].command))
    caught(log, apart, "commands", entry.version, "has ended before")
    doubled = next(e for e in log.entries[1:] if e.command == log.entries[e.version - 2].command)
    later = put(log.entries, msgspec.structs.replace(doubled, at=doubled.at + 1))
    caught(log, later, "commands", doubled.version, "one time and one actor")


def _earlier(entry: Entry) -> Entry:
    return msgspec.structs.replace(entry, at=entry.at - 3_600_000_000)


def every_leaf(log: Export) -> Iterator[tuple[Entry, str, Entry]]:
    """The first event of each type with each of its values changed, public or sealed."""
    first: dict[str, Entry] = {}
    for entry in log.entries:
        first.setdefault(entry.type, entry)
    for entry in first.values():
        free = FREE.get(entry.type, set())
        for leaf in leaves(msgspec.json.decode(entry.data)):
            if leaf[0] not in free:
                yield entry, str(leaf), changed(entry, lambda data, leaf=leaf: flip(data, leaf))
        for index, part in enumerate(entry.sealed):
            for leaf in list(leaves(msgspec.json.decode(part.body or b"")))[:1]:
                if leaf[0] not in free:
                    forged = part_changed(entry, index, lambda data, leaf=leaf: flip(data, leaf))
                    yield entry, f"part {index} {leaf}", forged


@each_sample
def test_any_value_of_any_type_of_event_with_hashes_that_fit(path: Path) -> None:
    """Whatever is changed, the deal or the rules name the event, or what follows it."""
    log = sample(path)
    tried = 0
    for entry, what, forged in every_leaf(log):
        upto = min(len(log.entries), entry.version + 60)
        entries = rechained(log.header.id, put(log.entries, forged)[:upto])
        found = [
            check
            for check in verified(log, entries).checks
            if check.status == "failed" and check.check in ("deals", "rederivation")
        ]
        assert found, f"version {entry.version} {entry.type}: {what} changed unseen"
        assert all(check.detail.startswith(("version ", "and ")) for check in found)
        tried += 1
    assert tried > 40


KEY = SigningKey(bytes(range(32)))


def kept(log: Export, version: int) -> Receipt:
    return KEY.receipt(log.header.id, log.entries[version - 1])


@each_sample
def test_history_rewritten_before_and_after_a_receipt(path: Path) -> None:
    """A name that never was, hashes made to fit: the rest of the log cannot tell, a receipt can."""
    log = sample(path)
    seated = of_type(log.entries, "SeatTaken")[0]
    renamed = part_changed(seated, 0, lambda data: data.update(name="Nobody"))
    rewritten = with_entries(log, rechained(log.header.id, put(log.entries, renamed)))
    assert not verify(rewritten).failed
    middle = len(log.entries) // 2
    report = verify(rewritten, [kept(log, middle)], [KEY.public()])
    assert [check.check for check in report.checks if check.status == "failed"] == [
        "receipt (kept)"
    ]
    assert failures(report.checks, middle)[0].detail.endswith("history was rewritten")
    assert not verify(rewritten, [kept(log, 1)], [KEY.public()]).failed


@each_sample
def test_a_tail_that_was_cut_off(path: Path) -> None:
    """Of a log that ends early nobody can tell that it went on, but for a receipt."""
    log = sample(path)
    starts = [entry for entry in log.entries if b'"action"' in entry.data]
    cut = with_entries(log, log.entries[: starts[-5].version - 1])
    last = len(log.entries)
    report = verify(cut, [kept(log, last)], [KEY.public()])
    assert "its tail was cut" in failures(report.checks, last)[0].detail


def test_a_command_that_was_cut_in_half() -> None:
    """The rules know what was to follow."""
    log = sample(SAMPLES[0])
    ended = len(log.entries)
    report = verify(with_entries(log, log.entries[: ended - 1]))
    assert any(
        check.check == "rederivation" and "the log does not have it" in check.detail
        for check in failures(report.checks, ended - 1)
    )


def test_an_unknown_type_schema_and_rules_version() -> None:
    """A log of a version of Fairdeal that is not known here is not passed over in silence."""
    log = sample(SAMPLES[0])
    entry = log.entries[40]
    for change in ({"type": "Sneezed"}, {"schema": 99}):
        forged = put(log.entries, msgspec.structs.replace(entry, **change))
        report = verified(log, rechained(log.header.id, forged))
        assert [c for c in report.checks if c.check == "rederivation" and c.status == "failed"]
    other = changed(log.entries[0], lambda data: data.update(rules_version=99))
    header = msgspec.structs.replace(log.header, rules_version=99)
    entries = tuple(rechained(log.header.id, put(log.entries, other)))
    report = verify(Export(header, entries, ()))
    assert (
        f"does not know {log.header.game} by rules version 99"
        in failures(report.checks, 1)[0].detail
    )
    assert encode_canonical({"rules_version": 99})[1:-1] in entries[0].data


def test_a_salt_or_a_seed_of_another_length() -> None:
    """They could be longer than they look, or the words after them shorter."""
    log = sample(SAMPLES[0])
    dealt = of_type(log.entries, "HandDealt")[0]
    part = msgspec.structs.replace(dealt.sealed[0], salt=b"short")
    parts = (part, *dealt.sealed[1:])
    salted = put(log.entries, msgspec.structs.replace(dealt, sealed=parts))
    report = verified(log, rechained(log.header.id, salted))
    found = [c for c in failures(report.checks, dealt.version) if c.check == "digests"]
    assert "the salt of sealed part 0 has a wrong size" in found[0].detail
    started, revealed = (of_type(log.entries, n)[0] for n in ("HandStarted", "SeedRevealed"))
    seed = {"server_seed": "ab"}
    commitment = {"commitment": shuffle.commitment(b"\xab").hex()}
    short = put(
        log.entries,
        changed(revealed, lambda data: data.update(seed)),
        changed(part_changed(started, 0, lambda d: d.update(seed)), lambda d: d.update(commitment)),
    )
    caught(log, short, "deals", revealed.version, "does not fit the commitment")


def test_options_that_no_game_can_have() -> None:
    log = sample(next(path for path in SAMPLES if path.stem == "willughby-four-players"))
    for rules in ({"announcing": False}, {"lives": 99}, {"first_dealer": 9}, {"wind": "east"}):
        created = changed(log.entries[0], lambda data, rules=rules: data["rules"].update(rules))
        caught(log, put(log.entries, created), "rederivation", 1, "the recorded action is refused")
