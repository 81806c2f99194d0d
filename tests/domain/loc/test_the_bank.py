"""Who takes the bank, who is excused and who pays: amounts worked out by hand (loc, *Play*)."""

import pytest

from domain.hand import HandStarted
from domain.ledger import ChipsMoved
from domain.loc.events import BetPlaced, CardsShown, HandSettled
from domain.table.events import GameEnded
from tests.domain.loc.words import (
    bank,
    bets,
    chips,
    fives,
    last_trick,
    play,
    settled,
    trick,
    tricks,
)
from tests.spec import Given

# Three players, a stake of 2: what each trick does to the balances and to the bank.
HANDS = ("KS 9S TS 3S 5S", "QH AH TH 4H 6H", "JD AC TD XX 7D")
COURSE = (
    # Before the deal everyone bets 2.
    ("", [-2, -2, -2], 6),
    # The king is excused, the others bet 2.
    ("KS QH JD", [-2, -4, -4], 10),
    # The ace of hearts beats that of clubs: 10 to seat 1, then 2 from each.
    ("9S AH AC", [-4, 4, -6], 6),
    # Three tens: spades is highest and excused.
    ("TS TH TD", [-4, 2, -8], 10),
    # The joker: 10 to seat 2, then 2 from each.
    ("3S 4H XX", [-6, 0, 0], 6),
)


def course(tricks_played: int, **rules: object) -> Given:
    return tricks(
        fives(*HANDS, stake=2, **rules), *[cards for cards, _, _ in COURSE[1 : tricks_played + 1]]
    )


@pytest.mark.parametrize("number", range(5))
def test_a_hand_trick_by_trick(number: int) -> None:
    """loc, Play: joker, aces, excused, refreshed; the sum is always 0."""
    story = course(number)
    _, balances, in_the_bank = COURSE[number]
    assert chips(story) == balances
    assert bank(story) == in_the_bank
    assert sum(balances) + in_the_bank == 0


def test_the_last_trick_takes_the_bank_with_any_card() -> None:
    """loc, Play, Trick 5: the highest card takes the whole bank; no bets follow."""
    story = last_trick(course(4))
    assert settled(story) == HandSettled(1, (-6, 0, 6), ())
    assert ChipsMoved("last_trick", (0, 0, 6), -6) in story.events
    assert not [event for event in story.events if isinstance(event, BetPlaced)]
    assert chips(story) == [-6, 0, 6]
    assert bank(story) == 0


def test_the_next_hand_begins_in_the_same_step() -> None:
    """common, Actions: there is no pause between hands."""
    story = last_trick(course(4))
    assert story.kinds() == [
        "CardLaid",
        "CardsShown",
        "ChipsMoved",
        "HandSettled",
        "SeedRevealed",
        "HandStarted",
    ]
    (started,) = [event for event in story.events if isinstance(event, HandStarted)]
    assert (started.hand, started.dealer, started.by_lot) == (2, 0, False)


@pytest.mark.parametrize(
    ("cards", "moved"),
    [
        ("XX AS KH", ChipsMoved("joker", (3, 0, 0), -3)),
        ("2S XX 2H", ChipsMoved("joker", (0, 3, 0), -3)),
        ("AC KS QH", ChipsMoved("ace", (3, 0, 0), -3)),
        ("AC AD AH", ChipsMoved("ace", (0, 0, 3), -3)),
        ("AS 2D AH", ChipsMoved("ace", (3, 0, 0), -3)),
    ],
)
def test_joker_and_aces_take_the_bank(cards: str, moved: ChipsMoved) -> None:
    """loc, Play: joker shown, else the highest ace by suit; then everyone bets again, the taker
    included, who takes first."""
    story = _with_first_cards(cards)
    assert story.events[2] == moved
    assert list(story.events[3:]) == bets("refresh", 1, 0, 1, 2)
    assert bank(story) == 3


@pytest.mark.parametrize(
    ("cards", "excused"),
    [("KS QH JD", 0), ("2S 2H 3C", 2), ("9C 9S 9H", 1), ("KC KD QS", 1), ("QC JS TH", 0)],
)
def test_without_them_the_highest_is_excused(cards: str, excused: int) -> None:
    """loc, Play, tricks 1 to 4: each other player puts one stake into the bank."""
    story = _with_first_cards(cards)
    payers = [seat for seat in range(3) if seat != excused]
    assert list(story.events[2:]) == bets("trick", 1, *payers)
    shown = story.events[1]
    assert isinstance(shown, CardsShown)
    assert (shown.highest, shown.bank) == (excused, None)
    assert chips(story) == [-1 if seat == excused else -2 for seat in range(3)]
    assert bank(story) == 5


