"""When the game ends, and who wins (loc, *End*, *Short stacks*)."""

import pytest

from domain.actions import Cut, CutChoice
from domain.game import HandScore
from domain.table.commands import Abandon
from domain.table.events import GameEnded
from tests.builders import new_game
from tests.domain.loc.words import bank, chips, fives, last_trick, trick, tricks
from tests.spec import Given

LOW = "4C 5C 6C 7C 8C"
HIGH = "4D 5D 6D 7D KH"
HIGHER = "4H 5H 6H 7H AS"


def finished(*hands: str, chips: tuple[int, ...] | None = None, **rules: object) -> Given:
    """A hand whose tricks all fall in the order of the cards."""
    story = fives(*hands, chips=chips, **rules)
    columns = zip(*[hand.split() for hand in hands], strict=True)
    return last_trick(tricks(story, *[" ".join(cards) for cards in list(columns)[:4]]))


def ended(story: Given) -> GameEnded:
    (event,) = [event for event in story.events if isinstance(event, GameEnded)]
    return event


def test_most_chips_wins() -> None:
    """loc, End: after the agreed hands; everyone's chips add up to nothing, the bank is empty."""
    story = finished(LOW, HIGH, HIGHER, hands=1)
    # 3 and four times 2 in the bank, to seat 2, whose cards were always the highest.
    assert chips(story) == [-5, -5, 10]
    assert ended(story).winners == (2,)
    assert ended(story).reason == "played"
    assert (story.table.status, ended(story).pot) == ("finished", 0)
    result = story.view().result
    assert result is not None
    assert result.balances == (-5, -5, 10)
    assert result.lives is None


def test_equal_balances_share_the_win() -> None:
    """loc, End."""
    story = finished(LOW, HIGH, hands=1, chips=(10, 0))
    # Seat 1 is excused four times and takes 2 + 4.
    assert chips(story) == [5, 5]
    assert ended(story).winners == (0, 1)


def test_what_was_won_before_counts() -> None:
    """loc, End: most chips, not most in the last hand."""
    assert ended(finished(LOW, HIGH, hands=1, chips=(20, 0))).winners == (0,)


@pytest.mark.parametrize(
    ("seats", "rules", "hands"), [(2, {}, 2), (4, {}, 4), (3, {"hands": 5}, 5)]
)
def test_the_game_has_as_many_hands_as_agreed(
    seats: int, rules: dict[str, int], hands: int
) -> None:
    """loc, Cards: hands; by default as many as there are players."""
    story = new_game("loc", seats, **rules).served()
    while story.table.status == "playing":
        seat = story.to_act[0]
        story = story.after((seat, story.legal(seat)[0])).served()
    assert story.table.hand == hands
    assert len(story.table.game.hand_scores(story.table.play)) == hands


def test_who_is_out_still_counts_among_the_players_of_the_default() -> None:
    """loc, Cards: hands; as many as there are players, those included who are out by then."""
    story = finished(LOW, HIGH, HIGHER, chips=(5, 30, 30), starting_chips=30).served()
    assert chips(story)[0] == 0
    while story.table.status == "playing":
        seat = story.to_act[0]
        action = story.legal(seat)[0]
        story = story.after((seat, Cut(at=1) if isinstance(action, CutChoice) else action)).served()
    assert story.table.hand == 3
    assert chips(story)[0] == 0


def test_the_game_ends_when_only_one_player_has_chips() -> None:
    """loc, Short stacks: whatever hands are left."""
    story = finished(LOW, HIGH, hands=100, starting_chips=5)
    assert chips(story) == [0, 10]
    assert ended(story).winners == (1,)
    assert ended(story).reason == "played"


def test_the_game_goes_on_while_two_have_chips() -> None:
    """loc, Short stacks."""
    story = finished(LOW, HIGH, hands=100, starting_chips=6)
    assert chips(story) == [1, 11]
    assert story.table.hand == 2


def test_a_finished_hand_is_scored() -> None:
    """contract, scores: chips by hand; previous tells the payments of the last hand."""
    story = finished(LOW, HIGH, HIGHER, hands=2)
    (score,) = story.table.game.hand_scores(story.table.play)
    assert score == HandScore(1, 2, (0, 0, 0), (-5, -5, 10), None)
    previous = story.view().previous
    assert previous is not None
    assert previous.payments_hand == 1
    assert [(p.seat, p.chips) for p in previous.payments] == [(0, -5), (1, -5), (2, 10)]
    assert [p.card for p in previous.trick] == ["8C", "KH", "AS"]
    assert previous.taker == 2


def test_nothing_is_done_after_the_end() -> None:
    """common, Actions."""
    story = finished(LOW, HIGH, hands=1)
    assert story.to_act == ()
    assert story.legal(0) == []
    hand = story.view().hand
    assert hand is not None
    assert hand.phase == "over"


def test_an_abandoned_game_shows_its_bank() -> None:
    """common, Leaving: it ends without winners; chips in the bank stay there."""
    story = trick(fives(LOW, HIGH), "4C 4D").after((None, Abandon("rain")))
    assert ended(story).winners == ()
    assert ended(story).pot == bank(story) == 3
    assert chips(story) == [-2, -1]
