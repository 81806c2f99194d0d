"""Group commit: the appends that wait in this process, in one transaction and one exchange.

While one group is with Postgres, the next gathers. A group is sent as a pipeline (libpq's pipeline
mode) with one synchronisation point at its end, so it is one transaction, answered when all of
it is durable. Nothing depends on a group's success. Where any of it fails, or the connection does,
each append of it is given back to be sent on its own, which finds out whether it was done.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from struct import Struct
from typing import Any, Final, TypeAlias

import psycopg
from psycopg import AsyncConnection
from psycopg.pq import ConnStatus, ExecStatus
from psycopg.pq.abc import PGconn, PGresult

from eventstore import measures, queries, wire
from eventstore.pool import Row

Parameters: TypeAlias = tuple[bytes | None, ...]

LOCK_SECONDS: Final = 0.1
"""How long a group waits for a lock in all its appends, then each waits for its own alone."""
_MOST_APPENDS: Final = 64
_MOST_BYTES: Final = 48_000
"""A group fits into what libpq sends at once, so that no half of one holds locks in Postgres while
this process does something else."""
_AGAIN_SECONDS: Final = 0.5
"""How long after a failure a connection is opened again at the earliest."""

_logger = logging.getLogger("eventstore")

_APPEND, _LOCK = b"fairdeal_append", b"fairdeal_lock"
_BINARY: Final = 1
_INT4: Final = Struct("!i").unpack


class _Waiting:
    """An append that waits; `locks` are the ids that it locks."""

    __slots__ = ("locks", "outcome", "parameters", "size")

    def __init__(
        self,
        parameters: Parameters,
        locks: tuple[bytes, ...],
        outcome: "asyncio.Future[Row | None]",
    ) -> None:
        self.parameters = parameters
        self.locks = locks
        self.outcome = outcome
        self.size = sum(map(len, filter(None, parameters)))


class GroupCommit:
    """The connection on which one process appends in groups."""

    def __init__(
        self, connect: Callable[[], Awaitable[AsyncConnection[Any]]], deadline_seconds: float
    ) -> None:
        """`connect` opens a connection on which locks are waited for LOCK_SECONDS at most; a
        group without an answer is given up after `deadline_seconds`."""
        self._connect: Final = connect
        self._deadline_seconds: Final = deadline_seconds
        self._exchange: _Exchange | None = None
        self._waiting: list[_Waiting] = []
        self._due = False
        self._under_way = False
        self._opening: asyncio.Task[None] | None = None
        self._closed = False

    @property
    def connected(self) -> bool:
        """Whether there is a connection to append in groups on."""
        return self._exchange is not None

    def open(self) -> None:
        """Start connecting in the background, unless that is under way."""
        if self._opening is None and not self._closed:
            self._opening = asyncio.create_task(self._open())

    async def close(self) -> None:
        """Close the connection; what waits is given back."""
        self._closed = True
        if self._opening is not None:
            self._opening.cancel()
            await asyncio.gather(self._opening, return_exceptions=True)
        if self._exchange is not None:
            self._exchange.end()
        self._give_back(self._taken())

    async def append(self, parameters: Parameters, locks: tuple[bytes, ...]) -> Row | None:
        """The row of `fairdeal.append` for these parameters, once it is durable. None where it has
        to be sent on its own: then it may have been done, or not."""
        if self._exchange is None:
            self.open()
            return None
        loop = asyncio.get_running_loop()
        waiting = _Waiting(parameters, locks, loop.create_future())
        self._waiting.append(waiting)
        if not self._due and not self._under_way:
            # At the end of this turn of the loop, with whatever else it brings.
            self._due = True
            loop.call_soon(self._begin)
        return await waiting.outcome

    async def _open(self) -> None:
        try:
            conn = await self._connect()
            exchange = _Exchange(conn)
            try:
                results = await exchange.begin(_prepare, self._deadline_seconds)
            except BaseException:
                exchange.end()
                raise
            if any(result.status != ExecStatus.COMMAND_OK for result in results):
                exchange.end()
                raise psycopg.OperationalError("the statements of appends cannot be prepared")
            self._exchange = exchange
        except Exception as error:
            # Appends go on their own meanwhile, and say what is wrong.
            if not isinstance(error, psycopg.Error):
                _logger.error("appends are not grouped", exc_info=error)
            await asyncio.sleep(_AGAIN_SECONDS)
        finally:
            self._opening = None

    def _begin(self) -> None:
        self._due = False
        if self._exchange is None:
            self._give_back(self._taken())
        elif not self._under_way and self._waiting:
            group = self._taken(_MOST_APPENDS, _MOST_BYTES)
            self._under_way = True
            answer = self._exchange.begin(lambda to: _send(to, group), self._deadline_seconds)
            answer.add_done_callback(lambda done: self._answered(group, done))

    def _answered(self, group: list[_Waiting], answer: "asyncio.Future[list[PGresult]]") -> None:
        self._under_way = False
        if answer.cancelled() or answer.exception() is not None:
            self._exchange = None
            measures.GROUPS_GIVEN_BACK.inc()
            self._give_back(group)
        else:
            # The first result is of the locks where there is more than one append.
            results = answer.result()[-len(group) :]
            if all(result.status == ExecStatus.TUPLES_OK for result in results):
                for waiting, result in zip(group, results, strict=True):
                    if not waiting.outcome.done():
                        waiting.outcome.set_result(_row(result))
                measures.GROUP_SIZE.observe(len(group))
            else:
                measures.GROUPS_GIVEN_BACK.inc()
                self._give_back(group)
        self._begin()

    def _taken(self, most: int | None = None, most_bytes: float = float("inf")) -> list[_Waiting]:
        """The first of those who wait, at least one; all of them unless said otherwise."""
        size, count = 0, 0
        for waiting in self._waiting[:most]:
            size += waiting.size
            if count and size > most_bytes:
                break
            count += 1
        taken, self._waiting = self._waiting[:count], self._waiting[count:]
        return taken

    @staticmethod
    def _give_back(group: list[_Waiting]) -> None:
        for waiting in group:
            if not waiting.outcome.done():
                waiting.outcome.set_result(None)


class _Exchange:
    """A connection in pipeline mode: statements are sent together, their results come together."""

    def __init__(self, conn: AsyncConnection[Any]) -> None:
        # Held on to: psycopg closes a connection that nobody has any more.
        self._conn: Final = conn
        self._pgconn: Final[PGconn] = conn.pgconn
        self._loop: Final = asyncio.get_running_loop()
        self._socket: Final = self._pgconn.socket
        self._results: list[PGresult] = []
        self._answer: asyncio.Future[list[PGresult]] | None = None
        self._limit: asyncio.TimerHandle | None = None
        self._writing = False
        self._ended = False
        self._pgconn.enter_pipeline_mode()
        # Once, not for every exchange: each change costs a system call.
        self._loop.add_reader(self._socket, self._readable)

    def begin(
        self, send: Callable[[PGconn], Any], seconds: float
    ) -> "asyncio.Future[list[PGresult]]":
        """Send, and give what will be the results; psycopg.Error where the connection fails or no
        answer comes in time, after which it is closed."""
        answer = self._answer = self._loop.create_future()
        self._results = []
        self._limit = self._loop.call_later(seconds, self._give_up)
        try:
            send(self._pgconn)
            self._pgconn.pipeline_sync()
            self._flush()
        except psycopg.Error as error:
            self._fail(error)
        return answer

    def end(self) -> None:
        """Close the connection; what is under way fails."""
        self._fail(psycopg.OperationalError("the connection is closed"))

    def _flush(self) -> None:
        blocked = self._pgconn.flush() == 1
        if blocked and not self._writing:
            self._loop.add_writer(self._socket, self._writable)
        elif not blocked and self._writing:
            self._loop.remove_writer(self._socket)
        self._writing = blocked

    def _writable(self) -> None:
        try:
            self._flush()
        except psycopg.Error as error:
            self._fail(error)

    def _readable(self) -> None:
        try:
            self._read()
            # Where libpq finds the connection lost while it reads, it closes the socket without a
            # word: nobody would ever call this again.
            if self._pgconn.status == ConnStatus.BAD:
                raise psycopg.OperationalError("the connection was lost")
        except psycopg.Error as error:
            self._fail(error)

    def _read(self) -> None:
        pgconn = self._pgconn
        pgconn.consume_input()
        ended = False
        while not pgconn.is_busy():
            result = pgconn.get_result()
            if result is None:
                # One ends the results of a statement, two that there is no more.
                if ended:
                    return
                ended = True
            elif result.status == ExecStatus.PIPELINE_SYNC:
                self._done()
                return
            else:
                ended = False
                self._results.append(result)

    def _give_up(self) -> None:
        self._fail(psycopg.OperationalError("no answer came in time"))

    def _done(self) -> None:
        if self._limit is not None:
            self._limit.cancel()
        answer, self._answer = self._answer, None
        if answer is not None and not answer.done():
            answer.set_result(self._results)

    def _fail(self, error: psycopg.Error) -> None:
        if self._limit is not None:
            self._limit.cancel()
        if not self._ended:
            # Even where libpq has found the connection lost itself, and closed the socket: a reader
            # that is left behind breaks whoever is next given the socket's number.
            self._ended = True
            self._loop.remove_reader(self._socket)
            self._loop.remove_writer(self._socket)
            self._pgconn.finish()
        answer, self._answer = self._answer, None
        if answer is not None and not answer.done():
            answer.set_exception(error)


def _prepare(to: PGconn) -> None:
    to.send_prepare(_APPEND, queries.append)
    to.send_prepare(_LOCK, queries.lock)


def _send(to: PGconn, group: list[_Waiting]) -> None:
    if len(group) > 1:
        # All locks in one order, whoever takes them: no two groups can wait for each other.
        ids = {lock for waiting in group for lock in waiting.locks}
        to.send_query_prepared(_LOCK, [wire.raw_uuids(ids)], [_BINARY], _BINARY)
    for waiting in group:
        parameters: Sequence[bytes | None] = waiting.parameters
        to.send_query_prepared(_APPEND, parameters, [_BINARY] * len(parameters), _BINARY)


def _row(result: PGresult) -> Row:
    """outcome, at_version, answer_stream, answer_first, answer_last, answer_response."""
    value = result.get_value
    outcome = value(0, 0)
    stream = value(0, 2)
    return (
        None if outcome is None else outcome.decode(),
        _int(value(0, 1)),
        None if stream is None else stream.decode(),
        _int(value(0, 3)),
        _int(value(0, 4)),
        value(0, 5),
    )


def _int(raw: bytes | None) -> int | None:
    return None if raw is None else int(_INT4(raw)[0])
