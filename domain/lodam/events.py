"""What happens in Losing Lodam, outcomes included. Append only: a released type is never edited."""

from typing import ClassVar

import msgspec

from domain.events import Event
from domain.hand import OneCard
from domain.lodam.commands import Kind
from domain.seats import Seat
from domain.visibility import ForSeat, ForSeats, ForTable, Public


class TradedCards(msgspec.Struct, frozen=True):
    """The card offered and the `card` it was accepted with."""

    offered: str
    card: str


class Reached(msgspec.Struct, frozen=True):
    """The trick with which 31 was reached, and the version of the event that took it."""

    trick: int
    version: int


class TradeOffered(Event, frozen=True):
    """A player offers a card of a kind; `offer` numbers the offers of the game from 1."""

    seat: Public[Seat]
    offer: Public[int]
    kind: Public[Kind]
    face: ForSeat[OneCard] = None


class TradeDeclined(Event, frozen=True):
    """A player has declined the standing offer."""

    seat: Public[Seat]
    offer: Public[int]


class TradeWithdrawn(Event, frozen=True):
    """The offerer has taken the offer back."""

    seat: Public[Seat]
    offer: Public[int]


class TradeLapsed(Event, frozen=True):
    """The offer is gone: all others have declined, or the next trick was led."""

    seat: Public[Seat]
    offer: Public[int]


class TradeConcluded(Event, frozen=True):
    """The offer was accepted: `seats` are the offerer and the acceptor. Two cards of one suit annul
    the trade, and each takes their own back."""

    seats: Public[tuple[Seat, Seat]]
    offer: Public[int]
    annulled: Public[bool]
    faces: ForSeats[TradedCards] = None


class TrumpTurned(Event, frozen=True):
    """The first renounce of the hand: the top card of the stock is turned up."""

    face: ForTable[OneCard] = None


class TrumpSeen(Event, frozen=True):
    """A player has seen the turned trump."""

    seat: Public[Seat]


class TrumpCovered(Event, frozen=True):
    """All have seen the trump: it is turned face down, to be remembered."""

    covers: ClassVar[bool] = True


class TrickLeft(Event, frozen=True):
    """The player of the highest card of the suit led says that `named` trumped it: `believed` when
    that is so. Who is not believed may only take for the rest of the hand."""

    seat: Public[Seat]
    named: Public[Seat]
    believed: Public[bool]


class Announced(Event, frozen=True):
    """A player has announced 31 or more and is due to lose a life."""

    seat: Public[Seat]


class ChallengeDecided(Event, frozen=True):
    """A challenge and its verdict. `points` and `reached` are the challenger's and the challenged
    player's, from the log as it stands."""

    seat: Public[Seat]
    challenged: Public[Seat]
    upheld: Public[bool]
    points: Public[tuple[int, int]]
    reached: Public[tuple[Reached, Reached | None]]


class HandScored(Event, frozen=True):
    """The hand's reckoning, by seat: its points, the lives lost, the lives left (0: out) and the
    running scores of cumulative scoring."""

    hand: Public[int]
    points: Public[tuple[int, ...]]
    lost: Public[tuple[int, ...]]
    lives: Public[tuple[int, ...]]
    running: Public[tuple[int, ...]]
