"""Trading between tricks as well (lodam, *Trading*, `trading: "any_time"`)."""

from typing import Any

import pytest

from domain.actions import Action
from domain.lodam.events import (
    Announced,
    OneCard,
    TradeConcluded,
    TradedCards,
    TradeDeclined,
    TradeLapsed,
    TradeOffered,
    TradeWithdrawn,
)
from domain.tricks import CardPlayed
from tests.domain.lodam.words import (
    ANNOUNCE,
    DECLINE,
    PASS,
    RACE,
    RACE_STOCK,
    RACE_TRICKS,
    WITHDRAW,
    accept,
    challenge,
    lodam,
    offer,
    play,
)
from tests.spec import Given

HANDS = ("AS QC KH 2C", "TS KC 3H 3C", "KS JC 4H 4C")


def between_tricks(**rules: Any) -> Given:
    """Everyone has passed, and seat 0 has taken the first trick."""
    story = lodam(*HANDS, **{"trading": "any_time", **rules}).each(PASS)
    return story.plays("AS TS KS")


def plays(*cards: str) -> list[Action]:
    return [play(card) for card in cards]


def test_there_is_the_trading_phase_besides() -> None:
    """lodam, Trading, ruling (when): with `any_time` there is *besides* the right to offer."""
    story = lodam(*HANDS, trading="any_time")
    assert story.to_act == (0, 1, 2)
    assert PASS in story.legal(0)


def test_not_before_the_first_trick() -> None:
    """lodam, Trading, ruling (when): between two tricks, so after the first."""
    story = lodam(*HANDS, trading="any_time").each(PASS)
    assert story.legal(0) == plays("2C", "QC", "KH", "AS")
    story.when(0, offer("coat", "QC")).refused("lodam.trading-time")
    story.when(1, offer("coat", "KC")).refused("lodam.trading-time")


def test_whoever_has_passed_may_offer_while_the_table_is_clear() -> None:
    """lodam, Trading, ruling (when): also for who has passed before; the leader may lead on."""
    story = between_tricks()
    assert story.to_act == (0,)
    assert story.legal(0) == [*plays("2C", "QC", "KH"), offer("coat", "QC"), offer("coat", "KH")]
    assert story.legal(1) == [offer("coat", "KC")]
    assert story.legal(2) == [offer("coat", "JC")]
    story.when(1, offer("coat", "KC")).then(TradeOffered(1, 1, "coat", OneCard("KC")))


def test_not_during_a_trick() -> None:
    """lodam, Trading, ruling (when): whenever the table is clear."""
    story = between_tricks().plays("2C")
    assert story.legal(2) == []
    story.when(2, offer("coat", "JC")).refused("lodam.trading-time")


def test_not_after_the_last_trick() -> None:
    """lodam, Trading, ruling (when): between two tricks."""
    story = lodam("AS KH", "TS 3H", "KS 4H", trading="any_time").each(PASS).plays("AS TS KS")
    assert offer("coat", "KH") in story.legal(0)
    story = story.plays("KH 3H 4H")
    assert story.legal(0) == [PASS]
    story.when(0, offer("coat", "KH")).refused("lodam.trading-time")


def test_the_leader_must_answer_a_standing_offer_first() -> None:
    """lodam, Trading, ruling (when): of another; to_act still names the leader alone."""
    story = between_tricks().after((1, offer("coat", "KC")))
    assert story.to_act == (0,)
    assert story.legal(0) == [accept("QC"), accept("KH"), DECLINE]
    story.when(0, play("2C")).refused("lodam.answer-first")
    story.when(0, offer("coat", "QC")).refused("lodam.one-offer")
    story = story.after((0, DECLINE))
    assert story.to_act == (0,)
    assert story.legal(0) == plays("2C", "QC", "KH")


def test_a_leader_with_nothing_of_the_kind_declines() -> None:
    """lodam, Trading, ruling (when): the leader answers whatever they hold."""
    story = lodam("AS 2C 5C", "TS KH 3C", "KS 4C 6C", trading="any_time").each(PASS)
    story = story.plays("AS TS KS").after((1, offer("coat", "KH")))
    assert story.legal(0) == [DECLINE]


