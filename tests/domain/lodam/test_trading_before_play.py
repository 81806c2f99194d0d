"""Trading between the deal and the first lead (lodam, *Trading*, `trading: "before_play"`)."""

from typing import Any

import pytest

from domain.actions import Action
from domain.lodam.commands import OfferTrade
from domain.lodam.events import (
    OneCard,
    TradeConcluded,
    TradedCards,
    TradeDeclined,
    TradeLapsed,
    TradeOffered,
    TradeWithdrawn,
)
from domain.tricks import Passed
from tests.domain.lodam.words import (
    DECLINE,
    PASS,
    WITHDRAW,
    accept,
    lodam,
    offer,
    play,
)
from tests.spec import Given

HANDS = ("KS AS JD 2C", "QH TH KH 3C", "JS KD AD 4C", "QC 5C 6C 7C")


def trading(**rules: Any) -> Given:
    return lodam(*HANDS, **{"trading": "before_play", **rules})


def offers(*cards: str) -> list[Action]:
    return [offer("coat" if card[0] in "KQJ" else "card", card) for card in cards]


def held(story: Given, seat: int) -> set[str]:
    private = story.view(seat).private
    assert private is not None
    return set(private.cards)


def test_there_is_a_trading_phase_between_the_deal_and_the_first_lead() -> None:
    """lodam, Trading, ruling (when): the default of willughby."""
    story = lodam(*HANDS, trading="before_play")
    hand = story.view().hand
    assert hand is not None
    assert hand.phase == "trading"
    assert story.to_act == (0, 1, 2, 3)
    story.when(0, play("KS")).refused("lodam.phase")


def test_with_no_offer_standing_each_may_offer_or_pass() -> None:
    """lodam, Trading: coats are K, Q, J; cards are A, T; all of one's own hand, nothing else."""
    story = trading()
    assert story.legal(0) == [*offers("JD", "KS"), *offers("AS"), PASS]
    assert story.legal(1) == [*offers("QH", "KH"), *offers("TH"), PASS]
    assert story.legal(3) == [*offers("QC"), PASS]


@pytest.mark.parametrize(
    ("kind", "card", "rule"),
    [
        ("coat", "AS", "lodam.trade-kind"),
        ("card", "KS", "lodam.trade-kind"),
        ("coat", "2C", "lodam.trade-kind"),
        ("card", "2C", "lodam.trade-kind"),
        ("coat", "QH", "lodam.not-in-hand"),
        ("card", "TH", "lodam.not-in-hand"),
        ("coat", "OA", "lodam.not-in-hand"),
    ],
)
def test_an_offer_is_of_its_kind_and_of_the_hand(kind: Any, card: str, rule: str) -> None:
    """lodam, Trading: the card, of that kind and in the offerer's hand."""
    trading().when(0, offer(kind, card)).refused(rule)


def test_an_offer() -> None:
    """lodam, Trading: the card is seen by the offerer alone; the table sees who, and the kind."""
    story = trading().when(0, offer("coat", "KS")).then(TradeOffered(0, 1, "coat", OneCard("KS")))
    standing = story.view().table.offer
    assert (standing.number, standing.seat, standing.kind, standing.declined) == (1, 0, "coat", ())
    for seat in (1, 2, 3, None):
        assert "KS" not in story.shown(seat)
    assert story.to_act == (1, 2, 3)


def test_while_an_offer_stands_there_are_only_answers_and_the_withdrawal() -> None:
    """lodam, Trading, ruling (when): one offer at a time."""
    story = trading().after((0, offer("coat", "KS")))
    assert story.legal(0) == [WITHDRAW]
    assert story.legal(1) == [accept("QH"), accept("KH"), DECLINE]
    assert story.legal(2) == [accept("KD"), accept("JS"), DECLINE]
    assert story.legal(3) == [accept("QC"), DECLINE]
    story.when(0, PASS).refused("lodam.offer-stands")
    story.when(1, PASS).refused("lodam.offer-stands")
    story.when(1, offer("coat", "QH")).refused("lodam.one-offer")
    story.when(1, WITHDRAW).refused("lodam.withdraw-own")


