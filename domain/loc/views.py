"""What Loc shows: the public table, a seat's own cards, an opened hand.

A card laid or discarded is nobody's but its player's until it is shown: the table says only who has
laid one, in the order of seats.
"""

import msgspec

from domain.cards import Card, by_card
from domain.game import Opened, Private, Score
from domain.loc.rules import PACK
from domain.loc.state import LocState
from domain.seats import Seat
from domain.telling import PlayedCard


class LocTable(msgspec.Struct, frozen=True):
    """The table of Loc as everyone sees it."""

    trick: int
    """The trick that is on, 1 to 5; 0 before the first one."""
    laid: tuple[Seat, ...]
    """Who has laid a card to it, or while `trick` is 0 who has discarded."""
    shown: tuple[PlayedCard, ...]
    """The latest trick shown."""
    highest: Seat | None
    """Who played its highest card, and so took `won` from the bank, or was excused."""
    won: int
    pot: int
    tricks: tuple[tuple[PlayedCard, ...], ...]
    """All those shown in this hand."""
    hands: int
    """How many hands the game has."""


class LocPrivate(Private, frozen=True, kw_only=True):
    """A seat's own hand, and what it has laid face down."""

    discarded: str | None
    laid: str | None


class LocOpened(Opened, frozen=True, kw_only=True):
    """What was hidden in a hand that has been opened: also the cards laid face down, by seat."""

    discarded: tuple[str | None, ...]
    laid: tuple[str | None, ...]


def table_view(state: LocState, _: bool) -> LocTable:
    """The public table."""
    playing = state.phase == "playing"
    laying = playing or state.phase == "discarding"
    return LocTable(
        trick=len(state.tricks) + playing,
        laid=tuple([s for s in sorted(state.order) if s not in state.awaited]) if laying else (),
        shown=state.shown,
        highest=state.highest,
        won=state.won,
        pot=state.ledger.pot,
        tricks=state.tricks,
        hands=state.hands_to_deal,
    )


def private_view(state: LocState, seat: Seat) -> LocPrivate:
    """A seat's own cards."""
    return LocPrivate(
        cards=tuple(by_card(PACK.cards, state.hands[seat])),
        discarded=_text(state.discards[seat]),
        laid=_text(state.laid[seat]),
    )


def opened_view(state: LocState) -> LocOpened:
    """Everything that was hidden, for a hand that has been opened."""
    return LocOpened(
        hands=tuple([tuple(by_card(PACK.cards, hand)) for hand in state.hands]),
        stock=PACK.texts(state.stock),
        discarded=tuple([_text(card) for card in state.discards]),
        laid=tuple([_text(card) for card in state.laid]),
    )


def _text(card: Card | None) -> str | None:
    return None if card is None else PACK.cards[card]


def scores(state: LocState) -> tuple[Score, ...]:
    """Where each seat stands: its chips."""
    return tuple(
        [Score(seat, None, chips, None) for seat, chips in enumerate(state.ledger.balances)]
    )


def still_in(state: LocState) -> tuple[bool, ...]:
    """By seat: whether the player is in the game."""
    return tuple([seat not in state.out for seat in range(state.seats)])
