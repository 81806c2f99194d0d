"""Hearts, Obers, no tricks: what is taken, and who then pays whom (lorum, *Trick contracts*, 1 to
3). All amounts are worked out by hand."""

import pytest

from domain.lorum.contracts import ContractName
from domain.lorum.payments import penalties_paid
from tests.domain.lorum.words import (
    chips,
    moved,
    of_tricks,
    scored,
    tricks,
    won_by,
)

FOUR_TAKE_HEARTS = ("AA 7H 7L 7B", "8L AL 8H 9H", "TH 8B AB UH", "KH 9B OH AH")
"""Seat 0 takes 1 heart with the ace of acorns, seat 1 takes 2 with the ace of leaves, seat 2 takes
2 with the ace of bells, seat 3 takes 3 with the ace of hearts."""

THREE_TAKE_HEARTS = ("AA 9B 7L 7B", "8L AL 8H 9H", "TH 8B AB UH", "KH 7H OH AH")
"""Seat 0 takes none, seats 1 and 2 take 2 each, seat 3 takes 4."""


def test_hearts_four_takers_pay_into_the_pot() -> None:
    """lorum, Trick contracts, 1: each pays what they took; 8 in all."""
    story = tricks(of_tricks("hearts", *FOUR_TAKE_HEARTS), *FOUR_TAKE_HEARTS)
    assert moved(story) == [("penalties", (-1, -2, -2, -3), 8)]
    assert scored(story).points == (1, 2, 2, 3)
    assert story.view().table.pot == 8


def test_hearts_three_takers_pay_the_one_who_took_none() -> None:
    """lorum, Trick contracts, 1: who gets T = 8."""
    story = tricks(of_tricks("hearts", *THREE_TAKE_HEARTS), *THREE_TAKE_HEARTS)
    assert moved(story) == [("penalties", (8, -2, -2, -4), 0)]


@pytest.mark.parametrize(
    ("fifth", "sixth", "changes"),
    [
        (0, 1, (-4, -4, 4, 4)),
        (3, 1, (4, -4, 4, -4)),
        (0, 0, (24, -8, -8, -8)),
        (2, 2, (-8, -8, 24, -8)),
    ],
)
def test_hearts_two_takers_and_one(fifth: int, sixth: int, changes: tuple[int, ...]) -> None:
    """lorum, Trick contracts, 1: two takers pay, the others get T/2 = 4 each; one taker has won,
    and each of the others pays T = 8. The fifth and sixth tricks are all hearts."""
    played = won_by(1, 2, 3, 0, fifth, sixth, 0, 0)
    story = tricks(of_tricks("hearts", *played), *played[:6])
    assert moved(story) == [("penalties", changes, 0)]


@pytest.mark.parametrize(
    ("acorns", "leaves", "hearts", "bells", "changes", "pot"),
    [
        (0, 1, 2, 3, (-1, -2, -4, -3), 10),
        (3, 2, 1, 0, (-3, -4, -2, -1), 10),
        (0, 0, 1, 2, (-3, -4, -3, 10), 0),
        (3, 2, 2, 0, (-3, 10, -6, -1), 0),
        (0, 0, 0, 1, (-7, -3, 5, 5), 0),
        (2, 3, 3, 2, (5, 5, -4, -6), 0),
        (1, 1, 1, 1, (-10, 30, -10, -10), 0),
    ],
)
def test_obers(
    acorns: int, leaves: int, hearts: int, bells: int, changes: tuple[int, ...], pot: int
) -> None:
    """lorum, Trick contracts, 2: the Ober of acorns costs 1, of leaves 2, of bells 3, of hearts 4;
    T = 10. Each first trick of a suit holds its Ober."""
    played = won_by(acorns, 0, leaves, 1, hearts, 2, bells, 3)
    story = tricks(of_tricks("obers", *played, early_end=False), *played)
    assert moved(story) == [("penalties", changes, pot)]


@pytest.mark.parametrize(
    ("winners", "points", "changes", "pot"),
    [
        ((0, 0, 1, 1, 2, 2, 3, 3), (2, 2, 2, 2), (-2, -2, -2, -2), 8),
        ((0, 1, 2, 3, 3, 3, 3, 3), (1, 1, 1, 5), (-1, -1, -1, -5), 8),
        ((1, 1, 1, 1, 2, 2, 2, 3), (0, 4, 3, 1), (8, -4, -3, -1), 0),
        ((0, 2, 2, 2, 2, 2, 2, 2), (1, 0, 7, 0), (-1, 4, -7, 4), 0),
        ((3, 3, 3, 3, 3, 3, 3, 3), (0, 0, 0, 8), (-8, -8, -8, 24), 0),
    ],
)
def test_no_tricks(
    winners: tuple[int, ...], points: tuple[int, ...], changes: tuple[int, ...], pot: int
) -> None:
    """lorum, Trick contracts, 3: every trick costs 1; T = 8."""
    played = won_by(*winners)
    story = tricks(of_tricks("no_tricks", *played), *played)
    assert scored(story).points == points
    assert moved(story) == [("penalties", changes, pot)]
    assert scored(story).chips == changes


@pytest.mark.parametrize(
    ("penalties", "changes", "pot"),
    [
        ((1, 2, 3, 4), (-1, -2, -3, -4), 10),
        ((5, 1, 1, 1), (-5, -1, -1, -1), 8),
        ((0, 1, 2, 7), (10, -1, -2, -7), 0),
        ((1, 6, 1, 0), (-1, -6, -1, 8), 0),
        ((9, 0, 0, 1), (-9, 5, 5, -1), 0),
        ((0, 4, 4, 0), (4, -4, -4, 4), 0),
        ((0, 10, 0, 0), (-10, 30, -10, -10), 0),
        ((8, 0, 0, 0), (24, -8, -8, -8), 0),
    ],
)
def test_the_table_of_payments(
    penalties: tuple[int, ...], changes: tuple[int, ...], pot: int
) -> None:
    """lorum, Trick contracts: four, three, two and one taker."""
    assert penalties_paid(penalties) == (changes, pot)
    assert sum(changes) + pot == 0


@pytest.mark.parametrize("contract", ["hearts", "obers", "no_tricks"])
def test_the_payments_come_on_top_of_what_everyone_has(contract: ContractName) -> None:
    """lorum, Cards: balances may go below zero, and the pot stays as it is."""
    played = won_by(*[0] * 8)
    story = of_tricks(contract, *played, early_end=False, balances=(3, 2, 1, -6), pot=11)
    story = tricks(story, *played)
    each = 10 if contract == "obers" else 8
    assert chips(story) == [3 + 3 * each, 2 - each, 1 - each, -6 - each]
    assert story.view().table.pot == 11


def test_what_is_taken_is_shown_as_it_is_taken() -> None:
    """contract, The view: `taken` counts tricks, `penalties` what they cost."""
    story = of_tricks("hearts", *FOUR_TAKE_HEARTS)
    story = tricks(story, *FOUR_TAKE_HEARTS[:3])
    table = story.view().table
    assert (table.taken, table.penalties) == ((1, 1, 1, 0), (1, 2, 2, 0))
    private = story.view(2).private
    assert private is not None
    assert (private.tricks, private.points) == ((("8B", "TH", "UH", "AB"),), 2)
