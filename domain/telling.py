"""How a hand is told: its tricks or runs, plays, moments and payments, gathered event by event.

Knows no game: each game's `narrate` says what its events add. Only what the viewer may see comes
in.
"""

from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from domain.cards import Card, Pack
from domain.seats import Seat


class PlayedCard(msgspec.Struct, frozen=True):
    """A card on the table and the seat that played it."""

    seat: Seat
    card: str


def played_cards(plays: Iterable[tuple[Seat, Card]], pack: Pack) -> tuple[PlayedCard, ...]:
    """The plays as they are shown."""
    return tuple([PlayedCard(seat, pack.cards[card]) for seat, card in plays])


class Payment(msgspec.Struct, frozen=True):
    """What a seat gained (or lost, below zero) in chips and lives."""

    seat: Seat
    chips: int
    lives: int = 0


class TrickTold(msgspec.Struct, frozen=True):
    """A finished trick or run: plays in order, who took it (or played last), what it cost.

    `swallowed` is null while nobody may know, and where tricks cannot be swallowed; so is `points`
    while the service does not count for others.
    """

    trick: int
    plays: tuple[PlayedCard, ...]
    taker: Seat | None
    points: int | None
    swallowed: bool | None
    version: int


class Moment(msgspec.Struct, frozen=True):
    """Something worth telling between plays: a trade, a turned trump, a challenge, a payment."""

    version: int
    seat: Seat | None
    text: str


class CutTold(msgspec.Struct, frozen=True):
    """Where the pack was cut, and with which nonce."""

    at: int
    nonce: str
    auto: bool


class HandTold(msgspec.Struct):
    """One hand. `dealt` is by seat, null where the viewer may not see the cards."""

    hand: int
    dealer: Seat
    by_lot: bool
    commitment: str
    contract: str | None = None
    cut: CutTold | None = None
    server_seed: str | None = None
    opened: bool = False
    dealt: list[tuple[str, ...] | None] = []
    stock: tuple[str, ...] | None = None
    tricks: list[TrickTold] = []
    moments: list[Moment] = []
    unfinished: list[PlayedCard] = []
    """Cards on the table that belong to no finished trick."""
    points: tuple[int, ...] | None = None
    payments: tuple[Payment, ...] = ()


class Telling:
    """The telling of one game so far."""

    def __init__(self, pack: Pack, names: Sequence[str], before: Iterable[HandTold] = ()) -> None:
        """`names` are by seat; `before` the hands told already, the last of which may go on."""
        self.pack: Final = pack
        self.names: Final = names
        self.hands: Final[list[HandTold]] = list(before)

    @property
    def hand(self) -> HandTold:
        """The hand being told. Raises IndexError before the first one."""
        return self.hands[-1]

    def play(self, seat: Seat, card: str) -> None:
        """A card was played face up."""
        self.hand.unfinished.append(PlayedCard(seat, card))

    def end_trick(
        self,
        taker: Seat | None,
        version: int,
        *,
        points: int | None = 0,
        swallowed: bool | None = None,
    ) -> None:
        """The cards on the table are gone, as one trick or run."""
        hand = self.hand
        plays = tuple(hand.unfinished)
        number = len(hand.tricks) + 1
        hand.tricks.append(TrickTold(number, plays, taker, points, swallowed, version))
        hand.unfinished = []

    def say(self, version: int, seat: Seat | None, text: str) -> None:
        """Something happened between plays."""
        self.hand.moments.append(Moment(version, seat, text))

    def name(self, seat: Seat) -> str:
        """What the player at a seat is called."""
        return self.names[seat]

    def spoken(self, card: str) -> str:
        """The card as a card player writes it."""
        return self.pack.spoken(card)
