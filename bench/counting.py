"""A projection as small as can be, to measure what all of them share: the feed and the runner."""

from collections.abc import Mapping, Sequence
from typing import Final

from eventstore.feed import FeedEvent
from projections.projection import Projection, Target
from projections.registry import PROJECTIONS


async def _apply(target: Target, events: Sequence[FeedEvent]) -> None:
    newest = {event.stream: event for event in events}
    rows = [(event.lane, event.stream, event.version) for event in newest.values()]
    await target.execute(
        "INSERT INTO {counting} (lane, stream, version)"
        " SELECT * FROM unnest(%s::smallint[], %s::uuid[], %s::integer[])"
        " ON CONFLICT (lane, stream) DO UPDATE SET version = excluded.version",
        [list(column) for column in zip(*rows, strict=True)],
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
