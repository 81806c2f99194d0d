"""One statement at a time against Postgres, within a deadline. Knows no table.

A statement may be sent more than once: whoever calls makes sure that a repetition does no harm.
"""

import asyncio
import math
import os
import random
import socket
from time import monotonic
from typing import Any, Final, LiteralString, TypeAlias, cast

import msgspec
import psycopg
from psycopg import AsyncConnection
from psycopg.conninfo import conninfo_to_dict
from psycopg.raw_cursor import AsyncRawCursor
from psycopg.rows import TupleRow
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from eventstore import measures
from eventstore.records import StoreUnavailable
from eventstore.wire import untyped_adapters

Row: TypeAlias = tuple[Any, ...]

_PAUSE_SECONDS: Final = 0.005
_LONGEST_PAUSE_SECONDS: Final = 0.25
_ASK_AGAIN_SECONDS: Final = 1.0

_PASSING: Final = frozenset({"40001", "40P01", "55P03", "57014"})
"""Serialisation failure, deadlock, lock not to be had in time, statement timed out."""
_PASSING_CLASSES: Final = frozenset({"08", "53", "57"})
"""Connection trouble, resources short, an operator's doing (shutdown, crash, start-up)."""


class PoolState(msgspec.Struct, frozen=True):
    """Connections that are open or being opened, those in use, and who waits for one."""

    size: int
    in_use: int
    waiting: int


class Pool:
    """Connections to one database, and statements run on them until the deadline."""

    def __init__(
        self, url: str, *, min_size: int, max_size: int, prepare: bool, deadline_seconds: float
    ) -> None:
        self._deadline_seconds = deadline_seconds
        self._most_stale = max_size
        self._pool = AsyncConnectionPool(
            url,
            kwargs=connection_settings(url, prepare=prepare, deadline_seconds=deadline_seconds),
            min_size=min_size,
            max_size=max_size,
            timeout=deadline_seconds,
            # The pool waits twice as long after each failure. Given up early, it starts afresh
            # for whoever asks next, so a server that is back is found within a second or two.
            reconnect_timeout=0.5,
            name="eventstore",
            open=False,
        )

    async def open(self) -> None:
        """Start the pool's workers; connections come in the background."""
        await self._pool.open()

    async def close(self) -> None:
        """Close every connection; statements under way fail."""
        await self._pool.close()

    def state(self) -> PoolState:
        """How the pool does."""
        found = self._pool.get_stats()
        size = found.get("pool_size", 0)
        return PoolState(
            size, size - found.get("pool_available", 0), found.get("requests_waiting", 0)
        )

    def connection(self, timeout: float | None = None) -> Any:
        """A connection for other uses, as `async with`; the caller minds its own failures."""
        return self._pool.connection(timeout)

    async def run(
        self,
        statement: bytes,
        parameters: tuple[Any, ...],
        *,
        prepare: bool | None = None,
        begun: float | None = None,
    ) -> list[Row]:
        """Execute a statement in a transaction of its own and give its rows.

        Trouble that passes (a lost connection, a restart, a deadlock) is retried until the
        deadline (counted from `begun`, a monotonic time, if it is given), then StoreUnavailable:
        the statement may or may not have been done. Any other psycopg.Error comes through at once.
        """
        deadline = (monotonic() if begun is None else begun) + self._deadline_seconds
        failures = 0
        while True:
            try:
                return await self._attempt(statement, parameters, prepare, deadline)
            except PoolTimeout as error:
                measures.POOL_TIMEOUTS.inc()
                if monotonic() >= deadline:
                    raise self._unavailable("no connection was to be had") from error
                continue
            except psycopg.Error as error:
                measures.failed(error)
                _keep_quiet(error)
                if not _passes(error):
                    raise
                failures += 1
                pause = self._pause(error, failures)
                if monotonic() + pause >= deadline:
                    raise self._unavailable(_kind(error)) from error
            measures.RETRIES.inc()
            await asyncio.sleep(pause)

    async def _attempt(
        self,
        statement: bytes,
        parameters: tuple[Any, ...],
        prepare: bool | None,
        deadline: float,
    ) -> list[Row]:
        left = max(deadline - monotonic(), 0.001)
        # In pieces: asking again makes the pool try again.
        async with self._pool.connection(min(left, _ASK_AGAIN_SECONDS)) as conn:
            # A server that hangs answers no cancel request either, so at the deadline the socket
            # is cut: the wait below ends as a lost connection does, whoever waits.
            loop = asyncio.get_running_loop()
            cutting = loop.call_later(max(deadline - monotonic(), 0.001), cut, conn)
            try:
                cursor = await conn.execute(
                    cast(LiteralString, statement), parameters, prepare=prepare, binary=True
                )
                return await cursor.fetchall()
            finally:
                cutting.cancel()

    def _pause(self, error: psycopg.Error, failures: int) -> float:
        if _connection_lost(error) and failures <= self._most_stale:
            # After a restart every idle connection of the pool is dead: get through them.
            return 0.0
        doublings = min(failures, 10)
        longest = min(_PAUSE_SECONDS * 2**doublings, _LONGEST_PAUSE_SECONDS)
        return random.uniform(0, longest)

    def _unavailable(self, why: str) -> StoreUnavailable:
        measures.UNAVAILABLE.inc()
        return StoreUnavailable(
            f"Postgres gave no answer within {self._deadline_seconds:g} seconds: {why}"
        )


