"""From a request's `rules` to a game's options. Knows no game's options by name."""

from typing import Annotated, Any

import msgspec

from domain.game import Game, OptionError, Options


class Seeding(msgspec.Struct, frozen=True, kw_only=True):
    """The options that choose the deals; never on view and never in an event."""

    seed: Annotated[str, msgspec.Meta(pattern="^[0-9a-fA-F]{64}$", max_length=64)] | None = None
    deal_id: Annotated[str, msgspec.Meta(min_length=1, max_length=64)] | None = None


def resolve(game: Game[Any], rules: dict[str, Any], seats: int) -> tuple[Options, Seeding]:
    """The complete options for a game of so many seats, and its seeding.

    A profile gives the defaults, the request's own values override them. Raises OptionError naming
    the field.
    """
    values = dict(rules)
    seeding = _convert(
        {name: values.pop(name) for name in ("seed", "deal_id") if name in values}, Seeding
    )
    if seeding.deal_id is not None and seeding.seed is None:
        raise OptionError("$.rules.deal_id", "deal_id needs seed")
    profile = values.get("profile")
    if isinstance(profile, str) and profile in game.profiles:
        values = {**game.profiles[profile], **values}
    options = _convert(values, game.options)
    if options.first_dealer is not None and options.first_dealer >= seats:
        raise OptionError("$.rules.first_dealer", f"there are {seats} seats, numbered from 0")
    if not game.min_seats <= seats <= game.max_seats:
        raise OptionError(
            "$.players", f"{game.name} takes {game.min_seats} to {game.max_seats} players"
        )
    game.check(options, seats)
    return options, seeding


def _convert(values: dict[str, Any], into: type[Any]) -> Any:
    try:
        return msgspec.convert(values, into)
    except msgspec.ValidationError as error:
        message, _, path = str(error).partition(" - at `$")
        if path:
            raise OptionError(f"$.rules{path.rstrip('`')}", message) from None
        field = message.split("`")[1] if "unknown field" in message else ""
        raise OptionError(f"$.rules.{field}" if field else "$.rules", message) from None
