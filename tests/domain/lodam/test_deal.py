"""Who deals, cuts and is dealt to, over players who are out (lodam, *Deal*; common, *The deal*)."""

import hashlib
import hmac
from typing import Any

import pytest

from domain.actions import Cut, CutChoice, CutRange, Deal
from domain.hand import HandDealt, HandStarted, PackCut
from domain.seats import Seat
from tests.builders import GAME_ID, creation, new_game
from tests.domain import second_opinion
from tests.domain.lodam.words import PASS, lodam, play
from tests.spec import KEY, Given


def hand_started(story: Given) -> HandStarted:
    (event,) = [event for event in story.events if isinstance(event, HandStarted)]
    return event


def test_first_dealer_by_lot() -> None:
    """common, The deal: by lot, keyed by the first hand's seed; the log says so."""
    for number in range(20):
        key = bytes([number]) * 32
        started = hand_started(new_game("lodam", 5, key=key))
        seed = hmac.digest(key, f"{GAME_ID}:1".encode(), "sha256")
        assert started.seed is not None
        assert started.seed.server_seed == seed.hex()
        assert started.by_lot is True
        assert started.dealer == second_opinion.lot(seed, GAME_ID, 5)


def test_the_lot_names_every_seat_in_the_end() -> None:
    """common, The deal: the lot is over all seats."""
    dealers = {hand_started(new_game("lodam", 4, key=bytes([n]) * 32)).dealer for n in range(40)}
    assert dealers == {0, 1, 2, 3}


@pytest.mark.parametrize("seat", range(4))
def test_first_dealer_overrides_the_lot(seat: Seat) -> None:
    """common, The deal: the option `first_dealer`."""
    started = hand_started(new_game("lodam", 4, first_dealer=seat))
    assert (started.dealer, started.by_lot) == (seat, False)


def test_eldest_hand_is_dealt_first_and_the_right_cuts() -> None:
    """lodam, Deal: clockwise from the dealer's left; the cutter is on the dealer's right."""
    started = hand_started(new_game("lodam", 4, first_dealer=1))
    assert started.seats == (2, 3, 0, 1)
    assert started.cutter == 0


def test_the_commitment_is_published_before_the_cut() -> None:
    """common, The deal, step 1: SHA-256 of a seed that nobody sees yet."""
    story = new_game("lodam", 3, cut="manual")
    started = hand_started(story)
    assert started.seed is not None
    assert started.commitment == hashlib.sha256(bytes.fromhex(started.seed.server_seed)).hexdigest()
    hand = story.view().hand
    assert hand is not None
    assert (hand.phase, hand.commitment) == ("cutting", started.commitment)
    assert started.seed.server_seed not in story.shown()


def test_eldest_leads_to_the_first_trick() -> None:
    """lodam, Play: eldest leads."""
    story = new_game("lodam", 5, first_dealer=4, trading="off").served()
    assert story.to_act == (0,)


OUT = ("", "AS 2C", "TS 3C", "", "KS 4C")
"""Seats 0 and 3 are out."""


def test_players_who_are_out_are_passed_over() -> None:
    """lodam, Deal: dealer, cutter and eldest are players still in."""
    story = lodam(*OUT, leader=1)
    hand = story.view().hand
    assert hand is not None
    assert (hand.dealer, hand.cutter, hand.seats) == (4, 2, (1, 2, 4))
    story = lodam(*OUT, leader=4)
    hand = story.view().hand
    assert hand is not None
    assert (hand.dealer, hand.cutter, hand.seats) == (2, 1, (4, 1, 2))


def test_the_deal_passes_to_the_left_over_who_is_out() -> None:
    """lodam, Deal: after seat 2 comes seat 4, after seat 4 seat 1."""
    rules: dict[str, Any] = {"announcing": False, "challenging": False}
    story = lodam(*OUT, leader=4, **rules).plays("KS AS TS 2C 3C 4C")
    assert hand_started(story).dealer == 4
    assert hand_started(story).seats == (1, 2, 4)
    assert hand_started(story).cutter == 2
    story = lodam(*OUT, leader=1, **rules).plays("AS TS KS 2C 3C 4C")
    assert hand_started(story).dealer == 1
    assert hand_started(story).seats == (2, 4, 1)


def test_the_deal_skips_who_has_just_gone_out() -> None:
    """lodam, Deal: n = players still in, when the next hand starts."""
    story = lodam("AS 2C", "TS 3C", "KS 4C", "QS 5C", leader=0, lives=(1, 3, 3, 3))
    story = story.plays("AS TS KS QS 2C 3C 4C 5C").each(PASS)
    started = hand_started(story)
    assert started.hand == 2
    assert started.dealer == 1  # 3 dealt the first hand; 0 is out
    assert started.seats == (2, 3, 1)
    dealt = story.served()
    (event,) = dealt.events
    assert isinstance(event, HandDealt)
    assert event.counts == (0, 17, 17, 17)
    assert list(event.hands) == [1, 2, 3]


