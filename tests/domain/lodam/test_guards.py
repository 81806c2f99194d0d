"""Actions that say for which hand, trick or offer they are meant (common, *Actions*)."""

from typing import Any

import msgspec
import pytest

from domain.actions import Action, Cut
from tests.builders import new_game
from tests.domain.lodam.words import (
    ANNOUNCE,
    DECLINE,
    PASS,
    SEE,
    TAKE,
    WITHDRAW,
    accept,
    leave,
    lodam,
    offer,
    play,
    race,
)


def guarded(action: Action, **guards: Any) -> Action:
    return msgspec.structs.replace(action, **guards)


@pytest.mark.parametrize("hand", [0, 2, 17])
def test_another_hand_is_on(hand: int) -> None:
    """common, Actions: `hand: n`; refused with rule common.guard."""
    story = lodam("AS 2C", "TS 3C", "KS 4C")
    story.when(0, guarded(play("AS"), hand=hand)).refused("common.guard")
    story.when(0, guarded(play("AS"), hand=1)).accepted()


def test_a_late_action_never_lands_on_the_next_hand() -> None:
    """common, Actions: a hand that is over is another hand."""
    story = lodam("AS", "TS", "KS").plays("AS TS KS").each(PASS).served()
    (seat,) = story.to_act
    card = story.legal(seat)[0]
    story.when(seat, guarded(card, hand=1)).refused("common.guard")
    story.when(seat, guarded(card, hand=2)).accepted()


def test_another_trick_is_on() -> None:
    """common, Actions: `trick: n`, tricks of the hand complete so far."""
    story = lodam("AS 2C", "TS 3C", "KS 4C")
    story.when(0, guarded(play("AS"), trick=1)).refused("common.guard")
    story = story.when(0, guarded(play("AS"), trick=0)).accepted()
    story = story.after((1, guarded(play("TS"), trick=0)), (2, guarded(play("KS"), trick=0)))
    story.when(0, guarded(play("2C"), trick=0)).refused("common.guard")
    story.when(0, guarded(play("2C"), trick=1)).accepted()


def test_a_trick_that_lies_untaken_is_complete() -> None:
    """common, Actions: complete, though not taken."""
    story = lodam("AS 2C", "3H 3C", "KS 4C", stock="9H").plays("AS 3H").each(SEE).plays("KS")
    story.when(0, guarded(TAKE, trick=0)).refused("common.guard")
    story.when(0, guarded(leave(1), trick=1)).accepted()
    story.when(0, guarded(TAKE, trick=1)).accepted()


def test_another_offer_stands() -> None:
    """common, Actions: `offer: n`, the number of the standing offer."""
    story = lodam("KS 2C", "QH JD", "3C 4C", trading="before_play", trade_offers=2)
    story.when(1, guarded(PASS, offer=1)).refused("common.guard")
    story = story.after((0, offer("coat", "KS")), (0, WITHDRAW), (0, offer("coat", "KS")))
    for answer in (accept("QH"), DECLINE):
        story.when(1, guarded(answer, offer=1)).refused("common.guard")
        story.when(1, guarded(answer, offer=2)).accepted()
    story.when(0, guarded(WITHDRAW, offer=1)).refused("common.guard")
    story.when(0, guarded(WITHDRAW, offer=2)).accepted()


def test_no_offer_stands() -> None:
    """common, Actions."""
    story = lodam("KS 2C", "QH JD", "3C 4C", trading="before_play")
    story = story.after((0, offer("coat", "KS")), (0, WITHDRAW))
    story.when(1, guarded(DECLINE, offer=1)).refused("common.guard")


def test_any_action_may_carry_any_guard() -> None:
    """common, Actions: any action."""
    story = race(2)
    story.when(0, guarded(ANNOUNCE, hand=1, trick=2)).accepted()
    story.when(0, guarded(ANNOUNCE, hand=1, trick=1)).refused("common.guard")
    story.when(0, guarded(ANNOUNCE, hand=2, trick=2)).refused("common.guard")
    cutting = new_game("lodam", 3, cut="manual", first_dealer=0)
    cutting.when(2, guarded(Cut(at=3), hand=2)).refused("common.guard")
    cutting.when(2, guarded(Cut(at=3), hand=1, trick=0)).accepted()


def test_the_guard_comes_before_the_rules_of_the_game() -> None:
    """common, Actions: a late action is told that it is late, not that it is wrong."""
    story = lodam("AS 2C", "TS 3C", "KS 4C").plays("AS")
    story.when(0, guarded(play("2C"), trick=1)).refused("common.guard")
    story.when(0, play("2C")).refused("lodam.turn")
