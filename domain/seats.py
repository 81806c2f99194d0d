"""Seats and turn order. Knows no cards.

Seats are numbered 0…n-1 clockwise: the next higher seat is the player on the left
(common, *Seats*).
"""

from collections.abc import Container
from typing import Final, TypeVar

T = TypeVar("T")

Seat = int

LEFT: Final = 1
RIGHT: Final = -1


def next_seat(seat: Seat, seats: int, still_in: Container[Seat], step: int = LEFT) -> Seat:
    """The next seat after `seat` in direction `step` that is still in (maybe `seat` itself).

    Raises ValueError where nobody is in.
    """
    for distance in range(1, seats + 1):
        candidate = (seat + step * distance) % seats
        if candidate in still_in:
            return candidate
    raise ValueError("nobody is in")


def round_from(
    first: Seat, seats: int, still_in: Container[Seat], step: int = LEFT
) -> tuple[Seat, ...]:
    """Every seat that is still in, once, beginning with `first` and going on by `step`."""
    order = [(first + step * distance) % seats for distance in range(seats)]
    return tuple([seat for seat in order if seat in still_in])


def with_seat(by_seat: tuple[T, ...], seat: Seat, value: T) -> tuple[T, ...]:
    """What is kept by seat, with one seat's put in."""
    values = list(by_seat)
    values[seat] = value
    return tuple(values)
