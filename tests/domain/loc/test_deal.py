"""Bets, cut and deal: their order, who cuts, who is dealt what (loc, *Cards, stakes, deal*)."""

from typing import Any

import msgspec
import pytest

from domain import shuffle
from domain.actions import Cut, Deal
from domain.game import OptionError
from domain.hand import HandDealt, HandStarted, PackCut
from domain.loc import LOC
from domain.registry import GAMES
from domain.seats import Seat
from domain.table.options import resolve
from tests.builders import GAME_ID, new_game
from tests.domain.loc.words import BET, discard, loc, play
from tests.spec import Given


def started(seats: int, **rules: Any) -> HandStarted:
    (event,) = [e for e in new_game("loc", seats, **rules).events if isinstance(e, HandStarted)]
    return event


@pytest.mark.parametrize("seats", range(2, 9))
def test_six_cards_each_and_the_rest_is_set_aside(seats: int) -> None:
    """loc, Cards: six cards each, clockwise from the dealer's left; two to eight players."""
    story = new_game("loc", seats, first_dealer=1, deal="manual").served()
    story = story.when(1, Deal()).accepted()
    (event,) = [e for e in story.events if isinstance(e, HandDealt)]
    assert event.counts == (6,) * seats
    assert event.stock == 53 - 6 * seats
    dealt_first = (2 % seats, *[s % seats for s in range(3, seats + 2)])
    assert story.table.order == dealt_first
    pack = _pack_after_cut(story)
    for place, seat in enumerate(dealt_first):
        part = event.hands[seat]
        assert part is not None
        assert part.cards == tuple(pack[place : 6 * seats : seats])


def _pack_after_cut(story: Given) -> list[str]:
    table = story.table
    shuffled = shuffle.shuffled(LOC.pack, table.server_seed, table.deal_id, 1, "")
    assert table.cut_at is not None
    return list(LOC.pack.texts(shuffle.cut(shuffled, table.cut_at)))


@pytest.mark.parametrize("seats", [1, 9])
def test_two_to_eight_players(seats: int) -> None:
    """loc: 2 to 8 players."""
    with pytest.raises(OptionError) as refusal:
        resolve(GAMES["loc"], {}, seats)
    assert refusal.value.path == "$.players"


def test_the_first_dealer_is_by_lot() -> None:
    """loc, Cards; common, The deal: keyed by the first hand's seed; the log says so."""
    event = started(5)
    assert event.by_lot
    assert event.seed is not None
    seed = bytes.fromhex(event.seed.server_seed)
    assert event.dealer == shuffle.dealer_lot(seed, GAME_ID, 5)


def test_the_first_dealer_may_be_named() -> None:
    """common, The deal: the option first_dealer overrides the lot."""
    event = started(5, first_dealer=3)
    assert (event.dealer, event.by_lot) == (3, False)
    assert event.seats == (4, 0, 1, 2, 3)


@pytest.mark.parametrize(
    ("seats", "dealer", "cutter"), [(4, 0, 3), (4, 2, 1), (8, 0, 7), (3, 1, 0)]
)
def test_the_cutter_is_on_the_dealers_right(seats: int, dealer: Seat, cutter: Seat) -> None:
    """loc, Cards: the cutter is the player on the dealer's right."""
    assert started(seats, first_dealer=dealer).cutter == cutter


@pytest.mark.parametrize("dealer", [0, 1])
def test_of_two_players_the_other_cuts(dealer: Seat) -> None:
    """loc, Cards: with two players the dealer's right is the other player."""
    event = started(2, first_dealer=dealer)
    assert event.cutter == 1 - dealer
    assert event.seats == (1 - dealer, dealer)


def test_bets_then_cut_then_deal() -> None:
    """loc, Cards: the order of a hand; each is refused before its time."""
    story = new_game("loc", 3, first_dealer=0, bets="manual", cut="manual", deal="manual")
    assert story.to_act == (0, 1, 2)
    story.when(2, Cut(at=5)).refused("common.cut")
    story.when(0, Deal()).refused("common.deal")
    story.when(0, discard("2C")).refused("loc.phase")
    story = story.each(BET)
    assert story.to_act == (2,)
    story.when(0, BET).refused("common.not-dealt")
    story.when(0, Deal()).refused("common.deal")
    story.when(1, Cut(at=5)).refused("common.cutter")
    story = story.when(2, Cut(at=5, nonce="ours")).then(PackCut(1, 5, "ours", False))
    assert story.to_act == (0,)
    story.when(0, play("2C")).refused("common.not-dealt")
    story.when(1, Deal()).refused("common.dealer")
    story = story.when(0, Deal()).accepted()
    assert story.kinds() == ["HandDealt"]
    assert story.to_act == (0, 1, 2)


