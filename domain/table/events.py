"""What happens to a table: who sits down, which tokens are issued, how it ends."""

import msgspec

from domain.events import Event
from domain.game import Score
from domain.seats import Seat
from domain.table.commands import BotName, Clock
from domain.visibility import ForAll, Public


class SeatPlan(msgspec.Struct, frozen=True):
    """A seat of the table and who is to play it; `bot` names the bot's kind."""

    seat: Seat
    kind: str
    bot: BotName | None = None


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


class GameAbandoned(Event, frozen=True):
    """The host ended the game."""

    reason: Public[str]


class PlayerErased(Event, frozen=True):
    """The name and reference of a seat's player were erased."""

    seat: Public[Seat]


class GameEnded(Event, frozen=True):
    """The game is over: its winners (none, one or several) and where every seat stands."""

    winners: Public[tuple[Seat, ...]]
    scores: Public[tuple[Score, ...]]
    pot: Public[int]
    reason: Public[str]
