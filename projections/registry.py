"""The projections that are run, by name. One line for each; knows nothing of what they make."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from projections import disputes, games, leaderboards, players, replays, scores
from projections.projection import Projection

_ALL: Final[tuple[Projection, ...]] = (
    games.PROJECTION,
    scores.PROJECTION,
    disputes.PROJECTION,
    players.PROJECTION,
    leaderboards.PROJECTION,
    replays.PROJECTION,
)
"""One line a projection, each the value of its module."""

PROJECTIONS: Final[Mapping[str, Projection]] = MappingProxyType({p.name: p for p in _ALL})
