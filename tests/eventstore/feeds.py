"""What the tests of the feed look at: what followers get, and whether it is the log."""

from collections import defaultdict

import psycopg

from eventstore import wire
from eventstore.feed import FeedEvent
from eventstore.postgres import EventStore
from tests.eventstore.streams import an_id


def ids_of_one_lane(count: int, lane: int = 5) -> list[str]:
    """New ids whose streams share a lane."""
    found: list[str] = []
    while len(found) < count:
        stream = an_id()
        if wire.lane(wire.uuid(stream)) == lane:
            found.append(stream)
    return found


def gaps(url: str) -> int:
    with psycopg.connect(url) as conn:
        row = conn.execute("SELECT count(*) FROM fairdeal.gaps").fetchone()
    assert row is not None
    return int(row[0])


async def whole_feed(store: EventStore, page: int = 1000) -> list[FeedEvent]:
    """What a follower of all lanes gets, page by page."""
    found: list[FeedEvent] = []
    for lane in range(wire.LANES):
        after = 0
        while events := await store.feed.page(lane, after, page):
            found += events
            after = events[-1].seq
    return found


async def names(store: EventStore) -> list[tuple[str, int]]:
    return [(event.stream, event.version) for event in await whole_feed(store)]


def check_against_log(url: str, feed: list[FeedEvent]) -> None:
    """Whether the feed holds exactly the log: nothing lost, nothing doubled, nothing out of order.
    (Numbers without gaps are for `Feed.page` to refuse.)"""
    with psycopg.connect(url) as conn:
        log = conn.execute("SELECT stream::text, version FROM fairdeal.events").fetchall()
    told = [(event.stream, event.version) for event in feed]
    assert sorted(told) == sorted(log)
    by_stream: dict[str, list[int]] = defaultdict(list)
    for stream, version in told:
        by_stream[stream].append(version)
    for versions in by_stream.values():
        assert versions == list(range(1, len(versions) + 1))


async def settle(store: EventStore) -> None:
    """Number all that is committed."""
    while await store.feed.sequence(wait=True):
        pass
