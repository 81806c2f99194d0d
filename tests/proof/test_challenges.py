"""The evidence of a challenge, checked by hand: who took which cards when, and who had 31 first."""

import re
from typing import Any

import msgspec
import pytest

from domain.codec import read_event
from domain.evidence import Challenge, LoaderCount, Side
from domain.export import Export
from domain.log import redacted
from domain.registry import GAMES
from domain.visibility import Openings
from tests.proof.logs import SAMPLES, named, of_type, sample

LOG = named("trades-swallow-challenges")


def challenges(log: Export, upto: int = 10**9) -> list[Challenge]:
    """The challenges of a log up to a version, from what everyone may see at once."""
    entries = [redacted(e, None, Openings()) for e in log.entries if e.version <= upto]
    game = GAMES[log.header.game]
    return game.challenges((entry.version, read_event(entry)) for entry in entries)


def told(side: Side) -> list[tuple[int, str, str, int]]:
    """A side in short: trick, its cards, those that count, the running total."""
    return [
        (
            trick.trick,
            " ".join(trick.cards),
            " ".join(f"{loader.card}={loader.points}" for loader in trick.loaders),
            trick.total,
        )
        for trick in side.tricks
    ]


def test_a_challenge_upheld() -> None:
    """Hand 4: seat 0 had 40 with the thirteenth trick and said nothing; seat 1 had 35 with the
    fourteenth, announced, and found seat 0 out."""
    challenge = challenges(LOG)[4]
    assert (challenge.number, challenge.hand, challenge.version) == (5, 4, 410)
    assert (challenge.seat, challenge.challenged, challenge.upheld) == (1, 0, True)
    assert told(challenge.challenger_evidence) == [
        (2, "3S 8S 4S", "", 0),
        (5, "2S JS AC", "JS=1 AC=11", 12),
        (12, "QS 9C AS", "QS=2 AS=11", 25),
        (14, "9S 7C TS", "TS=10", 35),
    ]
    assert told(challenge.challenged_evidence) == [
        (1, "TH 7H KH", "TH=10 KH=3", 13),
        (6, "2H 9H AH", "AH=11", 24),
        (8, "3H 8H 6H", "", 24),
        (9, "KD JD QD", "KD=3 JD=1 QD=2", 30),
        (11, "4H 8C 5H", "", 30),
        (13, "3C TD 4C", "TD=10", 40),
    ]
    mine, theirs = challenge.challenger_evidence.reached, challenge.challenged_evidence.reached
    assert mine is not None
    assert theirs is not None
    assert (mine.trick, mine.version, theirs.trick, theirs.version) == (14, 408, 13, 403)


def test_a_challenge_rejected() -> None:
    """Hand 1: seat 2 had 48 with the sixth trick; seat 0 had taken 13 in all."""
    challenge = challenges(LOG)[0]
    assert (challenge.number, challenge.hand, challenge.version) == (1, 1, 99)
    assert (challenge.seat, challenge.challenged, challenge.upheld) == (2, 0, False)
    assert told(challenge.challenged_evidence) == [(5, "3C TC 9C QC JC", "TC=10 QC=2 JC=1", 13)]
    assert challenge.challenged_evidence.reached is None
    reached = challenge.challenger_evidence.reached
    assert reached is not None
    assert (reached.trick, reached.version, reached.total) == (6, 82, 48)
    assert reached.loaders == (
        LoaderCount("QS", 2),
        LoaderCount("AS", 11),
        LoaderCount("TH", 10),
        LoaderCount("KS", 3),
    )


@pytest.mark.parametrize("path", SAMPLES, ids=[path.stem for path in SAMPLES])
def test_every_verdict_agrees_with_its_evidence_and_every_citation_with_the_log(path: Any) -> None:
    """Counted again here from the bare events, trick by trick."""
    log = sample(path)
    by_version = {entry.version: entry for entry in log.entries}
    found = challenges(log)
    decided = of_type(log.entries, "ChallengeDecided")
    assert [c.version for c in found] == [entry.version for entry in decided]
    assert [c.number for c in found] == list(range(1, len(found) + 1))
    points = {"A": 11, "T": 10, "K": 3, "Q": 2, "J": 1}
    for challenge in found:
        data = msgspec.json.decode(by_version[challenge.version].data)
        sides = (challenge.challenger_evidence, challenge.challenged_evidence)
        assert [side.seat for side in sides] == [data["seat"], data["challenged"]]
        assert [side.total for side in sides] == data["points"]
        for side, reached in zip(sides, data["reached"], strict=True):
            total = 0
            at: dict[str, int] | None = None
            for trick in side.tricks:
                taken = by_version[trick.version]
                assert msgspec.json.decode(taken.data)["seat"] == side.seat
                assert msgspec.json.decode(taken.data)["trick"] == trick.trick
                assert trick.cards == _cards_before(log, trick.version)
                total += sum(points.get(card[0], 0) for card in trick.cards)
                assert trick.total == total
                if total >= 31 and at is None:
                    at = {"trick": trick.trick, "version": trick.version}
            assert at == reached
            assert (side.reached is None) == (reached is None)
        mine, theirs = data["reached"]
        assert data["upheld"] == (theirs is not None and theirs["trick"] < mine["trick"])


def _cards_before(log: Export, version: int) -> tuple[str, ...]:
    """The cards played since the trick before, read off the file's bytes."""
    cards: list[bytes] = []
    for entry in reversed(log.entries[: version - 1]):
        if entry.type in ("TrickTaken", "HandDealt"):
            break
        if entry.type == "CardPlayed":
            cards += re.findall(rb'"card":"(..)","seat":\d+\}$', entry.data)
    return tuple([card.decode() for card in reversed(cards)])


def test_the_evidence_is_complete_at_the_moment_of_the_verdict() -> None:
    """It is the same the moment it is given, while the hand is sealed, and for ever."""
    for challenge in challenges(LOG):
        assert challenges(LOG, challenge.version)[-1] == challenge


def test_a_game_without_challenges_has_none() -> None:
    assert challenges(named("modern-three-players-with-stake")) == []
