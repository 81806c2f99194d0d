"""Which card is higher (loc, *Cards, stakes, deal*)."""

import pytest

from domain.loc.rules import PACK, STRENGTH, highest
from tests.domain.loc.words import bank, chips, fives, trick


def test_the_pack_has_52_cards_and_a_joker() -> None:
    """loc, Cards: 52-card French pack and one joker."""
    assert len(PACK) == 53
    assert PACK.cards.count("XX") == 1


def test_the_order_of_all_cards() -> None:
    """loc, Cards: high to low joker, A K … 2; equal ranks by suit, low to high C D H S."""
    by_hand = [rank + suit for rank in "23456789TJQKA" for suit in "CDHS"] + ["XX"]
    assert sorted(PACK.cards, key=lambda card: STRENGTH[PACK.index[card]]) == by_hand
    assert len(set(STRENGTH)) == 53


@pytest.mark.parametrize(
    ("cards", "taker"),
    [
        ("XX AS AH", 0),
        ("AC KS QS", 0),
        ("AC AD AS", 2),
        ("AH AD AC", 0),
        ("KC KD QS", 1),
        ("2S 2H 2D", 0),
        ("TC 9S 9H", 0),
        ("JS QC TS", 1),
        ("3C 2S 2H", 0),
    ],
)
def test_who_has_the_highest_card(cards: str, taker: int) -> None:
    """loc, Cards: rank before suit."""
    assert highest(list(enumerate(PACK.read(cards.split()))))[0] == taker


def test_a_tie_is_settled_by_suit() -> None:
    """loc, Cards, Play: of two kings the king of hearts is higher, so its player is excused."""
    story = fives("KD QC JC TC 9C", "KH QD JD TD 9D", "8C 8D 8H 8S 7C")
    story = trick(story, "KD KH 8C")
    assert story.view().table.highest == 1
    assert chips(story) == [-2, -1, -2]
    assert bank(story) == 5


def test_of_two_aces_the_higher_suit_takes_the_bank() -> None:
    """loc, Play: the highest ace by suit takes the whole bank."""
    story = fives("AD QC JC TC 9C", "AS QD JD TD 9D", "8C 8D 8H 8S 7C")
    story = trick(story, "AD AS 8C")
    # The bank of 3 to seat 1, then one from each.
    assert chips(story) == [-2, 1, -2]
    assert bank(story) == 3


def test_the_joker_beats_every_ace() -> None:
    """loc, Play: the joker's player takes the bank, aces or not."""
    story = fives("AD QC JC TC 9C", "AS QD JD TD 9D", "XX 8D 8H 8S 7C", "AH 8C 7D 7H 7S")
    story = trick(story, "AD AS XX AH")
    assert chips(story) == [-2, -2, 2, -2]
    assert bank(story) == 4
