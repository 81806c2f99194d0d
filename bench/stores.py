"""Stores for measurements: a durable Postgres of their own, and many recorded games in it."""

import asyncio
import os
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

import psycopg

from api.checking import check, read_log
from api.importing import import_log, samples
from eventstore import embedded
from eventstore.migrate import migrate
from eventstore.postgres import EventStore

_COPIES: Final = b"""
WITH copied AS MATERIALIZED (
    SELECT s.*, x.copy, get_byte(sha256(uuid_send(x.copy)), 0) & 15 AS into_lane
    FROM fairdeal.streams s, LATERAL (
        SELECT gen_random_uuid() AS copy
        FROM generate_series(1, %s) WHERE s.version IS NOT NULL
    ) x
    WHERE s.stream = ANY (%s::uuid[])
), streams AS (
    INSERT INTO fairdeal.streams
        (created_at, wake_at, version, lane, stream, head_hash, tenant, category, tags, secret)
    SELECT created_at, wake_at, version, into_lane, copy, head_hash, tenant, category, tags, secret
    FROM copied
), sealed AS (
    INSERT INTO fairdeal.sealed (version, lane, part, stream, audience, digest, salt, body)
    SELECT p.version, c.into_lane, p.part, c.copy, p.audience, p.digest, p.salt, p.body
    FROM copied c JOIN fairdeal.sealed p USING (lane, stream)
)
INSERT INTO fairdeal.events (alloc, at, version, lane, schema_version, actor, stream, command_id,
    type, prev, hash, data)
SELECT nextval(('fairdeal.alloc_' || o.into_lane)::regclass), o.at, o.version, o.into_lane,
    o.schema_version, o.actor, o.copy, o.command_id, o.type, o.prev, o.hash, o.data
FROM (
    SELECT c.into_lane, c.copy, e.* FROM copied c JOIN fairdeal.events e USING (lane, stream)
    ORDER BY c.copy, e.version
) o
"""
_COPIES_AT_ONCE: Final = 50


def with_postgres(work: Callable[[str], Awaitable[None]]) -> None:
    """Do the work with the URL of a fresh, migrated Postgres that writes through to the disk."""

    async def migrated(url: str) -> None:
        await migrate(url)
        await work(url)

    with tempfile.TemporaryDirectory(prefix="fairdeal-bench-") as folder:
        # The account that runs Postgres for root has to get in.
        Path(folder).chmod(0o711 if os.geteuid() == 0 else 0o700)
        with embedded.server(Path(folder) / "data") as url:
            asyncio.run(migrated(url))


async def fill(url: str, events: int) -> int:
    """Put at least so many events into a store: the recorded games, and copies of them under other
    ids. Gives how many there are, all numbered in the feed."""
    async with EventStore.open(url, deadline_seconds=600) as store:
        originals = []
        for path in samples():
            log = read_log(path)
            await import_log(store, log, check(log).report, "host")
            originals.append(log.header.id)
        conn = await psycopg.AsyncConnection.connect(url, autocommit=True)
        async with conn:
            count = await _count(conn)
            each = count
            while count < events:
                copies = min(_COPIES_AT_ONCE, -(-(events - count) // each))
                await conn.execute(_COPIES, [copies, originals])
                count += copies * each
            await conn.execute("VACUUM ANALYZE")
        while await store.feed.sequence(10_000):
            pass
    return count


async def _count(conn: psycopg.AsyncConnection[tuple[object, ...]]) -> int:
    cursor = await conn.execute("SELECT count(*) FROM fairdeal.events")
    [(count,)] = await cursor.fetchall()
    assert isinstance(count, int)
    return count
