"""What the log says of a claim: borne out, contradicted, or not to be told while a hand is
sealed."""

import random
from typing import Any, get_args

import msgspec
import pytest

from domain.disputes import Claim, Finding, find
from domain.events import encode_canonical
from domain.export import Export
from domain.log import Entry, Part, digest, fold
from domain.receipts import SigningKey
from domain.registry import GAMES
from domain.table.state import Table
from domain.visibility import Openings, entitled
from tests.proof.logs import (
    changed,
    each_sample,
    named,
    of_type,
    part_changed,
    put,
    rechained,
    sample,
)
from tests.proof.played import recorded

LOG = named("trades-swallow-challenges")

CLAIMS: tuple[Claim, ...] = get_args(Claim)

SWALLOWED = 312
"""The version at which seat 4 takes a trick of hand 3 that was another's."""


def upto(log: Export, version: int) -> list[Entry]:
    """The log as it stood once the command of this version was done."""
    command = log.entries[version - 1].command
    last = max(entry.version for entry in log.entries if entry.command == command)
    return list(log.entries[:last])


def about(
    log: Export, entries: list[Entry], version: int, claim: Claim, table: Table | None = None
) -> Finding:
    """The finding, by what the log had opened with its last event."""
    if table is None:
        table = fold(log.header.id, entries)
    return find(table, entries, version, claim, table.openings)


def forged(log: Export, *others: Entry) -> list[Entry]:
    return rechained(log.header.id, put(log.entries, *others))


def about_forged(entries: list[Entry], version: int, claim: Claim) -> Finding:
    """Of a forged log only what it opened to everyone is needed, and the game that it is of."""
    honest = fold(LOG.header.id, LOG.entries)
    return find(honest, entries, version, claim, honest.openings)


@each_sample
@pytest.mark.parametrize("claim", CLAIMS)
def test_an_honest_log_bears_every_event_out(path: Any, claim: Claim) -> None:
    log = sample(path)
    entries = list(log.entries)
    table = fold(log.header.id, entries)
    by_type = {entry.type: entry.version for entry in entries}
    for version in list(by_type.values())[:: 3 if claim == "score" else 1]:
        finding = find(table, entries, version, claim, table.openings)
        assert finding.verdict == "consistent", (version, finding.checks)
        assert finding.as_of == len(entries)
        assert {c.check for c in finding.checks} >= {"chain", "commands", "digests", "event"}


@pytest.mark.parametrize("claim", CLAIMS)
def test_while_the_hand_is_sealed_a_finding_waits_and_is_completed_by_the_opening(
    claim: Claim,
) -> None:
    early = about(LOG, upto(LOG, SWALLOWED), SWALLOWED, claim)
    assert early.verdict == ("consistent" if claim == "chain" else "pending")
    late = about(LOG, list(LOG.entries), SWALLOWED, claim)
    assert late.verdict == "consistent"


def test_whose_a_trick_was_is_told_once_the_hand_is_opened() -> None:
    early = about(LOG, upto(LOG, SWALLOWED), SWALLOWED, "trick").trick
    late = about(LOG, list(LOG.entries), SWALLOWED, "trick").trick
    assert early is not None
    assert late is not None
    assert (early.version, early.taker, early.rightful, early.swallowed) == (312, 4, None, None)
    assert (late.version, late.taker) == (312, 4)
    assert late.rightful not in (None, 4)
    assert late.swallowed is True


def test_every_trick_is_found_as_the_log_has_it_opened() -> None:
    table = fold(LOG.header.id, LOG.entries)
    swallowed = {True: 0, False: 0}
    for entry in [*of_type(LOG.entries, "TrickTaken")[::4], LOG.entries[SWALLOWED - 1]]:
        trick = find(table, LOG.entries, entry.version, "trick", table.openings).trick
        assert trick is not None
        assert trick.swallowed is not None
        assert encode_canonical({"swallowed": trick.swallowed}) == entry.sealed[0].body
        assert (trick.rightful == trick.taker) != trick.swallowed
        swallowed[trick.swallowed] += 1
    assert min(swallowed.values()) > 0


