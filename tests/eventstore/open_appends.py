"""Appends whose transaction is ended by hand, so that commits come in any order, late or never."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import LiteralString, cast

from psycopg import AsyncConnection
from psycopg.raw_cursor import AsyncRawCursor
from psycopg.rows import TupleRow

from eventstore import appending, queries
from eventstore.records import Append
from eventstore.wire import untyped_adapters


class OpenTransaction:
    """A transaction of the store's role that stays open until it is told how to end."""

    def __init__(self, conn: AsyncConnection[TupleRow]) -> None:
        self._conn = conn

    async def take_id(self) -> None:
        """Have the transaction get its id now, before it writes anything."""
        await self._conn.execute("SELECT pg_current_xact_id()")

    async def append(self, request: Append) -> None:
        """Append without committing."""
        cursor = await self._conn.execute(
            cast(LiteralString, queries.append), appending.parameters(request), binary=True
        )
        row = await cursor.fetchone()
        assert row is not None
        assert row[0] == "appended"

    async def commit(self) -> None:
        await self._conn.commit()

    async def rollback(self) -> None:
        await self._conn.rollback()


@asynccontextmanager
async def open_transaction(url: str) -> AsyncIterator[OpenTransaction]:
    """A transaction on a connection of its own; rolled back at the end if it is still open."""
    conn = await AsyncConnection.connect(
        url, cursor_factory=AsyncRawCursor, context=untyped_adapters()
    )
    try:
        yield OpenTransaction(conn)
    finally:
        await conn.close()
