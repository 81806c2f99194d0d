"""What happens in Lorum, outcomes included. Append only: a released type is never edited."""

from domain.events import Event
from domain.lorum.contracts import ContractName
from domain.seats import Seat
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
