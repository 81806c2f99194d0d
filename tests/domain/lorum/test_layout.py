"""Four suits laid from one rank on, and the pot (lorum, *Shedding contracts*, 7)."""

import random

from hypothesis import given as given_any
from hypothesis import settings
from hypothesis import strategies as st

from domain.ledger import ChipsMoved
from domain.lorum.rules import PACK
from domain.lorum.views import LayoutView, SpanView
from domain.table.decide import server_command
from domain.tricks import CardPlayed, Passed
from tests.domain.lorum.words import PASS, chips, lorum, moved, names, play, plays, scored

HANDS = ("KA 9L AA", "KL 7A TH", "8B 9B TB", "AL KH KB 9H")
"""Led with the king of acorns by seat 0."""


def test_the_leader_plays_any_card_which_sets_the_start_rank() -> None:
    """lorum, Lorum: the first card played sets the start rank."""
    story = lorum("lorum", *HANDS)
    assert story.legal(0) == plays("KA AA 9L")
    story.when(0, PASS).refused("lorum.must-play")
    layout = story.plays("KA").view().table.layout
    assert layout == LayoutView(A=SpanView("K", "K"), L=None, H=None, B=None, start="K")


def test_the_start_rank_of_another_suit_or_the_next_card_of_one_begun() -> None:
    """lorum, Lorum: each player in turn plays one of these if able."""
    story = lorum("lorum", *HANDS).plays("KA")
    assert story.to_act == (3,)
    assert story.legal(3) == plays("KH KB")
    story.when(3, play("AL")).refused("lorum.layout")
    story.when(3, play("9H")).refused("lorum.layout")
    story.when(3, PASS).refused("lorum.must-play")
    story.when(3, play("KA")).refused("lorum.not-in-hand")
    story.when(1, play("KL")).refused("lorum.turn")
    story = story.plays("KB")
    assert story.events == (CardPlayed(3, "KB"),)
    story = story.served()
    assert story.to_act == (1,)
    assert story.legal(1) == [play("KL")]
    story = story.plays("KL")
    assert story.legal(0) == [play("AA")]
    assert story.plays("AA").legal(3) == plays("AL KH")


def test_a_suit_runs_round_the_corner_and_ends_below_the_start_rank() -> None:
    """lorum, Lorum: from the 9 by T U O K A 7 to the 8, and the 9 is not laid again."""
    one = "9A TA UA OA KA AA 7A 8A"
    story = lorum("lorum", one + " TL", "AB", "AH", "AL", auto_forced=False)
    for card in one.split():
        assert play(card) in story.legal(0)
        story = story.after((0, play(card)))
        if card != "8A":
            story = story.each(PASS, 3, 2, 1)
    layout = story.view().table.layout
    assert SpanView("9", "8") == layout.A
    story = story.each(PASS, 3, 2, 1)
    assert story.legal(0) == [PASS]
    story.when(0, play("TL")).refused("lorum.layout")


def test_who_cannot_play_pays_a_chip_into_the_pot_and_passes() -> None:
    """lorum, Lorum: forced, and refused to whoever can play."""
    story = lorum("lorum", *HANDS, auto_forced=False, pot=4).plays("KA KB")
    assert story.to_act == (2,)
    assert story.legal(2) == [PASS]
    story.when(2, play("8B")).refused("lorum.layout")
    after = story.after((2, PASS))
    assert after.events == (Passed(2), ChipsMoved("pass", (0, 0, -1, 0), 1))
    assert chips(after) == [0, 0, -1, 0]
    assert (after.view().table.pot, after.view().table.passes) == (5, (0, 0, 1, 0))


def test_the_pass_is_made_by_the_server() -> None:
    """lorum, Lorum: under `auto_forced`; a lone card is not played."""
    story = lorum("lorum", *HANDS).plays("KA KB")
    assert story.to_act == ()
    assert server_command(story.table) == (2, PASS, True)
    story = story.served()
    assert story.events == (Passed(2), ChipsMoved("pass", (0, 0, -1, 0), 1))
    assert story.legal(1) == [play("KL")]
    assert server_command(story.table) is None


def test_the_cards_left_are_paid_into_the_pot_which_then_goes_to_the_winner() -> None:
    """lorum, Shedding contracts, payment: the payments first, then one payout, with what earlier
    rounds left. Seat 0 goes out; 1, 2 and 4 cards are left, 6 were in the pot."""
    story = lorum("lorum", "KA", "7A", "8B 9B", "AL KH KB 9H", pot=6, balances=(1, 2, 3, -12))
    story = story.plays("KA")
    assert story.kinds()[:4] == ["CardPlayed", "ChipsMoved", "ChipsMoved", "RoundScored"]
    assert moved(story) == [
        ("cards_left", (0, -1, -2, -4), 7),
        ("payout", (13, 0, 0, 0), -13),
    ]
    assert scored(story).points == (0, 1, 2, 4)
    assert scored(story).chips == (13, -1, -2, -4)
    assert scored(story).pot == 0
    assert chips(story) == [14, 1, 1, -16]


def test_the_chips_of_the_passes_count_with_the_round() -> None:
    """lorum, Shedding contracts: seat 2 passes once and is left with three cards."""
    story = lorum("lorum", "KA AA", "KL 7A", "8B 9B TB", "KB AL").plays("KA KB").served()
    story = story.plays("KL AA")
    assert scored(story).passes == (0, 0, 1, 0)
    assert scored(story).chips == (1 + 1 + 3 + 1, -1, -4, -1)
    previous = story.view().previous
    assert previous is not None
    assert names(previous.trick) == "0 KA, 3 KB, 1 KL, 0 AA"
    assert [payment.chips for payment in previous.payments] == [6, -1, -4, -1]


@settings(max_examples=100, deadline=None)
@given_any(st.permutations(PACK.cards), st.randoms(use_true_random=False))
def test_the_layout_grows_by_one_card_at_a_time(cards: list[str], chance: random.Random) -> None:
    """lorum, Lorum: by a second reckoning of what fits, on any deal."""
    hands = [" ".join(cards[seat::4]) for seat in range(4)]
    story = lorum("lorum", *hands, rounds=1, auto_forced=False)
    laid: dict[str, list[str]] = {suit: [] for suit in "ALHB"}
    start = None
    while story.view().status == "playing":
        (seat,) = story.to_act
        view = story.view(seat)
        assert view.private is not None
        fits = [
            card
            for card in view.private.cards
            if start is None
            or (not laid[card[1]] and card[0] == start)
            or (laid[card[1]] and follows(laid[card[1]][-1], card[0]) and card[0] != start)
        ]
        assert story.legal(seat) == ([play(card) for card in fits] or [PASS])
        story = story.after((seat, chance.choice(story.legal(seat))))
        event = story.events[0]
        if isinstance(event, CardPlayed):
            start = start or event.card[0]
            laid[event.card[1]].append(event.card[0])
    assert sum(chips(story)) + story.view().table.pot == 0


def follows(rank: str, other: str) -> bool:
    return rank + other in "789TUOKA7"
