"""The options of Lorum (rulebook, *Options*)."""

from typing import Annotated

import msgspec

from domain.game import Options


class LorumOptions(Options, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Every option of Lorum, with its default."""

    early_end: Annotated[
        bool,
        msgspec.Meta(
            description="Whether a round of hearts, Obers or the hairy monkey ends as soon as no "
            "penalty is left to be taken."
        ),
    ] = True
    rounds: Annotated[int, msgspec.Meta(ge=1, le=28, description="Rounds played.")] = 28
    first_contract: Annotated[
        int,
        msgspec.Meta(ge=1, le=7, description="Number of the contract that the first dealer deals."),
    ] = 1
    starting_chips: Annotated[
        int, msgspec.Meta(ge=0, le=1_000_000_000, description="Chips of each player at the start.")
    ] = 0


def check(options: LorumOptions, seats: int) -> None:
    """No options of Lorum contradict each other."""
