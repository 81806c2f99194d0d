"""How a hand of Losing Lodam is told in a replay. Only what the viewer may see comes in."""

from typing import Any

from domain.ledger import ChipsMoved
from domain.lodam.events import (
    Announced,
    ChallengeDecided,
    HandScored,
    TradeConcluded,
    TradeDeclined,
    TradeLapsed,
    TradeOffered,
    TradeWithdrawn,
    TrickLeft,
    TrumpTurned,
)
from domain.lodam.rules import PACK, points_of
from domain.telling import Payment, Telling
from domain.tricks import CardPlayed, TrickTaken


def narrate(telling: Telling, event: Any, version: int) -> None:
    """Add one event to the telling; looks, passes and the covering of the trump go unsaid."""
    name, spoken = telling.name, telling.spoken
    match event:
        case CardPlayed():
            telling.play(event.seat, event.card)
        case TrickTaken():
            telling.end_trick(
                event.seat,
                version,
                # Until the hand is opened the service counts nobody's points for others.
                points=None
                if event.truth is None
                else points_of(PACK.read([play.card for play in telling.hand.unfinished])),
                swallowed=None if event.truth is None else event.truth.swallowed,
            )
        case ChipsMoved(reason="stake"):
            telling.say(version, None, f"The players pay {event.pot} into the pool")
        case ChipsMoved():
            telling.say(version, None, f"The winner takes the pool of {-event.pot}")
        case TradeOffered():
            card = "" if event.face is None else f" (the {spoken(event.face.card)})"
            text = f"{name(event.seat)}: a {event.kind} for a {event.kind}?{card}"
            telling.say(version, event.seat, text)
        case TradeDeclined():
            telling.say(version, event.seat, f"{name(event.seat)} declines")
        case TradeWithdrawn():
            telling.say(version, event.seat, f"{name(event.seat)} withdraws the offer")
        case TradeLapsed():
            telling.say(version, event.seat, f"The offer of {name(event.seat)} lapses")
        case TradeConcluded():
            telling.say(version, event.seats[1], _concluded(telling, event))
        case TrumpTurned():
            card = "is turned up" if event.face is None else f"is the {spoken(event.face.card)}"
            telling.say(version, None, f"Nobody had renounced before: the trump {card}")
        case TrickLeft():
            verdict = "and so it is" if event.believed else "which is not so: they may only take"
            text = f"{name(event.seat)}: {name(event.named)} trumped it, {verdict}"
            telling.say(version, event.seat, text)
        case Announced():
            telling.say(version, event.seat, f"{name(event.seat)} announces")
        case ChallengeDecided():
            telling.say(version, event.seat, _challenge(telling, event))
        case HandScored():
            telling.hand.points = event.points
            telling.hand.payments = tuple(
                [Payment(seat, 0, -lost) for seat, lost in enumerate(event.lost)]
            )
        case _:
            pass


def _concluded(telling: Telling, event: TradeConcluded) -> str:
    offerer, acceptor = [telling.name(seat) for seat in event.seats]
    text = f"{acceptor} accepts the offer of {offerer}"
    if event.faces is not None:
        offered, given = telling.spoken(event.faces.offered), telling.spoken(event.faces.card)
        text += f": the {offered} for the {given}"
    return text + (", of one suit: annulled" if event.annulled else "")


def _challenge(telling: Telling, event: ChallengeDecided) -> str:
    mine, theirs = event.reached
    verdict = "upheld" if event.upheld else "rejected"
    whose = (
        f"{telling.name(event.challenged)} never reached 31"
        if theirs is None
        else f"{telling.name(event.challenged)} reached 31 with trick {theirs.trick}"
    )
    return (
        f"{telling.name(event.seat)} challenges {telling.name(event.challenged)}: {verdict}, "
        f"{whose}, {telling.name(event.seat)} with trick {mine.trick}"
    )
