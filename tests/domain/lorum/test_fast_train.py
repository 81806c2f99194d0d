"""One rank higher every time (lorum, *Shedding contracts*, 5)."""

import random

from hypothesis import given as given_any
from hypothesis import settings
from hypothesis import strategies as st

from domain.lorum.rules import PACK
from domain.table.decide import server_command
from domain.tricks import CardPlayed, Passed
from tests.domain.lorum.words import PASS, lorum, moved, names, play, plays, scored
from tests.spec import Given

HANDS = ("9A 7B AB", "TH TL UB", "8L 9H", "KA OB")


def run(story: Given) -> str:
    return names(story.view().table.run)


def test_the_leader_plays_any_card() -> None:
    """lorum, Fast train."""
    story = lorum("fast_train", *HANDS)
    assert story.to_act == (0,)
    assert story.legal(0) == plays("9A 7B AB")
    story.when(0, PASS).refused("lorum.must-play")


def test_the_next_player_plays_one_rank_higher_of_any_suit() -> None:
    """lorum, Fast train: they choose which."""
    story = lorum("fast_train", *HANDS, auto_forced=False).plays("9A")
    story = story.each(PASS, 3, 2)
    assert story.to_act == (1,)
    assert story.legal(1) == plays("TL TH")
    story.when(1, play("UB")).refused("lorum.next-rank")
    story.when(1, play("TA")).refused("lorum.not-in-hand")
    story.when(1, PASS).refused("lorum.must-play")
    story.when(0, play("AB")).refused("lorum.turn")
    after = story.after((1, play("TH")))
    assert after.events == (CardPlayed(1, "TH"),)
    assert run(after) == "0 9A, 1 TH"


def test_who_cannot_play_passes() -> None:
    """lorum, Fast train: passing is the only legal action, and tells nothing else."""
    story = lorum("fast_train", *HANDS, auto_forced=False).plays("9A")
    assert story.to_act == (3,)
    assert story.legal(3) == [PASS]
    story.when(3, play("KA")).refused("lorum.next-rank")
    after = story.after((3, PASS))
    assert after.events == (Passed(3),)
    assert after.view().table.passes == (0, 0, 0, 1)
    assert after.view().table.pot == 0


def test_passing_is_forced() -> None:
    """lorum, Fast train: made by the server under `auto_forced`; choosing a card is not, though
    there be only one."""
    story = lorum("fast_train", *HANDS).plays("9A")
    assert story.to_act == ()
    assert server_command(story.table) == (3, PASS, True)
    story = story.served()
    assert story.to_act == (1,)
    story = story.plays("TL").served()
    assert story.to_act == (1,)
    assert story.legal(1) == [play("UB")]


def test_the_turn_comes_to_the_player_of_the_last_card_too() -> None:
    """lorum, Fast train, ruling: it goes on round the table."""
    story = lorum("fast_train", *HANDS, auto_forced=False).plays("9A").each(PASS, 3, 2)
    story = story.after((1, play("TL"))).each(PASS, 0, 3, 2)
    assert story.to_act == (1,)
    assert story.legal(1) == [play("UB")]


def test_ranks_go_round_the_corner() -> None:
    """lorum, Shedding contracts: after the aces come the 7s."""
    story = lorum("fast_train", "AB 8H", "7A 8A", "7L 9L", "7H 7B 9H").plays("AB")
    assert story.legal(3) == plays("7H 7B")


def test_the_round_ends_at_once_and_the_others_pay() -> None:
    """lorum, Shedding contracts, payment: a chip for every card left, to who went out."""
    story = lorum("fast_train", "9A 7B AB", "UH", "TB 8L 9H 9L", "KA OB", pot=3)
    story = story.plays("9A").served().plays("TB").served().plays("UH")
    assert story.kinds()[:3] == ["CardPlayed", "ChipsMoved", "RoundScored"]
    assert moved(story) == [("cards_left", (-2, 7, -3, -2), 0)]
    assert scored(story).points == (2, 0, 3, 2)
    assert (scored(story).passes, scored(story).pot) == ((0, 0, 0, 1), 3)
    previous = story.view().previous
    assert previous is not None
    assert (names(previous.trick), previous.taker) == ("0 9A, 2 TB, 1 UH", 1)


@settings(max_examples=150, deadline=None)
@given_any(st.permutations(PACK.cards), st.randoms(use_true_random=False))
def test_a_round_is_a_single_run_with_one_free_lead(
    cards: list[str], chance: random.Random
) -> None:
    """lorum, Fast train, ruling: each round of eight ranks uses each rank once, so that somebody
    always holds the next one."""
    hands = [" ".join(cards[seat::4]) for seat in range(4)]
    story = lorum("fast_train", *hands, rounds=1)
    played: list[str] = []
    passed = 0
    while story.view().status == "playing":
        story = story.served()
        passed = sum(story.view().table.passes)
        (seat,) = story.to_act
        story = story.after((seat, chance.choice(story.legal(seat))))
        event = story.events[0]
        assert isinstance(event, CardPlayed)
        played.append(event.card)
    ranks = [PACK.ranks.index(card[0]) for card in played]
    assert ranks == [(ranks[0] + step) % 8 for step in range(len(ranks))]
    assert passed <= 3 * len(played)
    assert 8 <= len(played) <= 29
