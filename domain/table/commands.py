"""What may be asked of a table beside the actions of its game, and a command's circumstances."""

from typing import Annotated, Literal

import msgspec

from domain.actions import Action
from domain.game import Chance, Options
from domain.seats import Seat

BotName = Literal["random", "careful"]
By = Literal["bot", "clock", "server"]

Label = Annotated[str, msgspec.Meta(max_length=200)]
LabelName = Annotated[str, msgspec.Meta(pattern=r"^[a-z0-9_.-]{1,40}$(?!\n)")]


class Clock(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How long a player may take, and what happens to one who takes longer."""

    turn_seconds: Annotated[int, msgspec.Meta(ge=1, le=2_592_000)]
    on_timeout: Literal["bot", "forfeit"] = "bot"


class Player(msgspec.Struct, frozen=True):
    """Who sits down: a person (`bot` None) with a name and perhaps the host's reference, or a bot
    with a name, which lets `delay_ms` pass before it acts."""

    name: str
    ref: str | None = None
    bot: BotName | None = None
    delay_ms: int = 0


class Create(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="create"):
    """Set up a table. `options` are resolved and checked (`options.resolve`)."""

    id: str
    game: str
    options: Options
    deal_id: str
    seeded_by_host: bool
    players: tuple[Player, ...]
    open_seats: int = 0
    clock: Clock | None = None
    labels: dict[str, str] = {}


class Join(msgspec.Struct, frozen=True, tag_field="type", tag="join"):
    """Take the next open seat."""

    player: Player


class IssueSeatToken(msgspec.Struct, frozen=True, tag_field="type", tag="issue_seat_token"):
    """Issue a seat's token anew; the earlier ones are revoked."""

    seat: Seat


class IssueSpectatorToken(
    msgspec.Struct, frozen=True, tag_field="type", tag="issue_spectator_token"
):
    """Issue a token for a spectator."""


class Resign(msgspec.Struct, frozen=True, tag_field="type", tag="resign"):
    """Leave the game (common, *Leaving*)."""


class Abandon(msgspec.Struct, frozen=True, tag_field="type", tag="abandon"):
    """End the game without winners (common, *Leaving*)."""

    reason: str


class ErasePlayer(msgspec.Struct, frozen=True, tag_field="type", tag="erase_player"):
    """Record that the name and reference of a seat's player have been erased."""

    seat: Seat


TableCommand = Create | Join | IssueSeatToken | IssueSpectatorToken | Resign | Abandon | ErasePlayer


class Command(msgspec.Struct, frozen=True):
    """Something asked of a table, with all that the domain needs from outside.

    - `seat`: who asks; None for the host and for the server acting for nobody.
    - `at`: microseconds since 1970 UTC.
    - `by`: set where it was not the player (or host) who acted; `forced`: a compulsory action.
    """

    ask: Action | TableCommand
    seat: Seat | None
    at: int
    chance: Chance
    by: By | None = None
    forced: bool = False
