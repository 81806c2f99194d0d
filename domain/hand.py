"""The facts that start, cut, deal and open a hand: the same in every game. Knows no play."""

import msgspec

from domain.cards import Card, Pack
from domain.events import Event
from domain.seats import Seat
from domain.visibility import ForEachSeat, ForNobody, Public


class ServerSeed(msgspec.Struct, frozen=True):
    """The hand's 32-byte seed, in hex."""

    server_seed: str


class Cards(msgspec.Struct, frozen=True):
    """Some cards, in order."""

    cards: tuple[str, ...]


class OneCard(msgspec.Struct, frozen=True):
    """A single card."""

    card: str


class HandStarted(Event, frozen=True):
    """A hand begins under a published commitment (common, *The deal*, step 1)."""

    hand: Public[int]
    dealer: Public[Seat]
    by_lot: Public[bool]
    seats: Public[tuple[Seat, ...]]
    """In dealing order."""
    cutter: Public[Seat]
    commitment: Public[str]
    seed: ForNobody[ServerSeed] = None


class PackCut(Event, frozen=True):
    """The pack was cut (step 2)."""

    hand: Public[int]
    at: Public[int]
    nonce: Public[str]
    auto: Public[bool]


class HandDealt(Event, frozen=True):
    """The cards were dealt (steps 3 to 5). `counts` is by seat, 0 for those who are out."""

    hand: Public[int]
    counts: Public[tuple[int, ...]]
    stock: Public[int]
    hands: ForEachSeat[Cards]
    rest: ForNobody[Cards] = None


def cards_dealt(
    event: HandDealt, pack: Pack, seats: int
) -> tuple[tuple[tuple[Card, ...], ...], tuple[Card, ...]]:
    """The hands by seat (empty for those who are out) and the stock, of a deal seen whole."""
    hands: list[tuple[Card, ...]] = [()] * seats
    for seat, part in event.hands.items():
        assert part is not None
        hands[seat] = pack.read(part.cards)
    assert event.rest is not None
    return tuple(hands), pack.read(event.rest.cards)


class SeedRevealed(Event, frozen=True):
    """A hand is opened: its seed, and the versions `opens` (first, last) whose parts anyone may
    now see (step 6)."""

    hand: Public[int]
    server_seed: Public[str]
    opens: Public[tuple[int, int]]


class PlayerResigned(Event, frozen=True):
    """A player left the game; a careful bot plays their cards from now on (common, *Leaving*)."""

    seat: Public[Seat]