def connection_settings(
    url: str, *, prepare: bool, deadline_seconds: float, lock_seconds: float | None = None
) -> dict[str, Any]:
    """With what the store opens a connection. Locks are waited for as long as for anything, unless
    `lock_seconds` says less."""
    given = conninfo_to_dict(url)
    settings: dict[str, Any] = {
        "autocommit": True,
        "cursor_factory": AsyncRawCursor,
        "context": untyped_adapters(),
        "prepare_threshold": 0 if prepare else None,
        "connect_timeout": max(2, math.ceil(deadline_seconds)),
    }
    if "application_name" not in given:
        settings["application_name"] = "fairdeal"
    if prepare:
        # A pooler takes no start-up options and is told by `prepare=False`; limits on statements
        # are then for its own settings or the role's. What the URL sets comes last and holds.
        milliseconds = math.ceil(deadline_seconds * 1000)
        limits = f"-c statement_timeout={milliseconds} -c lock_timeout={milliseconds}"
        # The feed needs it, whatever a database or role has for its default.
        isolation = "-c default_transaction_isolation=read\\ committed"
        settings["options"] = f"{limits} {isolation} {given.get('options', '')}".strip()
        if lock_seconds is not None:
            settings["options"] += f" -c lock_timeout={math.ceil(lock_seconds * 1000)}"
    return settings


def _kind(error: psycopg.Error) -> str:
    """What error it was: what libpq says of one names hosts, roles and databases."""
    return " ".join(filter(None, (type(error).__name__, error.sqlstate)))


def _keep_quiet(error: psycopg.Error) -> None:
    """Take out of an error's text what may quote a row or a parameter: whoever logs it, it tells
    kind and place, and no card. Its `diag` still has all."""
    if error.sqlstate is None:
        return
    diag = error.diag
    # Class 22: a value is not what it should be, and is quoted.
    said = diag.message_primary if error.sqlstate[:2] != "22" else "a value does not fit"
    named = (diag.schema_name, diag.table_name, diag.column_name, diag.constraint_name)
    error.args = (" ".join(filter(None, (error.sqlstate, said, *named))),)


def _passes(error: psycopg.Error) -> bool:
    """Whether the same statement may succeed when it is sent again."""
    state = error.sqlstate
    if state is None:
        return _connection_lost(error)
    return state in _PASSING or state[:2] in _PASSING_CLASSES


def _connection_lost(error: psycopg.Error) -> bool:
    # What libpq itself notices carries no state: the socket closed, a connection used after that.
    return isinstance(error, psycopg.OperationalError | psycopg.InterfaceError) and (
        error.sqlstate is None or error.sqlstate[:2] in {"08", "57"}
    )


def cut(conn: AsyncConnection[TupleRow]) -> None:
    """Cut a connection's socket, so that whoever waits for it finds it lost."""
    if conn.closed:
        return
    try:
        duplicate = socket.socket(fileno=os.dup(conn.fileno()))
    except (OSError, psycopg.Error):
        return
    with duplicate:
        try:
            duplicate.shutdown(socket.SHUT_RDWR)
        except OSError:
            return
