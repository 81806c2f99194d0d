"""The king of hearts (lorum, *Trick contracts*, 6)."""

import pytest

from tests.domain.lorum.words import chips, moved, of_tricks, scored, tricks, won_by


@pytest.mark.parametrize("taker", range(4))
def test_whoever_takes_the_king_of_hearts_pays_ten_into_the_pot(taker: int) -> None:
    """lorum, Trick contracts, 6: and nobody else pays. It lies in the fifth trick."""
    played = won_by(0, 1, 2, 3, taker, 0, 0, 0)
    story = tricks(of_tricks("hairy_monkey", *played, pot=7), *played[:5])
    changes = tuple([-10 if seat == taker else 0 for seat in range(4)])
    assert moved(story) == [("penalties", changes, 10)]
    assert scored(story).points == tuple([-change for change in changes])
    assert scored(story).pot == 17
    assert chips(story) == list(changes)


def test_one_s_own_king_costs_as_much() -> None:
    """lorum, Trick contracts, 6: whoever takes it, not whoever plays it."""
    story = of_tricks("hairy_monkey", "KH OH UH TH", "7A 8A 9A TA").plays("KH TH UH OH")
    assert moved(story) == [("penalties", (-10, 0, 0, 0), 10)]


def test_it_can_be_thrown_on_a_trick_of_another_suit() -> None:
    """lorum, Trick contracts: who cannot follow plays any card."""
    story = of_tricks("hairy_monkey", "7B AB KH 8B", "7A 8A 9A TA").plays("7B 8B KH AB")
    assert moved(story) == [("penalties", (0, -10, 0, 0), 10)]
