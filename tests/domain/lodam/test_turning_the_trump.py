"""The first renounce turns the trump (lodam, *Play*, **Trump**; options `trump`)."""

import pytest

from domain.lodam.events import OneCard, TrumpCovered, TrumpSeen, TrumpTurned
from domain.table.views import view
from domain.tricks import CardPlayed, Swallowed, TrickTaken
from domain.visibility import Viewer
from tests.domain.lodam.words import (
    ANNOUNCE,
    PASS,
    SEE,
    TAKE,
    challenge,
    lodam,
    offer,
    play,
)
from tests.spec import Given

HANDS = ("5S 2C 6D", "3H 3C 7D", "KS 4C 8D", "QS 5C 9D")
STOCK = "9H 9C"


def renounced(trump: str = "memory") -> Given:
    """Seat 0 has led a spade, and seat 1 has played a heart to it."""
    return lodam(*HANDS, stock=STOCK, trump=trump).plays("5S 3H")


@pytest.mark.parametrize("trump", ["memory", "open"])
def test_the_first_renounce_turns_the_top_of_the_stock(trump: str) -> None:
    """lodam, Play, Trump: before the next card is played; its suit is trumps."""
    story = lodam(*HANDS, stock=STOCK, trump=trump).plays("5S")
    assert story.view().table.trump_turned is False
    story = story.when(1, play("3H")).then(CardPlayed(1, "3H"), TrumpTurned(OneCard("9H")))
    table = story.view().table
    assert (table.trump, table.trump_card, table.trump_turned) == ("H", "9H", True)


def test_following_suit_turns_nothing() -> None:
    """lodam, Play, Trump: only who plays another suit than the one led renounces."""
    story = lodam(*HANDS, stock=STOCK, leader=2).plays("KS QS 5S")
    assert story.kinds() == ["CardPlayed"]
    assert story.view().table.trump is None


def test_leading_another_suit_turns_nothing() -> None:
    """lodam, Play, Trump: a lead is no renounce."""
    story = lodam("AS 2C", "KS 3C", "QS 4C").plays("AS KS QS 2C")
    assert story.kinds() == ["CardPlayed"]


def test_once_a_hand_in_the_same_trick() -> None:
    """lodam, Play, Trump: a second renounce turns nothing."""
    story = lodam("5S 2C", "3H 3D", "4D 4C", stock=STOCK, trump="open").plays("5S 3H")
    story.when(2, play("4D")).then(CardPlayed(2, "4D"), TrickTaken(1, 1, Swallowed(False)))


def test_once_a_hand_in_a_later_trick() -> None:
    """lodam, Play, Trump: a second renounce turns nothing."""
    story = lodam("5S 2C", "3H 3D", "KS 4C", stock=STOCK).plays("5S 3H").each(SEE)
    story = story.plays("KS").after((2, TAKE)).plays("4C 2C")
    story = story.when(1, play("3D")).then(CardPlayed(1, "3D"))
    assert story.to_act == (2,)


def test_each_player_must_see_the_trump_and_then_it_is_covered() -> None:
    """lodam, Play, `trump: "memory"`: until all have, no other action is legal."""
    story = renounced()
    hand = story.view().hand
    assert hand is not None
    assert hand.phase == "trump_shown"
    assert story.to_act == (0, 1, 2, 3)
    for seat in range(4):
        assert story.legal(seat) == [SEE]
    for action, rule in [
        (play("KS"), "lodam.phase"),
        (TAKE, "lodam.phase"),
        (PASS, "lodam.phase"),
        (ANNOUNCE, "lodam.speak-later"),
        (challenge(0), "lodam.speak-later"),
        (offer("coat", "KS"), "lodam.trading"),
    ]:
        story.when(2, action).refused(rule)
    story = story.when(3, SEE).then(TrumpSeen(3))
    assert story.to_act == (0, 1, 2)
    story.when(3, SEE).refused("lodam.seen-trump")
    story = story.each(SEE, 1, 0)
    assert story.view(3).table.trump == "H"
    story = story.when(2, SEE).then(TrumpSeen(2), TrumpCovered())
    assert story.to_act == (2,)
    story.when(2, SEE).refused("lodam.phase")


def test_only_players_still_in_must_see_it() -> None:
    """lodam, Play, `trump: "memory"`: once every player *still in* has seen it."""
    story = lodam("5S 2C", "", "3H 4C", "QS 5C", stock=STOCK).plays("5S 3H")
    assert story.to_act == (0, 2, 3)
    story.when(1, SEE).refused("common.out")
    assert story.each(SEE).to_act == (3,)


def test_once_covered_no_view_shows_the_suit() -> None:
    """lodam, Play, `trump: "memory"`: from then on, for nobody, not even who has just seen it."""
    story = renounced().each(SEE)
    for seat in (None, 0, 1, 2, 3):
        table = story.view(seat).table
        assert (table.trump, table.trump_card, table.trump_turned) == (None, None, True)
        assert "9H" not in story.shown(seat)
    assert "9H" not in repr(story.view(host=True))