def test_a_player_who_is_out_can_do_nothing() -> None:
    """lodam, Reckoning: a player with no life left is out."""
    story = lodam(*OUT, leader=1)
    assert story.legal(0) == []
    story.when(0, play("AS")).refused("common.out")
    assert [seat.still_in for seat in story.view().seats] == [False, True, True, False, True]


def test_the_server_cuts_and_deals() -> None:
    """common, The deal: `cut: "auto"` and `deal: "auto"` are the defaults; the log says auto."""
    story = new_game("lodam", 4)
    started = hand_started(story)
    assert started.seed is not None
    seed = bytes.fromhex(started.seed.server_seed)
    at = second_opinion.auto_cut(seed, GAME_ID, 1, 52)
    assert story.to_act == ()
    for seat in range(4):
        assert story.legal(seat) == []
        story.when(seat, Cut(at=at)).refused("common.cutter")
    cut = story.when(None, Cut(at=at), by="server")
    assert cut.accepted().events == (PackCut(1, at, "", True),)
    cut.accepted().when(started.dealer, Deal()).refused("common.dealer")
    assert story.served().view().table.stock == 4


def test_manual_cut_waits_for_the_cutter() -> None:
    """common, Actions: `cut: "manual"`; the action `cut` with `at` 1 … 51 and a nonce."""
    story = new_game("lodam", 4, first_dealer=1, cut="manual")
    assert story.to_act == (0,)
    assert story.legal(0) == [CutChoice(at=CutRange(1, 51))]
    for seat in (1, 2, 3):
        assert story.legal(seat) == []
        story.when(seat, Cut(at=7)).refused("common.cutter")
    story.when(None, Cut(at=7), by="server").refused("common.cutter")
    for at in (0, 52, -1, 1000):
        story.when(0, Cut(at=at)).refused("common.cut-range")
    story.when(0, Deal()).refused("common.deal")
    story.when(0, play("AS")).refused("common.not-dealt")
    story.when(0, Cut(at=1)).then(PackCut(1, 1, "", False))
    story.when(0, Cut(at=51, nonce="é🂡")).then(PackCut(1, 51, "é🂡", False))
    story.after((0, Cut(at=5))).when(0, Cut(at=5)).refused("common.cut")


def test_manual_deal_waits_for_the_dealer() -> None:
    """common, Actions: `deal: "manual"`."""
    story = new_game("lodam", 4, first_dealer=1, cut="manual", deal="manual")
    story = story.after((0, Cut(at=30, nonce="n")))
    hand = story.view().hand
    assert hand is not None
    assert hand.phase == "dealing"
    assert story.to_act == (1,)
    assert story.legal(1) == [Deal()]
    for seat in (0, 2, 3):
        assert story.legal(seat) == []
        story.when(seat, Deal()).refused("common.dealer")
    story.when(None, Deal(), by="server").refused("common.dealer")
    story.when(1, play("AS")).refused("common.not-dealt")
    assert story.after((1, Deal())).kinds() == ["HandDealt"]
    story.after((1, Deal())).when(1, Deal()).refused("common.deal")


@pytest.mark.parametrize("nonce", ["", "lucky", "a:1:b:0", "Szőrös majom é🂡"])
def test_the_deal_is_that_of_seed_cut_and_nonce(nonce: str) -> None:
    """common, The deal, steps 3 to 5: computed again by code that shares nothing."""
    story = new_game("lodam", 5, first_dealer=3, cut="manual")
    started = hand_started(story)
    assert started.seed is not None
    story = story.after((started.cutter, Cut(at=19, nonce=nonce))).served()
    (event,) = story.events
    assert isinstance(event, HandDealt)
    pack = second_opinion.shuffled(
        bytes.fromhex(started.seed.server_seed), GAME_ID, 1, nonce, second_opinion.FRENCH
    )
    hands, stock = second_opinion.dealt(second_opinion.cut(pack, 19), [4, 0, 1, 2, 3], 10)
    assert {seat: list(part.cards) for seat, part in event.hands.items() if part} == hands
    assert event.rest is not None
    assert list(event.rest.cards) == stock


def test_games_of_one_seed_and_deal_id_are_dealt_alike() -> None:
    """common, The deal, option `seed`: same seed, deal_id, nonces and cuts, same deals; and the
    game says that its host seeded it."""
    one = new_game("lodam", 4, deal_id="match-7", seeded=True).served()
    other = new_game("lodam", 4, deal_id="match-7", seeded=True).served()
    third = new_game("lodam", 4, deal_id="match-8", seeded=True).served()
    assert one.events == other.events
    assert one.events != third.events
    assert one.view().seeded_by_host is True
    assert new_game("lodam", 4).view().seeded_by_host is False


def test_the_seed_is_never_on_view() -> None:
    """common, The deal: the option `seed` is not in `rules`, not in an event."""
    decision = creation("lodam", 4, seed=KEY.hex(), deal_id="match-7", seeded=True)
    story = Given(decision.table, decision.events).served()
    assert KEY.hex() not in story.shown()
    assert all(KEY.hex() not in repr(event) for event in decision.events)
    assert b"seed" not in bytes(story.view().rules)
