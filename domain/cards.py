"""Packs of cards and their notation. Knows no game and no game's rank order.

Inside the domain a card is its index in the canonical order of its pack (suits in the order listed,
each from its lowest listed rank to its highest, the joker last: rules, *The deal is provably
fair*), and a set of cards is a bit mask of those indexes. On the wire it is two characters.
"""

from collections.abc import Iterable, Sequence
from typing import Annotated, Final, NewType, TypeVar

import msgspec

T = TypeVar("T")

Card = NewType("Card", int)
"""Index of a card in its pack."""

CardText = Annotated[
    str,
    msgspec.Meta(
        pattern="^([2-9TJQKA][CDHS]|[789TUOKA][ALHB]|XX)$",
        max_length=2,  # `$` alone would let a line end pass
        description="Rank then suit: `TH` the ten of hearts, `OA` the Ober of acorns, `XX` the "
        "joker.",
    ),
]


_FRENCH_SUITS: Final = {"C": "♣", "D": "♦", "H": "♥", "S": "♠"}
_GERMAN_SUITS: Final = {"A": "acorns", "L": "leaves", "H": "hearts", "B": "bells"}
_GERMAN_RANKS: Final = {"T": "10", "U": "Unter", "O": "Ober", "K": "king", "A": "ace"}


class Pack:
    """An ordered pack: `ranks` from low to high within each of `suits`, then perhaps a joker."""

    __slots__ = ("cards", "index", "joker", "name", "ranks", "suit_masks", "suit_of", "suits")

    def __init__(self, name: str, suits: str, ranks: str, *, joker: bool = False) -> None:
        self.name: Final = name
        self.suits: Final = suits
        self.ranks: Final = ranks
        texts = [rank + suit for suit in suits for rank in ranks] + (["XX"] if joker else [])
        self.cards: Final[tuple[str, ...]] = tuple(texts)
        self.index: Final[dict[str, Card]] = {t: Card(i) for i, t in enumerate(texts)}
        self.joker: Final[Card | None] = Card(len(texts) - 1) if joker else None
        size = len(ranks)
        self.suit_of: Final[tuple[int, ...]] = tuple([i // size for i in range(len(texts))])
        """By card: the index of its suit in `suits` (one past the last for the joker)."""
        self.suit_masks: Final[tuple[int, ...]] = tuple(
            ((1 << size) - 1) << (size * i) for i in range(len(suits))
        )

    def __len__(self) -> int:
        return len(self.cards)

    def rank(self, card: Card) -> int:
        """Index of the card's rank in `ranks` (0 for the joker)."""
        return card % len(self.ranks)

    def spoken(self, text: str) -> str:
        """How a card player writes the card: `10♥`, or `Ober of acorns` for a German pack."""
        if text == "XX":
            return "the joker"
        rank, suit = text[0], text[1]
        if len(self.ranks) == 8:
            return f"{_GERMAN_RANKS.get(rank, rank)} of {_GERMAN_SUITS[suit]}"
        return ("10" if rank == "T" else rank) + _FRENCH_SUITS[suit]

    def held(self, bits: int, text: str) -> Card | None:
        """The card of this notation, if it is of this pack and in the set `bits`."""
        card = self.index.get(text)
        return card if card is not None and bits >> card & 1 else None

    def texts(self, cards: Iterable[Card]) -> tuple[str, ...]:
        """The notation of each card, in the order given."""
        names = self.cards
        return tuple([names[card] for card in cards])

    def read(self, texts: Iterable[str]) -> tuple[Card, ...]:
        """The cards of each notation. Raises KeyError for one that is not of this pack."""
        index = self.index
        return tuple([index[text] for text in texts])


FRENCH_52: Final = Pack("french52", "CDHS", "23456789TJQKA")
FRENCH_53: Final = Pack("french53", "CDHS", "23456789TJQKA", joker=True)
GERMAN_32: Final = Pack("german32", "ALHB", "789TUOKA")


BIT: Final[tuple[int, ...]] = tuple([1 << card for card in range(len(FRENCH_53))])
"""By card: the set that holds it alone. To look it up costs less than to shift a bit there."""


def mask(cards: Iterable[Card]) -> int:
    """The set of these cards as a bit mask."""
    bits = 0
    for card in cards:
        bits |= BIT[card]
    return bits


def by_card(choices: Sequence[T], bits: int) -> list[T]:
    """Of what `choices` holds for each card of the pack, that for the cards of a bit mask, in the
    pack's canonical order."""
    found: list[T] = []
    while bits:
        # From the highest card down, which is found in one step; the lowest takes three.
        card = bits.bit_length() - 1
        found.append(choices[card])
        bits ^= BIT[card]
    found.reverse()
    return found
