"""How new the answers of projections are: readers wait a little for what was just written, or as
long as they ask to (bounded), and every answer says as of what it is."""

from collections.abc import Sequence
from typing import Annotated, Any, Final

from litestar.params import QueryParameter

from eventstore.postgres import EventStore
from projections import waiting

OWN_WRITES_SECONDS: Final = 2.0
"""How long a reader waits at most for what was written before it asked. Milliseconds do, unless
much is being written or the machine is overloaded."""
ASKED_SECONDS: Final = 10.0
"""How long a reader waits at most who asks for a position or version."""

FROM_0: Final[dict[str, Any]] = {"minimum": 0}
"""For the schema of a parameter with `ge=0`, which the framework takes for none."""

AtLeastPosition = Annotated[
    int | None,
    QueryParameter(
        ge=0,
        le=2**63 - 1,
        description="Wait (at most 10 s) until the answer is `as_of` this position of the log.",
        schema_extra=FROM_0,
    ),
]
AtLeastVersion = Annotated[
    int | None,
    QueryParameter(
        ge=1,
        le=2**31 - 1,
        description="Wait (at most 10 s) until the answer is from this version of the game.",
    ),
]


async def as_of(store: EventStore, names: Sequence[str], at_least: int | None) -> int:
    """Wait for what was committed before, or for the position asked for; then the log position that
    the tables of these projections hold at the least. Raises StoreUnavailable."""
    if at_least is None:
        await waiting.settled(store, names, OWN_WRITES_SECONDS)
    else:
        await waiting.past(store, names, at_least, ASKED_SECONDS)
    return await waiting.position(store, names)


async def of_game(
    store: EventStore, name: str, game_id: str, version: int, at_least: int | None
) -> None:
    """Wait until a projection holds a game's newest `version`, or the one asked for. Raises
    StoreUnavailable."""
    if at_least is None:
        await waiting.reached(store, name, game_id, version, OWN_WRITES_SECONDS)
    else:
        await waiting.reached(store, name, game_id, at_least, ASKED_SECONDS)
