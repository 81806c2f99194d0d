"""Who loses a life (lodam, *Reckoning and the end of a hand*)."""

from typing import Any

import pytest

from domain.lodam.events import HandScored
from tests.domain.lodam.words import ANNOUNCE, PASS, SEE, TAKE, challenge, lodam, race, scored
from tests.spec import Given

QUIET: dict[str, Any] = {"announcing": False, "challenging": False}
MODERN: dict[str, Any] = {"profile": "modern"}

DUEL = ("AS AH 2C TD", "TS TH AC AD", "")
DUEL_CARDS = "AS TS AH TH 2C AC AD TD"
"""Seat 0 takes 42 points, seat 1 takes 32."""

EVEN = ("AS 2C 2D", "TS AC TD", "")
EVEN_CARDS = "AS TS 2C AC TD 2D"
"""Seats 0 and 1 take 21 points each."""

FIRST_ONLY = ("AS 2C 3H", "TS 3C 4H", "KS 4C 5H", "QS 5C 6H")
FIRST_ONLY_CARDS = "AS TS KS QS 2C 3C 4C 5C 6H 3H 4H 5H"
"""Seat 0 takes 26 points and nobody else any."""

TWO_HIGHEST = ("AS AH KD 2C KC KH 3S", "TS JH AD AC QC QH JS", "KS 2H TD JC TC TH QS")
TWO_HIGHEST_CARDS = "AS TS KS AH JH 2H KD AD TD AC JC 2C QC TC KC TH KH QH QS 3S JS"
"""Seats 0 and 1 take 36 points each, seat 2 takes 33."""


def test_everyone_who_is_due_loses_one_life() -> None:
    """lodam, Reckoning, `scoring: "per_hand"`."""
    story = race(7).after((0, ANNOUNCE), (1, ANNOUNCE)).each(PASS)
    assert scored(story) == HandScored(
        hand=1, points=(31, 36, 37, 0), lost=(1, 1, 0, 0), lives=(2, 2, 3, 3), running=(0, 0, 0, 0)
    )


def test_where_somebody_is_due_the_highest_goes_free() -> None:
    """lodam, Reckoning: the highest loses only if nobody is due."""
    assert scored(race(7).after((0, ANNOUNCE)).each(PASS)).lost == (1, 0, 0, 0)


def test_where_nobody_is_due_the_highest_loses_one() -> None:
    """lodam, Reckoning: with announcing, whatever they have reached."""
    assert scored(race(7).each(PASS)).lost == (0, 0, 1, 0)


def test_the_highest_below_31_loses_one_too() -> None:
    """lodam, Reckoning."""
    story = lodam(*FIRST_ONLY).plays(FIRST_ONLY_CARDS).each(PASS)
    assert scored(story).points == (26, 0, 0, 0)
    assert scored(story).lost == (1, 0, 0, 0)


@pytest.mark.parametrize("rules", [{}, QUIET])
def test_each_of_several_highest_loses_one(rules: dict[str, Any]) -> None:
    """lodam, Reckoning, ruling: ties."""
    story = lodam("AS 2C 7H", "TS AC 8H", "2S TC 9H", **rules).plays("AS TS 2S 2C AC TC 8H 9H 7H")
    story = story.each(PASS) if not rules else story
    assert scored(story).points == (21, 21, 0)
    assert scored(story).lost == (1, 1, 0)


def test_without_announcing_everyone_at_31_or_more_loses_one() -> None:
    """lodam, Reckoning: with `announcing: false`."""
    assert scored(race(7, **QUIET)).lost == (1, 1, 1, 0)


def test_without_announcing_and_nobody_at_31_the_highest_loses_one() -> None:
    """lodam, Reckoning: if there is none, the highest total of the hand."""
    assert scored(lodam(*FIRST_ONLY, **QUIET).plays(FIRST_ONLY_CARDS)).lost == (1, 0, 0, 0)


def test_a_safe_player_loses_none() -> None:
    """lodam, Challenging: the challenger of an upheld challenge is no longer due."""
    story = race(7).after((1, ANNOUNCE), (1, challenge(0))).each(PASS)
    assert scored(story).lost == (1, 0, 0, 0)


def test_cumulative_scores_run_on() -> None:
    """lodam, Reckoning, modern (`scoring: "cumulative"`): added to a running score."""
    story = lodam(*FIRST_ONLY, running=(4, 7, 0, 12), **MODERN).plays(FIRST_ONLY_CARDS)
    assert scored(story) == HandScored(
        hand=1, points=(26, 0, 0, 0), lost=(0, 0, 0, 0), lives=(3, 3, 3, 3), running=(30, 7, 0, 12)
    )
    assert [score.points for score in story.view().scores] == [30, 7, 0, 12]


def test_whoever_stands_at_31_loses_one_and_starts_again_at_0() -> None:
    """lodam, Reckoning, cumulative: exactly 31 is enough; nobody else loses anything."""
    story = lodam(*FIRST_ONLY, running=(5, 7, 0, 30), **MODERN).plays(FIRST_ONLY_CARDS)
    assert scored(story) == HandScored(
        hand=1, points=(26, 0, 0, 0), lost=(1, 0, 0, 0), lives=(2, 3, 3, 3), running=(0, 7, 0, 30)
    )


def test_cumulative_several_at_31_lose_one_each() -> None:
    """lodam, Reckoning, cumulative."""
    story = race(7, running=(0, 0, 0, 3), **MODERN)
    assert scored(story).lost == (1, 1, 1, 0)
    assert scored(story).running == (0, 0, 0, 3)


