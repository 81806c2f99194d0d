"""Bets that a player cannot cover (loc, *Short stacks*): amounts worked out by hand."""

from domain.ledger import ChipsMoved
from domain.loc.events import BetPlaced, HandSettled
from tests.builders import new_game
from tests.domain.loc.words import (
    bank,
    bets,
    chips,
    deal_fives,
    fives,
    last_trick,
    served_once,
    settled,
    trick,
    tricks,
    with_chips,
)
from tests.spec import Given


def short(seat: int, amount: int, reason: str) -> BetPlaced:
    return BetPlaced(seat, amount, reason, True)  # type: ignore[arg-type]


def placed(story: Given) -> list[BetPlaced]:
    return [event for event in story.events if isinstance(event, BetPlaced)]


def test_a_hand_of_short_stacks() -> None:
    """loc, Short stacks: takes all they have left, be it 0; the event is written all the same."""
    story = fives(
        "KS 5C TS QS 4S",
        "QH KH 9H 3H 8H",
        "JD 6D AD 2D 7D",
        stake=2,
        starting_chips=3,
        hands=9,
    )
    assert (chips(story), bank(story)) == ([1, 1, 1], 6)
    story = trick(story, "KS QH JD")
    assert placed(story) == [short(1, 1, "trick"), short(2, 1, "trick")]
    assert (chips(story), bank(story)) == ([1, 0, 0], 8)
    story = trick(story, "5C KH 6D")
    assert placed(story) == [short(0, 1, "trick"), short(2, 0, "trick")]
    assert (chips(story), bank(story)) == ([0, 0, 0], 9)
    # The bank is won whole, by one who could not cover the last bets; the taker takes first.
    story = trick(story, "TS 9H AD")
    assert ChipsMoved("ace", (0, 0, 9), -9) in story.events
    assert placed(story) == [
        short(0, 0, "refresh"),
        short(1, 0, "refresh"),
        *bets("refresh", 2, 2),
    ]
    assert (chips(story), bank(story)) == ([0, 0, 7], 2)
    # Those with nothing play on.
    story = trick(story, "QS 3H 2D")
    assert placed(story) == [short(1, 0, "trick"), *bets("trick", 2, 2)]
    assert (chips(story), bank(story)) == ([0, 0, 5], 4)
    story = last_trick(story)
    assert settled(story) == HandSettled(1, (-3, 1, 2), (0,))
    assert (chips(story), bank(story)) == ([0, 4, 5], 0)


def test_all_that_is_left_may_be_exactly_the_stake() -> None:
    """loc, Short stacks: a bet covered in full is not short."""
    story = new_game("loc", 2, stake=5, starting_chips=5, first_dealer=1, cut="manual")
    story = served_once(story)
    assert story.events == tuple(bets("ante", 5, 0))
    assert chips(story) == [0, 5]


def test_the_stake_may_exceed_the_starting_chips() -> None:
    """loc, Short stacks: then every bet is short from the first."""
    story = new_game("loc", 3, stake=10, starting_chips=3, first_dealer=2, cut="manual")
    first = served_once(story)
    assert first.events == (short(0, 3, "ante"),)
    story = deal_fives(story.served(), "KS 5C 6C 7C 8C", "QH 5H 6H 7H 8H", "JD 5D 6D 7D 9D")
    assert (chips(story), bank(story)) == ([0, 0, 0], 9)
    story = trick(story, "KS QH JD")
    assert placed(story) == [short(1, 0, "trick"), short(2, 0, "trick")]
    assert bank(story) == 9


def test_without_starting_chips_no_bet_is_short() -> None:
    """loc, Cards: starting_chips null: balances start at 0 and may go below zero."""
    story = fives("KS 5C 6C 7C 8C", "QH 5H 6H 7H 8H", stake=1000)
    assert chips(story) == [-1000, -1000]
    story = trick(story, "KS QH")
    assert placed(story) == bets("trick", 1000, 1)
    assert chips(story) == [-1000, -2000]


def test_who_has_no_chips_when_a_hand_is_to_begin_is_out() -> None:
    """loc, Short stacks: passed over in bets, deal, cut; refused; not waited for."""
    story = _one_broke()
    assert (story.table.dealer, story.table.cutter, story.table.order) == (1, 2, (2, 1))
    assert [seat.still_in for seat in story.view().seats] == [False, True, True]
    story = story.served()
    story = deal_fives(story, "", "KH 5H 6H 7H 8H", "JD 5D 6D 7D 9D")
    assert story.to_act == (1, 2)
    assert story.legal(0) == []
    story.when(0, story.legal(1)[0]).refused("common.out")
    story = trick(story, "KH JD")
    assert placed(story) == bets("trick", 1, 2)


def test_who_loses_the_last_chip_plays_the_hand_to_its_end() -> None:
    """loc, Short stacks: they play on; out only when the next hand is to begin."""
    story = fives("KS 5C 6C 7C 8C", "QH 5H 6H 7H 9H", starting_chips=1, hands=5)
    assert chips(story) == [0, 0]
    assert story.to_act == (0, 1)
    assert [seat.still_in for seat in story.view().seats] == [True, True]
    story = tricks(story, "KS QH", "5C 5H")
    assert bank(story) == 2


def _one_broke() -> Given:
    """The second hand of a game in which seat 0 has lost everything in the first."""
    story = new_game("loc", 3, first_dealer=2, cut="manual", starting_chips=30, hands=9)
    with_chips(story.table, (3, 40, 47))
    story = deal_fives(story.served(), "4C 5C 6C 7C 8C", "4D 5D 6D 7D AS", "4H 5H 6H 7H KD")
    story = tricks(story, "4C 4D 4H", "5C 5D 5H", "6C 6D 6H", "7C 7D 7H")
    # 3 before the deal; then seats 0 and 1 pay in each trick, seat 0 until it has nothing.
    assert (chips(story), bank(story)) == ([0, 35, 46], 9)
    story = last_trick(story)
    assert settled(story).gone == (0,)
    assert chips(story) == [0, 44, 46]
    return story