def test_the_lead_makes_the_offer_lapse() -> None:
    """lodam, Trading, ruling (when): though others have not answered; the offer is used."""
    story = between_tricks().after((1, offer("coat", "KC")), (0, DECLINE))
    story = story.when(0, play("2C")).then(CardPlayed(0, "2C"), TradeLapsed(1, 1))
    assert story.view().table.offer is None
    story.when(2, accept("JC")).refused("lodam.no-offer")
    story = story.plays("3C 4C")
    story.when(1, offer("coat", "KC")).refused("lodam.trade-offers")


def test_the_leaders_own_offer_lapses_with_the_lead() -> None:
    """lodam, Trading, ruling (when): the leader need answer only the offer *of another*."""
    story = between_tricks().after((0, offer("coat", "QC")))
    assert story.to_act == (0,)
    assert story.legal(0) == [*plays("2C", "QC", "KH"), WITHDRAW]
    story.when(0, play("QC")).then(CardPlayed(0, "QC"), TradeLapsed(0, 1))


def test_others_may_answer_while_the_leader_thinks() -> None:
    """lodam, Trading: the first acceptance concludes it."""
    story = between_tricks().after((1, offer("coat", "KC")))
    assert story.legal(2) == [accept("JC"), DECLINE]
    annulled = story.when(2, accept("JC"))
    annulled.then(TradeConcluded((1, 2), 1, True, TradedCards("KC", "JC")))
    story.when(0, accept("KH")).then(TradeConcluded((1, 0), 1, False, TradedCards("KC", "KH")))
    after = story.after((0, accept("KH")))
    assert after.legal(0)[:3] == plays("2C", "QC", "KC")


def test_an_offer_between_tricks_may_be_declined_by_all_or_withdrawn() -> None:
    """lodam, Trading."""
    story = between_tricks().after((1, offer("coat", "KC")))
    story.after((0, DECLINE)).when(2, DECLINE).then(TradeDeclined(2, 1), TradeLapsed(1, 1))
    story.when(1, WITHDRAW).then(TradeWithdrawn(1, 1))
    assert story.after((1, WITHDRAW)).legal(0)[:3] == plays("2C", "QC", "KH")


def test_an_offer_counts_once_a_hand_whenever_it_was_made() -> None:
    """lodam, Trading, ruling: `trade_offers` is per hand, trading phase included."""
    story = lodam(*HANDS, trading="any_time").after((1, offer("coat", "KC")), (1, WITHDRAW))
    story = story.each(PASS).plays("AS TS KS")
    assert story.legal(1) == []
    story.when(1, offer("coat", "KC")).refused("lodam.trade-offers")


def test_accepting_between_tricks_uses_no_offer_of_ones_own() -> None:
    """lodam, Trading, ruling: as in the trading phase."""
    story = between_tricks().after((1, offer("coat", "KC")), (0, accept("KH")))
    story.when(0, offer("coat", "KC")).then(TradeOffered(0, 2, "coat", OneCard("KC")))


def test_offers_number_on_between_tricks() -> None:
    """common, Actions: `offer` is the number of the standing offer."""
    story = lodam(*HANDS, trading="any_time", trade_offers=2)
    story = story.after((1, offer("coat", "KC")), (1, WITHDRAW)).each(PASS).plays("AS TS KS")
    story.when(1, offer("coat", "KC")).then(TradeOffered(1, 2, "coat", OneCard("KC")))


def test_the_trading_phase_itself_ends_only_when_all_have_passed() -> None:
    """lodam, Trading, ruling (when): with an offer standing nobody passes."""
    story = lodam(*HANDS, trading="any_time").after((0, PASS), (1, offer("coat", "KC")))
    story.when(2, PASS).refused("lodam.offer-stands")
    assert story.to_act == (0, 2)


@pytest.fixture
def reached() -> Given:
    """Seat 0 has reached 31; the table is clear, seat 0 is to lead."""
    story = lodam(*RACE, stock=RACE_STOCK, trading="any_time").each(PASS)
    return story.plays(" ".join(RACE_TRICKS[:2]))


def test_announcing_and_challenging_go_on_while_an_offer_stands(reached: Given) -> None:
    """lodam, Trading, ruling (when): leading, announcing and challenging go on as ever."""
    story = reached.after((1, offer("coat", "QC")))
    assert story.legal(0) == [accept("KC"), accept("QH"), DECLINE, ANNOUNCE]
    story = story.when(0, ANNOUNCE).then(Announced(0))
    assert challenge(1) in story.legal(0)
    story = story.after((0, challenge(1)))
    assert story.kinds() == ["ChallengeDecided"]
    assert story.view().table.offer.number == 1
