"""Taking a trick, leaving it, swallowing it (lodam, *Taking a trick and swallowing it*)."""

from typing import Any

import pytest

from domain.events import layout
from domain.lodam.events import TrickLeft
from domain.tricks import CardPlayed, Swallowed, TrickTaken
from tests.domain.lodam.words import (
    ANNOUNCE,
    PASS,
    SEE,
    TAKE,
    challenge,
    leave,
    lodam,
    play,
)
from tests.spec import Given

LOW = ("2C 6D", "3C 7D", "4C 8D", "5C 9D")


def on_the_table(cards: str, stock: str = "9H 9C", **rules: Any) -> Given:
    """Seat 0 leads; these cards are played, everyone sees the trump; the trick lies there."""
    hands = [f"{card} {low}" for card, low in zip(cards.split(), LOW, strict=True)]
    story = lodam(*hands, stock=stock, **rules)
    for card in cards.split():
        story = story.plays(card)
        if "TrumpTurned" in story.kinds():
            story = story.each(SEE)
    return story


def test_the_trick_lies_until_the_highest_of_the_suit_led_decides() -> None:
    """lodam, Taking a trick: L decides; nobody else may act."""
    story = on_the_table("5S 3H KS QS")
    hand = story.view().hand
    assert hand is not None
    assert hand.phase == "taking"
    assert [card.card for card in story.view().table.trick] == ["5S", "3H", "KS", "QS"]
    assert story.to_act == (2,)
    assert story.legal(2) == [TAKE, leave(1)]
    for seat in (0, 1, 3):
        assert story.legal(seat) == []
        story.when(seat, TAKE).refused("lodam.turn")
        story.when(seat, leave(1)).refused("lodam.turn")
        story.when(seat, PASS).refused("lodam.phase")
    story.when(2, play("4C")).refused("lodam.phase")
    story.when(2, ANNOUNCE).refused("lodam.speak-later")
    story.when(2, challenge(0)).refused("lodam.speak-later")


def test_l_is_the_highest_of_the_suit_led_by_the_ranking() -> None:
    """lodam, Taking a trick; Cards."""
    assert on_the_table("TS 3H KS QS").to_act == (0,)
    assert on_the_table("TS 3H KS QS", ranking="natural").to_act == (2,)


def test_taking_what_is_rightfully_ones_own() -> None:
    """lodam, Taking a trick: no trump was played, W is L."""
    story = on_the_table("5S 3D KS QS").when(2, TAKE).then(TrickTaken(2, 1, Swallowed(False)))
    assert story.to_act == (2,)


def test_taking_what_is_anothers_swallows_it_and_it_stands() -> None:
    """lodam, Taking a trick: taken though W is another player; nobody is told."""
    story = on_the_table("5S 3H KS QS").when(2, TAKE).then(TrickTaken(2, 1, Swallowed(True)))
    assert story.to_act == (2,)
    private = story.view(2).private
    assert private is not None
    assert private.points == 3 + 2
    for seat in (None, 0, 1, 2, 3):
        assert "wallow" not in story.shown(seat)
    assert story.view().table.taken == (0, 0, 1, 0)


def test_leaving_it_to_the_rightful_taker() -> None:
    """lodam, Taking a trick: L leaves it to W, the trick is W's."""
    story = (
        on_the_table("5S 3H KS QS")
        .when(2, leave(1))
        .then(TrickLeft(2, 1, True), TrickTaken(1, 1, Swallowed(False)))
    )
    assert story.to_act == (1,)
    assert story.view().table.take_only == ()


@pytest.mark.parametrize(
    ("cards", "named", "swallowed"),
    [
        ("5S 3D KS QS", 1, False),  # no trump at all
        ("5S 3H KS 4H", 1, True),  # 4H is higher
        ("5S 3D KS 4H", 1, True),  # 3D is no trump
    ],
)
def test_leaving_it_to_anyone_else(cards: str, named: int, swallowed: bool) -> None:
    """lodam, Taking a trick, ruling: the trick is L's, who may only `take` from now on."""
    story = (
        on_the_table(cards)
        .when(2, leave(named))
        .then(TrickLeft(2, named, False), TrickTaken(2, 1, Swallowed(swallowed)))
    )
    assert story.view().table.take_only == (2,)
    assert story.to_act == (2,)


def test_only_who_played_another_suit_may_be_named() -> None:
    """lodam, Taking a trick."""
    story = on_the_table("5S 3H KS 4D")
    assert story.legal(2) == [TAKE, leave(1), leave(3)]
    for seat in (0, 2, 9):
        story.when(2, leave(seat)).refused("lodam.leave-to")


def test_who_is_no_longer_believed_may_only_take() -> None:
    """lodam, Taking a trick, ruling: for the rest of the hand; others may leave still."""
    story = lodam("5S 6C 7C 2D", "3H 4D 5D 6H", "KS AC 2C 8H", stock="9H 9C")
    story = story.plays("5S 3H").each(SEE).plays("KS")
    story = story.after((2, leave(1)))  # right
    assert story.to_act == (1,)
    story = story.plays("4D AC 2D")  # L is seat 1, seat 2 played a club
    story = story.when(1, leave(2)).then(TrickLeft(1, 2, False), TrickTaken(1, 2, Swallowed(False)))
    story = story.plays("5D 2C 6C")
    assert story.legal(1) == [TAKE]
    story.when(1, leave(2)).refused("lodam.take-only")
    story = story.after((1, TAKE)).plays("6H 8H")
    assert story.to_act == (0,)
    assert story.view().table.take_only == (1,)


