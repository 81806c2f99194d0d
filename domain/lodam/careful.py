"""A sensible player of Losing Lodam: ducks loaders, trades away unguarded ones, remembers the
trump, owns up at 31 and challenges when the tricks it saw prove another came first.

A pure function of its seat's view and of what it was shown; it never reads the state.
"""

from typing import Any, Final

import msgspec

from domain.actions import Action, Play
from domain.cards import BIT, Card
from domain.game import Bot
from domain.habits import Habit, choose_by
from domain.hand import HandStarted
from domain.lodam.commands import (
    AcceptTrade,
    Announce,
    Challenge,
    DeclineTrade,
    Leave,
    OfferTrade,
    Take,
)
from domain.lodam.events import TrumpTurned
from domain.lodam.options import LodamOptions
from domain.lodam.rules import LOADER_POINTS, PACK, STRENGTH, THRESHOLD, points_of, rightful_taker
from domain.seats import Seat
from domain.tricks import CardPlayed, TrickTaken

_UNGUARDED: Final = 3
"""A loader with fewer lower cards of its suit beside it than this is worth trading away."""


class Memory(msgspec.Struct):
    """What the seat was shown in this hand: the trump, the trick on the table, every player's
    points and the trick with which each reached 31."""

    seat: Seat
    strength: tuple[int, ...]
    trump: int | None = None
    trick: list[tuple[Seat, Card]] = []
    points: list[int] = []
    reached: list[int | None] = []
    gone: int = 0
    """Cards already played, as a bit mask."""


class CarefulBot:
    """The bot `careful` of Losing Lodam."""

    def memory(self, seat: Seat, seats: int, options: LodamOptions) -> Memory:
        """Nothing seen yet."""
        return Memory(seat, STRENGTH[options.ranking], points=[0] * seats, reached=[None] * seats)

    def remember(self, memory: Memory, event: Any) -> None:
        """Take in one event as the seat saw it."""
        match event:
            case HandStarted():
                seats = len(memory.points)
                memory.trump, memory.trick, memory.gone = None, [], 0
                memory.points, memory.reached = [0] * seats, [None] * seats
            case CardPlayed():
                card = PACK.index[event.card]
                memory.trick.append((event.seat, card))
                memory.gone |= BIT[card]
            case TrumpTurned() if event.face is not None:
                memory.trump = PACK.suit_of[PACK.index[event.face.card]]
            case TrickTaken():
                memory.points[event.seat] += points_of([card for _, card in memory.trick])
                if memory.points[event.seat] >= THRESHOLD and memory.reached[event.seat] is None:
                    memory.reached[event.seat] = event.trick
                memory.trick = []
            case _:
                pass

    def choose(
        self, memory: Memory, actions: tuple[Action, ...], cards: tuple[str, ...], word: int
    ) -> Action:
        """The first action that the bot's habits, in their order, find sensible."""
        return choose_by(_HABITS, memory, actions, PACK.read(cards), word)


def own_up(memory: Memory, actions: tuple[Action, ...], _: tuple[Card, ...]) -> Action | None:
    """Announce at 31; then challenge a player whose tricks reached it first."""
    mine = memory.reached[memory.seat]
    for action in actions:
        if isinstance(action, Announce):
            return action
        if isinstance(action, Challenge) and mine is not None:
            theirs = memory.reached[action.seat]
            if theirs is not None and theirs < mine:
                return action
    return None


def settle_trick(memory: Memory, actions: tuple[Action, ...], _: tuple[Card, ...]) -> Action | None:
    """Leave a trick to the player who trumped it by the trump that was shown, else take it."""
    if not any(isinstance(action, Take) for action in actions):
        return None
    rightful = rightful_taker(memory.trick, memory.trump, memory.strength)
    for action in actions:
        if isinstance(action, Leave) and action.seat == rightful:
            return action
    return Take()


def trade(memory: Memory, actions: tuple[Action, ...], hand: tuple[Card, ...]) -> Action | None:
    """Offer, or answer an offer with, the least guarded card of the kind; else decline."""
    offers = [a for a in actions if isinstance(a, OfferTrade | AcceptTrade)]
    unguarded = [a for a in offers if guards(memory, PACK.index[a.card], hand) < _UNGUARDED]
    if unguarded and not any(isinstance(action, Play) for action in actions):
        return min(unguarded, key=lambda a: guards(memory, PACK.index[a.card], hand))
    if any(isinstance(action, DeclineTrade) for action in actions):
        return DeclineTrade()
    return None


def guards(memory: Memory, card: Card, hand: tuple[Card, ...]) -> int:
    """How many lower cards of the suit the hand has beside this one."""
    suit, power = PACK.suit_of[card], memory.strength[card]
    return sum(
        [1 for other in hand if PACK.suit_of[other] == suit and memory.strength[other] < power]
    )


def play(memory: Memory, actions: tuple[Action, ...], hand: tuple[Card, ...]) -> Action | None:
    """Lead what others will most likely beat; else duck with the dearest card that does not win;
    else win as cheaply as can be."""
    cards = [PACK.index[action.card] for action in actions if isinstance(action, Play)]
    if not cards:
        return None
    if not memory.trick:
        chosen = min(cards, key=lambda card: _risk_of_lead(memory, card, hand))
    else:
        losing = [card for card in cards if _taker_with(memory, card) != memory.seat]
        if losing:
            chosen = max(losing, key=lambda c: (LOADER_POINTS[c], memory.strength[c]))
        else:
            chosen = min(cards, key=lambda c: (LOADER_POINTS[c], -memory.strength[c]))
    return Play(card=PACK.cards[chosen])


def _taker_with(memory: Memory, card: Card) -> Seat:
    return rightful_taker([*memory.trick, (memory.seat, card)], memory.trump, memory.strength)


def _risk_of_lead(memory: Memory, card: Card, hand: tuple[Card, ...]) -> tuple[int, int]:
    """Fewer cards still out that beat the lead make it riskier; then points, then strength."""
    suit, power = PACK.suit_of[card], memory.strength[card]
    mine = set(hand)
    beating = [
        other
        for other in range(len(PACK))
        if PACK.suit_of[Card(other)] == suit
        and memory.strength[other] > power
        and not memory.gone >> other & 1
        and other not in mine
    ]
    return LOADER_POINTS[card] * 4 - len(beating) * 3, power


_HABITS: Final[tuple[Habit[Memory], ...]] = (own_up, settle_trick, trade, play)

CAREFUL: Final[Bot] = CarefulBot()
