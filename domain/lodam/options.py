"""The options of Losing Lodam and its two profiles (rulebook, *Options*)."""

from types import MappingProxyType
from typing import Annotated, Any, Final, Literal

import msgspec

from domain.game import OptionError, Options


class LodamOptions(Options, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Every option of Losing Lodam, with the defaults of the profile `willughby`."""

    profile: Literal["willughby", "modern"] = "willughby"
    ranking: Annotated[
        Literal["ten_high", "natural"],
        msgspec.Meta(description="Whether the ten ranks under the ace or under the jack."),
    ] = "ten_high"
    lives: Annotated[int, msgspec.Meta(ge=1, le=9, description="Lives at the start.")] = 3
    stake: Annotated[
        int,
        msgspec.Meta(ge=0, le=1_000_000, description="Chips that each player pays into the pool."),
    ] = 0
    trading: Literal["off", "before_play", "any_time"] = "before_play"
    trade_offers: Annotated[
        int, msgspec.Meta(ge=0, le=5, description="Offers a player may make in a hand.")
    ] = 1
    trump: Annotated[
        Literal["memory", "open"],
        msgspec.Meta(description="Whether the turned trump must be remembered or stays on view."),
    ] = "memory"
    announcing: bool = True
    challenging: bool = True
    scoring: Annotated[
        Literal["per_hand", "cumulative"],
        msgspec.Meta(description="Whether points count hand by hand or run on."),
    ] = "per_hand"


PROFILES: Final = MappingProxyType(
    {
        "willughby": MappingProxyType[str, Any]({}),
        "modern": MappingProxyType[str, Any](
            {
                "trading": "off",
                "announcing": False,
                "challenging": False,
                "scoring": "cumulative",
            }
        ),
    }
)


def check(options: LodamOptions, seats: int) -> None:
    """Refuse options that contradict each other (lodam.options). Raises OptionError."""
    if options.challenging and not options.announcing:
        raise OptionError("$.rules.challenging", "challenging needs announcing: true")
    if options.announcing and options.scoring == "cumulative":
        raise OptionError("$.rules.announcing", "announcing needs scoring: per_hand")
