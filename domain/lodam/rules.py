"""The values and predicates of Losing Lodam, each named after its rule. Changes no state."""

from collections.abc import Sequence
from typing import Final

from domain.cards import FRENCH_52, Card
from domain.lodam.commands import Kind
from domain.seats import Seat
from domain.tricks import Trick, highest_of

PACK: Final = FRENCH_52

THRESHOLD: Final = 31
"""Points at which a player must announce, or loses a life (lodam, *Cards*)."""

_LOADERS: Final = {"A": 11, "T": 10, "K": 3, "Q": 2, "J": 1}

LOADER_POINTS: Final[tuple[int, ...]] = tuple(_LOADERS.get(text[0], 0) for text in PACK.cards)
"""Penalty points by card: 27 a suit, 108 in the pack (lodam, *Cards*)."""

STRENGTH: Final[dict[str, tuple[int, ...]]] = {
    name: tuple(ranks.index(text[0]) for text in PACK.cards)
    for name, ranks in {"ten_high": "23456789JQKTA", "natural": "23456789TJQKA"}.items()
}
"""Strength by card, for each value of the option `ranking`."""

KIND_RANKS: Final[dict[Kind, str]] = {"coat": "KQJ", "card": "AT"}

KIND_MASKS: Final[dict[Kind, int]] = {
    kind: sum(1 << i for i, text in enumerate(PACK.cards) if text[0] in ranks)
    for kind, ranks in KIND_RANKS.items()
}
"""The cards of each kind that can be traded, as a bit mask (lodam, *Trading*)."""


def cards_each(players: int) -> int:
    """Cards dealt to each player: floor(51/n), so that a stock remains (lodam, *Deal*)."""
    return 51 // players


def points_of(cards: Sequence[Card]) -> int:
    """Penalty points of some cards."""
    return sum([LOADER_POINTS[card] for card in cards])


def highest_of_led(trick: Trick, strength: Sequence[int]) -> Seat:
    """L: the player of the highest card of the suit led (lodam, *Taking a trick*)."""
    seat = highest_of(trick, PACK.suit_of[trick[0][1]], PACK, strength)
    assert seat is not None
    return seat


def rightful_taker(trick: Trick, trump: int | None, strength: Sequence[int]) -> Seat:
    """W: the player of the highest trump, else of the highest card of the suit led. Trumps hold for
    the whole trick in which they became known (lodam, *Play*, ruling)."""
    if trump is not None:
        seat = highest_of(trick, trump, PACK, strength)
        if seat is not None:
            return seat
    return highest_of_led(trick, strength)


def all_follow(trick: Trick) -> bool:
    """Whether every card of the trick is of the suit led: then nobody needs to decide."""
    suit_of = PACK.suit_of
    suit = suit_of[trick[0][1]]
    return all([suit_of[card] == suit for _, card in trick])


def lives_lost_per_hand(due: frozenset[Seat], points: dict[Seat, int]) -> frozenset[Seat]:
    """Who loses a life when hands count one by one: everyone due, else the highest of the hand; if
    several tie for highest, each of them (lodam, *Reckoning*, ruling)."""
    return due or _highest(points)


def spared_if_all_out(
    losers: frozenset[Seat], lives: dict[Seat, int], points: dict[Seat, int]
) -> frozenset[Seat]:
    """Who loses a life after the ruling (all out): where everyone still in would be put out, only
    the highest of them do; where that is still everybody, nobody does."""
    if any(lives[seat] > 1 or seat not in losers for seat in lives):
        return losers
    highest = _highest(points)
    return frozenset() if len(highest) == len(lives) else highest


def _highest(points: dict[Seat, int]) -> frozenset[Seat]:
    top = max(points.values())
    return frozenset([seat for seat, value in points.items() if value == top])
