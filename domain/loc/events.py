"""What happens in Loc, outcomes included. Append only: a released type is never edited."""

from typing import Literal

from domain.events import Event
from domain.hand import OneCard
from domain.seats import Seat
from domain.telling import PlayedCard
from domain.visibility import ForSeat, Public

BetReason = Literal["ante", "trick", "refresh"]
"""Before the deal; after a trick without joker or ace; after the bank has been taken."""

BankReason = Literal["joker", "ace", "last_trick"]
"""What takes the bank: the joker, the highest ace, or the highest card of the fifth trick."""


class BetPlaced(Event, frozen=True):
    """A player put `amount` chips into the bank: the stake, or all that was left (`short`)."""

    seat: Public[Seat]
    amount: Public[int]
    reason: Public[BetReason]
    short: Public[bool]


class CardDiscarded(Event, frozen=True):
    """A player laid a card aside, face down."""

    seat: Public[Seat]
    face: ForSeat[OneCard] = None


class CardLaid(Event, frozen=True):
    """A player laid a card to a trick (1 to 5), face down until all have."""

    seat: Public[Seat]
    trick: Public[int]
    face: ForSeat[OneCard] = None


class CardsShown(Event, frozen=True):
    """All have laid, and the cards are shown, in order of seats. `highest` played the highest, and
    takes the bank for the reason `bank`, or, where that is null, is excused from the next bet.
    `opens` are the first and last version whose laid cards anyone may now see."""

    trick: Public[int]
    cards: Public[tuple[PlayedCard, ...]]
    highest: Public[Seat]
    bank: Public[BankReason | None]
    opens: Public[tuple[int, int]]


class HandSettled(Event, frozen=True):
    """The hand is over: by seat the chips it brought, and who is out of the game from now on."""

    hand: Public[int]
    chips: Public[tuple[int, ...]]
    gone: Public[tuple[Seat, ...]]
