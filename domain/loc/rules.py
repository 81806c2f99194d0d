"""The values and predicates of Loc, each named after its rule. Changes no state."""

from collections.abc import Mapping
from typing import Final

from domain.cards import FRENCH_53, Card
from domain.loc.events import BankReason
from domain.seats import Seat
from domain.tricks import Trick

PACK: Final = FRENCH_53

CARDS_EACH: Final = 6
"""Cards dealt to each player; one of them is discarded (loc, *Cards, stakes, deal*)."""

TRICKS: Final = 5
"""Tricks in a hand (loc, *Play*)."""

JOKER: Final = PACK.index["XX"]

ACES: Final = frozenset(PACK.read(["AC", "AD", "AH", "AS"]))

STRENGTH: Final[tuple[int, ...]] = tuple(
    len(PACK) if text == "XX" else PACK.ranks.index(text[0]) * 4 + PACK.suits.index(text[1])
    for text in PACK.cards
)
"""Strength by card: the joker, then by rank from the ace down; equal ranks by suit, clubs lowest
(loc, *Cards, stakes, deal*)."""


def highest(laid: Trick) -> tuple[Seat, Card]:
    """Who laid the highest card, and that card. No two cards are equal."""
    best, top, power = -1, Card(-1), -1
    for seat, card in laid:
        if STRENGTH[card] > power:
            best, top, power = seat, card, STRENGTH[card]
    return best, top


def takes_bank(top: Card, trick: int) -> BankReason | None:
    """Why the highest card of a trick takes the bank, or None: the joker and an ace always do, any
    other card in the fifth trick (loc, *Play*)."""
    if top == JOKER:
        return "joker"
    if top in ACES:
        return "ace"
    return "last_trick" if trick == TRICKS else None


def bet_of(stake: int, chips: int | None) -> int:
    """What a player puts in for a bet: the stake, or all of `chips` where that is less (None:
    balances may go below zero) (loc, *Short stacks*)."""
    return stake if chips is None or chips >= stake else chips


def winners(balances: Mapping[Seat, int]) -> tuple[Seat, ...]:
    """Who has most chips of those who can win; equal balances share (loc, *End*)."""
    most = max(balances.values(), default=0)
    return tuple([seat for seat in sorted(balances) if balances[seat] == most])
