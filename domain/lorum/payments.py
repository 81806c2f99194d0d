"""Who pays what at the end of a round of Lorum: one change for each seat and one for the pot,
adding up to nothing. Knows no cards."""

from collections.abc import Sequence

Payments = tuple[tuple[int, ...], int]
"""Changes by seat, and the pot's."""


def penalties_paid(penalties: Sequence[int]) -> Payments:
    """Hearts, Obers, no tricks (lorum, *Trick contracts*, 1 to 3): four takers pay into the pot;
    three or two pay the others, who share alike; one taker has won, and each of the others pays
    them the whole."""
    total, takers = sum(penalties), sum([1 for cost in penalties if cost])
    if takers == 1:
        others = len(penalties) - 1
        return tuple([total * others if cost else -total for cost in penalties]), 0
    if takers == len(penalties):
        return tuple([-cost for cost in penalties]), total
    share = total // (len(penalties) - takers)
    return tuple([-cost if cost else share for cost in penalties]), 0


def monkey_paid(penalties: Sequence[int]) -> Payments:
    """Hairy monkey: into the pot (lorum, *Trick contracts*, 6)."""
    return tuple([-cost for cost in penalties]), sum(penalties)


def cards_left_paid(left: Sequence[int]) -> Payments:
    """Quads and fast train: a chip for every card left, to the one who has none (lorum, *Shedding
    contracts*)."""
    return tuple([-cards or sum(left) for cards in left]), 0


def cards_left_into_pot(left: Sequence[int]) -> Payments:
    """Lorum: a chip for every card left, into the pot (lorum, *Shedding contracts*)."""
    return tuple([-cards for cards in left]), sum(left)


def pot_won(left: Sequence[int], pot: int) -> Payments:
    """Lorum: the whole pot, to the one who has no card left (lorum, *Shedding contracts*)."""
    return tuple([0 if cards else pot for cards in left]), -pot


def pot_shared(seats: int, pot: int) -> Payments:
    """The pot's equal shares at the end of the game; an indivisible rest stays (lorum, *End*,
    ruling)."""
    share = pot // seats
    return (share,) * seats, -share * seats
