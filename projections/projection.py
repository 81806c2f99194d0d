"""What a projection is: the events it reads, its tables, and what it makes of the one in the other.

A projection may be dropped and built again from the feed at any time, and must come out the same.
Lanes are applied side by side, each in its own order, so what it makes of the events of one lane
may not depend on how far another lane has come. Runs nothing by itself (see `projections.runner`).
"""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from psycopg import AsyncConnection
from psycopg.rows import TupleRow

from eventstore.feed import FeedEvent
from eventstore.postgres import EventStore

_TABLE: Final = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class Target:
    """Where a build of a projection writes: its tables, in the transaction of its checkpoint."""

    conn: AsyncConnection[TupleRow]
    store: EventStore
    """For what the page of the feed does not hold, such as a stream's earlier events."""
    build: int

    async def execute(self, statement: str, *rows: Sequence[Any]) -> None:
        """Execute a statement once with each of the rows. `{table}` stands for a table of this
        build, `%s` for a parameter. Raises psycopg.Error."""
        if len(rows) == 1:
            # As mostly: without the pipeline that several are sent in.
            await self.conn.execute(self._named(statement), rows[0])
        elif rows:
            async with self.conn.cursor() as cursor:
                await cursor.executemany(self._named(statement), rows)

    async def fetch(self, statement: str, parameters: Sequence[Any] = ()) -> list[TupleRow]:
        """The rows that a statement gives. Raises psycopg.Error."""
        cursor = await self.conn.execute(self._named(statement), parameters)
        return await cursor.fetchall()

    def _named(self, statement: str) -> bytes:
        return _TABLE.sub(lambda found: table_name(found[1], self.build), statement).encode()


@dataclass(frozen=True)
class Projection:
    """A projection; `version` goes up whenever its code or tables change what readers see."""

    name: str
    version: int
    types: frozenset[str] | None
    """The types of the events it reads; None: all."""
    tables: Mapping[str, str]
    """By name, what stands between the parentheses of CREATE TABLE. Every key holds `lane`."""
    apply: Callable[[Target, Sequence[FeedEvent]], Awaitable[None]]
    """Take in the next events of some lanes, lane after lane, of which it may have no use for some.
    A page without an event that it reads may be passed without asking it."""

    def wants(self, event: FeedEvent) -> bool:
        """Whether an event is one that it reads."""
        return self.types is None or event.type in self.types


def table_name(table: str, build: int) -> str:
    """The table of one build. Readers use the view `projections.{table}`, that of the live one."""
    return f"projections.{table}__{build}"
