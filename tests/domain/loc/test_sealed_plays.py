"""Cards laid face down and shown together (loc, *Play*, 2)."""

import msgspec
import pytest

from domain.actions import Play
from domain.codec import recorded_action
from domain.ledger import ChipsMoved
from domain.loc.events import CardLaid, CardsShown
from domain.table.state import Table
from domain.table.views import view
from domain.telling import PlayedCard
from domain.visibility import Viewer
from tests.domain.loc.words import bets, fives, laid, play, trick
from tests.spec import Given, command

HANDS = ("KS QS JS TS 9S", "KH QH JH TH 9H", "KD QD JD TD AD")


def test_a_laid_card_is_a_sealed_fact() -> None:
    """loc, Play: a played card is seen by its player alone until all have played."""
    story = fives(*HANDS).when(1, play("QH")).then(laid(1, 1, "QH"))
    own = story.view(1).private
    assert own is not None
    assert own.laid == "QH"
    assert "QH" not in own.cards
    for seat in (0, 2, None):
        assert "QH" not in story.shown(seat)
    assert recorded_action(command(play("QH"), 1), CardLaid) == b'{"type":"play"}'


def test_all_play_in_any_order_and_then_all_are_shown() -> None:
    """loc, Play: each player, in any order; shown at once, in order of seats."""
    story = fives(*HANDS)
    assert story.to_act == (0, 1, 2)
    story = story.after((2, play("QD")))
    assert story.to_act == (0, 1)
    story = story.after((0, play("KS")))
    first = story.table.version - 1
    story = story.when(1, play("QH")).then(
        laid(1, 1, "QH"),
        CardsShown(
            trick=1,
            cards=(PlayedCard(0, "KS"), PlayedCard(1, "QH"), PlayedCard(2, "QD")),
            highest=0,
            bank=None,
            opens=(first, first + 2),
        ),
        *bets("trick", 1, 1, 2),
    )
    assert story.to_act == (0, 1, 2)


def test_the_showing_opens_exactly_the_laid_cards() -> None:
    """contract, The log: Loc's laid cards are opened by the event that shows them."""
    story = fives(*HANDS)
    before = story.table.version
    story = trick(story, "KS QH QD")
    opened = [v for v in range(1, story.table.version + 1) if story.table.openings.opened(v)]
    assert opened == [before + 1, before + 2, before + 3]


def test_who_has_laid_is_listed_by_seat() -> None:
    """loc, Play: beyond who has laid a card, nothing shows."""
    story = fives(*HANDS).after((2, play("QD")), (0, play("KS")))
    table = story.view().table
    assert (table.trick, table.laid, table.shown) == (1, (0, 2), ())
    story = story.after((1, play("QH")))
    table = story.view().table
    assert (table.trick, table.laid) == (2, ())
    assert [(p.seat, p.card) for p in table.shown] == [(0, "KS"), (1, "QH"), (2, "QD")]


@pytest.mark.parametrize(("one", "other"), [("KS", "9S"), ("QS", "TS")])
def test_an_unrevealed_play_changes_nothing_for_anyone_else(one: str, other: str) -> None:
    """common, Who sees what: unrevealed plays are seen by nobody else."""
    worlds = [fives(*HANDS).after((0, play(card))) for card in (one, other)]
    for seat in (1, 2, None):
        assert worlds[0].shown(seat) == worlds[1].shown(seat)
        if seat is not None:
            assert worlds[0].legal(seat) == worlds[1].legal(seat)
    assert worlds[0].shown(0) != worlds[1].shown(0)


def test_a_play_cannot_be_taken_back() -> None:
    """loc, Play: nor changed, nor made twice."""
    story = fives(*HANDS).after((0, play("KS")))
    assert story.legal(0) == []
    story.when(0, play("KS")).refused("loc.play-once")
    story.when(0, play("QS")).refused("loc.play-once")


@pytest.mark.parametrize("card", ["KH", "8C", "XX", "OA"])
def test_only_a_card_of_the_hand_is_played(card: str) -> None:
    """loc, Play."""
    fives(*HANDS).when(0, play(card)).refused("loc.not-in-hand")


def test_a_card_is_played_once() -> None:
    """loc, Play."""
    story = trick(fives(*HANDS), "KS QH QD")
    story.when(0, play("KS")).refused("loc.not-in-hand")


def test_any_card_left_may_be_played() -> None:
    """loc, Play: there is no suit to follow; the list of legal actions is the hand."""
    story = trick(fives(*HANDS), "KS QH QD")
    assert story.legal(0) == [play(card) for card in ("9S", "TS", "JS", "QS")]


def test_a_play_may_name_its_trick() -> None:
    """common, Actions: guards count the tricks that are complete."""
    story = trick(fives(*HANDS), "KS QH QD")
    story.when(0, Play(card="QS", trick=0)).refused("common.guard")
    story.when(0, Play(card="QS", hand=2)).refused("common.guard")
    story.when(0, Play(card="QS", offer=1)).refused("common.guard")
    story.when(0, Play(card="QS", trick=1, hand=1)).accepted()


def test_the_latest_trick_stays_on_view() -> None:
    """loc, Play: shown is the latest trick shown; contract: previous tells it with its taker."""
    story = trick(fives(*HANDS), "KS QH QD")
    previous = story.view().previous
    assert previous is not None
    assert (previous.hand, previous.taker, previous.payments_hand) == (1, None, None)
    story = trick(story, "QS JH AD").after((0, play("9S")))
    table, previous = story.view().table, story.view().previous
    assert [(p.seat, p.card) for p in table.shown] == [(0, "QS"), (1, "JH"), (2, "AD")]
    # The bank: three bets before the deal, two in trick 1.
    assert (table.highest, table.won) == (2, 5)
    assert previous is not None
    assert previous.taker == 2
    assert [[p.card for p in cards] for cards in table.tricks] == [
        ["KS", "QH", "QD"],
        ["QS", "JH", "AD"],
    ]


def test_the_showing_comes_before_the_bank() -> None:
    """loc, Play: shown at once; then the taker takes first, and all bet again."""
    story = fives(*HANDS).after((0, play("KS")), (1, play("QH")))
    assert story.when(2, play("AD")).accepted().kinds() == [
        "CardLaid",
        "CardsShown",
        "ChipsMoved",
        "BetPlaced",
        "BetPlaced",
        "BetPlaced",
    ]


def test_the_bank_goes_to_one_seat() -> None:
    """loc, Play."""
    story = fives(*HANDS).after((0, play("KS")), (1, play("QH"))).when(2, play("AD")).accepted()
    (moved,) = [event for event in story.events if isinstance(event, ChipsMoved)]
    assert moved == ChipsMoved("ace", (0, 0, 3), -3)


def test_laid_cards_of_a_shown_trick_are_told_to_all_who_look_back() -> None:
    """common, Who sees what: entitlement is judged now."""
    early = fives(*HANDS).after((0, play("KS")))
    late = trick(early, "QH QD")
    assert "KS" not in _seen_by_two(early, early.table)
    # The view of the earlier moment still shows who had laid, and no card.
    assert "KS" not in _seen_by_two(early, late.table)


def _seen_by_two(story: Given, newest: Table) -> str:
    return msgspec.json.encode(view(story.table, Viewer("seat", 2), newest.openings)).decode()
