"""Following suit and taking tricks (lorum, *Trick contracts*)."""

import pytest

from domain.actions import Play
from domain.lorum.contracts import ContractName
from domain.tricks import CardPlayed, TrickTaken
from tests.domain.lorum.words import PASS, lorum, play, plays

TRICKS: list[ContractName] = ["hearts", "obers", "no_tricks", "hairy_monkey"]

each_trick_contract = pytest.mark.parametrize("contract", TRICKS)


@each_trick_contract
def test_a_leader_may_lead_anything(contract: ContractName) -> None:
    """lorum, Trick contracts: all cards are legal, and for the leader alone."""
    story = lorum(contract, "KH 7A OB", "9A 9H", "TA TH", "UA UH")
    assert story.legal(0) == plays("7A KH OB")
    for seat in (1, 2, 3):
        assert story.legal(seat) == []


@each_trick_contract
def test_the_suit_led_must_be_followed(contract: ContractName) -> None:
    """lorum, Trick contracts: follow suit if able."""
    story = lorum(contract, "KH 7A", "9A 9H", "TA TH", "8A UA UH").plays("7A")
    assert story.legal(3) == plays("8A UA")
    story.when(3, play("UH")).refused("lorum.follow-suit")


@each_trick_contract
def test_who_cannot_follow_plays_any_card(contract: ContractName) -> None:
    """lorum, Trick contracts: else any card; it takes nothing."""
    story = lorum(contract, "7A 7L", "8A 9H", "9A TH", "AH KH").plays("7A")
    assert story.legal(3) == plays("KH AH")
    story = story.plays("AH 9A 8A")
    assert TrickTaken(2, 1) in story.events


@pytest.mark.parametrize(
    ("cards", "taker"),
    [
        ("7L UL OL TL", 2),
        ("8L 7L 9L TL", 3),
        ("TL 9L UL OL", 3),
        ("OL KL UL AL", 3),
        ("KL OL AL UL", 2),
        ("UL TL 9L 8L", 0),
        ("7L AA AH AB", 0),
    ],
)
def test_the_highest_card_of_the_suit_led_takes(cards: str, taker: int) -> None:
    """lorum, Cards: A K O U T 9 8 7, no trumps. Seat 0 leads."""
    hands = [f"{card} 8H" for card in cards.split()]
    first, second, third, fourth = cards.split()
    story = lorum("no_tricks", *hands).plays(f"{first} {fourth} {third} {second}")
    assert story.events == (CardPlayed(1, second), TrickTaken(taker, 1))
    assert story.to_act == (taker,)


@each_trick_contract
def test_nobody_plays_out_of_turn_or_what_they_do_not_hold(contract: ContractName) -> None:
    """lorum: turn order to the right; one's own cards."""
    story = lorum(contract, "7A 8H", "9A 9H", "TA TH", "UA UH")
    for seat, card in ((1, "9A"), (2, "TA"), (3, "UA")):
        story.when(seat, play(card)).refused("lorum.turn")
        story.when(seat, PASS).refused("lorum.turn")
    story.when(0, play("9A")).refused("lorum.not-in-hand")
    story.when(0, play("AS")).refused("lorum.not-in-hand")
    story.when(0, play("XX")).refused("lorum.not-in-hand")
    story.plays("7A").when(0, play("8H")).refused("lorum.turn")


@each_trick_contract
def test_nobody_passes(contract: ContractName) -> None:
    """lorum, Trick contracts: there is no passing."""
    lorum(contract, "7A", "9A", "TA", "UA").when(0, PASS).refused("lorum.no-passing")


@each_trick_contract
@pytest.mark.parametrize("auto_forced", [True, False])
def test_a_lone_legal_card_is_never_forced(contract: ContractName, auto_forced: bool) -> None:
    """lorum, Shedding contracts: it would tell about the hand."""
    story = lorum(contract, "7A", "9A", "TA", "UA", auto_forced=auto_forced)
    assert story.served().table is story.table
    assert story.to_act == (0,)
    story = story.plays("7A")
    assert story.served().table is story.table
    assert story.to_act == (3,)


def test_guards_hold_a_card_to_its_round_and_trick() -> None:
    """common, Actions: `hand` and `trick` refuse a late play."""
    story = lorum("no_tricks", "7A 7H", "9A 9H", "TA TH", "UA UH")
    story.when(0, Play(card="7A", hand=1, trick=0)).accepted()
    story.when(0, Play(card="7A", hand=2)).refused("common.guard")
    story.when(0, Play(card="7A", trick=1)).refused("common.guard")
    story.when(0, Play(card="7A", offer=1)).refused("common.guard")
    after = story.plays("7A UA TA 9A")
    after.when(3, Play(card="UH", trick=1)).accepted()
    after.when(3, Play(card="UH", trick=0)).refused("common.guard")
