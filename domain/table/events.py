"""What happens to a table: who sits down, which tokens are issued, how it ends."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar, Final

import msgspec

from domain.events import Event
from domain.game import Score
from domain.hand import HandDealt, HandStarted, PackCut, PlayerResigned, SeedRevealed
from domain.seats import Seat
from domain.table.commands import BotName, Clock
from domain.visibility import ForAll, Public


class SeatPlan(msgspec.Struct, frozen=True):
    """A seat of the table and who is to play it; `bot` names the bot's kind, `delay_ms` its pace
    where it has one."""

    seat: Seat
    kind: str
    bot: BotName | None = None
    delay_ms: int | msgspec.UnsetType = msgspec.UNSET


class PlayerName(msgspec.Struct, frozen=True):
    """A player's name and the host's reference to them: personal, so sealed to be erasable."""

    name: str
    ref: str | None


class GameCreated(Event, frozen=True):
    """A table was set up. `rules` are the complete options, without the seed."""

    game: Public[str]
    rules: Public[msgspec.Raw]
    rules_version: Public[int]
    deal_id: Public[str]
    seeded_by_host: Public[bool]
    seats: Public[tuple[SeatPlan, ...]]
    clock: Public[Clock | None]
    labels: Public[dict[str, str]]


class SeatTaken(Event, frozen=True):
    """A player or bot sat down."""

    seat: Public[Seat]
    player: ForAll[PlayerName] = None


class SeatTokenIssued(Event, frozen=True):
    """A token for a seat was issued; those of earlier generations are revoked."""

    seat: Public[Seat]
    generation: Public[int]


class SpectatorTokenIssued(Event, frozen=True):
    """A token for a spectator was issued, the `generation`-th of this game."""

    generation: Public[int]


class ClockStarted(Event, frozen=True):
    """The seats waited for have until `deadline` (RFC 3339 UTC); null: the clock is stopped."""

    deadline: Public[str | None]


class BotTimed(Event, frozen=True):
    """The game waits for a bot with a pace, which acts at `due` (RFC 3339 UTC)."""

    seat: Public[Seat]
    due: Public[str]


class GameAbandoned(Event, frozen=True):
    """The host ended the game."""

    reason: Public[str]


class PlayerErased(Event, frozen=True):
    """The name and reference of a seat's player were erased."""

    seat: Public[Seat]


class GameEnded(Event, frozen=True):
    """The game is over: its winners (none, one or several), where every seat stands, and its place
    by seat (none where nobody has won; see `placing`)."""

    schema: ClassVar[int] = 2

    winners: Public[tuple[Seat, ...]]
    scores: Public[tuple[Score, ...]]
    pot: Public[int]
    reason: Public[str]
    places: Public[tuple[int, ...]]


CITES: Final[Mapping[type[Event], str]] = MappingProxyType(
    {
        GameCreated: "common 5.1",
        SeatTaken: "common 5.1",
        SeatTokenIssued: "common 5.1",
        SpectatorTokenIssued: "common 3.1",
        HandStarted: "common 2.1, 2.6",
        PackCut: "common 2.2",
        HandDealt: "common 2.3, 2.4",
        SeedRevealed: "common 2.5, 3.2",
        PlayerResigned: "common 5.2",
        ClockStarted: "common 5.4",
        BotTimed: "common 5.7",
        GameAbandoned: "common 5.3",
        PlayerErased: "common 5.5",
        GameEnded: "common 5.3, 5.6",
    }
)
"""The sections of the common rulebook that each event of the table follows from."""
