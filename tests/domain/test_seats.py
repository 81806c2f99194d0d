"""Seats and turn order (common, *Seats*)."""

import pytest

from domain.seats import LEFT, RIGHT, next_seat, round_from


def test_the_left_is_the_next_higher_seat() -> None:
    """common, Seats: seat+1 (mod n) is the player on the left, seat-1 the right."""
    everyone = range(4)
    assert [next_seat(seat, 4, everyone, LEFT) for seat in range(4)] == [1, 2, 3, 0]
    assert [next_seat(seat, 4, everyone, RIGHT) for seat in range(4)] == [3, 0, 1, 2]


def test_over_seats_that_are_out() -> None:
    assert next_seat(1, 6, {1, 4, 5}) == 4
    assert next_seat(4, 6, {1, 4, 5}, RIGHT) == 1
    assert next_seat(0, 6, {1, 4, 5}, RIGHT) == 5
    assert next_seat(2, 6, {1, 4, 5}) == 4


def test_the_only_one_in_follows_itself() -> None:
    assert next_seat(3, 6, {3}) == 3
    assert next_seat(3, 6, {3}, RIGHT) == 3


def test_nobody_in() -> None:
    with pytest.raises(ValueError, match="nobody"):
        next_seat(0, 4, set())


def test_a_round_begins_with_its_first_and_skips_who_is_out() -> None:
    assert round_from(2, 5, range(5)) == (2, 3, 4, 0, 1)
    assert round_from(2, 5, range(5), RIGHT) == (2, 1, 0, 4, 3)
    assert round_from(2, 5, {0, 3}) == (3, 0)
