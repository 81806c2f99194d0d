"""When a round of tricks is over (lorum, *Trick contracts*, ruling `early_end`)."""

import pytest

from domain.lorum.contracts import ContractName
from domain.tricks import TrickTaken
from tests.domain.lorum.words import happened, lorum, moved, of_tricks, scored, tricks, won_by

PLAYED = won_by(0, 1, 2, 3, 0, 1, 2, 3)
"""The hearts are gone with the sixth trick, the Obers with the seventh, the king of hearts with the
fifth."""

LAST = [("hearts", 6), ("obers", 7), ("hairy_monkey", 5)]


@pytest.mark.parametrize(("contract", "last"), LAST)
def test_the_round_ends_with_the_last_penalty(contract: ContractName, last: int) -> None:
    """lorum, ruling `early_end`, default true: all 8 hearts, all 4 Obers, the king of hearts."""
    story = tricks(of_tricks(contract, *PLAYED), *PLAYED[: last - 1])
    assert story.view().table.contract == contract
    story = tricks(story, PLAYED[last - 1])
    assert happened(story, TrickTaken)[0].trick == last
    assert scored(story).contract == contract
    assert story.view().table.round == 2


@pytest.mark.parametrize(("contract", "last"), LAST)
def test_false_plays_all_eight_tricks(contract: ContractName, last: int) -> None:
    """lorum, ruling `early_end`: false; the payments are the same."""
    early = tricks(of_tricks(contract, *PLAYED), *PLAYED[:last])
    story = tricks(of_tricks(contract, *PLAYED, early_end=False), *PLAYED[:7])
    assert story.view().table.contract == contract
    story = tricks(story, PLAYED[7])
    assert happened(story, TrickTaken)[0].trick == 8
    assert moved(story) == moved(early)


@pytest.mark.parametrize("early_end", [True, False])
def test_no_tricks_is_always_played_out(early_end: bool) -> None:
    """lorum, ruling `early_end`: it does not concern contract 3."""
    story = of_tricks("no_tricks", *won_by(*[0] * 8), early_end=early_end)
    story = tricks(story, *won_by(*[0] * 8)[:7])
    assert story.view().table.contract == "no_tricks"
    assert story.view().table.penalties == (7, 0, 0, 0)
    story = tricks(story, won_by(*[0] * 8)[7])
    assert scored(story).contract == "no_tricks"


def test_the_last_penalty_in_the_last_trick_ends_it_once() -> None:
    """lorum, ruling `early_end`: one reckoning, however it ends."""
    story = lorum("hairy_monkey", "KH", "7H", "8H", "9H").plays("KH 9H 8H 7H")
    assert scored(story).points == (10, 0, 0, 0)


def test_what_is_left_in_hand_is_opened_with_the_round() -> None:
    """common, Who sees what: the cards that were not played are shown to everyone."""
    story = of_tricks("hairy_monkey", *PLAYED, rounds=1)
    story = tricks(story, *PLAYED[:5])
    opened = story.view().opened
    assert opened is not None
    assert opened.hands[0] == ("9H", "9B", "KB")
    assert opened.stock == ()
