"""What Lorum shows to whom, from its rulebook: for the tests that nothing else leaks out."""

from domain.actions import Pass
from domain.events import Event
from domain.hand import HandDealt
from domain.seats import Seat
from domain.table.decide import server_command, to_act
from domain.table.state import Table
from domain.tricks import CardPlayed
from tests.domain.worlds import Secrets, dealt_to


def shown(event: Event, seat: Seat | None) -> set[str]:
    """common, *Who sees what*: own cards, and whatever has been played."""
    match event:
        case HandDealt():
            return dealt_to(event, seat)
        case CardPlayed():
            return {event.card}
        case _:
            return set()


def kind(card: str) -> str:
    """Suits: who exchanges two cards of one follows suit as before."""
    return card[1]


def told(table: Table) -> object:
    """lorum, *Shedding contracts*: that the next player cannot play and so passes; and with
    `auto_forced: false` whom a run of quads waits for."""
    if table.status != "playing" or table.stage != "play":
        return None
    shown_now = table.game.table_view(table.play, False)
    if shown_now.contract == "quads" and shown_now.run and not table.options.auto_forced:
        return to_act(table)
    own = server_command(table)
    return own is not None and isinstance(own[1], Pass)


LORUM_SECRETS = Secrets(shown, kind, told=told)
