"""What a game of Lorum remembers, and how each event changes it. Refuses nothing, works out no rule
that an event already tells."""

from collections.abc import Callable, Mapping
from typing import Any, Final, Literal

import msgspec

from domain.cards import BIT, Card, mask
from domain.events import Event
from domain.game import HandScore, Previous, gone_from_table, paid_for_hand, shallow
from domain.hand import HandDealt, HandStarted, PlayerResigned, cards_dealt
from domain.ledger import ChipsMoved, Ledger
from domain.lorum.contracts import TRICK_CONTRACTS, ContractName
from domain.lorum.events import ContractAnnounced, RoundScored, RunCompleted
from domain.lorum.options import LorumOptions
from domain.lorum.rules import (
    ANY_CARD,
    FOLLOWING,
    NEXT_IN_SUIT,
    NEXT_RANK,
    PACK,
    SAME_SUIT,
    SEATS,
    begun_with,
    laid_on,
    penalty_of,
)
from domain.seats import Seat, with_seat
from domain.telling import Payment, played_cards
from domain.tricks import CardPlayed, Passed, TrickTaken

_NONE: Final = (0,) * SEATS


class LorumState(msgspec.Struct, gc=False):
    """The whole state. Lists and tuples of numbers are by seat."""

    options: LorumOptions
    ledger: Ledger
    resigned: frozenset[Seat] = frozenset()
    history: tuple[HandScore, ...] = ()
    previous: Previous | None = None
    # The round
    hand: int = 0
    dealer: Seat = 0
    contract: ContractName | None = None
    balances: tuple[int, ...] = _NONE
    """As the round began."""
    phase: Literal["dealing", "playing", "over"] = "dealing"
    hands: list[int] = []
    to_play: Seat = 0
    on_table: list[tuple[Seat, Card]] = []
    """The trick, run or layout, in order of play."""
    fits: int = ANY_CARD
    """The cards that may be played on what lies on the table."""
    tricks: int = 0
    runs: tuple[tuple[Card, ...], ...] = ()
    """Of quads, turned over."""
    taken: tuple[tuple[tuple[Card, ...], ...], ...] = ((),) * SEATS
    penalties: tuple[int, ...] = _NONE
    passes: tuple[int, ...] = _NONE


def initial(options: LorumOptions, seats: int) -> LorumState:
    """The state before the first round."""
    return LorumState(options=options, ledger=Ledger((options.starting_chips,) * seats))


def copied(state: LorumState) -> LorumState:
    """A copy that can be evolved without changing the original."""
    new: LorumState = shallow(state)
    new.hands = state.hands.copy()
    new.on_table = state.on_table.copy()
    return new


def counted(numbers: tuple[int, ...], seat: Seat, more: int) -> tuple[int, ...]:
    """The numbers by seat with that seat's raised."""
    return with_seat(numbers, seat, numbers[seat] + more)


def _hand_started(state: LorumState, event: HandStarted, _: int) -> None:
    state.hand, state.dealer = event.hand, event.dealer
    state.contract = None
    state.balances = state.ledger.balances
    state.phase, state.hands = "dealing", [0] * SEATS
    state.to_play = event.seats[0]
    state.on_table, state.fits = [], ANY_CARD
    state.tricks, state.runs = 0, ()
    state.taken = ((),) * SEATS
    state.penalties = state.passes = _NONE


def _contract_announced(state: LorumState, event: ContractAnnounced, _: int) -> None:
    state.contract = event.contract


def _hand_dealt(state: LorumState, event: HandDealt, _: int) -> None:
    hands, _no_stock = cards_dealt(event, PACK, SEATS)
    state.hands = [mask(cards) for cards in hands]
    state.phase = "playing"


def _player_resigned(state: LorumState, event: PlayerResigned, _: int) -> None:
    state.resigned |= {event.seat}


def _chips_moved(state: LorumState, event: ChipsMoved, _: int) -> None:
    state.ledger = state.ledger.move(event.changes, event.pot)


def _card_played(state: LorumState, event: CardPlayed, _: int) -> None:
    card = PACK.index[event.card]
    seat = event.seat
    first = not state.on_table
    state.hands[seat] ^= BIT[card]
    state.on_table.append((seat, card))
    state.to_play = FOLLOWING[seat]
    contract = state.contract
    if contract in TRICK_CONTRACTS:
        if first:
            state.fits = SAME_SUIT[card]
    elif contract == "quads":
        state.fits = NEXT_IN_SUIT[card]
        # Whoever holds the continuation; where nobody does, the run ends in the same command.
        holders = [s for s, hand in enumerate(state.hands) if hand & state.fits]
        state.to_play = holders[0] if holders else seat
    elif contract == "fast_train":
        state.fits = NEXT_RANK[card]
    elif first:
        state.fits = begun_with(card)
    else:
        state.fits = laid_on(state.fits, card)


def _passed(state: LorumState, event: Passed, _: int) -> None:
    state.to_play = FOLLOWING[event.seat]
    state.passes = counted(state.passes, event.seat, 1)


def _trick_taken(state: LorumState, event: TrickTaken, _: int) -> None:
    assert state.contract is not None
    seat = event.seat
    cards = tuple([card for _, card in state.on_table])
    state.taken = with_seat(state.taken, seat, (*state.taken[seat], cards))
    state.penalties = counted(state.penalties, seat, penalty_of(state.contract, cards))
    state.tricks = event.trick
    _turn_over(state, seat)


def _run_completed(state: LorumState, event: RunCompleted, _: int) -> None:
    state.runs += (tuple([card for _, card in state.on_table]),)
    _turn_over(state, event.seat)


def _turn_over(state: LorumState, seat: Seat) -> None:
    """The cards are gone from the table, and the seat leads."""
    run = played_cards(state.on_table, PACK)
    state.previous = gone_from_table(state.previous, state.hand, run, seat)
    state.on_table, state.fits, state.to_play = [], ANY_CARD, seat


def _round_scored(state: LorumState, event: RoundScored, _: int) -> None:
    if state.on_table:
        # Who went out played the last card.
        _turn_over(state, state.on_table[-1][0])
    state.phase = "over"
    state.history += (
        HandScore(
            hand=event.hand,
            dealer=state.dealer,
            points=event.points,
            chips=event.chips,
            lives=None,
            contract=event.contract,
        ),
    )
    payments = tuple([Payment(seat, chips) for seat, chips in enumerate(event.chips)])
    state.previous = paid_for_hand(state.previous, event.hand, payments)


EVOLVE: Final[Mapping[type[Event], Callable[[LorumState, Any, int], None]]] = {
    HandStarted: _hand_started,
    ContractAnnounced: _contract_announced,
    HandDealt: _hand_dealt,
    PlayerResigned: _player_resigned,
    ChipsMoved: _chips_moved,
    CardPlayed: _card_played,
    Passed: _passed,
    TrickTaken: _trick_taken,
    RunCompleted: _run_completed,
    RoundScored: _round_scored,
}
