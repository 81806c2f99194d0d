"""What Loc shows to whom, from its rulebook: for the tests that nothing else leaks out."""

import random

from domain.actions import Action
from domain.events import Event
from domain.hand import HandDealt
from domain.loc.events import CardDiscarded, CardLaid, CardsShown
from domain.seats import Seat
from domain.table.state import Table
from tests.domain.worlds import Secrets, World


def shown(event: Event, seat: Seat | None) -> set[str]:
    """loc, *Play*: own cards, own discard and plays; every card of a trick once all have laid."""
    match event:
        case HandDealt():
            own = event.hands.get(seat) if seat is not None else None
            return set(own.cards) if own is not None else set()
        case CardDiscarded(face=face) | CardLaid(face=face) if face is not None:
            return {face.card} if event.seat == seat else set()
        case CardsShown():
            return {play.card for play in event.cards}
        case _:
            return set()


def kind(card: str) -> str:
    """What takes the bank, and the rest (loc, *Play*)."""
    return "taker" if card == "XX" or card[0] == "A" else "rest"


def alike(one: Event, other: Event) -> bool:
    """Nothing that happens before a showing tells anything of a card."""
    return True


def choose(table: Table, seat: Seat, actions: list[Action], chance: random.Random) -> Action:
    """Anything."""
    return chance.choice(actions)


def covered(world: World) -> set[str]:
    """Nothing is ever turned down again."""
    return set()


def in_the_open(world: World, step: int) -> bool:
    """So nothing lies open for a while only."""
    return False


LOC_SECRETS = Secrets(shown, kind, alike, choose, covered, in_the_open)
