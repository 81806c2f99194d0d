"""Ratings after one game: who gains, who loses, and who plays twice."""

import pytest

from projections.rating import UNKNOWN, Rating, after_game


def test_the_better_placed_gain_and_ties_gain_alike() -> None:
    after = after_game(("a", "b", "c", "d"), (1, 2, 2, 4), {})
    assert after["a"].mu > after["b"].mu == after["c"].mu > after["d"].mu
    assert after["a"].mu > UNKNOWN.mu > after["d"].mu
    assert all(rating.sigma < UNKNOWN.sigma for rating in after.values())
    assert all(rating.conservative > 0 for rating in (after["a"],))
    assert UNKNOWN.conservative == pytest.approx(0)


def test_guests_keep_nothing_and_count_as_unknown() -> None:
    guest = after_game(("a", None), (1, 2), {})
    assert guest.keys() == {"a"}
    assert guest["a"] == after_game(("a", "b"), (1, 2), {})["a"]


def test_a_win_over_the_strong_is_worth_more() -> None:
    strong, weak = Rating(35.0, 3.0), Rating(15.0, 3.0)
    over_strong = after_game(("a", "b"), (1, 2), {"b": strong})["a"]
    over_weak = after_game(("a", "b"), (1, 2), {"b": weak})["a"]
    assert over_strong.mu > over_weak.mu


def test_who_has_two_seats_gets_the_mean_of_what_comes_of_them() -> None:
    known = {"a": Rating(28.0, 5.0)}
    twice = after_game(("a", "b", "a"), (1, 2, 3), known)
    apart = after_game(("x", "b", "y"), (1, 2, 3), {"x": known["a"], "y": known["a"]})
    assert twice["b"] == apart["b"]
    assert twice["a"].mu == (apart["x"].mu + apart["y"].mu) / 2
    assert twice["a"].sigma == (apart["x"].sigma + apart["y"].sigma) / 2


def test_a_draw_of_equals_changes_no_mean() -> None:
    after = after_game(("a", "b", "c"), (1, 1, 1), {})
    assert [rating.mu for rating in after.values()] == pytest.approx([UNKNOWN.mu] * 3)
