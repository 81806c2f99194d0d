"""Tricks: the facts of play, following suit and who has the highest card. Knows no points."""

from collections.abc import Sequence

import msgspec

from domain.cards import Card, Pack
from domain.events import Event
from domain.seats import Seat
from domain.visibility import ForNobody, Public

Trick = Sequence[tuple[Seat, Card]]
"""Plays in order, the lead first."""


class Swallowed(msgspec.Struct, frozen=True):
    """Whether the trick was another's by right."""

    swallowed: bool


class CardPlayed(Event, frozen=True):
    """A card was played face up."""

    seat: Public[Seat]
    card: Public[str]


class Passed(Event, frozen=True):
    """A player passed."""

    seat: Public[Seat]


class TrickTaken(Event, frozen=True):
    """A trick (numbered from 1 within the hand) went to a seat, which leads to the next."""

    seat: Public[Seat]
    trick: Public[int]
    truth: ForNobody[Swallowed] = None
    """Only in games where a trick can go to the wrong player."""


def playable(hand: int, led: int | None, pack: Pack) -> int:
    """The cards of a hand (bit mask) that may be played: of the suit led if there is any."""
    if led is None:
        return hand
    return hand & pack.suit_masks[led] or hand


def highest_of(trick: Trick, suit: int, pack: Pack, strength: Sequence[int]) -> Seat | None:
    """Who played the strongest card of a suit (`strength` by card), or None if nobody did."""
    best: Seat | None = None
    power = -1
    suit_of = pack.suit_of
    for seat, card in trick:
        if suit_of[card] == suit and strength[card] > power:
            best, power = seat, strength[card]
    return best