def _with_first_cards(cards: str) -> Given:
    """Trick 1 with these cards, the last of them laid by seat 2."""
    first = cards.split()
    rest = ("4C 5C 6C 7C", "4D 5D 6D 7D", "4H 5H 6H 7H")
    story = fives(*[f"{card} {others}" for card, others in zip(first, rest, strict=True)])
    return trick(story, cards)


def test_bets_go_round_from_the_dealers_left() -> None:
    """loc, Cards: clockwise from the player on the dealer's left, whoever is the highest."""
    hands = ("KS 4C 5C 6C 7C", "AH 4D 5D 6D 7D", "QD 4H 5H 6H 7H")
    story = trick(fives(*hands, first_dealer=0), "KS AH QD")
    assert list(story.events[3:]) == bets("refresh", 1, 1, 2, 0)


@pytest.mark.parametrize(("card", "reason"), [("XX", "joker"), ("AS", "ace"), ("KS", "last_trick")])
def test_the_last_trick_says_what_took_it(card: str, reason: str) -> None:
    """loc, Play, Trick 5: joker over ace over king."""
    story = fives(f"4C 5C 6C 7C {card}", "4D 5D 6D 7D KH", "4H 5H 6H 7H KD")
    story = tricks(story, "4C 4D 4H", "5C 5D 5H", "6C 6D 6H", "7C 7D 7H")
    # 3 before the deal, 2 in each of four tricks, all excusing seat 2.
    assert bank(story) == 11
    story = last_trick(story)
    assert ChipsMoved(reason, (11, 0, 0), -11) in story.events
    assert settled(story).chips == (6, -5, -1)


def test_the_joker_is_a_super_ace() -> None:
    """loc, Play, ruling, joker: "super_ace": the default; play goes on after it."""
    story = trick(fives("XX 5C 6C 7C 8C", "4D 5D 6D 7D KH"), "XX 4D")
    assert story.kinds() == ["CardLaid", "CardsShown", "ChipsMoved", "BetPlaced", "BetPlaced"]
    assert story.to_act == (0, 1)


def test_the_joker_may_end_the_hand() -> None:
    """loc, Play, ruling, joker: "ends_hand": its player takes the bank and the hand is over at
    once, without bets; the other cards are not played."""
    story = fives("4C XX 6C 7C 8C", "4D 5D 6D 7D KH", "4H 5H 6H 7H QD", joker="ends_hand")
    story = tricks(story, "4C 4D 4H", "XX 5D 5H")
    assert story.kinds() == [
        "CardLaid",
        "CardsShown",
        "ChipsMoved",
        "HandSettled",
        "SeedRevealed",
        "HandStarted",
    ]
    # 3 before the deal, then 1 from seats 0 and 1: the bank of 5 to seat 0.
    assert settled(story).chips == (3, -2, -1)
    assert bank(story) == 0


def test_an_ace_never_ends_the_hand() -> None:
    """loc, Play, ruling, joker: "ends_hand" is about the joker."""
    story = trick(fives("AS 5C 6C 7C 8C", "4D 5D 6D 7D KH", joker="ends_hand"), "AS 4D")
    assert "HandSettled" not in story.kinds()


@pytest.mark.parametrize("joker", ["super_ace", "ends_hand"])
def test_the_joker_in_the_last_trick(joker: str) -> None:
    """loc, Play, Trick 5: the same under both."""
    story = fives("4C 5C 6C 7C XX", "4D 5D 6D 7D AS", joker=joker, hands=1)
    story = last_trick(tricks(story, "4C 4D", "5C 5D", "6C 6D", "7C 7D"))
    # 2 before the deal and 1 from seat 0 in each of four tricks.
    assert ChipsMoved("joker", (6, 0), -6) in story.events
    (ended,) = [event for event in story.events if isinstance(event, GameEnded)]
    assert ended.winners == (0,)
    assert [score.chips for score in ended.scores] == [1, -1]


def test_a_played_card_of_a_finished_hand_cannot_be_played() -> None:
    """loc, Play: with "ends_hand" the hand is over at once."""
    story = trick(fives("XX 5C 6C 7C 8C", "4D 5D 6D 7D KH", joker="ends_hand"), "XX 4D")
    story.served().when(0, play("5C")).refused("common.not-dealt")