def test_another_player_still_may_leave() -> None:
    """lodam, Taking a trick, ruling: only who was wrong is no longer believed."""
    story = lodam("5S 6C 2H", "3D 3H AD", "KS 8C 7D", stock="9H 9C")
    story = story.plays("5S 3D").each(SEE).plays("KS")
    story = story.after((2, leave(1)))
    assert story.view().table.take_only == (2,)
    story = story.plays("8C 6C").plays("3H")
    assert story.to_act == (2,)
    assert story.legal(2) == [TAKE]
    story = story.after((2, TAKE)).plays("7D 2H AD")
    assert story.to_act == (1,)
    assert story.legal(1) == [TAKE, leave(0)]
    story.when(1, leave(0)).then(TrickLeft(1, 0, True), TrickTaken(0, 3, Swallowed(False)))


def test_the_next_hand_believes_everyone_again() -> None:
    """lodam, Taking a trick, ruling: for the rest of *the hand*."""
    story = lodam("5S", "3D", "KS", stock="9H 9C").plays("5S 3D").each(SEE).plays("KS")
    story = story.after((2, leave(1)))
    assert story.view().table.take_only == (2,)
    assert story.each(PASS).view().table.take_only == ()


@pytest.mark.parametrize("cards", ["5S 3H KS QS", "5S 3D KS QS", "5S 3C KS QS"])
def test_whether_l_must_decide_does_not_depend_on_a_trump_played(cards: str) -> None:
    """lodam, Taking a trick, ruling: waiting tells nothing."""
    story = on_the_table(cards)
    assert story.to_act == (2,)
    assert story.legal(2) == [TAKE, leave(1)]


def test_swallowed_and_honest_tricks_look_alike() -> None:
    """contract, The log: the number, order and `for` of sealed parts and the types of events
    depend on public facts alone."""
    shapes = []
    for cards in ("5S 3H KS QS", "5S 3D KS QS"):
        (taken,) = on_the_table(cards).after((2, TAKE)).events
        shape = layout(type(taken))
        shapes.append((shape.data(taken), [audience for audience, _ in shape.parts(taken)]))
    assert shapes[0] == shapes[1]
    assert shapes[0][1] == ["[]"]


def test_a_lead_of_trumps_is_left_to_nobody() -> None:
    """lodam, Taking a trick: W is L where trumps were led, so every `leave` is wrong."""
    story = lodam("5H 2C", "3S 3C", "KH 4C", stock="9H").plays("5H 3S").each(SEE).plays("KH")
    story.when(2, TAKE).then(TrickTaken(2, 1, Swallowed(False)))
    story.when(2, leave(1)).then(TrickLeft(2, 1, False), TrickTaken(2, 1, Swallowed(False)))


def test_the_highest_trump_is_by_the_ranking() -> None:
    """lodam, Taking a trick: W is the highest trump."""
    ten_high = on_the_table("5S TH KH QS")
    ten_high.when(3, leave(1)).then(TrickLeft(3, 1, True), TrickTaken(1, 1, Swallowed(False)))
    natural = on_the_table("5S TH KH QS", ranking="natural")
    natural.when(3, leave(1)).then(TrickLeft(3, 1, False), TrickTaken(3, 1, Swallowed(True)))


def test_with_open_trumps_nobody_decides() -> None:
    """lodam, Play, `trump: "open"`: the engine gives every trick to its rightful taker."""
    hands = ("5S 2C", "3H 3C", "KS 4C", "QS 5C")
    story = lodam(*hands, stock="9H", trump="open").plays("5S 3H KS QS")
    assert story.events == (CardPlayed(3, "QS"), TrickTaken(1, 1, Swallowed(False)))
    story.when(2, TAKE).refused("lodam.phase")
    story.when(2, leave(1)).refused("lodam.phase")


def test_no_trick_no_decision() -> None:
    """lodam, Taking a trick: only while a trick lies on the table."""
    story = lodam("5S 2C", "3S 3C", "KS 4C")
    story.when(0, TAKE).refused("lodam.phase")
    story.when(0, leave(1)).refused("lodam.phase")


def test_the_number_of_tricks_is_on_view_and_the_points_are_private() -> None:
    """lodam, Announcing: a player's own tricks and points are on view to that player alone."""
    story = on_the_table("5S 3H KS QS").after((2, TAKE))
    assert story.view().table.taken == (0, 0, 1, 0)
    for seat in range(4):
        private = story.view(seat).private
        assert private is not None
        assert private.points == (5 if seat == 2 else 0)
        assert private.tricks == ((("5S", "3H", "KS", "QS"),) if seat == 2 else ())
    assert story.view().private is None
    assert story.view(host=True).private is None
    assert [score.points for score in story.view().scores] == [0, 0, 0, 0]
