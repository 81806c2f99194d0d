"""Chips: balances by seat and one pot, always conserved. Knows no scoring rule."""

import msgspec

from domain.events import Event
from domain.seats import Seat
from domain.visibility import Public


class ChipsMoved(Event, frozen=True):
    """Chips changed hands: one change for each seat and one for the pot, adding up to nothing.

    Who paid whom is not told, since it is not unique.
    """

    reason: Public[str]
    changes: Public[tuple[int, ...]]
    pot: Public[int]


class Ledger(msgspec.Struct, frozen=True, gc=False):
    """Balances by seat and the pot; `move` and `pay` are the only ways to change them."""

    balances: tuple[int, ...]
    pot: int = 0

    def move(self, changes: tuple[int, ...], pot: int) -> "Ledger":
        """The ledger after one change for each seat and one for the pot, as in ChipsMoved.

        Raises ValueError where the changes do not add up to nothing: chips are conserved.
        """
        if sum(changes) + pot:
            raise ValueError(f"chips are not conserved: {changes} and pot {pot}")
        return Ledger(
            tuple([b + c for b, c in zip(self.balances, changes, strict=True)]), self.pot + pot
        )

    def pay(self, seat: Seat, amount: int) -> "Ledger":
        """The ledger after a seat has put `amount` chips into the pot."""
        balances = list(self.balances)
        balances[seat] -= amount
        return Ledger(tuple(balances), self.pot + amount)
