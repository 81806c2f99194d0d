"""The HTTP server of a worker, and the connections of its callers: uvicorn, with limits of ours.

What is added: how long the head of a request may be and how long it may take, a way for an answer
to cut its own connection, and a server that goes by what `worker` tells it, not by signals.
"""

import asyncio
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import Final, cast

import msgspec
import uvicorn
from litestar.types import ASGIApp, Scope
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from api.problems import MEDIA_TYPE, Problem, problem_body, unavailable

_CUT: Final = "fairdeal.cut"
_HEAD_BYTES: Final = 65_536
"""How long the head of a request may be; what has come unread may be twice that."""
_HEADERS: Final = 100
"""How many headers may be in it."""
_HEAD_SECONDS: Final = 30.0
"""How long it may take, and how long who has connected may say nothing."""
_REST_SECONDS: Final = 5.0
"""How long the rest of a request may take that has its answer already."""
_IDLE_SECONDS: Final = 150
"""How long a connection is kept for another request: longer than proxies usually keep one."""
_CONNECTIONS: Final = 16_384
"""How many connections a worker holds, live streams and long polls among them. Whoever comes then
is answered with 503."""
_TOO_LONG: Final = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\n"
    b"content-length: 0\r\nconnection: close\r\n\r\n"
)
_NOT_WHOLE: Final = "The request is not whole."


def cut(scope: Scope) -> None:
    """Cut the connection of a request. The server would wait until the caller has taken what it has
    buffered, which may be never."""
    found = (scope.get("extensions") or {}).get(_CUT)
    if found is not None:
        cast(Callable[[], None], found)()


class Server(uvicorn.Server):
    """An HTTP server on sockets that others have opened, until `should_exit` is set."""

    def __init__(self, app: ASGIApp, backlog: int, begun: Callable[[], None]) -> None:
        """`backlog`: how many may wait to be accepted. `begun` is called when it serves."""
        super().__init__(
            uvicorn.Config(
                app,
                http=Connection,
                ws="none",
                lifespan="on",
                interface="asgi3",
                backlog=backlog,
                log_config=None,
                access_log=False,
                proxy_headers=False,
                server_header=False,
                timeout_keep_alive=_IDLE_SECONDS,
            )
        )
        self._begun: Final = begun

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to `worker`."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to serve."""
        await super().startup(sockets)
        self._begun()

    def close(self) -> None:
        """Accept no more. Whoever else has the sockets open is not touched."""
        for server in self.servers:
            server.close()

    def cut_all(self) -> None:
        """Cut all connections."""
        for connection in list(self.server_state.connections):
            cast(Connection, connection).transport.abort()


def _answer(problem: Problem, path: str = "") -> bytes:
    """A problem as a whole answer, after which the connection is closed."""
    body = problem_body(problem, path)
    head = [
        f"HTTP/1.1 {body.status} {HTTPStatus(body.status).phrase}",
        *[f"{name}: {value}" for name, value in problem.headers.items()],
        f"content-type: {MEDIA_TYPE}",
    ]
    text = msgspec.json.encode(body)
    head += [f"content-length: {len(text)}", "connection: close", "", ""]
    return "\r\n".join(head).encode() + text


class _Refused(Exception):
    """A head that the parser is to go no further with."""


class Connection(HttpToolsProtocol):
    """One caller's connection."""

    _in_head = False
    _unread = 0
    """How much of a head has come so far, in several pieces."""
    _refusal: bytes | None = None
    """What is answered instead of that the request is none."""
    _limit: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Somebody has connected."""
        super().connection_made(transport)
        self._limit_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """They have left, or were cut off."""
        self._over()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """A piece of a request has come, or several."""
        if self._in_head:
            self._unread += len(data)
            if self._unread > 2 * _HEAD_BYTES:
                self._refusal = _TOO_LONG
                self.send_400_response("")
                return
        super().data_received(data)
        if self._in_head and self._limit is None and not self.transport.is_closing():
            self._limit_head()

    def eof_received(self) -> None:
        """They say nothing more. Where that is in the middle of a request, they are told so."""
        if self.cycle is not None and self.cycle.more_body and not self.cycle.response_started:
            self.send_400_response(_NOT_WHOLE)

    def on_response_complete(self) -> None:
        """An answer has gone out. What is left of a request that was not read whole is passed over
        as it comes: cut off at once, the caller might lose the answer."""
        super().on_response_complete()
        if self.cycle.more_body and not self.pipeline and not self.transport.is_closing():
            self._limit = self.loop.call_later(_REST_SECONDS, self.transport.close)

    def on_message_complete(self) -> None:
        """A request is whole."""
        super().on_message_complete()
        self._over()

    def on_message_begin(self) -> None:
        """A head begins."""
        super().on_message_begin()
        self.scope["extensions"] = {_CUT: self.transport.abort}  # type: ignore[dict-item]
        self._in_head, self._unread = True, 0

    def on_headers_complete(self) -> None:
        """A head is whole. It is refused here, before the application hears of it."""
        self._over()
        size = len(self.url) + sum([len(name) + len(value) + 4 for name, value in self.headers])
        if size > _HEAD_BYTES or len(self.headers) > _HEADERS:
            self._refusal = _TOO_LONG
            raise _Refused
        if len(self.connections) > _CONNECTIONS:
            problem = unavailable("Too many connections; try again.")
            self._refusal = _answer(problem, self.url.decode("latin-1"))
            raise _Refused
        for name, value in self.headers:
            # The parser finds fault with it too, but only when the application has begun.
            if name == b"transfer-encoding" and value.lower() != b"chunked":
                raise _Refused
        super().on_headers_complete()

    def send_400_response(self, msg: str) -> None:
        """Say that what has come is no request of HTTP/1.1."""
        self.transport.write(self._refusal or _answer(Problem("invalid-request", msg)))
        self.transport.close()

    def _limit_head(self) -> None:
        self._limit = self.loop.call_later(_HEAD_SECONDS, self.transport.abort)

    def _over(self) -> None:
        self._in_head = False
        if self._limit is not None:
            self._limit.cancel()
            self._limit = None
