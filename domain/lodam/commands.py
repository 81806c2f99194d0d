"""What a player of Losing Lodam may ask, beside `play` and `pass`."""

from typing import Annotated, Literal

import msgspec

from domain.actions import Action
from domain.cards import CardText

SeatNumber = Annotated[int, msgspec.Meta(ge=0, le=9)]
Kind = Literal["coat", "card"]
"""A coat is a king, queen or jack; a card an ace or ten."""


class OfferTrade(Action, frozen=True, tag="offer_trade"):
    """Offer to trade a coat for a coat or a card for a card (lodam, *Trading*)."""

    kind: Kind
    card: CardText


class AcceptTrade(Action, frozen=True, tag="accept_trade"):
    """Accept the standing offer with a card of the same kind."""

    card: CardText


class DeclineTrade(Action, frozen=True, tag="decline_trade"):
    """Decline the standing offer."""


class WithdrawTrade(Action, frozen=True, tag="withdraw_trade"):
    """Take back one's own offer that nobody has accepted."""


class SeeTrump(Action, frozen=True, tag="see_trump"):
    """Have seen the turned trump; when all have, it is covered."""


class Take(Action, frozen=True, tag="take"):
    """Take the trick that lies on the table, rightful or not."""


class Leave(Action, frozen=True, tag="leave"):
    """Say that `seat` trumped the trick that one's own card of the suit led would take."""

    seat: SeatNumber


class Announce(Action, frozen=True, tag="announce"):
    """Say that one's tricks of this hand have reached 31."""


class Challenge(Action, frozen=True, tag="challenge"):
    """Say that `seat` reached 31 before oneself and hid it."""

    seat: SeatNumber
