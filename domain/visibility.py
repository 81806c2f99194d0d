"""Who may see what: the one place that decides. Knows audiences, not games.

A field of an event is public only when it says so (`Public[...]`). Every other field leaves the
domain as a *sealed part* with one of the audiences below; a field that declares none is sealed for
nobody. `entitled` judges every part on every way out: views, events, streams, exports.
Source: contract, *The log*; rules, *Who sees what*.
"""

from typing import Annotated, Final, Literal, TypeVar

import msgspec

from domain.seats import Seat

T = TypeVar("T")

Role = Literal["seat", "spectator", "host"]


class Viewer(msgspec.Struct, frozen=True):
    """Who looks: a seat, a spectator, or the host (the integrating application)."""

    role: Role
    seat: Seat | None = None


SPECTATOR: Final = Viewer("spectator")
HOST: Final = Viewer("host")


class Audience(msgspec.Struct, frozen=True):
    """For whom a field is: `kind`, and where needed the event's `field` that names the seats."""

    kind: Literal["public", "seat", "seats", "each", "table", "all", "nobody"]
    field: str = ""


PUBLIC: Final = Audience("public")
NOBODY: Final = Audience("nobody")

Public = Annotated[T, PUBLIC]
"""Everyone sees it, at once and for ever."""

ForSeat = Annotated[T | None, Audience("seat", "seat")]
"""For the one seat in the event's field `seat`."""

ForSeats = Annotated[T | None, Audience("seats", "seats")]
"""For all the seats listed in the event's field `seats`."""

ForEachSeat = Annotated[dict[Seat, T | None], Audience("each")]
"""One part for each seat that is a key, seen by that seat alone."""

ForTable = Annotated[T | None, Audience("table")]
"""For anyone while it lies face up on the table, then for nobody until the hand is opened."""

ForAll = Annotated[T | None, Audience("all")]
"""For anyone; sealed so that it can be erased."""

ForNobody = Annotated[T | None, NOBODY]
"""For nobody until the hand is opened."""

TABLE_TEXT: Final = '"table"'
ALL_TEXT: Final = '"all"'
NOBODY_TEXT: Final = "[]"


class Openings(msgspec.Struct, frozen=True):
    """What the log has laid open so far, by version."""

    ranges: tuple[tuple[int, int], ...] = ()
    """First and last version of each opened range, ends included."""
    face_up: frozenset[int] = frozenset()
    """Versions of the events whose `"table"` part lies face up now."""

    def opened(self, version: int) -> bool:
        """Whether every part of that version's event is open to all."""
        return any(first <= version <= last for first, last in self.ranges)

    def opening(self, first: int, last: int) -> "Openings":
        """What lies open once these versions do too; a range that they contain is forgotten."""
        apart = [r for r in self.ranges if r[0] < first or last < r[1]]
        return Openings((*apart, (first, last)), self.face_up)


_seats: dict[str, frozenset[Seat]] = {}


def audience_text(seats: list[Seat]) -> str:
    """Canonical JSON text of a list of seats: ascending, no spaces."""
    return "[" + ",".join(map(str, sorted(seats))) + "]"


def audience_seats(text: str) -> frozenset[Seat]:
    """The seats that an audience text lists (none for `"table"`, `"all"` and `[]`)."""
    found = _seats.get(text)
    if found is None:
        listed = msgspec.json.decode(text, type=list[Seat] | str)
        found = _seats[text] = frozenset() if isinstance(listed, str) else frozenset(listed)
    return found


def entitled(audience: str, version: int, seat: Seat | None, now: Openings) -> bool:
    """Whether a viewer at `seat` (None: no seat) may see, now, a part of the event `version`."""
    if audience == ALL_TEXT:
        return True
    if audience == TABLE_TEXT:
        return version in now.face_up or now.opened(version)
    if seat is not None and seat in audience_seats(audience):
        return True
    return now.opened(version)
