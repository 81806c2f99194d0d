"""What a game of Losing Lodam remembers, and how each event changes it. Refuses nothing, works out
no rule that an event already tells."""

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any, Final, Literal

import msgspec

from domain.cards import BIT, Card, mask
from domain.events import Event
from domain.game import HandScore, Previous, gone_from_table, paid_for_hand, shallow
from domain.hand import HandDealt, HandStarted, PlayerResigned, cards_dealt
from domain.ledger import ChipsMoved, Ledger
from domain.lodam.commands import Kind
from domain.lodam.events import (
    Announced,
    ChallengeDecided,
    HandScored,
    Reached,
    TradeConcluded,
    TradeDeclined,
    TradeLapsed,
    TradeOffered,
    TradeWithdrawn,
    TrickLeft,
    TrumpCovered,
    TrumpSeen,
    TrumpTurned,
)
from domain.lodam.options import LodamOptions
from domain.lodam.rules import LOADER_POINTS, PACK, STRENGTH, THRESHOLD
from domain.seats import Seat, with_seat
from domain.telling import Payment, played_cards
from domain.tricks import CardPlayed, Passed, TrickTaken

Phase = Literal["dealing", "trading", "playing", "trump_shown", "taking", "reckoning", "over"]


class Offer(msgspec.Struct, frozen=True):
    """The standing offer; `card` is the offerer's, and `declined` who has declined it."""

    number: int
    seat: Seat
    kind: Kind
    card: Card
    declined: frozenset[Seat] = frozenset()


class TakenTrick(msgspec.Struct, frozen=True):
    """A trick as it was taken: its number in the hand, the version, the cards in order of play."""

    trick: int
    version: int
    cards: tuple[Card, ...]
    swallowed: bool


class Verdict(msgspec.Struct, frozen=True):
    """A challenge decided in this hand."""

    number: int
    seat: Seat
    challenged: Seat
    upheld: bool
    points: tuple[int, int]
    reached: tuple[Reached, Reached | None]
    version: int


class LodamState(msgspec.Struct, gc=False):
    """The whole state. Sets of seats are frozen sets; lists are by seat."""

    options: LodamOptions
    seats: int
    lives: tuple[int, ...]
    running: tuple[int, ...]
    ledger: Ledger
    resigned: frozenset[Seat] = frozenset()
    offers: int = 0
    history: tuple[HandScore, ...] = ()
    previous: Previous | None = None
    # The hand
    hand: int = 0
    dealer: Seat = 0
    order: tuple[Seat, ...] = ()
    following: tuple[Seat, ...] = ()
    """By seat: who plays after it."""
    phase: Phase = "dealing"
    dealt: tuple[tuple[Card, ...], ...] = ()
    hands: list[int] = []
    stock: tuple[Card, ...] = ()
    trump: int | None = None
    turned: Card | None = None
    on_view: bool = False
    to_see: frozenset[Seat] = frozenset()
    to_play: Seat = 0
    trick: list[tuple[Seat, Card]] = []
    tricks: int = 0
    taken: tuple[tuple[TakenTrick, ...], ...] = ()
    points: tuple[int, ...] = ()
    reached: tuple[Reached | None, ...] = ()
    passed: frozenset[Seat] = frozenset()
    offered: tuple[int, ...] = ()
    offer: Offer | None = None
    due: frozenset[Seat] = frozenset()
    safe: frozenset[Seat] = frozenset()
    take_only: frozenset[Seat] = frozenset()
    challenged: frozenset[Seat] = frozenset()
    """Who has used their challenge of this hand."""
    verdicts: tuple[Verdict, ...] = ()

    @property
    def still_in(self) -> frozenset[Seat]:
        """Who is in the current hand, or would be in the next one."""
        return frozenset([seat for seat, lives in enumerate(self.lives) if lives > 0])

    @property
    def strength(self) -> tuple[int, ...]:
        """Strength by card under the option `ranking`."""
        return STRENGTH[self.options.ranking]

    @property
    def complete(self) -> bool:
        """Whether every card of the trick on the table has been played."""
        return len(self.trick) == len(self.order) > 0


