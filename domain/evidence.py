"""What a challenge rests on, in words that a player can check by hand. Knows no game."""

import msgspec

from domain.seats import Seat


class LoaderCount(msgspec.Struct, frozen=True):
    """A card that counts, and its points."""

    card: str
    points: int


class TrickCount(msgspec.Struct, frozen=True):
    """A trick taken: its number, the version that says so, its cards, those that count, and the
    running total with it."""

    trick: int
    version: int
    cards: tuple[str, ...]
    loaders: tuple[LoaderCount, ...]
    total: int


class Side(msgspec.Struct, frozen=True):
    """One player of a challenge: every trick taken in the hand so far, the total, and the trick
    with which the threshold was reached."""

    seat: Seat
    tricks: tuple[TrickCount, ...]
    total: int
    reached: TrickCount | None


class Challenge(msgspec.Struct, frozen=True):
    """A challenge, its verdict (given by `version`) and the evidence for both players."""

    number: int
    hand: int
    version: int
    seat: Seat
    challenged: Seat
    upheld: bool
    challenger_evidence: Side
    challenged_evidence: Side