def test_a_claim_about_a_card_is_about_the_trick_that_it_went_to() -> None:
    table = fold(LOG.header.id, LOG.entries)
    played = next(e for e in reversed(LOG.entries[: SWALLOWED - 1]) if e.type == "CardPlayed")
    trick = find(table, LOG.entries, played.version, "trick", table.openings).trick
    assert trick is not None
    assert trick.version == SWALLOWED
    last = of_type(LOG.entries, "HandScored")[0].version
    assert find(table, LOG.entries, last, "trick", table.openings).trick is None


def test_another_taker_is_contradicted() -> None:
    taken = of_type(LOG.entries, "TrickTaken")[6]
    entries = forged(LOG, changed(taken, lambda data: data.update(seat=(data["seat"] + 1) % 5)))
    for claim in ("trick", "action", "score"):
        finding = about_forged(entries, taken.version, claim)
        assert finding.verdict == "contradicted"
        failed = [c for c in finding.checks if c.status == "failed"]
        assert any(f"version {taken.version}" in c.detail for c in failed)
    lead = next(e for e in reversed(LOG.entries[: taken.version - 1]) if e.type == "CardPlayed")
    finding = about_forged(entries, lead.version, "trick")
    assert finding.verdict == "contradicted", "the trick that the card went to"
    assert about_forged(entries, taken.version, "chain").verdict == "consistent"


def test_another_card_dealt_is_contradicted() -> None:
    dealt = of_type(LOG.entries, "HandDealt")[1]
    first, second = (msgspec.json.decode(dealt.sealed[i].body or b"")["cards"] for i in (0, 1))
    swapped = part_changed(dealt, 0, lambda data: data["cards"].__setitem__(0, second[0]))
    swapped = part_changed(swapped, 1, lambda data: data["cards"].__setitem__(0, first[0]))
    entries = forged(LOG, swapped)
    finding = about_forged(entries, dealt.version, "deal")
    assert finding.verdict == "contradicted"
    failed = [c for c in finding.checks if c.check == "deals" and c.status == "failed"]
    assert all(c.versions == (dealt.version,) for c in failed)
    assert len(failed) == 2
    before = of_type(LOG.entries, "HandDealt")[0].version
    assert about_forged(entries, before, "deal").verdict == "consistent", "the hand before"


def test_a_seed_that_does_not_fit_is_found_with_the_hand_that_it_dealt() -> None:
    """Also where hands are opened long after, at the end of the game."""
    log = named("open-trump-ten-players-opened-after-the-game")
    table = fold(log.header.id, log.entries)
    revealed = of_type(log.entries, "SeedRevealed")[0]
    wrong = changed(revealed, lambda data: data.update(server_seed="ab" * 32))
    entries = forged(log, wrong)
    dealt = of_type(log.entries, "HandDealt")[0].version
    assert find(table, entries, dealt, "deal", table.openings).verdict == "contradicted"


def test_another_score_is_contradicted() -> None:
    scored = of_type(LOG.entries, "HandScored")[1]

    def worse(data: dict[str, Any]) -> None:
        data["points"][0] += 1

    finding = about_forged(forged(LOG, changed(scored, worse)), scored.version, "score")
    assert finding.verdict == "contradicted"


def test_a_score_that_rests_on_a_forged_trick_is_contradicted() -> None:
    """The score itself follows from the state before it; that state does not follow from the
    game."""
    taken = of_type(LOG.entries, "TrickTaken")[6]
    entries = forged(LOG, changed(taken, lambda data: data.update(seat=(data["seat"] + 1) % 5)))
    scored = next(e for e in of_type(entries, "HandScored") if e.version > taken.version)
    finding = about_forged(entries, scored.version, "score")
    assert finding.verdict == "contradicted"
    assert any(
        c.check == "rederivation" and f"version {taken.version}:" in c.detail
        for c in finding.checks
    )


def test_an_action_that_was_impossible_is_contradicted() -> None:
    dealt = of_type(LOG.entries, "HandDealt")[0]
    played = of_type(LOG.entries, "CardPlayed")[0]
    stock = msgspec.json.decode(dealt.sealed[-1].body or b"")["cards"]

    def from_the_stock(data: dict[str, Any]) -> None:
        data["card"] = data["action"]["card"] = stock[0]

    finding = about_forged(forged(LOG, changed(played, from_the_stock)), played.version, "action")
    assert finding.verdict == "contradicted"
    assert any("lodam.not-in-hand" in c.detail for c in finding.checks)