def initial(options: LodamOptions, seats: int) -> LodamState:
    """The state before the first hand."""
    return LodamState(
        options=options,
        seats=seats,
        lives=(options.lives,) * seats,
        running=(0,) * seats,
        ledger=Ledger((0,) * seats),
    )


def copied(state: LodamState) -> LodamState:
    """A copy that can be evolved without changing the original."""
    new: LodamState = shallow(state)
    new.hands = state.hands.copy()
    new.trick = state.trick.copy()
    return new


def _hand_started(state: LodamState, event: HandStarted, _: int) -> None:
    state.hand = event.hand
    state.dealer = event.dealer
    state.order = event.seats
    following = [0] * state.seats
    for seat, next_one in pairwise((*event.seats, event.seats[0])):
        following[seat] = next_one
    state.following = tuple(following)
    state.phase = "dealing"
    state.dealt, state.hands, state.stock = (), [0] * state.seats, ()
    state.trump = state.turned = None
    state.on_view, state.to_see = False, frozenset()
    state.to_play, state.trick, state.tricks = event.seats[0], [], 0
    state.taken = ((),) * state.seats
    state.points = (0,) * state.seats
    state.reached = (None,) * state.seats
    state.passed = frozenset()
    state.offered, state.offer = (0,) * state.seats, None
    state.due = state.safe = state.take_only = state.challenged = frozenset()
    state.verdicts = ()


def _hand_dealt(state: LodamState, event: HandDealt, _: int) -> None:
    state.dealt, state.stock = cards_dealt(event, PACK, state.seats)
    state.hands = [mask(cards) for cards in state.dealt]
    options = state.options
    trades = options.trading != "off" and options.trade_offers > 0
    state.phase = "trading" if trades else "playing"


def _player_resigned(state: LodamState, event: PlayerResigned, _: int) -> None:
    state.resigned |= {event.seat}


def _chips_moved(state: LodamState, event: ChipsMoved, _: int) -> None:
    state.ledger = state.ledger.move(event.changes, event.pot)


def _card_played(state: LodamState, event: CardPlayed, _: int) -> None:
    card = PACK.index[event.card]
    seat = event.seat
    state.hands[seat] ^= BIT[card]
    state.trick.append((seat, card))
    state.to_play = state.following[seat]
    if len(state.trick) == len(state.order):
        # Where the trick needs no decision it is taken by the next event of the same command.
        state.phase = "taking"


def _trump_turned(state: LodamState, event: TrumpTurned, _: int) -> None:
    assert event.face is not None
    state.turned = PACK.index[event.face.card]
    state.trump = PACK.suit_of[state.turned]
    state.on_view = True
    if state.options.trump == "memory":
        state.phase = "trump_shown"
        state.to_see = frozenset(state.order)


def _trump_seen(state: LodamState, event: TrumpSeen, _: int) -> None:
    state.to_see -= {event.seat}


def _trump_covered(state: LodamState, event: TrumpCovered, _: int) -> None:
    state.on_view = False
    state.phase = "taking" if state.complete else "playing"


def _trick_left(state: LodamState, event: TrickLeft, _: int) -> None:
    if not event.believed:
        state.take_only |= {event.seat}


def _trick_taken(state: LodamState, event: TrickTaken, version: int) -> None:
    assert event.truth is not None
    seat = event.seat
    cards = tuple([card for _, card in state.trick])
    taken = TakenTrick(event.trick, version, cards, event.truth.swallowed)
    state.taken = with_seat(state.taken, seat, (*state.taken[seat], taken))
    points = state.points[seat]
    for card in cards:
        points += LOADER_POINTS[card]
    if points >= THRESHOLD and state.reached[seat] is None:
        state.reached = with_seat(state.reached, seat, Reached(event.trick, version))
    state.points = with_seat(state.points, seat, points)
    trick = played_cards(state.trick, PACK)
    state.previous = gone_from_table(state.previous, state.hand, trick, seat)
    state.trick = []
    state.tricks = event.trick
    state.to_play = seat
    # The last trick leaves every hand empty; where nobody announces, the scoring follows at once.
    last = not state.hands[seat]
    state.phase = "reckoning" if last else "playing"
    if last:
        state.passed = frozenset()