def test_the_offerer_may_not_accept_their_own_offer() -> None:
    """lodam, Trading, ruling: nor decline it."""
    story = trading().after((0, offer("coat", "KS")))
    story.when(0, accept("JD")).refused("lodam.own-offer")
    story.when(0, DECLINE).refused("lodam.own-offer")


def test_an_answer_is_a_card_of_the_same_kind_and_of_the_hand() -> None:
    """lodam, Trading: accept_trade {card}, a card of the same kind."""
    story = trading().after((0, offer("coat", "KS")))
    story.when(1, accept("TH")).refused("lodam.trade-kind")
    story.when(1, accept("3C")).refused("lodam.trade-kind")
    story.when(1, accept("KD")).refused("lodam.not-in-hand")


def test_without_an_offer_there_is_nothing_to_answer() -> None:
    """lodam, Trading."""
    story = trading()
    story.when(1, accept("QH")).refused("lodam.no-offer")
    story.when(1, DECLINE).refused("lodam.no-offer")
    story.when(1, WITHDRAW).refused("lodam.no-offer")


def test_the_first_acceptance_concludes_and_the_cards_change_hands() -> None:
    """lodam, Trading: the two cards are seen by those two alone."""
    story = (
        trading()
        .after((0, offer("coat", "KS")))
        .when(2, accept("KD"))
        .then(TradeConcluded((0, 2), 1, False, TradedCards("KS", "KD")))
    )
    assert held(story, 0) == {"KD", "AS", "JD", "2C"}
    assert held(story, 2) == {"JS", "KS", "AD", "4C"}
    assert story.view().table.offer is None
    story.when(1, accept("QH")).refused("lodam.no-offer")
    for seat in (1, 3, None):
        assert "KS" not in story.shown(seat)
        assert "KD" not in story.shown(seat)
    assert story.to_act == (0, 1, 2, 3)


def test_an_offer_accepted_by_one_who_had_other_offers_declined() -> None:
    """lodam, Trading: others' declining leaves the offer to the rest."""
    story = trading().after((0, offer("coat", "KS")), (1, DECLINE))
    assert story.view().table.offer.declined == (1,)
    assert story.to_act == (2, 3)
    story.when(3, accept("QC")).then(TradeConcluded((0, 3), 1, False, TradedCards("KS", "QC")))


def test_cards_of_one_suit_annul_the_trade() -> None:
    """lodam, Trading: both have seen both cards, and each takes their own back."""
    story = (
        trading()
        .after((0, offer("coat", "KS")))
        .when(2, accept("JS"))
        .then(TradeConcluded((0, 2), 1, True, TradedCards("KS", "JS")))
    )
    assert held(story, 0) == {"KS", "AS", "JD", "2C"}
    assert held(story, 2) == {"JS", "KD", "AD", "4C"}


def test_an_annulled_offer_counts_as_used() -> None:
    """lodam, Trading, ruling."""
    story = trading().after((0, offer("coat", "KS")), (2, accept("JS")))
    assert story.legal(0) == [PASS]
    story.when(0, offer("card", "AS")).refused("lodam.trade-offers")


def test_an_offer_that_was_exchanged_counts_as_used() -> None:
    """lodam, Trading, ruling (when): once a hand, whatever came of it."""
    story = trading().after((0, offer("coat", "KS")), (2, accept("KD")))
    assert story.legal(0) == [PASS]
    story.when(0, offer("card", "AS")).refused("lodam.trade-offers")


def test_a_decline_is_final_for_that_offer() -> None:
    """lodam, Trading, ruling."""
    story = trading().when(0, offer("coat", "KS")).accepted()
    story = story.when(1, DECLINE).then(TradeDeclined(1, 1))
    assert story.legal(1) == []
    story.when(1, DECLINE).refused("lodam.declined")
    story.when(1, accept("QH")).refused("lodam.declined")


