"""Lives, the stake and the pool, the last player (lodam, *Cards*, *Reckoning*)."""

from typing import Any

import pytest

from domain.hand import HandStarted
from domain.ledger import ChipsMoved
from domain.lodam.events import HandScored
from domain.table.events import GameEnded
from tests.builders import new_game
from tests.domain.lodam.words import PASS, lodam, scored
from tests.spec import Given

THREE = ("AS 2C", "TS 3C", "KS 4C")
THREE_CARDS = "AS TS KS 2C 3C 4C"
"""Seat 0 takes 24 points and seat 2 the last trick."""


def ends(**rules: Any) -> Given:
    """Two players left; seat 0 has the highest and loses the last life."""
    return lodam("AS 2C", "", "KS 4C", lives=(1, 0, 1), **rules).plays("AS KS 2C 4C").each(PASS)


@pytest.mark.parametrize("lives", [1, 3, 9])
def test_each_player_starts_with_the_lives_agreed(lives: int) -> None:
    """lodam, Cards: `lives`, 1…9, default 3."""
    story = new_game("lodam", 4, lives=lives)
    assert [score.lives for score in story.view().scores] == [lives] * 4
    assert [score.lives for score in new_game("lodam", 3).view().scores] == [3, 3, 3]


def test_a_player_with_no_life_left_is_out() -> None:
    """lodam, Reckoning: and is dealt no more cards."""
    story = lodam(*THREE, lives=(1, 3, 3)).plays(THREE_CARDS).each(PASS)
    assert scored(story).lives == (0, 3, 3)
    assert [seat.still_in for seat in story.view().seats] == [False, True, True]
    story = story.served()
    (dealt,) = story.events
    assert dealt.counts == (0, 25, 25)  # type: ignore[attr-defined]
    assert dealt.stock == 2  # type: ignore[attr-defined]


def test_a_player_with_a_life_left_goes_on() -> None:
    """lodam, Reckoning: the next hand begins in the same step (common, Actions)."""
    story = lodam(*THREE).plays(THREE_CARDS).each(PASS)
    assert scored(story).lives == (2, 3, 3)
    assert story.kinds() == ["Passed", "HandScored", "SeedRevealed", "HandStarted"]
    started = story.events[-1]
    assert isinstance(started, HandStarted)
    assert (started.hand, len(started.seats)) == (2, 3)


def test_the_last_player_left_wins() -> None:
    """lodam, Reckoning."""
    story = ends()
    assert story.kinds() == ["Passed", "HandScored", "SeedRevealed", "GameEnded"]
    view = story.view()
    assert view.status == "finished"
    assert view.result is not None
    assert (view.result.winners, view.result.reason) == ((2,), "played")
    assert view.result.lives == (0, 0, 1)
    assert view.hand is not None
    assert view.hand.phase == "over"
    assert view.to_act == ()


def test_nothing_is_legal_after_the_end() -> None:
    """common, Actions: phase `over` is the end of the game."""
    story = ends()
    for seat in range(3):
        assert story.legal(seat) == []
    story.when(2, PASS).refused("common.game-over")


def test_several_may_go_out_at_once() -> None:
    """lodam, Reckoning: everyone due loses one; the one left wins."""
    story = lodam("AS 2C 7H", "TS AC 8H", "2S TC 9H", lives=(1, 1, 1))
    story = story.plays("AS TS 2S 2C AC TC 8H 9H 7H").each(PASS)
    assert scored(story).lost == (1, 1, 0)
    assert story.view().result is not None
    ended = story.events[-1]
    assert isinstance(ended, GameEnded)
    assert ended.winners == (2,)


def test_everyone_pays_the_stake_at_the_start() -> None:
    """lodam, Cards, option `stake`: balances start at 0, each pays it into the pool."""
    story = new_game("lodam", 4, stake=25)
    assert story.events[-1] == ChipsMoved("stake", (-25, -25, -25, -25), 100)
    view = story.view()
    assert [score.chips for score in view.scores] == [-25] * 4
    assert story.table.play.ledger.pot == 100


def test_the_stake_is_paid_once() -> None:
    """lodam, Cards: at the start, not every hand."""
    story = lodam(*THREE, stake=25).plays(THREE_CARDS).each(PASS)
    assert "ChipsMoved" not in story.kinds()


def test_no_stake_by_default() -> None:
    """lodam, Cards: default 0."""
    story = new_game("lodam", 4)
    assert "ChipsMoved" not in story.kinds()
    assert [score.chips for score in story.view().scores] == [0, 0, 0, 0]
    assert "ChipsMoved" not in ends().kinds()


def test_the_winner_takes_the_pool() -> None:
    """lodam, Cards and Reckoning; common, Cards: chips are conserved."""
    story = lodam("AS 2C", "", "KS 4C", lives=(1, 0, 1), stake=25)
    story = story.plays("AS KS 2C 4C").each(PASS)
    assert ChipsMoved("pool", (0, 0, 75), -75) in story.events
    view = story.view()
    assert view.result is not None
    assert view.result.balances == (-25, -25, 50)
    assert view.result.pot == 0
    kinds = story.kinds()
    assert kinds.index("HandScored") < kinds.index("ChipsMoved") < kinds.index("GameEnded")


def test_the_scores_of_the_end_are_in_the_event() -> None:
    """contract, The log: `GameEnded {winners, scores, reason}`."""
    ended = ends().events[-1]
    assert isinstance(ended, GameEnded)
    assert [(score.seat, score.lives) for score in ended.scores] == [(0, 0), (1, 0), (2, 1)]
    assert ended.reason == "played"
    assert ended.pot == 0


def test_hands_are_scored_by_seat() -> None:
    """contract, Lists: lost lives and points by seat, 0 for who is out."""
    event = scored(ends())
    assert event == HandScored(
        hand=1, points=(14, 0, 0), lost=(1, 0, 0), lives=(0, 0, 1), running=(0, 0, 0)
    )
