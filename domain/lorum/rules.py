"""The values and predicates of Lorum, each named after its rule. Changes no state.

Sets of cards are bit masks. What *fits* are the cards that may be played on what lies on the table:
all of them where it is clear.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from domain.cards import BIT, GERMAN_32, Card, mask
from domain.seats import RIGHT, Seat
from domain.tricks import Trick, highest_of

PACK: Final = GERMAN_32

SEATS: Final = 4

FOLLOWING: Final[tuple[Seat, ...]] = tuple((seat + RIGHT) % SEATS for seat in range(SEATS))
"""By seat: who plays after it, the player on the right (lorum, *Cards, deal, direction*)."""

ANY_CARD: Final = (1 << len(PACK)) - 1

_RANKS: Final = len(PACK.ranks)

RANK_MASKS: Final[tuple[int, ...]] = tuple(
    mask(Card(suit * _RANKS + rank) for suit in range(len(PACK.suits))) for rank in range(_RANKS)
)
"""The four cards of each rank."""

SAME_SUIT: Final[tuple[int, ...]] = tuple(
    PACK.suit_masks[PACK.suit_of[card]] for card in range(len(PACK))
)
"""By card: all cards of its suit."""

NEXT_IN_SUIT: Final[tuple[int, ...]] = tuple(
    1 << PACK.suit_of[card] * _RANKS + (PACK.rank(Card(card)) + 1) % _RANKS
    for card in range(len(PACK))
)
"""By card: the next higher one of its suit, the 7 after the ace (lorum, *Quads*)."""

NEXT_RANK: Final[tuple[int, ...]] = tuple(
    RANK_MASKS[(PACK.rank(Card(card)) + 1) % _RANKS] for card in range(len(PACK))
)
"""By card: the four of the next higher rank, the 7s after the aces (lorum, *Fast train*)."""

LONGEST_RUN: Final = 4
"""Cards that complete a run of quads."""

STRENGTH: Final[tuple[int, ...]] = tuple(range(len(PACK)))
"""Strength by card: A K O U T 9 8 7 from high to low in each suit, no trumps."""

CARD_PENALTIES: Final[Mapping[str, tuple[int, ...]]] = MappingProxyType(
    {
        "hearts": tuple(int(text[1] == "H") for text in PACK.cards),
        "obers": tuple({"OA": 1, "OL": 2, "OB": 3, "OH": 4}.get(text, 0) for text in PACK.cards),
        "hairy_monkey": tuple(10 * (text == "KH") for text in PACK.cards),
    }
)
"""Chips that each card costs its taker, in the contracts where cards cost (lorum, *Trick
contracts*)."""


def penalty_of(contract: str, cards: Sequence[Card]) -> int:
    """Chips that a trick costs its taker (lorum, *Trick contracts*)."""
    costs = CARD_PENALTIES.get(contract)
    return 1 if costs is None else sum([costs[card] for card in cards])


def penalties_are_gone(contract: str, penalties: Sequence[int]) -> bool:
    """Whether no penalty is left to be taken: all 8 hearts, all 4 Obers, the king of hearts
    (lorum, *Trick contracts*, ruling `early_end`)."""
    costs = CARD_PENALTIES.get(contract)
    return costs is not None and sum(penalties) == sum(costs)


def taker_of(trick: Trick) -> Seat:
    """Who played the highest card of the suit led (lorum, *Trick contracts*)."""
    seat = highest_of(trick, PACK.suit_of[trick[0][1]], PACK, STRENGTH)
    assert seat is not None
    return seat


def begun_with(card: Card) -> int:
    """What fits once a card has begun the layout: the other three of its rank, and the next of its
    suit (lorum, *Lorum*)."""
    return RANK_MASKS[PACK.rank(card)] ^ BIT[card] | NEXT_IN_SUIT[card]


def laid_on(fits: int, card: Card) -> int:
    """What fits the layout once a card that fitted has been laid: after it the next of its suit,
    which ends with the rank below the start rank, that card having been played (lorum, *Lorum*)."""
    return fits ^ BIT[card] | NEXT_IN_SUIT[card]
