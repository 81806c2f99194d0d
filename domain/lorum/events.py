"""What happens in Lorum, outcomes included. Append only: a released type is never edited."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from domain.events import Event
from domain.ledger import ChipsMoved
from domain.lorum.contracts import ContractName
from domain.seats import Seat
from domain.tricks import CardPlayed, Passed, TrickTaken
from domain.visibility import Public


class ContractAnnounced(Event, frozen=True):
    """The contract of the round that begins."""

    hand: Public[int]
    contract: Public[ContractName]


class RunCompleted(Event, frozen=True):
    """A run of quads (numbered from 1 within the round) is complete and turned over; the seat
    played its last card and leads to the next."""

    seat: Public[Seat]
    run: Public[int]


class RoundScored(Event, frozen=True):
    """The round's reckoning, by seat: what counted (penalties taken, or cards left in hand), how
    often each passed, and the chips that the whole round brought; and the pot as it stands."""

    hand: Public[int]
    contract: Public[ContractName]
    points: Public[tuple[int, ...]]
    passes: Public[tuple[int, ...]]
    chips: Public[tuple[int, ...]]
    pot: Public[int]


CITES: Final[Mapping[type[Event], str]] = MappingProxyType(
    {
        CardPlayed: "lorum 2.1, 3.2, 3.3, 3.4",
        Passed: "lorum 3.3, 3.4",
        TrickTaken: "lorum 2.1",
        ChipsMoved: "lorum 2.5, 2.6, 3.4, 3.5, 4.3",
        ContractAnnounced: "lorum 1.2, 4.2",
        RunCompleted: "lorum 3.2",
        RoundScored: "lorum 2.5, 2.6, 3.5",
    }
)
"""The sections of the rulebook that each event follows from."""
