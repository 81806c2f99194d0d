"""Players that the server moves: each sees one seat's view, and remembers what that seat was shown.

A bot never reads the state: it gets the seat's redacted events, each as it was shown at the time,
and the seat's view. Chance comes in as a number.
"""

from collections.abc import Iterable
from typing import Any, Final

from domain.actions import Action, CutChoice
from domain.events import Event, layout
from domain.game import Bot, Options
from domain.seats import Seat
from domain.table.state import Table
from domain.table.views import playable_actions
from domain.visibility import ALL_TEXT, TABLE_TEXT, audience_seats


class RandomBot:
    """Uniform over the legal actions; remembers nothing."""

    def memory(self, seat: Seat, seats: int, options: Options) -> None:
        """Nothing."""

    def remember(self, memory: None, event: Event) -> None:
        """Nothing."""

    def choose(
        self, memory: None, actions: tuple[Action, ...], cards: tuple[str, ...], word: int
    ) -> Action:
        """One of the actions, each as likely as another."""
        action = actions[word % len(actions)]
        return action.somewhere(word) if isinstance(action, CutChoice) else action


RANDOM: Final[Bot] = RandomBot()


def as_shown(event: Event, seat: Seat) -> Event:
    """The event as the seat was shown it when it happened: its own parts, and what was laid on the
    table, and nothing opened later."""

    def may_see(audience: str) -> bool:
        return audience in (ALL_TEXT, TABLE_TEXT) or seat in audience_seats(audience)

    seen: Event = layout(type(event)).seen(event, may_see)
    return seen


class Players:
    """The bots of one game, each with the memory of its seat."""

    def __init__(self, table: Table, seats: Iterable[Seat]) -> None:
        """Memories for these seats, before the first event."""
        self._bots: Final[dict[Seat, tuple[Bot, Any]]] = {}
        for seat in seats:
            bot = RANDOM if table.bot_at(seat) == "random" else table.game.careful
            self._bots[seat] = (bot, bot.memory(seat, len(table.seats), table.options))

    @property
    def seats(self) -> frozenset[Seat]:
        """The seats that these bots play."""
        return frozenset(self._bots)

    def watch(self, events: Iterable[Event]) -> None:
        """Show every bot the events that follow, as its seat sees them."""
        for event in events:
            for seat, (bot, memory) in self._bots.items():
                bot.remember(memory, as_shown(event, seat))

    def choose(self, table: Table, seat: Seat, word: int) -> Action:
        """What the bot at a seat that is to act does; `word` is uniform over 32 bits."""
        bot, memory = self._bots[seat]
        cards = table.game.private_view(table.play, seat).cards
        return bot.choose(memory, tuple(playable_actions(table, seat)), cards, word)


def bot_seats(table: Table) -> tuple[Seat, ...]:
    """The seats that bots play: those set up so, and those of players who have resigned."""
    return tuple([s for s in range(len(table.seats)) if table.bot_at(s) is not None])
