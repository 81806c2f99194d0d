"""The options of Loc (rulebook, *Options*)."""

from types import MappingProxyType
from typing import Annotated, Any, Final, Literal

import msgspec

from domain.game import Options


class LocOptions(Options, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Every option of Loc."""

    stake: Annotated[int, msgspec.Meta(ge=1, le=1_000_000, description="Chips of every bet.")] = 1
    starting_chips: Annotated[
        Annotated[int, msgspec.Meta(ge=1, le=1_000_000_000)] | None,
        msgspec.Meta(
            description="Chips of each player at the start; null: balances start at 0 and may go "
            "below it."
        ),
    ] = None
    hands: Annotated[
        Annotated[int, msgspec.Meta(ge=1, le=1000)] | None,
        msgspec.Meta(description="Hands to be dealt; null: as many as there are players."),
    ] = None
    bets: Annotated[
        Literal["auto", "manual"],
        msgspec.Meta(
            description="Whether the server puts in the bets before the deal, or each player by "
            "the action `bet`."
        ),
    ] = "auto"
    joker: Annotated[
        Literal["super_ace", "ends_hand"],
        msgspec.Meta(
            description="Whether the joker takes the bank like an ace, or ends the hand besides."
        ),
    ] = "super_ace"


PROFILES: Final = MappingProxyType[str, MappingProxyType[str, Any]]({})
"""Loc is played in one way only, options apart."""


def check(options: LocOptions, seats: int) -> None:
    """No options of Loc contradict each other: the stake may exceed the starting chips."""