@pytest.mark.parametrize(("seat", "card"), [(0, "KS"), (2, "KD")])
def test_who_declined_one_offer_may_accept_the_next(seat: int, card: str) -> None:
    """lodam, Trading, ruling: final for *that* offer, whoever makes the next."""
    story = trading(trade_offers=2).after((0, offer("coat", "KS"))).each(DECLINE)
    story = story.after((seat, offer("coat", card)))
    assert story.view().table.offer.declined == ()
    assert story.legal(1) == [accept("QH"), accept("KH"), DECLINE]
    story.when(1, accept("QH")).then(TradeConcluded((seat, 1), 2, False, TradedCards(card, "QH")))


def test_when_all_others_have_declined_the_offer_lapses_and_is_used() -> None:
    """lodam, Trading, and its ruling: a lapsed offer counts as used."""
    story = trading().after((0, offer("coat", "KS"))).each(DECLINE, 1, 3)
    story = story.when(2, DECLINE).then(TradeDeclined(2, 1), TradeLapsed(0, 1))
    assert story.view().table.offer is None
    assert story.legal(0) == [PASS]
    story.when(0, offer("coat", "KS")).refused("lodam.trade-offers")
    assert story.to_act == (0, 1, 2, 3)


def test_the_offerer_may_withdraw_and_the_offer_is_used() -> None:
    """lodam, Trading, and its ruling: a withdrawn offer counts as used."""
    story = trading().after((0, offer("coat", "KS")), (1, DECLINE))
    story = story.when(0, WITHDRAW).then(TradeWithdrawn(0, 1))
    story.when(0, offer("coat", "KS")).refused("lodam.trade-offers")
    story.when(0, WITHDRAW).refused("lodam.no-offer")
    assert story.legal(1) == [*offers("QH", "KH"), *offers("TH"), PASS]


def test_accepting_uses_no_offer_of_ones_own() -> None:
    """lodam, Trading, ruling."""
    story = trading().after((0, offer("coat", "KS")), (2, accept("KD")))
    story.when(2, offer("coat", "KS")).then(TradeOffered(2, 2, "coat", OneCard("KS")))


def test_a_card_just_traded_may_be_offered_on() -> None:
    """lodam, Trading: whatever is in the offerer's hand, and not what has left it."""
    story = trading(trade_offers=2).after((0, offer("coat", "KS")), (2, accept("KD")))
    story.when(0, offer("coat", "KS")).refused("lodam.not-in-hand")
    story.when(0, offer("coat", "KD")).then(TradeOffered(0, 2, "coat", OneCard("KD")))


def test_who_has_passed_may_not_offer_but_may_answer() -> None:
    """lodam, Trading, ruling (when)."""
    story = trading().when(1, PASS).then(Passed(1))
    assert story.to_act == (0, 2, 3)
    assert story.legal(1) == []
    story.when(1, PASS).refused("lodam.passed")
    story.when(1, offer("coat", "QH")).refused("lodam.trading-time")
    story = story.after((0, offer("coat", "KS")))
    assert story.to_act == (1, 2, 3)
    assert story.legal(1) == [accept("QH"), accept("KH"), DECLINE]
    story = story.after((1, accept("QH")))
    assert story.legal(1) == []
    assert story.to_act == (0, 2, 3)


def test_everyone_must_pass_whatever_they_hold() -> None:
    """lodam, Trading, ruling: also who has nothing to trade and no offer left, so that passing
    tells nothing about a hand."""
    story = lodam("KS 2C", "3C 4C", "5C 6C", trading="before_play")
    assert story.to_act == (0, 1, 2)
    assert story.legal(1) == [PASS]
    story = story.after((0, offer("coat", "KS"))).each(DECLINE, 1, 2)
    assert story.to_act == (0, 1, 2)
    assert story.legal(0) == [PASS]
    assert story.each(PASS, 1, 2).to_act == (0,)


def test_play_begins_when_all_have_passed() -> None:
    """lodam, Trading, ruling: and no offer stands; eldest leads."""
    story = trading().each(PASS, 3, 1, 2)
    hand = story.view().hand
    assert hand is not None
    assert hand.phase == "trading"
    story = story.when(0, PASS).then(Passed(0))
    hand = story.view().hand
    assert hand is not None
    assert hand.phase == "playing"
    assert story.to_act == (0,)
    story.when(0, offer("coat", "KS")).refused("lodam.trading-time")
    story.when(0, PASS).refused("lodam.phase")


