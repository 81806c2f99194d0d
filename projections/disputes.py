"""Every tenant's disputes by state: which there are, not what they say.

What somebody wrote can be erased without an event, so it is read from the dispute's own stream.
"""

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from domain.dispute_stream import (
    DisputeFound,
    DisputeOpened,
    DisputeResolved,
    State,
    read_dispute_event,
)
from eventstore.feed import FeedEvent
from eventstore.postgres import EventStore
from projections.projection import Projection, Target

NAME: Final = "disputes"
CATEGORY: Final = "dispute"
"""The category of the streams of disputes."""


class Place(msgspec.Struct, frozen=True):
    """Where a dispute stands in a list: when it was opened (microseconds since 1970), its id."""

    opened_at: int
    dispute: str


async def find(
    store: EventStore,
    tenant: str,
    state: State | None,
    games: Sequence[str],
    before: Place | None,
    limit: int,
) -> list[Place]:
    """A tenant's disputes in a state (None: any) about all of these games (none: any game), newest
    first, below a place. Raises StoreUnavailable."""
    at, dispute = (None, None) if before is None else (before.opened_at, before.dispute)
    rows = await store.fetch(_FIND, tenant, state, list(games), at, dispute, limit, prepare=False)
    return [Place(*row) for row in rows]


_FIND: Final = """
SELECT opened_at, stream::text
FROM projections.disputes
WHERE tenant = $1::text
    AND ($2::text IS NULL OR state = $2::text)
    AND game = ALL ($3::text[])
    AND ($4::bigint IS NULL OR (opened_at, stream) < ($4::bigint, $5::uuid))
ORDER BY opened_at DESC, stream DESC
LIMIT $6::bigint
"""


async def _apply(target: Target, events: Sequence[FeedEvent]) -> None:
    opened: list[tuple[Any, ...]] = []
    states: list[tuple[Any, ...]] = []
    for fed in events:
        stored = fed.event
        if stored is None or fed.category != CATEGORY:
            continue
        where = (fed.lane, fed.stream)
        match read_dispute_event(stored):
            case DisputeOpened() as event:
                opened.append((*where, fed.tenant, event.game, "pending", stored.at))
            case DisputeFound() as event:
                pending = event.finding.verdict == "pending"
                states.append(("pending" if pending else "found", *where))
            case DisputeResolved():
                states.append(("resolved", *where))
    await target.execute(
        "INSERT INTO {disputes} (lane, stream, tenant, game, state, opened_at)"
        " VALUES (%s, %s, %s, %s, %s, %s)",
        *opened,
    )
    # What is settled stays so, also where the finding comes afterwards.
    await target.execute(
        "UPDATE {disputes} SET state = %s WHERE lane = %s AND stream = %s AND state <> 'resolved'",
        *states,
    )


PROJECTION: Final = Projection(
    name=NAME,
    version=1,
    types=frozenset(kind.__name__ for kind in (DisputeOpened, DisputeFound, DisputeResolved)),
    tables={
        "disputes": """
            opened_at bigint NOT NULL,
            lane smallint NOT NULL,
            stream uuid NOT NULL,
            tenant text NOT NULL,
            game text NOT NULL,
            state text NOT NULL,
            PRIMARY KEY (lane, stream),
            UNIQUE (tenant, opened_at, stream, lane),
            UNIQUE (tenant, game, opened_at, stream, lane)
        """
    },
    apply=_apply,
)
