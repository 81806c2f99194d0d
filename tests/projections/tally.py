"""A small projection for the tests, whose tables show whatever was counted twice or left out, and
which can be told to fail or to stop in the middle."""

import asyncio
import json
import os
from collections.abc import Sequence
from typing import Any

import psycopg

from eventstore.feed import FeedEvent
from eventstore.postgres import EventStore
from eventstore.records import Append
from projections.projection import Projection, Target
from tests.eventstore.streams import an_append, an_event, an_id

POISON = b'{"card": "AS"}'
"""Data that the projection cannot take."""


async def apply(target: Target, events: Sequence[FeedEvent]) -> None:
    """Count events by stream, keep a journal; stop where the environment says so."""
    for event in events:
        if event.event is not None and event.event.data == POISON:
            raise ValueError(f"cannot take {event.event.data!r}")
    await target.execute(
        "INSERT INTO {tally} (lane, stream, events, version) VALUES (%s, %s, 1, %s)"
        " ON CONFLICT (lane, stream) DO UPDATE"
        " SET events = {tally}.events + 1, version = excluded.version",
        *[(event.lane, event.stream, event.version) for event in events],
    )
    await target.execute(
        "INSERT INTO {journal} (lane, seq, stream, version) VALUES (%s, %s, %s, %s)",
        *[(event.lane, event.seq, event.stream, event.version) for event in events],
    )
    if os.environ.get("TALLY_STOPS"):
        print("stopped", flush=True)
        await asyncio.sleep(600)


TABLES = {
    "tally": "lane smallint, stream uuid, events integer, version integer,"
    " PRIMARY KEY (lane, stream)",
    "journal": "lane smallint, seq bigint, stream uuid, version integer, PRIMARY KEY (lane, seq)",
}


def tally(version: int = 1, **changes: Any) -> Projection:
    """The projection, in some version of its code."""
    given: dict[str, Any] = {
        "name": "tally",
        "version": version,
        "types": None,
        "tables": TABLES,
        "apply": apply,
    }
    return Projection(**(given | changes))


async def write(store: EventStore, streams: int, each: int = 1) -> list[Append]:
    """New streams of some events each, and the last append of every one."""
    last = []
    for _ in range(streams):
        append = None
        stream = an_id()
        for _ in range(each):
            append = an_append(stream, after=append)
            await store.append(append)
        assert append is not None
        last.append(append)
    return last


async def poison(store: EventStore, after: Append) -> Append:
    """An event that the projection cannot take, and one more behind it."""
    bad = an_append(after.stream, an_event(POISON), after=after)
    await store.append(bad)
    more = an_append(after.stream, after=bad)
    await store.append(more)
    return more


def rows(url: str, statement: str) -> list[tuple[Any, ...]]:
    """What a statement gives, asked on a connection of its own."""
    with psycopg.connect(url, autocommit=True) as conn:
        return conn.execute(statement.encode()).fetchall()


def wrong(url: str) -> list[str]:
    """How the tables differ from a count of the log itself, parked streams aside: nothing, where
    every event went in exactly once."""
    expected = (
        "SELECT e.lane, e.stream, count(*), max(e.version) FROM fairdeal.events e"
        " WHERE NOT EXISTS (SELECT FROM projections.parked p WHERE p.stream = e.stream"
        " AND p.version <= e.version) GROUP BY e.lane, e.stream"
    )
    found = "SELECT lane, stream, events, version FROM projections.tally"
    journal = "SELECT lane, stream, count(*), max(version) FROM projections.journal GROUP BY 1, 2"
    differing = [
        f"{these} EXCEPT ({those})"
        for one in (found, journal)
        for these, those in ((f"({expected})", one), (f"({one})", expected))
    ]
    return [json.dumps(row, default=str) for query in differing for row in rows(url, query)]