@pytest.mark.parametrize("claim", CLAIMS)
def test_a_broken_chain_or_digest_contradicts_every_claim(claim: Claim) -> None:
    entry = of_type(LOG.entries, "HandDealt")[0]
    touched = changed(entry, lambda data: data.update(stock=data["stock"] + 1))
    finding = about_forged(put(LOG.entries, touched), LOG.entries[-1].version, claim)
    assert finding.verdict == "contradicted"
    assert any(c.check == "chain" and c.versions == (entry.version,) for c in finding.checks)
    part = entry.sealed[0]
    other = Part(part.audience, part.digest, part.salt, b'{"cards":[]}')
    touched = msgspec.structs.replace(entry, sealed=(other, *entry.sealed[1:]))
    finding = about_forged(put(LOG.entries, touched), LOG.entries[-1].version, claim)
    assert finding.verdict == "contradicted"
    assert any(c.check == "digests" and c.versions == (entry.version,) for c in finding.checks)


@pytest.mark.parametrize("claim", CLAIMS)
def test_a_receipt_that_the_log_does_not_continue_contradicts_every_claim(claim: Claim) -> None:
    key = SigningKey(b"\x01" * 32)
    table = fold(LOG.header.id, LOG.entries)
    receipt = key.receipt(LOG.header.id, LOG.entries[30])

    def by(**receipts: Any) -> Finding:
        keys = [key.public()]
        return find(table, LOG.entries, 30, claim, table.openings, receipts, keys)

    assert by(given=receipt, stored=receipt).verdict == "consistent"
    other = msgspec.structs.replace(receipt, hash="00" * 32)
    for receipts in ({"given": receipt, "stored": other}, {"given": other}):
        finding = by(**receipts)
        assert finding.verdict == "contradicted"
        [failed] = [c for c in finding.checks if c.status == "failed"]
        assert failed.versions == (31,)
        assert failed.check == f"receipt ({list(receipts)[-1]})"


def _scrambled(entries: list[Entry], now: Openings, chance: random.Random) -> list[Entry]:
    """Another game as far as nobody may know: every part that is closed to everyone holds other
    words of other lengths, under the digests that everyone has."""
    found = []
    for entry in entries:
        parts = [
            part
            if entitled(part.audience, entry.version, None, now)
            else Part(part.audience, part.digest, chance.randbytes(16), _words(chance))
            for part in entry.sealed
        ]
        found.append(msgspec.structs.replace(entry, sealed=tuple(parts)))
    return found


def _words(chance: random.Random) -> bytes:
    return encode_canonical({"cards": ["ZZ"] * chance.randint(0, 9)})


@pytest.mark.parametrize("game", list(GAMES))
@pytest.mark.parametrize("number", range(8))
def test_a_finding_rests_on_what_everyone_may_see(game: str, number: int) -> None:
    """Two games that differ in what is closed to everyone give the same findings, and no card of a
    sealed hand stands in one."""
    chance = random.Random(number)
    played = recorded(game, number)
    for _ in range(3):
        table = played.tables[chance.randrange(len(played.tables))]
        entries = list(played.entries[: table.version])
        other = _scrambled(entries, table.openings, chance)
        version = chance.randint(1, table.version)
        for claim in CLAIMS:
            here = find(table, entries, version, claim, table.openings)
            there = find(table, other, version, claim, table.openings)
            assert here == there
            assert here.verdict != "contradicted"
            _scan(here, entries, table)


def _scan(finding: Finding, entries: list[Entry], table: Table) -> None:
    text = msgspec.json.encode(finding).decode()
    for entry in entries:
        for part in entry.sealed:
            if part.body is None or entitled(part.audience, entry.version, None, table.openings):
                continue
            assert digest(part.salt or b"", part.body) == part.digest
            for card in msgspec.json.decode(part.body).get("cards", ()):
                assert f'"{card}"' not in text
                assert f" {card} " not in text


def test_a_version_that_the_log_does_not_have() -> None:
    table = fold(LOG.header.id, LOG.entries)
    for version in (0, -1, len(LOG.entries) + 1):
        with pytest.raises(KeyError):
            find(table, LOG.entries, version, "chain", table.openings)
