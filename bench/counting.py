"""A projection as small as can be, to measure what all of them share: the feed and the runner."""

from collections.abc import Mapping, Sequence
from typing import Final

from eventstore.feed import FeedEvent
from projections.projection import Projection, Target
from projections.registry import PROJECTIONS


async def _apply(target: Target, events: Sequence[FeedEvent]) -> None:
    newest = {event.stream: event.version for event in events}
    await target.execute(
        "INSERT INTO {counting} (lane, stream, version)"
        " SELECT %s, x.stream, x.version FROM unnest(%s::uuid[], %s::integer[]) x (stream, version)"
        " ON CONFLICT (lane, stream) DO UPDATE SET version = excluded.version",
        (target.lane, list(newest), list(newest.values())),
    )


COUNTING: Final = Projection(
    name="counting",
    version=1,
    types=None,
    tables={"counting": "lane smallint, stream uuid, version integer, PRIMARY KEY (lane, stream)"},
    apply=_apply,
)

MEASURED: Final[Mapping[str, Projection]] = {COUNTING.name: COUNTING, **PROJECTIONS}
"""What is measured: the machinery alone, and the projections that the service has."""
