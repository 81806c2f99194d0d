"""The HTTP server of a worker, and the connections of its callers: uvicorn, with limits of ours.

What is added: how long the head of a request may be, how long head and body may take, a way for an
answer to cut its own connection, and a server that goes by what `worker` tells it, not by signals.
"""

import asyncio
import re
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from http import HTTPStatus
from typing import Any, Final, NoReturn, cast

import httptools
import msgspec
import uvicorn
from litestar.types import ASGIApp, Scope
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from api.problems import MEDIA_TYPE, Problem, invalid, problem_body, unavailable

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
_HOST: Final = re.compile(
    rb"(\[[\w.~!$&'()*+,;=:%-]+\]|([\w.~!$&'()*+,;=-]|%[\dA-Fa-f]{2})*)(:\d*)?"
)
"""An address or a name, which may be empty, and a port (RFC 3986, 3.2.2 and 3.2.3)."""
_TOO_LONG: Final = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\n"
    b"content-length: 0\r\nconnection: close\r\n\r\n"
)


def cut(scope: Scope) -> None:
    """Cut the connection of a request. The server would wait until the caller has taken what it has
    buffered, which may be never."""
    found = (scope.get("extensions") or {}).get(_CUT)
    if found is not None:
        cast(Callable[[], None], found)()


