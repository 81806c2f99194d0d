"""How careful bots choose: by habits, tried in order, with a common last one. Knows no game.

A habit looks at what the bot remembers, at the legal actions and at its own cards, and names one of
the actions or leaves it to the next habit.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from domain.actions import Action, CutChoice, Deal, Pass
from domain.cards import Card

M = TypeVar("M")

Habit = Callable[[M, tuple[Action, ...], tuple[Card, ...]], Action | None]


def choose_by(
    habits: Sequence[Habit[Any]],
    memory: Any,
    actions: tuple[Action, ...],
    hand: tuple[Card, ...],
    word: int,
) -> Action:
    """The first action that a habit finds; else cut somewhere, deal, pass, or do anything legal.
    `word` is drawn uniformly over 32 bits."""
    for habit in habits:
        found = habit(memory, actions, hand)
        if found is not None:
            return found
    first = actions[word % len(actions)]
    if isinstance(first, CutChoice):
        return first.somewhere(word)
    return next((action for action in actions if isinstance(action, Deal | Pass)), first)
