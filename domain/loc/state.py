"""What a game of Loc remembers, and how each event changes it. Refuses nothing, works out no rule
that an event already tells."""

from collections.abc import Callable, Mapping
from typing import Any, Final, Literal

import msgspec

from domain.cards import BIT, Card, mask
from domain.events import Event
from domain.game import HandScore, Previous, gone_from_table, paid_for_hand, shallow
from domain.hand import HandDealt, HandStarted, PlayerResigned, cards_dealt
from domain.ledger import ChipsMoved, Ledger
from domain.loc.events import BetPlaced, CardDiscarded, CardLaid, CardsShown, HandSettled
from domain.loc.options import LocOptions
from domain.loc.rules import PACK
from domain.seats import Seat
from domain.telling import Payment, PlayedCard

Phase = Literal["betting", "dealing", "discarding", "playing", "over"]


class LocState(msgspec.Struct, gc=False):
    """The whole state. Lists are by seat; a hand is a bit mask of cards."""

    options: LocOptions
    seats: int
    ledger: Ledger
    hands: list[int]
    discards: list[Card | None]
    laid: list[Card | None]
    out: frozenset[Seat] = frozenset()
    resigned: frozenset[Seat] = frozenset()
    history: tuple[HandScore, ...] = ()
    previous: Previous | None = None
    shown: tuple[PlayedCard, ...] = ()
    """The latest trick shown, of whichever hand."""
    highest: Seat | None = None
    """Who played its highest card."""
    won: int = 0
    """What that player took from the bank with it."""
    # The hand
    hand: int = 0
    dealer: Seat = 0
    order: tuple[Seat, ...] = ()
    phase: Phase = "betting"
    awaited: tuple[Seat, ...] = ()
    """Who has still to bet, to discard or to lay a card, ascending."""
    before: tuple[int, ...] = ()
    """Balances when the hand began."""
    stock: tuple[Card, ...] = ()
    tricks: tuple[tuple[PlayedCard, ...], ...] = ()
    """Those shown in this hand."""
    laid_versions: tuple[int, int] = (0, 0)
    """Versions of the first and the latest card laid to the trick that is not yet shown."""

    @property
    def still_in(self) -> frozenset[Seat]:
        """Who is in the current hand, or would be in the next one."""
        return frozenset([seat for seat in range(self.seats) if seat not in self.out])

    @property
    def hands_to_deal(self) -> int:
        """How many hands the game has: the option `hands`, else one for each player."""
        return self.options.hands or self.seats

    def chips(self, seat: Seat) -> int | None:
        """What the seat can bet, or None where balances may go below zero."""
        return None if self.options.starting_chips is None else self.ledger.balances[seat]


def initial(options: LocOptions, seats: int) -> LocState:
    """The state before the first hand."""
    return LocState(
        options=options,
        seats=seats,
        ledger=Ledger((options.starting_chips or 0,) * seats),
        hands=[0] * seats,
        discards=[None] * seats,
        laid=[None] * seats,
    )


def copied(state: LocState) -> LocState:
    """A copy that can be evolved without changing the original."""
    new: LocState = shallow(state)
    new.hands = state.hands.copy()
    new.discards = state.discards.copy()
    new.laid = state.laid.copy()
    return new


def _hand_started(state: LocState, event: HandStarted, _: int) -> None:
    seats = state.seats
    state.hand, state.dealer, state.order = event.hand, event.dealer, event.seats
    state.phase = "betting"
    state.awaited = tuple(sorted(event.seats))
    state.before = state.ledger.balances
    state.hands, state.stock = [0] * seats, ()
    state.discards, state.laid = [None] * seats, [None] * seats
    state.tricks, state.laid_versions = (), (0, 0)


def _bet_placed(state: LocState, event: BetPlaced, _: int) -> None:
    state.ledger = state.ledger.pay(event.seat, event.amount)
    if event.reason == "ante":
        _done(state, event.seat)
        if not state.awaited:
            state.phase = "dealing"


def _hand_dealt(state: LocState, event: HandDealt, _: int) -> None:
    dealt, state.stock = cards_dealt(event, PACK, state.seats)
    state.hands = [mask(cards) for cards in dealt]
    state.phase = "discarding"
    state.awaited = tuple(sorted(state.order))


def _card_discarded(state: LocState, event: CardDiscarded, _: int) -> None:
    state.discards[event.seat] = _put_down(state, event)
    if not state.awaited:
        state.phase = "playing"
        state.awaited = tuple(sorted(state.order))


def _card_laid(state: LocState, event: CardLaid, version: int) -> None:
    state.laid[event.seat] = _put_down(state, event)
    state.laid_versions = (state.laid_versions[0] or version, version)


def _put_down(state: LocState, event: CardDiscarded | CardLaid) -> Card:
    assert event.face is not None
    card = PACK.index[event.face.card]
    state.hands[event.seat] ^= BIT[card]
    _done(state, event.seat)
    return card


def _done(state: LocState, seat: Seat) -> None:
    state.awaited = tuple([other for other in state.awaited if other != seat])


def _cards_shown(state: LocState, event: CardsShown, _: int) -> None:
    state.tricks += (event.cards,)
    state.laid, state.laid_versions = [None] * state.seats, (0, 0)
    state.awaited = tuple(sorted(state.order))
    state.shown, state.highest, state.won = event.cards, event.highest, 0
    taker = None if event.bank is None else event.highest
    state.previous = gone_from_table(state.previous, state.hand, event.cards, taker)


def _chips_moved(state: LocState, event: ChipsMoved, _: int) -> None:
    state.ledger = state.ledger.move(event.changes, event.pot)
    state.won = -event.pot


def _player_resigned(state: LocState, event: PlayerResigned, _: int) -> None:
    state.resigned |= {event.seat}


def _hand_settled(state: LocState, event: HandSettled, _: int) -> None:
    state.phase, state.awaited = "over", ()
    state.out |= frozenset(event.gone)
    state.history += (
        HandScore(event.hand, state.dealer, (0,) * state.seats, event.chips, lives=None),
    )
    payments = tuple([Payment(seat, chips) for seat, chips in enumerate(event.chips)])
    state.previous = paid_for_hand(state.previous, event.hand, payments)


EVOLVE: Final[Mapping[type[Event], Callable[[LocState, Any, int], None]]] = {
    HandStarted: _hand_started,
    HandDealt: _hand_dealt,
    PlayerResigned: _player_resigned,
    BetPlaced: _bet_placed,
    ChipsMoved: _chips_moved,
    CardDiscarded: _card_discarded,
    CardLaid: _card_laid,
    CardsShown: _cards_shown,
    HandSettled: _hand_settled,
}
