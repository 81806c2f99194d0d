"""What a player of Loc may ask, beside `play`."""

from domain.actions import Action
from domain.cards import CardText


class Bet(Action, frozen=True, tag="bet"):
    """Put the stake into the bank before the deal (loc, `bets: "manual"`)."""


class Discard(Action, frozen=True, tag="discard"):
    """Lay one of the six cards aside, face down."""

    card: CardText