def test_cumulative_nobody_at_31_nobody_loses() -> None:
    """lodam, Reckoning, cumulative: there the highest of the hand loses nothing."""
    story = lodam(*FIRST_ONLY, **MODERN).plays(FIRST_ONLY_CARDS)
    assert scored(story).lost == (0, 0, 0, 0)


def duel(hands: tuple[str, ...], cards: str, **rules: Any) -> Given:
    """Two players still in, a life each."""
    return lodam(*hands, lives=(1, 1, 0), **rules).plays(cards)


@pytest.mark.parametrize("rules", [QUIET, MODERN])
def test_if_all_would_go_out_only_the_highest_lose(rules: dict[str, Any]) -> None:
    """lodam, Reckoning, ruling (all out): in both scorings."""
    story = duel(DUEL, DUEL_CARDS, **rules)
    assert scored(story).points == (42, 32, 0)
    assert scored(story).lost == (1, 0, 0)
    assert story.view().status == "finished"


@pytest.mark.parametrize("rules", [QUIET, MODERN])
def test_if_all_would_go_out_all_who_tie_for_highest_lose(rules: dict[str, Any]) -> None:
    """lodam, Reckoning, ruling (all out): each of those with the highest total, and only they."""
    story = lodam(*TWO_HIGHEST, lives=(1, 1, 1), **rules).plays(TWO_HIGHEST_CARDS)
    assert scored(story).points == (36, 36, 33)
    assert scored(story).lost == (1, 1, 0)
    result = story.view().result
    assert result is not None
    assert result.winners == (2,)


def test_if_all_would_go_out_where_all_are_due() -> None:
    """lodam, Reckoning, ruling (all out): with announcing, the highest *of the hand*."""
    story = duel(DUEL, DUEL_CARDS).after((0, ANNOUNCE), (1, ANNOUNCE)).each(PASS)
    assert scored(story).lost == (1, 0, 0)


def test_cumulative_all_out_goes_by_the_running_score() -> None:
    """lodam, Reckoning, ruling (all out): in cumulative scoring the running score."""
    story = duel(DUEL, DUEL_CARDS, running=(0, 20, 0), **MODERN)
    assert scored(story).points == (42, 32, 0)  # 42 and 52 in all
    assert scored(story).lost == (0, 1, 0)
    assert scored(story).running == (0, 0, 0)


def test_if_the_highest_are_still_everybody_nobody_loses() -> None:
    """lodam, Reckoning, ruling (all out): per hand, nobody due and all tie for highest."""
    story = duel(EVEN, EVEN_CARDS).each(PASS)
    assert scored(story).points == (21, 21, 0)
    assert scored(story).lost == (0, 0, 0)
    assert story.view().status == "playing"
    assert story.table.hand == 2


def test_cumulative_running_scores_start_again_all_the_same() -> None:
    """lodam, Reckoning, ruling (all out): in cumulative scoring, though nobody loses a life."""
    story = duel(EVEN, EVEN_CARDS, running=(15, 15, 0), **MODERN)
    assert scored(story).lost == (0, 0, 0)
    assert scored(story).running == (0, 0, 0)
    spared = duel(EVEN, EVEN_CARDS, running=(15, 16, 0), **MODERN)
    assert scored(spared).lost == (0, 1, 0)
    assert scored(spared).running == (0, 0, 0)


def test_all_out_is_about_every_player_still_in() -> None:
    """lodam, Reckoning, ruling (all out): who is out already does not count; one with a life to
    spare, or who is not losing any, and it is not all out."""
    assert scored(lodam(*DUEL, lives=(2, 1, 0), **QUIET).plays(DUEL_CARDS)).lost == (1, 1, 0)
    story = race(7, lives=(1, 1, 1, 1), **QUIET)
    assert scored(story).lost == (1, 1, 1, 0)
    assert story.view().status == "finished"


def test_three_with_one_life_each_all_tied() -> None:
    """lodam, Reckoning, ruling (all out): nobody loses, whatever the number of players."""
    story = lodam("2S", "3S", "4S", lives=(1, 1, 1)).plays("2S 3S 4S").each(PASS)
    assert scored(story).points == (0, 0, 0)
    assert scored(story).lost == (0, 0, 0)


def test_all_tied_with_lives_to_spare_all_lose() -> None:
    """lodam, Reckoning, ruling: if several tie for highest, each of them loses one."""
    story = lodam("2S", "3S", "4S", lives=(2, 2, 2)).plays("2S 3S 4S").each(PASS)
    assert scored(story).lost == (1, 1, 1)
    story = lodam("2S", "3S", "4S", lives=(2, 1, 1)).plays("2S 3S 4S").each(PASS)
    assert scored(story).lives == (1, 0, 0)
    assert story.view().status == "finished"


def test_scores_add_up_the_hands() -> None:
    """contract, Games: scores per player; points of all hands so far in per-hand scoring."""
    story = race(7).each(PASS)
    assert [score.points for score in story.view().scores] == [31, 36, 37, 0]
    assert [score.lives for score in story.view().scores] == [3, 3, 2, 3]
    previous = story.view().previous
    assert previous is not None
    assert previous.payments_hand == 1
    assert [payment.lives for payment in previous.payments] == [0, 0, -1, 0]


def test_swallowed_points_count_for_who_swallowed_them() -> None:
    """lodam, Taking a trick: taken though another's, it stands."""
    story = lodam("AS", "KS", "TH", stock="9H").plays("AS KS TH").each(SEE).after((0, TAKE))
    assert scored(story.each(PASS)).points == (24, 0, 0)
