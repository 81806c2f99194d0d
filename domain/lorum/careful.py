"""A sensible player of Lorum: ducks and throws away what costs, runs through quads that end with a
card of its own, and leads the suits on that its own cards wait for.

A pure function of its seat's view and of what it was shown; it never reads the state.
"""

from typing import Any, Final

import msgspec

from domain.actions import Action, Play
from domain.cards import BIT, Card, mask
from domain.game import Bot
from domain.habits import Habit, choose_by
from domain.lorum.contracts import TRICK_CONTRACTS, ContractName
from domain.lorum.events import ContractAnnounced, RunCompleted
from domain.lorum.options import LorumOptions
from domain.lorum.rules import (
    ANY_CARD,
    CARD_PENALTIES,
    LONGEST_RUN,
    NEXT_IN_SUIT,
    PACK,
    RANK_MASKS,
    SAME_SUIT,
    SEATS,
    STRENGTH,
    penalty_of,
    taker_of,
)
from domain.seats import Seat
from domain.tricks import CardPlayed, TrickTaken


class Memory(msgspec.Struct):
    """What the seat was shown in this round."""

    seat: Seat
    contract: ContractName | None = None
    on_table: list[tuple[Seat, Card]] = []
    gone: int = 0
    """Cards already played, as a bit mask."""


class CarefulBot:
    """The bot `careful` of Lorum."""

    def memory(self, seat: Seat, seats: int, options: LorumOptions) -> Memory:
        """Nothing seen yet."""
        return Memory(seat)

    def remember(self, memory: Memory, event: Any) -> None:
        """Take in one event as the seat saw it."""
        match event:
            case ContractAnnounced():
                memory.contract, memory.on_table, memory.gone = event.contract, [], 0
            case CardPlayed():
                card = PACK.index[event.card]
                memory.on_table.append((event.seat, card))
                memory.gone |= BIT[card]
            case TrickTaken() | RunCompleted():
                memory.on_table = []
            case _:
                pass

    def choose(
        self, memory: Memory, actions: tuple[Action, ...], cards: tuple[str, ...], word: int
    ) -> Action:
        """What the bot's habit for the contract finds sensible."""
        return choose_by(_HABITS, memory, actions, PACK.read(cards), word)


def play(memory: Memory, actions: tuple[Action, ...], hand: tuple[Card, ...]) -> Action | None:
    """The best of the cards that may be played, by the contract."""
    cards = [PACK.index[action.card] for action in actions if isinstance(action, Play)]
    if not cards:
        return None
    if memory.contract in TRICK_CONTRACTS:
        chosen = _to_trick(memory, cards, hand)
    elif memory.contract == "quads":
        chosen = max(cards, key=lambda card: _run_from(memory, card, hand))
    elif memory.contract == "fast_train":
        chosen = max(cards, key=lambda card: _start_of_train(card, hand))
    else:
        chosen = _to_layout(memory, cards, hand)
    return Play(card=PACK.cards[chosen])


def _to_trick(memory: Memory, cards: list[Card], hand: tuple[Card, ...]) -> Card:
    """Lead what others will most likely beat. Duck with the dearest card that does not win; where
    the last player must win, or wins what costs nothing, with the highest; else with the lowest."""
    if not memory.on_table:
        return min(cards, key=lambda card: _risk_of_lead(memory, card, hand))
    costs = _costs(memory)
    losing = [card for card in cards if _taker_with(memory, card) != memory.seat]
    last = len(memory.on_table) == SEATS - 1
    winning = [card for card in cards if card not in losing]
    if last and winning and memory.contract != "no_tricks":
        free = [card for card in winning if _cost_with(memory, card) == 0]
        if free and not any(costs[card] for card in losing):
            return max(free, key=lambda card: STRENGTH[card])
    if losing:
        return max(losing, key=lambda card: (costs[card], _danger(memory, card, hand)))
    if last:
        return max(winning, key=lambda card: (-_cost_with(memory, card), PACK.rank(card)))
    return min(winning, key=lambda card: (costs[card], PACK.rank(card)))


def _costs(memory: Memory) -> tuple[int, ...]:
    """What each card costs its taker, where cards do."""
    assert memory.contract is not None
    return CARD_PENALTIES.get(memory.contract, (0,) * len(PACK))


def _cost_with(memory: Memory, card: Card) -> int:
    assert memory.contract is not None
    return penalty_of(memory.contract, [*[c for _, c in memory.on_table], card])


def _taker_with(memory: Memory, card: Card) -> Seat:
    return taker_of([*memory.on_table, (memory.seat, card)])


def _out(memory: Memory, hand: tuple[Card, ...]) -> int:
    """The cards that the other players hold."""
    return ANY_CARD & ~memory.gone & ~mask(hand)


def _danger(memory: Memory, card: Card, hand: tuple[Card, ...]) -> int:
    """How many lower cards of the suit the others hold: each may lose to this one."""
    return (_out(memory, hand) & SAME_SUIT[card] & (BIT[card] - 1)).bit_count()


def _risk_of_lead(memory: Memory, card: Card, hand: tuple[Card, ...]) -> tuple[int, int, int]:
    """A lead that nobody can beat wins the trick; the more cards beat it, the better. Penalty
    cards are led last."""
    others = _out(memory, hand) & SAME_SUIT[card]
    beating = (others >> card).bit_count()
    return (0 if beating else 1), _costs(memory)[card] * 2 - beating, PACK.rank(card)


def _run_from(memory: Memory, card: Card, hand: tuple[Card, ...]) -> tuple[int, int]:
    """Whether the run that a lead begins ends with a card of one's own, so that one leads again;
    and how many more cards of one's own it takes than of others."""
    mine = mask(hand)
    bit, own, others, last = BIT[card], 0, 0, False
    for _ in range(LONGEST_RUN):
        if memory.gone & bit:
            break
        last = bool(mine & bit)
        own, others = own + last, others + (not last)
        bit = NEXT_IN_SUIT[bit.bit_length() - 1]
    return int(last), own * 2 - others


def _start_of_train(card: Card, hand: tuple[Card, ...]) -> int:
    """A rank comes once in eight plays: lead one that is held more than once, and that one's other
    cards follow soon."""
    of_rank = (mask(hand) & RANK_MASKS[PACK.rank(card)]).bit_count()
    return 4 * of_rank - _ranks_to_wait(card, hand)


def _to_layout(memory: Memory, cards: list[Card], hand: tuple[Card, ...]) -> Card:
    """Begin with the rank that one's cards follow soonest; then play where one's own cards wait
    farthest on, and last where one has none and would only help others."""
    if not memory.on_table:
        return min(cards, key=lambda start: _ranks_to_wait(start, hand))
    return max(cards, key=lambda card: _farthest(memory, card, hand))


def _steps(start: Card, card: Card) -> int:
    """How many ranks a card lies above another, round the corner."""
    return (PACK.rank(card) - PACK.rank(start)) % len(PACK.ranks)


def _ranks_to_wait(start: Card, hand: tuple[Card, ...]) -> int:
    """How many ranks after a start one's cards come, all together."""
    return sum([_steps(start, card) for card in hand])


def _farthest(memory: Memory, card: Card, hand: tuple[Card, ...]) -> tuple[int, int]:
    waiting = [
        _steps(card, other)
        for other in hand
        if other != card and SAME_SUIT[other] == SAME_SUIT[card]
    ]
    return max(waiting, default=0), len(waiting)


_HABITS: Final[tuple[Habit[Memory], ...]] = (play,)

CAREFUL: Final[Bot] = CarefulBot()
