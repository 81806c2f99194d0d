"""What of a game's log lies open to whom, by the words of the contract alone.

It uses nothing of the rule by which answers are made (`domain.visibility`): a leak in that would
else be a leak that nobody finds.
"""

from collections.abc import Sequence
from typing import Final

import msgspec

from domain.log import Entry

_COVERING: Final = frozenset({"TrumpCovered", "HandStarted"})
"""What lies face up on the table lies there no more after these."""


class Open(msgspec.Struct, frozen=True):
    """What lies open at one version of a game."""

    ranges: tuple[tuple[int, int], ...] = ()
    """First and last versions of what is open to all."""
    face_up: frozenset[int] = frozenset()
    """Versions of events whose part for the table can be seen on it."""

    def to(self, audience: str, version: int, seat: int | None) -> bool:
        """Whether a part of that version's event, `for` this audience (as it is in the log), is
        open to a seat; None: to who has none (contract, *The log*)."""
        if any(first <= version <= last for first, last in self.ranges):
            return True
        match msgspec.json.decode(audience):
            case "all":
                return True
            case "table":
                return version in self.face_up
            case list(seats):
                return seat is not None and seat in seats
            case _:
                return False


def lies_open(entries: Sequence[Entry]) -> list[Open]:
    """What lies open at each version; nothing at version 0."""
    found = [Open()]
    for entry in entries:
        ranges, face_up = found[-1].ranges, found[-1].face_up
        if entry.type in _COVERING:
            face_up = frozenset()
        if any(part.audience == '"table"' for part in entry.sealed):
            face_up |= {entry.version}
        opens = msgspec.json.decode(entry.data).get("opens")
        if opens is not None:
            ranges = (*ranges, (opens[0], opens[1]))
        found.append(Open(ranges, face_up))
    return found
