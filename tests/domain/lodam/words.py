"""The words of Losing Lodam's tests: its actions in short, and tables with hands put in by hand."""

from typing import Any

from domain.actions import Action, Pass, Play
from domain.lodam.commands import (
    AcceptTrade,
    Announce,
    Challenge,
    DeclineTrade,
    Kind,
    Leave,
    OfferTrade,
    SeeTrump,
    Take,
    WithdrawTrade,
)
from domain.lodam.events import HandScored
from domain.seats import Seat
from domain.table.commands import Clock
from tests.builders import deal_by_hand, ready, seats_of
from tests.spec import Given, given

PASS = Pass()
SEE = SeeTrump()
TAKE = Take()
ANNOUNCE = Announce()
DECLINE = DeclineTrade()
WITHDRAW = WithdrawTrade()


def play(card: str) -> Action:
    return Play(card=card)


def leave(seat: Seat) -> Action:
    return Leave(seat=seat)


def challenge(seat: Seat) -> Action:
    return Challenge(seat=seat)


def offer(kind: Kind, card: str) -> Action:
    return OfferTrade(kind=kind, card=card)


def accept(card: str) -> Action:
    return AcceptTrade(card=card)


def lodam(
    *hands: str,
    stock: str = "2D",
    leader: Seat | None = None,
    lives: tuple[int, ...] | None = None,
    running: tuple[int, ...] | None = None,
    clock: Clock | None = None,
    **rules: Any,
) -> Given:
    """A hand of Losing Lodam with these cards by seat (none: out of the game), led by `leader`.

    Without trading unless `trading` is given; lives and running scores as if from earlier hands.
    """
    table = ready("lodam", len(hands), clock=clock, **{"trading": "off", **rules})
    in_play = seats_of(hands)
    table.play.lives = lives or tuple(
        [table.play.lives[seat] if seat in in_play else 0 for seat in range(len(hands))]
    )
    if running is not None:
        table.play.running = running
    return given(
        deal_by_hand(table, in_play, stock, leader=min(in_play) if leader is None else leader)
    )


def scored(story: Given) -> HandScored:
    """How the hand that has just ended was scored."""
    (event,) = [event for event in story.events if isinstance(event, HandScored)]
    return event


RACE = (
    "AS KD QH 6D KC 8D 4S",
    "TS QD AH TD QC 9D 5S",
    "KS 2D TH 4D AC AD 2S",
    "QS 3D KH 5D TC 7D 3S",
)
"""Four hands in which everyone follows suit to the end, and three players reach 31 one after
another: seat 0 with trick 2 (31 points), seat 1 with trick 4 (36), seat 2 with trick 6 (37).
Seat 3 takes nothing."""

RACE_STOCK = "JD JS JH"

RACE_TRICKS = (
    "AS TS KS QS",  # 0 takes 26
    "KD QD 2D 3D",  # 0 takes 5
    "QH AH TH KH",  # 1 takes 26
    "TD 4D 5D 6D",  # 1 takes 10
    "QC AC TC KC",  # 2 takes 26
    "AD 7D 8D 9D",  # 2 takes 11
    "2S 3S 4S 5S",  # 1 takes nothing
)


def race(tricks: int, **rules: Any) -> Given:
    """The race after so many tricks."""
    story = lodam(*RACE, stock=RACE_STOCK, **rules)
    for cards in RACE_TRICKS[:tricks]:
        story = story.plays(cards)
    return story
