"""Chips are conserved (common, *Cards*)."""

import pytest

from domain.ledger import Ledger


def test_moving_chips() -> None:
    ledger = Ledger((0, 0, 0)).move((-5, -5, -5), 15).move((0, 12, 0), -12)
    assert ledger == Ledger((-5, 7, -5), 3)


@pytest.mark.parametrize(("changes", "pot"), [((1, 0), 0), ((-1, 0), 0), ((0, 0), 1), ((2, 2), -5)])
def test_changes_add_up_to_nothing(changes: tuple[int, ...], pot: int) -> None:
    with pytest.raises(ValueError, match="conserved"):
        Ledger((0, 0)).move(changes, pot)


def test_one_change_for_each_seat() -> None:
    with pytest.raises(ValueError, match="zip"):
        Ledger((0, 0)).move((0, 0, 0), 0)
