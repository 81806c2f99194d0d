"""What Loc shows to whom, from its rulebook: for the tests that nothing else leaks out."""

from domain.events import Event
from domain.hand import HandDealt
from domain.loc.events import CardDiscarded, CardLaid, CardsShown
from domain.seats import Seat
from tests.domain.worlds import Secrets, dealt_to


def shown(event: Event, seat: Seat | None) -> set[str]:
    """loc, *Play*: own cards, own discard and plays; every card of a trick once all have laid."""
    match event:
        case HandDealt():
            return dealt_to(event, seat)
        case CardDiscarded(face=face) | CardLaid(face=face) if face is not None:
            return {face.card} if event.seat == seat else set()
        case CardsShown():
            return {play.card for play in event.cards}
        case _:
            return set()


def kind(card: str) -> str:
    """What takes the bank, and the rest (loc, *Play*)."""
    return "taker" if card == "XX" or card[0] == "A" else "rest"


LOC_SECRETS = Secrets(shown, kind)
