"""The bet that every player makes before the deal (loc, *Cards, stakes, deal*, option `bets`)."""

import msgspec
import pytest

from domain.actions import Pass
from domain.codec import recorded_action
from domain.loc.events import BetPlaced
from domain.table.decide import server_command
from tests.builders import new_game
from tests.domain.loc.words import (
    BET,
    bank,
    bets,
    chips,
    deal_fives,
    discard,
    loc,
    served_once,
    trick,
)
from tests.spec import Given, command


def test_the_server_puts_the_bets_in() -> None:
    """loc, bets: "auto": the default; each bet its own event, clockwise from the dealer's left."""
    story = new_game("loc", 3, first_dealer=0, cut="manual", stake=5)
    assert story.to_act == ()
    for seat in (1, 2, 0):
        own = server_command(story.table)
        assert own is not None
        assert (own[0], own[2]) == (seat, True)
        story = served_once(story)
        assert list(story.events) == bets("ante", 5, seat)
    assert story.to_act == (2,)
    assert chips(story) == [-5, -5, -5]
    assert bank(story) == 15


def test_a_bet_by_the_server_is_a_forced_action() -> None:
    """common, Actions: the event says forced: true."""
    ask = command(BET, 1, by="server", forced=True)
    assert msgspec.json.decode(recorded_action(ask, BetPlaced)) == {
        "type": "bet",
        "forced": True,
        "by": "server",
    }


def test_the_server_bets_without_auto_forced_too() -> None:
    """loc, bets: "auto": the server puts them in, whatever auto_forced says."""
    story = new_game("loc", 2, cut="manual", auto_forced=False)
    assert story.to_act == ()
    assert bank(story.served()) == 2


def test_bets_are_made_by_the_players() -> None:
    """loc, bets: "manual": in any order; the hand waits for all, auto_forced or not."""
    story = new_game("loc", 3, first_dealer=0, bets="manual", cut="manual", stake=7)
    assert server_command(story.table) is None
    assert story.to_act == (0, 1, 2)
    assert story.legal(1) == [BET]
    story = story.when(2, BET).then(*bets("ante", 7, 2))
    assert story.to_act == (0, 1)
    assert story.legal(2) == []
    story.when(2, BET).refused("loc.bet-once")
    story = story.when(0, BET).then(*bets("ante", 7, 0))
    story = story.when(1, BET).then(*bets("ante", 7, 1))
    assert chips(story) == [-7, -7, -7]
    assert bank(story) == 21


def test_bets_come_before_anyone_has_seen_a_card() -> None:
    """loc, Cards: bets come before the deal."""
    story = new_game("loc", 3, bets="manual")
    for seat in range(3):
        private = story.view(seat).private
        assert private is not None
        assert private.cards == ()


def test_manual_bets_are_the_ante_alone() -> None:
    """loc, Cards: trick and refresh bets are always put in by the server, in the same step."""
    story = new_game("loc", 3, first_dealer=2, bets="manual", cut="manual").each(BET)
    story = deal_fives(story, "KS QS JS TS 9S", "AH QH JH TH 9H", "KD QD JD TD 9D")
    excused = trick(story, "KS QH KD")
    assert placed(excused) == bets("trick", 1, 1, 2)
    taken = trick(excused, "QS AH QD")
    assert placed(taken) == bets("refresh", 1, 0, 1, 2)
    assert BET not in taken.legal(0)
    taken.when(0, BET).refused("loc.phase")


def placed(story: Given) -> list[BetPlaced]:
    return [event for event in story.events if isinstance(event, BetPlaced)]


@pytest.mark.parametrize("stake", [1, 1_000_000])
def test_the_stake_is_the_bet(stake: int) -> None:
    """loc, Cards: stake, 1…1000000."""
    story = loc("2C 3C 4C 5C 6C 7C", "2D 3D 4D 5D 6D 7D", stake=stake)
    assert chips(story) == [-stake, -stake]


def test_there_is_nothing_else_to_do_before_the_deal() -> None:
    """loc, Cards; common, Actions: refusals change nothing."""
    story = new_game("loc", 2, bets="manual")
    story.when(0, discard("2C")).refused("loc.phase")
    story.when(0, Pass()).refused("common.no-such-action")
