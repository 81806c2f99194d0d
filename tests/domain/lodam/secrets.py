"""What Losing Lodam shows to whom, from its rulebook: for the tests that nothing else leaks out."""

import random

from domain.actions import Action
from domain.events import Event
from domain.hand import HandDealt
from domain.lodam.commands import Leave, Take
from domain.lodam.events import TradeConcluded, TradeOffered, TrickLeft, TrumpCovered, TrumpTurned
from domain.seats import Seat
from domain.table.state import Table
from domain.tricks import CardPlayed
from tests.domain.worlds import Secrets, World, dealt_to


def shown(event: Event, seat: Seat | None) -> set[str]:
    """lodam, *Deal*, *Trading*, *Play*: own cards, traded cards to the two, what lies face up."""
    match event:
        case HandDealt():
            return dealt_to(event, seat)
        case CardPlayed():
            return {event.card}
        case TrumpTurned(face=face) if face is not None:
            return {face.card}
        case TradeOffered(face=face) if face is not None and event.seat == seat:
            return {face.card}
        case TradeConcluded(faces=faces) if faces is not None and seat in event.seats:
            return {faces.offered, faces.card}
        case _:
            return set()


def kind(card: str) -> str:
    """Coats, cards and the rest (lodam, *Trading*)."""
    return "coat" if card[0] in "KQJ" else "card" if card[0] in "AT" else "rest"


def alike(one: Event, other: Event) -> bool:
    """The table hears whether a trade was annulled, and whether who left a trick was right."""
    match one, other:
        case TradeConcluded(faces=mine), TradeConcluded(faces=theirs) if mine and theirs:
            return _one_suit(mine.offered, mine.card) == _one_suit(theirs.offered, theirs.card)
        case TrickLeft(believed=mine), TrickLeft(believed=theirs):
            return mine == theirs
        case _:
            return True


def _one_suit(one: str, other: str) -> bool:
    return one[1] == other[1]


def choose(table: Table, seat: Seat, actions: list[Action], chance: random.Random) -> Action:
    """Mostly `take`, so that many tricks are swallowed before anybody tells the trump."""
    if Take() in actions and chance.random() < 0.9:
        return Take()
    return chance.choice(actions)


def covered(world: World) -> set[str]:
    """The trump of the first hand, once it has been covered (`trump: "memory"`)."""
    turned: set[str] = set()
    for table, events in zip(world.tables, world.events, strict=True):
        for event in events:
            if isinstance(event, TrumpTurned) and table.hand == 1 and event.face is not None:
                turned = {event.face.card}
            if isinstance(event, TrumpCovered):
                return turned
    return set()


def in_the_open(world: World, step: int) -> bool:
    """Between the first hand's turning and covering, and from the first `leave` on."""
    happened = [type(event) for events in world.events[: step + 1] for event in events]
    asked = [type(command.ask) for command in world.commands[: step + 1]]
    return (TrumpTurned in happened and TrumpCovered not in happened) or Leave in asked


LODAM_SECRETS = Secrets(shown, kind, alike, choose, covered, in_the_open)
