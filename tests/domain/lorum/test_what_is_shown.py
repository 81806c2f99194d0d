"""The view of Lorum (contract, *The view*; lorum; common, *Who sees what*)."""

from typing import Any

import msgspec
import pytest

from domain.lorum.contracts import CONTRACTS, ContractName
from tests.builders import new_game
from tests.domain.lorum.words import lorum, of_tricks, tricks, won_by
from tests.spec import Given

HANDS = ("KA 7B", "OA 9H", "9A TB", "TA UA")


def sent(story: Given) -> dict[str, Any]:
    """The table as JSON."""
    found: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(story.view().table))
    return found


@pytest.mark.parametrize("contract", [contract.name for contract in CONTRACTS])
def test_the_key_follows_the_contract(contract: ContractName) -> None:
    """contract, The view: `trick`, `run` or `layout`, the others absent."""
    shown = sent(lorum(contract, *HANDS, pot=3))
    kinds = {"quads": "run", "fast_train": "run", "lorum": "layout"}
    assert shown.keys() - {"passes"} == {
        "contract",
        "round",
        "taken",
        "penalties",
        "pot",
        kinds.get(contract, "trick"),
    }
    assert (shown["contract"], shown["round"], shown["pot"]) == (contract, 1, 3)
    assert shown["taken"] == shown["penalties"] == [0, 0, 0, 0]


@pytest.mark.parametrize(
    ("contract", "key"), [("hearts", "trick"), ("quads", "run"), ("fast_train", "run")]
)
def test_what_lies_on_the_table_is_shown_in_order(contract: ContractName, key: str) -> None:
    """contract, The view: a list of seat and card."""
    story = lorum(contract, "9A 7B", "OA 9H", "KA UB", "TA UA", auto_forced=False).plays("9A TA")
    assert sent(story)[key] == [{"seat": 0, "card": "9A"}, {"seat": 3, "card": "TA"}]


def test_a_layout_shows_low_and_high_of_each_suit_and_the_start() -> None:
    """contract, The view: `layout` maps each suit to low and high, or null, plus `start`."""
    story = lorum("lorum", "KA 7A 7B", "AA TH", "KB 9L", "KH AH 8H 8B")
    assert sent(story)["layout"] == {"A": None, "L": None, "H": None, "B": None, "start": None}
    story = story.plays("KA KH KB AA 7A AH")
    assert sent(story)["layout"] == {
        "A": {"low": "K", "high": "7"},
        "L": None,
        "H": {"low": "K", "high": "A"},
        "B": {"low": "K", "high": "K"},
        "start": "K",
    }


def test_a_table_that_waits_has_no_contract() -> None:
    """contract, Lists: a game that waits has `hand: null`."""
    story = new_game("lorum", 2, open_seats=2)
    assert story.view().hand is None
    shown = sent(story)
    assert shown["contract"] is None
    assert not shown.keys() & {"trick", "run", "layout"}


def test_the_hand_number_is_the_round() -> None:
    """lorum: a round is a hand."""
    played = won_by(0, 1, 2, 3, 0, 1, 2, 3)
    story = tricks(of_tricks("hairy_monkey", *played), *played[:5]).served()
    view = story.view()
    assert view.hand is not None
    assert (view.hand.number, view.table.round, view.hand.phase) == (2, 2, "playing")


def test_each_sees_their_own_cards_alone() -> None:
    """common, Who sees what: a spectator and the host see none."""
    story = lorum("hearts", *HANDS, balances=(0, 0, 0, 0))
    for seat in range(4):
        private = story.view(seat).private
        assert private is not None
        assert set(private.cards) == set(HANDS[seat].split())
        for other in range(4):
            if other != seat:
                assert not any(f'"{card}"' in story.shown(seat) for card in HANDS[other].split())
    assert story.view().private is None
    assert story.view(host=True).private is None
    for card in " ".join(HANDS).split():
        assert f'"{card}"' not in story.shown()


def test_the_round_before_stays_in_view() -> None:
    """contract, The view: `previous` is the last trick and the last round's payments."""
    played = won_by(0, 1, 2, 3, 0, 1, 2, 3)
    story = tricks(of_tricks("hairy_monkey", *played), *played[:5]).served()
    previous = msgspec.to_builtins(story.view().previous)
    assert previous["hand"] == previous["payments_hand"] == 1
    assert {shown["card"] for shown in previous["trick"]} == {"AH", "KH", "OH", "UH"}
    assert previous["taker"] == 0
    assert [payment["chips"] for payment in previous["payments"]] == [-10, 0, 0, 0]


def test_scores_by_hand_say_the_contract() -> None:
    """contract, Lists: `{hand, dealer, contract, points, chips, lives}`; Lorum has no lives."""
    played = won_by(0, 1, 2, 3, 0, 1, 2, 3)
    story = tricks(of_tricks("hairy_monkey", *played), *played[:5])
    (score,) = story.table.game.hand_scores(story.table.play)
    assert (score.hand, score.dealer, score.contract) == (1, 1, "hairy_monkey")
    assert (score.points, score.chips, score.lives) == ((10, 0, 0, 0), (-10, 0, 0, 0), None)
    assert [(s.lives, s.points) for s in story.view().scores] == [(None, None)] * 4


@pytest.mark.parametrize("disclosure", ["after_hand", "after_game"])
def test_when_hands_are_opened(disclosure: str) -> None:
    """common, Who sees what, option `disclosure`."""
    played = won_by(0, 1, 2, 3, 0, 1, 2, 3)
    story = of_tricks("hairy_monkey", *played, disclosure=disclosure)
    story = tricks(story, *played[:5])
    assert ("SeedRevealed" in story.kinds()) is (disclosure == "after_hand")
