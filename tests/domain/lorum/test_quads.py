"""Runs of four in a suit, each card forced (lorum, *Shedding contracts*, 4)."""

from domain.actions import Play
from domain.ledger import ChipsMoved
from domain.lorum.events import RunCompleted
from domain.table.decide import server_command
from domain.tricks import CardPlayed
from tests.domain.lorum.words import PASS, happened, lorum, moved, names, play, plays, scored
from tests.spec import Given

HANDS = ("UA 7B 8H", "OA 9H", "KA 9B", "AA TL UL")
"""The run from the Unter of acorns goes through all four hands."""


def run(story: Given) -> str:
    return names(story.view().table.run)


def test_the_leader_plays_any_card() -> None:
    """lorum, Quads."""
    story = lorum("quads", *HANDS)
    assert story.to_act == (0,)
    assert story.legal(0) == plays("UA 8H 7B")
    assert story.served().table is story.table


def test_the_holder_of_the_next_card_of_the_suit_must_play_it() -> None:
    """lorum, Quads, ruling: with `auto_forced: false` `to_act` names the holder, who has only that
    action, and nobody else has any."""
    story = lorum("quads", *HANDS, auto_forced=False).plays("UA")
    assert story.to_act == (1,)
    assert story.legal(1) == [play("OA")]
    assert [story.legal(seat) for seat in (0, 2, 3)] == [[], [], []]
    assert server_command(story.table) is None
    story.when(1, play("9H")).refused("lorum.continuation")
    story.when(1, PASS).refused("lorum.no-passing")
    story.when(1, play("KA")).refused("lorum.not-in-hand")
    story.when(2, play("KA")).refused("lorum.turn")
    story.when(0, play("8H")).refused("lorum.turn")
    assert story.plays("OA").to_act == (2,)


def test_a_holder_may_hold_several_in_order() -> None:
    """lorum, Quads: whoever holds it, the player of the last card too."""
    story = lorum("quads", "UA OA 7B", "9H", "KA 9B", "TL UL", auto_forced=False).plays("UA")
    assert story.to_act == (0,)
    assert story.legal(0) == [play("OA")]
    assert story.plays("OA").to_act == (2,)


def test_four_cards_in_order_complete_a_run() -> None:
    """lorum, Quads: it is turned over, and the player of its last card leads to a new one."""
    story = lorum("quads", *HANDS, auto_forced=False).plays("UA OA KA AA")
    assert story.events == (CardPlayed(3, "AA"), RunCompleted(3, 1))
    assert story.to_act == (3,)
    assert story.legal(3) == plays("TL UL")
    assert run(story) == ""
    previous = story.view().previous
    assert previous is not None
    assert (names(previous.trick), previous.taker) == ("0 UA, 1 OA, 2 KA, 3 AA", 3)


def test_the_fifth_card_in_order_does_not_follow() -> None:
    """lorum, Quads: until four cards lie in order."""
    story = lorum("quads", "9A TH", "TA 8H", "UA UH", "OA KA 7B", auto_forced=False)
    story = story.plays("9A TA UA OA")
    assert happened(story, RunCompleted) == [RunCompleted(3, 1)]
    assert story.legal(3) == plays("KA 7B")


def test_a_run_goes_round_the_corner() -> None:
    """lorum, Shedding contracts: 7 8 9 T U O K A 7 8."""
    story = lorum("quads", "KB TH", "AB 8H", "7B UH", "8B 9B 7L", auto_forced=False).plays("KB AB")
    assert story.legal(2) == [play("7B")]
    story = story.plays("7B 8B")
    assert happened(story, RunCompleted) == [RunCompleted(3, 1)]


def test_a_run_ends_where_the_next_card_has_been_played() -> None:
    """lorum, Quads: the next one is in nobody's hand."""
    story = lorum("quads", "UA 9A 8H", "OA TA 7B", "KA 9B", "AA UL 8A", auto_forced=False)
    story = story.plays("UA OA KA AA")
    assert happened(story, RunCompleted) == [RunCompleted(3, 1)]
    story = story.plays("8A 9A TA")
    assert happened(story, RunCompleted) == [RunCompleted(1, 2)]
    assert story.to_act == (1,)


def test_a_run_of_one_is_possible() -> None:
    """lorum, Quads, ruling: then its player leads again."""
    story = lorum("quads", "KL 7B TA", "AL 8H UB", "7L 9H UH", "8L 9L TH", auto_forced=False)
    story = story.plays("KL AL 7L 8L")
    assert happened(story, RunCompleted) == [RunCompleted(3, 1)]
    story = story.plays("9L")
    assert happened(story, RunCompleted) == [RunCompleted(3, 2)]
    assert story.to_act == (3,)
    assert story.legal(3) == [play("TH")]


def test_the_server_makes_the_continuation() -> None:
    """lorum, Quads: a forced action under `auto_forced`; nobody is waited for meanwhile."""
    story = lorum("quads", *HANDS).plays("UA")
    assert story.to_act == ()
    assert server_command(story.table) == (1, play("OA"), True)
    story = story.served()
    assert story.events == (CardPlayed(3, "AA"), RunCompleted(3, 1))
    assert story.to_act == (3,)


def test_the_round_ends_at_once_when_a_player_is_out_of_cards() -> None:
    """lorum, Shedding contracts: in the middle of a run, the continuation is not played."""
    story = lorum("quads", "UA 7B 8H", "OA", "KA 9B", "AA TL UL TH").plays("UA").served()
    assert story.view().table.round == 2
    previous = story.view().previous
    assert previous is not None
    assert (names(previous.trick), previous.taker) == ("0 UA, 1 OA", 1)


def test_each_card_left_costs_a_chip_for_the_one_who_went_out() -> None:
    """lorum, Shedding contracts, payment: 2 + 2 + 4 chips to seat 1; the pot stays."""
    story = lorum("quads", "UA 7B 8H", "OA", "KA 9B", "AA TL UL TH", auto_forced=False, pot=5)
    story = story.plays("UA OA")
    assert story.kinds()[:3] == ["CardPlayed", "ChipsMoved", "RoundScored"]
    assert moved(story) == [("cards_left", (-2, 8, -2, -4), 0)]
    assert scored(story).points == (2, 0, 2, 4)
    assert scored(story).chips == (-2, 8, -2, -4)
    assert scored(story).pot == 5


def test_the_card_that_completes_a_run_may_be_the_last() -> None:
    """lorum, Shedding contracts: the round ends, no new run is led."""
    story = lorum("quads", "UA 7B", "OA 9H", "KA 9B", "AA", auto_forced=False).plays("UA OA KA AA")
    assert happened(story, RunCompleted) == []
    assert happened(story, ChipsMoved) == [ChipsMoved("cards_left", (-1, -1, -1, 3), 0)]


def test_runs_are_no_tricks() -> None:
    """common, Actions, guard `trick`: tricks of the hand complete so far, here always none."""
    story = lorum("quads", *HANDS, auto_forced=False).plays("UA OA KA AA")
    assert story.view().table.taken == (0, 0, 0, 0)
    story.when(3, Play(card="TL", trick=1)).refused("common.guard")
    story.when(3, Play(card="TL", trick=0, hand=1)).accepted()
