"""What may be asked of a game: the base of all actions, and those that several games share.

Each game adds its own in its `commands.py`. Names are those of the contract. An action's secret
parameters (a face-down card) are those that its first event seals: they are recorded in the sealed
part that its actor can open, never in the public data (`codec.recorded_action`).
"""

from typing import Annotated

import msgspec

from domain.cards import CardText

Count = Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)]


class Action(
    msgspec.Struct,
    frozen=True,
    gc=False,
    kw_only=True,
    omit_defaults=True,
    forbid_unknown_fields=True,
    tag_field="type",
):
    """An action with its guards: it is refused (`common.guard`) where another hand, trick or offer
    is on than the one named (common, *Actions*)."""

    hand: Count | None = None
    trick: Count | None = None
    offer: Count | None = None


class Cut(Action, frozen=True, tag="cut"):
    """Cut the pack: `at` cards go to the bottom; `nonce` is the cutter's own entropy."""

    at: int
    nonce: Annotated[str, msgspec.Meta(max_length=64)] = ""


class CutRange(msgspec.Struct, frozen=True):
    """The places where the pack may be cut, both ends included."""

    min: int
    max: int


class CutChoice(Action, frozen=True, tag="cut"):
    """How a list of legal actions shows `cut`: the range instead of one place."""

    at: CutRange

    def somewhere(self, word: int) -> Cut:
        """A cut within the range, chosen by a number drawn uniformly over 32 bits."""
        return Cut(at=self.at.min + word % (self.at.max - self.at.min + 1))


class Deal(Action, frozen=True, tag="deal"):
    """Deal the cut pack (`deal: "manual"`)."""


class Play(Action, frozen=True, tag="play"):
    """Play a card."""

    card: CardText


class Pass(Action, frozen=True, tag="pass"):
    """Pass."""