def test_an_earlier_view_hides_it_again_once_it_is_covered() -> None:
    """common, Who sees what: what lay open and has been covered again is hidden again."""
    shown = renounced()
    covered = shown.each(SEE)
    then = view(shown.table, Viewer("seat", 2), shown.table.openings)
    now = view(shown.table, Viewer("seat", 2), covered.table.openings)
    assert then.table.trump == "H"
    assert (now.table.trump, now.table.trump_card) == (None, None)
    assert now.version == then.version


def test_open_trumps_stay_on_view_and_see_trump_does_not_exist() -> None:
    """lodam, Play, `trump: "open"`."""
    story = renounced("open")
    assert story.to_act == (2,)
    story.when(2, SEE).refused("lodam.phase")
    story = story.plays("KS QS")
    assert story.view().table.trump == "H"
    assert story.plays("3C").view(0).table.trump_card == "9H"


@pytest.mark.parametrize(
    ("cards", "taker"),
    [
        ("5S 3H KS QS", 1),  # the renouncing card itself is a trump
        ("5S 3H 4H QS", 2),  # a higher trump after it
        ("5S 3H 2H QS", 1),
        ("5S 3H TH AH", 3),
        ("5S 3C 4H QS", 2),  # the renouncing card is none, a later one is
        ("5S 3C 4C 2C", 0),  # no trump at all
        ("5S 3D KS QS", 2),
    ],
)
def test_trumps_hold_for_the_whole_trick_the_renouncing_card_included(
    cards: str, taker: int
) -> None:
    """lodam, Play, ruling; with open trumps the engine gives the trick to its rightful taker."""
    hands = [
        f"{card} {low}" for card, low in zip(cards.split(), ["6D", "7D", "8D", "9D"], strict=True)
    ]
    story = lodam(*hands, stock=STOCK, trump="open").plays(cards)
    assert story.events[-1] == TrickTaken(taker, 1, Swallowed(False))


def test_open_trumps_hold_in_later_tricks() -> None:
    """lodam, Play, Trump, `trump: "open"`: for the rest of the hand, turned once."""
    story = lodam("5S AC 4H", "3H 3C AD", "KS 2H 7D", stock=STOCK, trump="open")
    story = story.plays("5S 3H KS 3C").when(2, play("2H")).then(CardPlayed(2, "2H"))
    story = story.when(0, play("AC")).then(CardPlayed(0, "AC"), TrickTaken(2, 2, Swallowed(False)))
    story = story.plays("7D").when(0, play("4H")).then(CardPlayed(0, "4H"))
    story.when(1, play("AD")).then(CardPlayed(1, "AD"), TrickTaken(0, 3, Swallowed(False)))


def test_the_natural_ranking_ranks_trumps_too() -> None:
    """lodam, Cards, option `ranking`: rank in every suit."""
    hands = ("5S 6D", "TH 7D", "KH 8D")
    ten_high = lodam(*hands, stock=STOCK, trump="open").plays("5S TH KH")
    natural = lodam(*hands, stock=STOCK, trump="open", ranking="natural").plays("5S TH KH")
    assert ten_high.events[-1] == TrickTaken(1, 1, Swallowed(False))
    assert natural.events[-1] == TrickTaken(2, 1, Swallowed(False))


def test_when_the_last_card_turns_the_trump_all_see_it_first() -> None:
    """lodam, Taking a trick, ruling: then L decides."""
    story = lodam("5S 2C", "KS 3C", "3H 4C", stock=STOCK).plays("5S KS 3H")
    assert story.kinds() == ["CardPlayed", "TrumpTurned"]
    assert story.to_act == (0, 1, 2)
    story.when(1, TAKE).refused("lodam.phase")
    story = story.each(SEE)
    hand = story.view().hand
    assert hand is not None
    assert hand.phase == "taking"
    assert story.to_act == (1,)


def test_when_the_last_card_turns_an_open_trump_the_trick_is_given_at_once() -> None:
    """lodam, Play, `trump: "open"`."""
    story = lodam("5S 2C", "KS 3C", "3H 4C", stock=STOCK, trump="open").plays("5S KS 3H")
    assert story.events == (
        CardPlayed(2, "3H"),
        TrumpTurned(OneCard("9H")),
        TrickTaken(2, 1, Swallowed(False)),
    )


def test_the_next_hand_has_no_trump_until_its_own_first_renounce() -> None:
    """lodam, Play, Trump: for the rest of *the hand*."""
    story = lodam("5S", "3H", "KS", stock=STOCK, trump="open").plays("5S 3H KS").each(PASS)
    table = story.served().view().table
    assert (table.trump, table.trump_card, table.trump_turned) == (None, None, False)
