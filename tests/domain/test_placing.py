"""Places: winners first, then lives by when they were lost or chips, equal standing shared."""

import pytest

from domain.game import HandScore, Score
from domain.placing import places


def of_chips(*chips: int) -> list[Score]:
    return [Score(seat, None, held, None) for seat, held in enumerate(chips)]


def of_lives(*lives: int) -> list[Score]:
    return [Score(seat, left, 5 * seat, 7) for seat, left in enumerate(lives)]


def hands(*lost: tuple[int, ...]) -> list[HandScore]:
    return [HandScore(number, 0, (), (), lives) for number, lives in enumerate(lost, 1)]


@pytest.mark.parametrize(
    ("winners", "chips", "found"),
    [
        ((0,), (9, 3, 5), (1, 3, 2)),
        ((0, 2), (9, 3, 9), (1, 3, 1)),
        ((1,), (4, 9, 4, -17), (2, 1, 2, 4)),
        ((), (4, 9, 4), ()),
    ],
)
def test_chips_decide_behind_the_winners(
    winners: tuple[int, ...], chips: tuple[int, ...], found: tuple[int, ...]
) -> None:
    assert places(winners, of_chips(*chips), ()) == found


def test_a_winner_stands_first_though_one_who_resigned_has_more() -> None:
    assert places((1,), of_chips(20, 9, 4), ()) == (2, 1, 3)


def test_who_went_out_later_stands_before_who_went_out_earlier() -> None:
    played = hands((-1, 0, 0, -1), (0, 0, -1, 0), (0, 0, -1, 0))
    assert places((1,), of_lives(0, 1, 0, 0), played) == (3, 1, 2, 3)


def test_all_who_went_out_together_and_win_together_stand_first() -> None:
    played = hands((0, 0, -1), (-1, -1, 0))
    assert places((0, 1), of_lives(0, 0, 0), played) == (1, 1, 3)


def test_without_the_hands_those_who_are_out_stand_alike() -> None:
    assert places((2,), of_lives(0, 0, 1), ()) == (2, 2, 1)