def _trade_offered(state: LodamState, event: TradeOffered, _: int) -> None:
    assert event.face is not None
    used = list(state.offered)
    used[event.seat] += 1
    state.offered = tuple(used)
    state.offers = event.offer
    state.offer = Offer(event.offer, event.seat, event.kind, PACK.index[event.face.card])


def _trade_declined(state: LodamState, event: TradeDeclined, _: int) -> None:
    assert state.offer is not None
    state.offer = msgspec.structs.replace(state.offer, declined=state.offer.declined | {event.seat})


def _offer_gone(state: LodamState, _event: TradeWithdrawn | TradeLapsed, _: int) -> None:
    state.offer = None


def _trade_concluded(state: LodamState, event: TradeConcluded, _: int) -> None:
    state.offer = None
    if event.annulled:
        return
    assert event.faces is not None
    offerer, acceptor = event.seats
    both = mask(PACK.read((event.faces.offered, event.faces.card)))
    state.hands[offerer] ^= both
    state.hands[acceptor] ^= both


def _passed(state: LodamState, event: Passed, _: int) -> None:
    state.passed |= {event.seat}
    if state.phase == "trading" and len(state.passed) == len(state.order):
        state.phase = "playing"


def _announced(state: LodamState, event: Announced, _: int) -> None:
    state.due |= {event.seat}


def _challenge_decided(state: LodamState, event: ChallengeDecided, version: int) -> None:
    state.challenged |= {event.seat}
    state.verdicts += (
        Verdict(
            len(state.verdicts) + 1,
            event.seat,
            event.challenged,
            event.upheld,
            event.points,
            event.reached,
            version,
        ),
    )
    if event.upheld:
        state.due = (state.due - {event.seat}) | {event.challenged}
        state.safe |= {event.seat}
        state.passed -= {event.challenged}
    elif event.reached[1] is not None:
        state.safe |= {event.challenged}


def _hand_scored(state: LodamState, event: HandScored, _: int) -> None:
    state.phase = "over"
    state.lives = event.lives
    state.running = event.running
    lost = tuple([-n for n in event.lost])
    state.history += (
        HandScore(
            hand=event.hand,
            dealer=state.dealer,
            points=event.points,
            chips=(0,) * state.seats,
            lives=lost,
            swallowed=tuple([sum([t.swallowed for t in taken]) for taken in state.taken]),
        ),
    )
    payments = tuple([Payment(seat, 0, n) for seat, n in enumerate(lost)])
    state.previous = paid_for_hand(state.previous, event.hand, payments)


EVOLVE: Final[Mapping[type[Event], Callable[[LodamState, Any, int], None]]] = {
    HandStarted: _hand_started,
    HandDealt: _hand_dealt,
    PlayerResigned: _player_resigned,
    ChipsMoved: _chips_moved,
    CardPlayed: _card_played,
    TrumpTurned: _trump_turned,
    TrumpSeen: _trump_seen,
    TrumpCovered: _trump_covered,
    TrickLeft: _trick_left,
    TrickTaken: _trick_taken,
    TradeOffered: _trade_offered,
    TradeDeclined: _trade_declined,
    TradeWithdrawn: _offer_gone,
    TradeLapsed: _offer_gone,
    TradeConcluded: _trade_concluded,
    Passed: _passed,
    Announced: _announced,
    ChallengeDecided: _challenge_decided,
    HandScored: _hand_scored,
}