def test_the_phases_are_named() -> None:
    """contract, The view: betting, cutting, dealing, discarding, playing."""
    story = new_game("loc", 2, first_dealer=0, bets="manual", cut="manual", deal="manual")
    seen = [_phase(story)]
    for step in ((0, BET), (1, BET), (1, Cut(at=9)), (0, Deal())):
        story = story.after(step)
        seen.append(_phase(story))
    for _ in range(2):
        seat = story.to_act[0]
        story = story.after((seat, story.legal(seat)[0]))
        seen.append(_phase(story))
    assert seen == [
        "betting",
        "betting",
        "cutting",
        "dealing",
        "discarding",
        "discarding",
        "playing",
    ]


def _phase(story: Given) -> str:
    hand = story.view().hand
    assert hand is not None
    return hand.phase


def test_the_pack_is_cut_within_53_cards() -> None:
    """common, The deal: at 1 … cards-1."""
    story = new_game("loc", 2, first_dealer=0, cut="manual").served()
    story.when(1, Cut(at=0)).refused("common.cut-range")
    story.when(1, Cut(at=53)).refused("common.cut-range")
    story.when(1, Cut(at=52)).accepted()


def test_who_is_out_is_passed_over_as_dealer_and_cutter_and_in_the_deal() -> None:
    """loc, Cards: players who are out are passed over."""
    state = loc("", "", "", "", "", first_dealer=1).table.play
    state.out = frozenset({0, 2})
    assert LOC.next_dealer(state, 1) == 3
    plan = LOC.plan(state, 1)
    assert (plan.seats, plan.cutter, plan.each) == ((3, 4, 1), 4, 6)


def test_the_deal_passes_clockwise_from_hand_to_hand() -> None:
    """loc, Cards: the deal passes clockwise, so that each deals once."""
    story = new_game("loc", 3, first_dealer=2).served()
    dealers = [story.table.dealer]
    while story.table.status == "playing":
        seat = story.to_act[0]
        story = story.after((seat, story.legal(seat)[0])).served()
        if story.table.hand > len(dealers):
            dealers.append(story.table.dealer)
    assert dealers == [2, 0, 1]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("stake", 0),
        ("stake", 1_000_001),
        ("starting_chips", 0),
        ("starting_chips", 1_000_000_001),
        ("hands", 0),
        ("hands", 1001),
        ("bets", "later"),
        ("joker", "wild"),
        ("first_dealer", 4),
    ],
)
def test_options_out_of_range_are_refused(name: str, value: Any) -> None:
    """loc, Cards: 1 ≤ stake ≤ 1000000, 1 ≤ starting_chips ≤ 1000000000, 1 ≤ hands ≤ 1000."""
    with pytest.raises(OptionError) as refusal:
        resolve(GAMES["loc"], {name: value}, 4)
    assert refusal.value.path == f"$.rules.{name}"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *[("stake", value) for value in (1, 1_000_000)],
        *[("starting_chips", value) for value in (1, 1_000_000_000)],
        *[("hands", value) for value in (1, 1000)],
    ],
)
def test_options_at_the_ends_of_their_ranges_may_be_set(name: str, value: int) -> None:
    """loc, Cards: 1 ≤ stake ≤ 1000000, 1 ≤ starting_chips ≤ 1000000000, 1 ≤ hands ≤ 1000."""
    view = new_game("loc", 4, **{name: value}).view()
    assert msgspec.json.decode(view.rules)[name] == value


def test_the_defaults() -> None:
    """loc, Cards, Play: stake 1, balances from 0, as many hands as players, bets by the server."""
    options, _ = resolve(GAMES["loc"], {}, 4)
    assert msgspec.to_builtins(options) == {
        "stake": 1,
        "starting_chips": None,
        "hands": None,
        "bets": "auto",
        "joker": "super_ace",
        "first_dealer": None,
        "cut": "auto",
        "deal": "auto",
        "auto_forced": True,
        "disclosure": "after_hand",
    }
    assert new_game("loc", 4).view().table.hands == 4
    assert new_game("loc", 4, hands=9).view().table.hands == 9
