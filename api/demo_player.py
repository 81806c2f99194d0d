"""A player of the demonstration: a client that knows its own views and its own events, as any app
could. It plays by the game's careful habits, and now and then on a whim.
"""

from collections.abc import Sequence
from random import Random
from typing import Any, Final

import msgspec

from domain.actions import Action, CutChoice
from domain.codec import read_action, read_event
from domain.game import Game
from domain.log import Entry

Json = dict[str, Any]

_WHIM: Final = 0.15


class DemoPlayer:
    """One player, with the memory of what the seat was shown."""

    def __init__(self, game: Game[Any], seat: int, view: Json, chance: Random) -> None:
        self._bot: Final = game.careful
        options = msgspec.convert(view["rules"], game.options)
        self._memory: Final = self._bot.memory(seat, len(view["seats"]), options)
        self._chance: Final = chance

    def watch(self, entries: Sequence[Entry]) -> None:
        """Take in the events that follow, as the seat was given them."""
        for entry in entries:
            self._bot.remember(self._memory, read_event(entry))

    def choose(self, view: Json) -> Json:
        """One of the view's actions as the body of a request; the view lists at least one."""
        actions = tuple([_read(action) for action in view["actions"]])
        if self._chance.random() < _WHIM:
            actions = (self._chance.choice(actions),)
        cards = tuple(view["private"]["cards"])
        chosen = self._bot.choose(self._memory, actions, cards, self._chance.getrandbits(32))
        body: Json = msgspec.to_builtins(chosen)
        return body | {"hand": view["hand"]["number"]}


def _read(action: Json) -> Action:
    if isinstance(action.get("at"), dict):
        return msgspec.convert(action, CutChoice)
    return read_action(msgspec.json.encode(action))
