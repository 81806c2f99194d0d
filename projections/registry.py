"""The projections that are run, by name. One line for each; knows nothing of what they make."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from projections.projection import Projection

_ALL: Final[tuple[Projection, ...]] = ()
"""One line a projection, each the value of its module: `games.GAMES,`."""

PROJECTIONS: Final[Mapping[str, Projection]] = MappingProxyType({p.name: p for p in _ALL})
