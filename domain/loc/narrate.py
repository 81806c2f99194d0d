"""How a hand of Loc is told in a replay. Only what the viewer may see comes in."""

from typing import Any, Final

import msgspec

from domain.ledger import ChipsMoved
from domain.loc.events import (
    BetPlaced,
    BetReason,
    CardDiscarded,
    CardLaid,
    CardsShown,
    HandSettled,
)
from domain.seats import Seat
from domain.telling import Payment, Telling

_BETS: Final[dict[BetReason, str]] = {
    "ante": "Everyone bets",
    "trick": "The others bet",
    "refresh": "Everyone bets again",
}


def narrate(telling: Telling, event: Any, version: int) -> None:
    """Add one event to the telling: bets of one occasion in one line, and likewise discards, so far
    as the viewer may see them."""
    name = telling.name
    match event:
        case BetPlaced():
            bet = f"{event.amount} (all there was)" if event.short else str(event.amount)
            _list(telling, version, _BETS[event.reason], f"{name(event.seat)} {bet}")
        case CardDiscarded() if event.face is not None:
            card = telling.spoken(event.face.card)
            _list(telling, version, "Discards", f"{name(event.seat)} {card}")
        case CardLaid() if event.face is not None:
            telling.play(event.seat, event.face.card)
        case CardsShown():
            telling.hand.unfinished = list(event.cards)
            telling.end_trick(None if event.bank is None else event.highest, version)
            if event.bank is None:
                text = f"{name(event.highest)} has the highest card and is excused"
                telling.say(version, event.highest, text)
        case ChipsMoved():
            taker = max(range(len(event.changes)), key=event.changes.__getitem__)
            telling.say(version, taker, _taking(telling, taker, event))
        case HandSettled():
            telling.hand.payments = tuple(
                [Payment(seat, chips) for seat, chips in enumerate(event.chips)]
            )
            for seat in event.gone:
                telling.say(version, seat, f"{name(seat)} is out of the game")
        case _:
            pass


def _taking(telling: Telling, taker: Seat, event: ChipsMoved) -> str:
    plays = telling.hand.tricks[-1].plays
    card = next(telling.spoken(play.card) for play in plays if play.seat == taker)
    return f"{telling.name(taker)} takes the bank of {-event.pot} with {_the(card)}"


def _the(card: str) -> str:
    return card if card.startswith("the ") else f"the {card}"


def _list(telling: Telling, version: int, title: str, entry: str) -> None:
    """Go on with the line of this title, if it is the last thing told of the hand, or begin it."""
    hand = telling.hand
    last = hand.moments[-1] if hand.moments else None
    shown = hand.tricks[-1].version if hand.tricks else 0
    if last is not None and last.version > shown and last.text.startswith(f"{title}: "):
        hand.moments[-1] = msgspec.structs.replace(last, text=f"{last.text}, {entry}")
    else:
        telling.say(version, None, f"{title}: {entry}")