def test_trade_offers_allows_more_than_one() -> None:
    """lodam, Trading, option `trade_offers` (0…5): each offer a number of the game's own."""
    story = trading(trade_offers=2).after((0, offer("coat", "KS")), (0, WITHDRAW))
    story = story.after((0, offer("card", "AS")), (0, WITHDRAW))
    story.when(0, offer("coat", "KS")).refused("lodam.trade-offers")
    story.when(1, offer("coat", "QH")).then(TradeOffered(1, 3, "coat", OneCard("QH")))


@pytest.mark.parametrize("allowed", [3, 5])
def test_so_many_trade_offers_and_not_one_more(allowed: int) -> None:
    """lodam, Trading, option `trade_offers` (0…5)."""
    story = trading(trade_offers=allowed)
    for number in range(1, allowed + 1):
        story = story.when(0, offer("coat", "KS")).then(
            TradeOffered(0, number, "coat", OneCard("KS"))
        )
        story = story.after((0, WITHDRAW))
    assert story.legal(0) == [PASS]
    story.when(0, offer("coat", "KS")).refused("lodam.trade-offers")


def test_the_next_hand_gives_the_offers_back() -> None:
    """lodam, Trading, ruling (when): once a *hand*."""
    story = lodam("KS", "3S", "4S", trading="before_play")
    story = story.after((0, offer("coat", "KS")), (0, WITHDRAW)).each(PASS)
    story = story.plays("KS 3S 4S").each(PASS).served()
    assert story.table.hand == 2
    first = story.legal(0)[0]
    assert isinstance(first, OfferTrade)
    story.when(0, first).then(TradeOffered(0, 2, first.kind, OneCard(first.card)))


@pytest.mark.parametrize("mode", ["before_play", "any_time"])
def test_no_trade_offers_no_trading_phase(mode: str) -> None:
    """lodam, Trading, ruling: `trade_offers: 0` means no trading phase."""
    story = trading(trade_offers=0, trading=mode)
    hand = story.view().hand
    assert hand is not None
    assert hand.phase == "playing"
    story.when(0, offer("coat", "KS")).refused("lodam.trading")
    story.when(0, PASS).refused("lodam.phase")


def test_trading_off() -> None:
    """lodam, Trading: `off` in modern."""
    story = lodam(*HANDS, profile="modern")
    hand = story.view().hand
    assert hand is not None
    assert hand.phase == "playing"
    story.when(0, offer("coat", "KS")).refused("lodam.trading")
    story.when(0, accept("KS")).refused("lodam.no-offer")


def test_with_a_player_out_the_others_answers_count() -> None:
    """lodam, Trading: each other player *still in* answers."""
    story = lodam("KS 2C", "", "QH 3C", trading="before_play")
    story = story.after((0, offer("coat", "KS")))
    assert story.to_act == (2,)
    story.when(1, DECLINE).refused("common.out")
    story.when(2, DECLINE).then(TradeDeclined(2, 1), TradeLapsed(0, 1))


def test_before_play_means_not_between_tricks() -> None:
    """lodam, Trading: only `any_time` allows an offer during play."""
    story = lodam("KS AS 2C", "QH TS 3C", "JS KC 4C", trading="before_play").each(PASS)
    story = story.plays("AS TS JS")
    assert story.legal(0) == [play("2C"), play("KS")]
    story.when(0, offer("coat", "KS")).refused("lodam.trading-time")


def test_a_traded_card_is_played_by_its_new_holder() -> None:
    """lodam, Trading: the cards change hands."""
    story = trading().after((0, offer("coat", "KS")), (2, accept("KD"))).each(PASS)
    story.when(0, play("KS")).refused("lodam.not-in-hand")
    assert story.legal(0) == [play("2C"), play("JD"), play("KD"), play("AS")]
