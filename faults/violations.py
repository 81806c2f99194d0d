"""What the checker finds: a property that does not hold, where, and how one can tell."""

from typing import Final, Literal

import msgspec

Property = Literal[
    "acknowledged",
    "once",
    "refused",
    "order",
    "answer",
    "hidden",
    "receipt",
    "log",
    "feed",
    "projections",
    "clock",
    "alive",
    "fault",
]

PROPERTIES: Final[dict[Property, str]] = {
    "acknowledged": "every acknowledged command is in the log, at the acknowledged versions",
    "once": "every command is in the log at most once, and nothing that nobody asked for",
    "refused": "what was refused is not in the log",
    "order": "commands of a game are in the order in which they were acknowledged, "
    "and no reading is older than what was acknowledged before it",
    "answer": "every answer is one that the contract knows, 503 with Retry-After",
    "hidden": "no answer holds a card that its reader may not know",
    "receipt": "every receipt is signed and is for the event that the log holds",
    "log": "versions dense, hashes, digests, heads, deals and rules verify",
    "feed": "the feed holds every event once, dense, in the order of each stream",
    "projections": "nothing is left to take in, nothing parked, and all equal a fold from zero",
    "clock": "every turn clock fires once, and not before its time",
    "alive": "every process serves again by itself within the time",
    "fault": "what was to break broke",
}


class Violation(msgspec.Struct, frozen=True):
    """One property that does not hold."""

    property: Property
    text: str
    game: str | None = None
    versions: tuple[int, ...] = ()
