"""How a round of Lorum is told in a replay. Only what the viewer may see comes in."""

from collections.abc import Iterator
from typing import Any

from domain.ledger import ChipsMoved
from domain.lorum.contracts import BY_NAME
from domain.lorum.events import ContractAnnounced, RoundScored, RunCompleted
from domain.lorum.rules import PACK, penalty_of
from domain.telling import Payment, Telling
from domain.tricks import CardPlayed, TrickTaken


def narrate(telling: Telling, event: Any, version: int) -> None:
    """Add one event to the telling. Passes, and the payments that the reckoning sums up, are told
    with it."""
    name = telling.name
    match event:
        case ContractAnnounced():
            telling.hand.contract = event.contract
            dealer = telling.hand.dealer
            telling.say(version, dealer, f"{name(dealer)}: {BY_NAME[event.contract].words}")
        case CardPlayed():
            telling.play(event.seat, event.card)
        case TrickTaken():
            hand = telling.hand
            assert hand.contract is not None
            cards = PACK.read([play.card for play in hand.unfinished])
            telling.end_trick(event.seat, version, points=penalty_of(hand.contract, cards))
        case RunCompleted():
            telling.end_trick(event.seat, version)
        case ChipsMoved(reason="cards_left"):
            winner = telling.hand.unfinished[-1].seat
            telling.end_trick(winner, version)
            into = " into the pot" if event.pot else ""
            text = f"{name(winner)} is out of cards: the others pay{into} a chip for each they hold"
            telling.say(version, winner, text)
        case ChipsMoved(reason="payout"):
            winner = next(seat for seat, change in enumerate(event.changes) if change)
            telling.say(version, winner, f"{name(winner)} takes the pot of {-event.pot}")
        case ChipsMoved(reason="pot_shared"):
            telling.say(version, None, f"The pot is shared out, {event.changes[0]} to each")
        case RoundScored():
            telling.hand.points = event.points
            telling.hand.payments = tuple([Payment(seat, n) for seat, n in enumerate(event.chips)])
            for text in _reckoning(telling, event):
                telling.say(version, None, text)
        case _:
            pass


def _reckoning(telling: Telling, event: RoundScored) -> Iterator[str]:
    if BY_NAME[event.contract].on_table == "trick":
        yield _penalties(telling, event)
    if any(event.passes):
        passes = [f"{telling.name(seat)} {n}" for seat, n in enumerate(event.passes) if n]
        yield f"passes: {', '.join(passes)}"
    if event.pot:
        yield f"The pot stands at {event.pot}"


def _penalties(telling: Telling, event: RoundScored) -> str:
    """Who pays whom for what was taken."""
    takers = [telling.name(seat) for seat, cost in enumerate(event.points) if cost]
    others = [telling.name(seat) for seat, cost in enumerate(event.points) if not cost]
    if event.contract == "hairy_monkey":
        return f"{takers[0]} has the hairy monkey and pays {sum(event.points)} into the pot"
    match len(takers):
        case 1:
            each = sum(event.points)
            return f"{takers[0]} took it all and wins: each of the others pays {each}"
        case 4:
            return "All four pay what they took into the pot"
        case _:
            return f"{_listed(takers)} pay what they took, to {_listed(others)}"


def _listed(names: list[str]) -> str:
    return " and ".join([part for part in (", ".join(names[:-1]), names[-1]) if part])