class Server(uvicorn.Server):
    """An HTTP server on sockets that others have opened, until `should_exit` is set."""

    def __init__(
        self, app: ASGIApp, backlog: int, body_seconds: float, begun: Callable[[], None]
    ) -> None:
        """`backlog`: how many may wait to be accepted. `body_seconds`: how long a request's body
        may take to come. `begun` is called when it serves."""
        connection: Any = partial(Connection, body_seconds=body_seconds)
        super().__init__(
            uvicorn.Config(
                app,
                http=connection,
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


class _Together:
    """The transport of one answer, whose head goes out with the begin of its body. Where the head
    comes alone, a proxy written in Go may begin to answer with it, give up what it still reads of
    the request, and lose the body."""

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport: Final = transport
        self._loop: Final = loop
        self._begun = False
        self._held = b""

    def write(self, data: bytes) -> None:
        if self._held:
            data, self._held = self._held + data, b""
        elif not self._begun:
            # A stream's head goes out though nothing follows yet.
            self._begun, self._held = True, data
            self._loop.call_soon(self._let_go)
            return
        self._transport.write(data)

    def close(self) -> None:
        self._let_go()
        self._transport.close()

    def is_closing(self) -> bool:
        return self._transport.is_closing()

    def _let_go(self) -> None:
        held, self._held = self._held, b""
        if held and not self._transport.is_closing():
            self._transport.write(held)


class _Unframed(_Together):
    """The same for a caller of HTTP/1.0, which knows no chunks (RFC 9112, 6.1): a body of a length
    not told ends with the connection. Each chunk comes in a piece of its own."""

    _FRAMED: Final = b"\r\ntransfer-encoding: chunked\r\n"
    _chunked: bool | None = None

    def write(self, data: bytes) -> None:
        if self._chunked is None:
            self._chunked = self._FRAMED in data
            data = data.replace(self._FRAMED, b"\r\n")
        elif self._chunked and data:
            size, _, rest = data.partition(b"\r\n")
            data = rest[: int(size, 16)]
        super().write(data)


class Connection(HttpToolsProtocol):
    """One caller's connection."""

    _in_head = False
    _raw = 0
    """How much has come since a request began."""
    _body = 0
    """How much of that was its body."""
    _left = 0
    """How much of a body is to come that the parser leaves to us."""
    _last = False
    """Nothing more is read."""
    _refusal: bytes | None = None
    """What is answered instead of that the request is none."""
    _limit: asyncio.TimerHandle | None = None
    _stalled: asyncio.TimerHandle | None = None

    def __init__(self, *given: Any, body_seconds: float, **more: Any) -> None:
        super().__init__(*given, **more)
        self._body_seconds: Final = body_seconds

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Somebody has connected."""
        super().connection_made(transport)
        self._limit_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """They have left, or were cut off."""
        self._over()
        self.resume_writing()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """A piece of a request has come, or several."""
        if self._left:
            self._rest(data)
            return
        if self._last:
            return
        self._raw += len(data)
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            # What the parser takes for another protocol is the body of a request, or nothing.
            if self._left:
                self._rest(data[upgrade.args[0] :])
            if self._left:
                self._limit_rest()
        except httptools.HttpParserError:
            self.send_400_response("What has come is no request.")
        else:
            # Counted by bodies: what frames them, and what follows them, has its limit too.
            if self._raw - 16 * self._body > 2 * _HEAD_BYTES:
                self._refusal = _TOO_LONG
                self.send_400_response("")
            elif not self.transport.is_closing():
                self._limit_rest()

    def eof_received(self) -> bool | None:  # type: ignore[override]
        """They say nothing more. Who is in the middle of a request is told so, who has asked is
        answered if it does not take long, who is being answered has left."""
        cycle = self.cycle
        if cycle is None or cycle.response_started:
            return None
        if cycle.more_body:
            others_wait = bool(self.pipeline)
            self.send_400_response("The request is not whole.")
            if not others_wait:
                return None
        self._last = True
        self._over()
        self._limit = self.loop.call_later(_REST_SECONDS, self.transport.close)
        return True

    def on_response_complete(self) -> None:
        """An answer has gone out. What is left of a request that was not read whole is passed over
        as it comes: cut off at once, the caller might lose the answer."""
        others_wait = bool(self.pipeline)
        super().on_response_complete()
        if self.transport.is_closing():
            return
        if others_wait:
            self._limit_rest()
            return
        if self._refusal is not None:
            self.transport.write(self._refusal)
        if self._last and not self._left:
            self.transport.close()
        elif self.cycle.more_body:
            self._over()
            self._limit = self.loop.call_later(_REST_SECONDS, self.transport.close)

    def on_message_begin(self) -> None:
        """A head begins."""
        self._unset_keepalive_if_required()
        super().on_message_begin()
        self.scope["extensions"] = {_CUT: self.transport.abort}  # type: ignore[dict-item]
        self._in_head, self._raw, self._body = True, 0, 0

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header of the head; what is said after the body is not taken for one."""
        if self._in_head:
            super().on_header(name, value)

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
        chunked, length, hosts = False, 0, 0
        for name, value in self.headers:
            if name == b"host":
                hosts += 1
                if not _HOST.fullmatch(value.strip(b" \t")):
                    self._refuse("The header Host is no name or address.")
            elif name == b"transfer-encoding":
                # The parser finds fault with others too, but only when the application has begun.
                if value.lower() != b"chunked":
                    raise _Refused
                chunked = True
            elif name == b"content-length":
                length = int(value)
        # RFC 9112, 3.2: HTTP/1.0 may do without.
        version = self.parser.get_http_version()
        if not version.startswith("1."):
            self._refuse("This is a server of HTTP/1.1.")
        if hosts > 1 or (not hosts and version >= "1.1"):
            self._refuse("The header Host is needed, once.")
        if self.parser.should_upgrade():
            # To another protocol, which is not ours: the request is answered by this one (RFC 9110,
            # 7.8). The parser passes over its body.
            if chunked:
                raise _Refused
            self._left, self._last = length, True
        super().on_headers_complete()
        if self._last:
            self.cycle.keep_alive = False
        if version >= "1.1":
            answer = _Together(self.transport, self.loop)
        else:
            # Nor does it know of answers that go before (RFC 9110, 10.1.1).
            self.cycle.waiting_for_100_continue = False
            answer = _Unframed(self.transport, self.loop)
        self.cycle.transport = cast(asyncio.Transport, answer)

    def on_body(self, body: bytes) -> None:
        """A piece of a body."""
        self._body += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        """A request is whole."""
        if not self._left:
            super().on_message_complete()
            self._over()

    def send_400_response(self, msg: str) -> None:
        """Say that what has come is no request of HTTP/1.1, when all before it are answered."""
        self._last, self._left = True, 0
        self._refusal = self._refusal or _answer(Problem("invalid-request", msg))
        cycle = self.cycle
        if cycle is not None and self.pipeline:
            # Others are answered first. One that is not whole is not begun then.
            if cycle.more_body:
                self.pipeline.popleft()
        elif cycle is None or cycle.response_complete or cycle.more_body:
            if cycle is None or cycle.response_complete or not cycle.response_started:
                self.transport.write(self._refusal)
            self.transport.close()

    def pause_writing(self) -> None:
        """They take nothing of what they have asked for, or too slowly."""
        super().pause_writing()
        if self._stalled is None:
            self._stalled = self.loop.call_later(_IDLE_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        """They do."""
        if self._stalled is not None:
            self._stalled.cancel()
            self._stalled = None
        super().resume_writing()

    def _refuse(self, detail: str) -> NoReturn:
        """Go no further with a head, and say why."""
        self._refusal = _answer(Problem("invalid-request", detail))
        raise _Refused

    def _rest(self, data: bytes) -> None:
        """A piece of a body that the parser has left to us."""
        piece = data[: self._left]
        self.on_body(piece)
        self._left -= len(piece)
        self.on_message_complete()

    def _limit_head(self) -> None:
        self._limit = self.loop.call_later(_HEAD_SECONDS, self.transport.abort)

    def _limit_rest(self) -> None:
        """Let what is not whole yet take no longer than it may: the head, or the body of a request
        that is being answered. While others are answered first nothing more is read."""
        if self._limit is not None:
            return
        if self._in_head:
            self._limit_head()
            return
        cycle = self.cycle
        if cycle is not None and cycle.more_body and not (cycle.response_complete or self.pipeline):
            self._limit = self.loop.call_later(self._body_seconds, self._late)

    def _late(self) -> None:
        if self.cycle.response_started:
            # Nobody waits for it.
            return
        words = f"the body has not come whole in {self._body_seconds:g} seconds"
        self._refusal = _answer(invalid("$", words), self.url.decode("latin-1"))
        self.send_400_response("")

    def _over(self) -> None:
        self._in_head = False
        if self._limit is not None:
            self._limit.cancel()
            self._limit = None
