"""A sensible player of Loc: lays its cards in the order that promises most chips.

It takes the cards of the others for drawn at random from those it has not seen, forecasts the bank,
and tries every order of its own cards. A pure function of its seat's view and of what it was shown;
it never reads the state.
"""

from collections.abc import Sequence
from math import comb
from typing import Any, Final

import msgspec

from domain.actions import Action, Play
from domain.cards import Card
from domain.game import Bot
from domain.habits import Habit, choose_by
from domain.hand import HandStarted
from domain.ledger import ChipsMoved
from domain.loc.commands import Discard
from domain.loc.events import BetPlaced, CardsShown
from domain.loc.options import LocOptions
from domain.loc.rules import ACES, JOKER, PACK, STRENGTH, TRICKS
from domain.seats import Seat


class Memory(msgspec.Struct):
    """What the seat was shown in this hand: the bank, the cards, the tricks shown."""

    stake: int
    joker_ends_hand: bool
    players: int = 0
    bank: int = 0
    tricks: int = 0
    seen: set[Card] = set()


class CarefulBot:
    """The bot `careful` of Loc."""

    def memory(self, seat: Seat, seats: int, options: LocOptions) -> Memory:
        """Nothing seen yet."""
        return Memory(options.stake, options.joker == "ends_hand")

    def remember(self, memory: Memory, event: Any) -> None:
        """Take in one event as the seat saw it."""
        match event:
            case HandStarted():
                memory.players = len(event.seats)
                memory.tricks, memory.seen = 0, set()
            case BetPlaced():
                memory.bank += event.amount
            case ChipsMoved():
                memory.bank += event.pot
            case CardsShown():
                memory.tricks = event.trick
                memory.seen.update(PACK.read([play.card for play in event.cards]))
            case _:
                pass

    def choose(
        self, memory: Memory, actions: tuple[Action, ...], cards: tuple[str, ...], word: int
    ) -> Action:
        """The first action that the bot's habits, in their order, find sensible."""
        return choose_by(_HABITS, memory, actions, PACK.read(cards), word)


def lay_aside(_: Memory, actions: tuple[Action, ...], hand: tuple[Card, ...]) -> Action | None:
    """Discard the weakest card."""
    if not any(isinstance(action, Discard) for action in actions):
        return None
    return Discard(card=PACK.cards[min(hand, key=STRENGTH.__getitem__)])


def play(memory: Memory, actions: tuple[Action, ...], hand: tuple[Card, ...]) -> Action | None:
    """Lay the first card of the best order."""
    if not any(isinstance(action, Play) for action in actions):
        return None
    forecast = Forecast(memory, hand)
    return Play(card=PACK.cards[forecast.best(hand, memory.tricks + 1, memory.bank)[1]])


class Forecast:
    """What each order of a hand's cards promises, against cards drawn from those not seen."""

    def __init__(self, memory: Memory, hand: Sequence[Card]) -> None:
        self._memory: Final = memory
        unseen = [
            card for card in map(Card, range(len(PACK))) if card not in memory.seen | set(hand)
        ]
        others = memory.players - 1
        all_draws = comb(len(unseen), others)

        def none_of(cards: int) -> float:
            return comb(len(unseen) - cards, others) / all_draws

        self._wins: Final = {
            card: none_of(sum([STRENGTH[other] > STRENGTH[card] for other in unseen]))
            for card in hand
        }
        """By card: how likely nobody else lays a higher one."""
        self._taken: Final = 1 - none_of(sum([other in _TAKERS for other in unseen]))
        """How likely somebody else lays the joker or an ace."""

    def best(self, cards: Sequence[Card], trick: int, bank: float) -> tuple[float, Card]:
        """The chips that the best order of these cards promises from this trick on, and its first
        card."""
        return max([(self._value(card, cards, trick, bank), card) for card in cards])

    def _value(self, card: Card, cards: Sequence[Card], trick: int, bank: float) -> float:
        memory, wins = self._memory, self._wins[card]
        if trick == TRICKS:
            return wins * bank
        full = memory.players * memory.stake
        if card in _TAKERS:
            if card == JOKER and memory.joker_ends_hand:
                return bank
            now, later = wins * bank - memory.stake, float(full)
        else:
            now = (wins - 1) * memory.stake
            later = self._taken * full + (1 - self._taken) * (bank + full - memory.stake)
        rest = [other for other in cards if other != card]
        return now + self.best(rest, trick + 1, later)[0]


_TAKERS: Final = ACES | {JOKER}

_HABITS: Final[tuple[Habit[Memory], ...]] = (lay_aside, play)

CAREFUL: Final[Bot] = CarefulBot()
