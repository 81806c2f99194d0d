"""The HTTP server by itself: heads that are long, slow or not whole, and connections that end."""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest
from litestar.types import Receive, Scope, Send

from api import connections
from api.connections import Server, cut

SECONDS = 30.0
"""A limit that only a hanging test reaches."""

App = Callable[[Scope, Receive, Send], Awaitable[None]]


class Application:
    """An application that tells what it was asked, and for `/cut` cuts the connection."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.go_on = asyncio.Event()

    async def until_asked(self) -> None:
        async with asyncio.timeout(SECONDS):
            while not self.asked:
                await asyncio.sleep(0.01)

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            while (await receive())["type"] != "lifespan.shutdown":
                await send({"type": "lifespan.startup.complete"})
            await send({"type": "lifespan.shutdown.complete"})
            return
        path = scope["path"]
        self.asked.append(path)
        if path == "/cut":
            cut(scope)
            return
        if path == "/wait":
            await self.go_on.wait()
        if path == "/slow":
            await asyncio.sleep(0.1)
        if path == "/begun":
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b"begun,", "more_body": True})
            await self.go_on.wait()
            await send({"type": "http.response.body", "body": b"ended", "more_body": False})
            return
        body = path.encode()
        if path == "/read":
            while (message := await receive()).get("more_body"):
                body += message["body"]
            body += message["body"]
            body += b"," + b",".join(sorted(name for name, _ in scope["headers"]))
        if path == "/long":
            body = b"x" * 4_000_000
        if path.startswith("/stream"):
            await send({"type": "http.response.start", "status": 200, "headers": []})
            for piece in (b"0\r\n\r\n", b"", b"y" * 20_000, b"e"):
                await send({"type": "http.response.body", "body": piece, "more_body": True})
                await asyncio.sleep(0)
            last = b"" if path == "/stream" else b"nd"
            await send({"type": "http.response.body", "body": last, "more_body": False})
            return
        length = (b"content-length", str(len(body)).encode())
        await send({"type": "http.response.start", "status": 200, "headers": [length]})
        await send({"type": "http.response.body", "body": body, "more_body": False})


@asynccontextmanager
async def served(app: App, body_seconds: float = SECONDS) -> AsyncIterator[tuple[Server, int]]:
    """A server of an application, and its port."""
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    port = listening.getsockname()[1]
    begun = asyncio.Event()
    server = Server(app, 16, body_seconds, begun.set)  # type: ignore[arg-type]
    task = asyncio.create_task(server.serve([listening]))
    async with asyncio.timeout(SECONDS):
        await begun.wait()
    try:
        yield server, port
    finally:
        server.should_exit = True
        server.cut_all()
        await task


async def told(port: int, *pieces: bytes, pause: float = 0.0, end: bool = False) -> bytes:
    """All that is answered until the connection is closed."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        async with asyncio.timeout(SECONDS):
            for piece in pieces:
                writer.write(piece)
                await writer.drain()
                await asyncio.sleep(pause)
            if end:
                writer.write_eof()
            return await reader.read()
    except (BrokenPipeError, ConnectionResetError):
        return b""
    finally:
        writer.close()


def get(path: str, *headers: str) -> bytes:
    return "\r\n".join([f"GET {path} HTTP/1.1", "Host: x", *headers, "", ""]).encode()


LAST = "Connection: close"


async def test_requests_on_one_connection_are_answered_in_their_order() -> None:
    app = Application()
    async with served(app) as (_, port):
        app.go_on.set()
        answers = await told(port, get("/wait") + get("/two") + get("/three", LAST))
    assert app.asked == ["/wait", "/two", "/three"]
    assert [answers.count(path) for path in (b"/wait", b"/two", b"/three")] == [1, 1, 1]


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (get("/a", f"X: {'y' * 65_000}", LAST), 200),
        (get("/a", f"X: {'y' * 66_000}", LAST), 431),
        (get("/a", *[f"X-{n}: y" for n in range(98)], LAST), 200),
        (get("/a", *[f"X-{n}: y" for n in range(99)], LAST), 431),
        (get("/" + "a" * 66_000, LAST), 431),
        (get("/a", "Transfer-Encoding: gzip", LAST), 400),
        (b"nothing\r\n\r\n", 400),
    ],
)
async def test_a_head_has_its_limits(request_: bytes, status: int) -> None:
    app = Application()
    async with served(app) as (_, port):
        whole = await told(port, request_)
        in_pieces = await told(port, *[request_[n : n + 9_000] for n in range(0, 66_100, 9_000)])
    for answer in (whole, in_pieces):
        assert answer.startswith(b"HTTP/1.1 %d " % status)
    assert len(app.asked) == (2 if status == 200 else 0)


@pytest.mark.parametrize(
    "host",
    ["x", "x.example:8000", "x_y:", "", "127.0.0.1", "[::1]:8000", "[v1.a:b]", "%C3%A4.example"],
)
async def test_a_host_is_a_name_or_an_address(host: str) -> None:
    async with served(Application()) as (_, port):
        told_ = await told(port, f"GET /a HTTP/1.1\r\nHost: {host} \r\n{LAST}\r\n\r\n".encode())
    assert told_.endswith(b"/a")


@pytest.mark.parametrize(
    "hosts",
    [
        *[(), ("x", "x"), ("x", "y"), ("x", "")],
        *[(host,) for host in ("a b", "a/b", "a@b", "a:b", "a,b:80:80", "::1", "[::1", "%zz", "ä")],
    ],
)
async def test_a_head_says_once_which_host_is_meant(hosts: tuple[str, ...]) -> None:
    """RFC 9112, 3.2."""
    app = Application()
    lines = "".join([f"Host: {host}\r\n" for host in hosts])
    async with served(app) as (_, port):
        answers = await told(port, get("/one") + f"GET /a HTTP/1.1\r\n{lines}\r\n".encode())
        old = await told(port, f"GET /old HTTP/1.0\r\n{lines}\r\n".encode())
    _, one, refusal = answers.partition(b"/one")
    assert one
    assert refusal.startswith(b"HTTP/1.1 400 ")
    assert b"content-type: application/problem+json" in refusal
    assert b"The header Host" in refusal
    # Before HTTP/1.1 there was none.
    assert old.endswith(b"/old") == (hosts == ())
    assert app.asked == ["/one"] + ["/old"] * (hosts == ())


async def test_a_head_without_end_is_refused_before_it_is_kept() -> None:
    app = Application()
    async with served(app) as (_, port):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET /a HTTP/1.1\r\nX: ")
        sent = 0
        with suppress(ConnectionError):
            async with asyncio.timeout(SECONDS):
                while not reader.at_eof():
                    writer.write(b"y" * 10_000)
                    await writer.drain()
                    sent += 10_000
        writer.close()
    assert app.asked == []
    assert 100_000 < sent < 100_000_000


@pytest.mark.parametrize("pieces", [[], [b"GET /a HT"], [get("/a"), b"GET /b"]])
async def test_who_says_nothing_or_too_slowly_is_cut_off(
    monkeypatch: pytest.MonkeyPatch, pieces: list[bytes]
) -> None:
    monkeypatch.setattr(connections, "_HEAD_SECONDS", 0.3)
    async with served(Application()) as (_, port):
        answer = await told(port, *pieces, pause=0.01)
    assert answer.count(b"HTTP/1.1 200") == len(pieces) // 2


async def test_an_answer_may_take_longer_than_a_head(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "_HEAD_SECONDS", 0.1)
    app = Application()
    async with served(app) as (_, port):
        asking = asyncio.create_task(told(port, get("/wait", LAST)))
        await asyncio.sleep(0.3)
        app.go_on.set()
        assert (await asking).endswith(b"/wait")


STREAMED = b"0\r\n\r\n" + b"y" * 20_000 + b"e"


@pytest.mark.parametrize(("path", "last"), [("/stream", b""), ("/stream/on", b"nd")])
async def test_a_caller_of_old_is_sent_no_chunks(path: str, last: bytes) -> None:
    """RFC 9112, 6.1: the body ends with the connection."""
    async with served(Application()) as (_, port):
        old = await told(port, f"GET {path} HTTP/1.0\r\nConnection: keep-alive\r\n\r\n".encode())
        head = await told(port, f"HEAD {path} HTTP/1.0\r\n\r\n".encode())
        of_a_length = await told(port, b"GET /one HTTP/1.0\r\n\r\n")
        new = await told(port, get(path, LAST))
    headers, _, body = old.partition(b"\r\n\r\n")
    assert body == STREAMED + last
    assert headers.endswith(b"\r\nconnection: close")
    assert b"transfer-encoding" not in headers
    assert head.partition(b"\r\n\r\n")[2] == b""
    assert of_a_length.endswith(b"\r\ncontent-length: 4\r\nconnection: close\r\n\r\n/one")
    assert b"\r\ntransfer-encoding: chunked\r\n" in new
    assert new.endswith(b"\r\n0\r\n\r\n")


async def test_a_caller_of_old_is_not_told_to_go_on() -> None:
    """RFC 9110, 10.1.1."""
    head = b"POST /read HTTP/1.%d\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"
    async with served(Application()) as (_, port):
        old, new = [await told(port, head % n, b"ab", pause=0.05, end=True) for n in (0, 1)]
    assert old.startswith(b"HTTP/1.1 200 ")
    assert new.startswith(b"HTTP/1.1 100 ")


async def test_a_request_may_cut_its_connection() -> None:
    async with served(Application()) as (server, port):
        assert await told(port, get("/cut")) == b""
        assert server.server_state.connections == set()


BODY = b"POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\n"


async def test_what_is_left_of_an_answered_request_is_passed_over() -> None:
    async with served(Application()) as (_, port):
        pieces = [BODY % b"/one", b"a" * 20, b"a" * 30, get("/two", LAST)]
        answers = await told(port, *pieces, pause=0.05)
    assert answers.count(b"HTTP/1.1 200") == 2
    assert answers.endswith(b"/two")


async def test_what_is_left_of_it_is_not_waited_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "_REST_SECONDS", 0.1)
    async with served(Application()) as (_, port):
        assert (await told(port, BODY % b"/any" + b"abc")).endswith(b"/any")


@pytest.mark.parametrize("pause", [0.0, 0.05])
async def test_a_body_behind_an_upgrade_is_a_body(pause: float) -> None:
    """RFC 9110, 7.8: another protocol that is asked for may be ignored, a body may not."""
    smuggled = get("/two")
    head = (
        "POST /read HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: h2c\r\n"
        f"Content-Length: {len(smuggled)}\r\n\r\n"
    )
    app = Application()
    async with served(app) as (_, port):
        pieces = [head.encode(), smuggled[:7], smuggled[7:]]
        apart = await told(port, *pieces, pause=pause)
        together = await told(port, b"".join(pieces) + get("/three"))
        bare = await told(port, get("/one", "Connection: upgrade", "Upgrade: websocket"))
        chunked = head.replace("Content-Length: ", "Transfer-Encoding: chunked\r\nX: ")
        refused = await told(port, chunked.encode())
        late = await told(port, head.replace("/read", "/late").encode(), smuggled, pause=0.05)
    assert app.asked == ["/read", "/read", "/one", "/late"]
    for answer in (apart, together):
        assert answer.count(b"HTTP/1.1") - answer.count(b"GET /two HTTP/1.1") == 1
        assert b"/readGET /two HTTP/1.1" in answer
    assert bare.endswith(b"/one")
    # Nothing more is read of the connection, which its caller is told.
    assert late.endswith(b"/late")
    assert all(b"connection: close" in answer for answer in (apart, together, bare, late))
    assert refused.startswith(b"HTTP/1.1 400 ")


@pytest.mark.parametrize("pause", [0.0, 0.05])
async def test_what_follows_a_body_is_no_header(pause: float) -> None:
    head = b"POST /read HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    pieces = [head + b"2\r\nab\r\n0\r\n", b"Authorization: Bearer x\r\n\r\n", get("/two", LAST)]
    async with served(Application()) as (_, port):
        answers = await told(port, *pieces, pause=pause)
    assert b"/readab,host,transfer-encoding" in answers
    assert answers.endswith(b"/two")


@pytest.mark.parametrize("piece", [b"a: b\r\n" * 1_000, b"a" * 6_000])
async def test_what_follows_a_body_has_its_limit(piece: bytes) -> None:
    head = b"POST /read HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n"
    async with served(Application()) as (_, port):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(head)
        sent = 0
        with suppress(ConnectionError):
            async with asyncio.timeout(SECONDS):
                while not reader.at_eof():
                    writer.write(piece)
                    await writer.drain()
                    sent += len(piece)
        writer.close()
    assert 100_000 < sent < 100_000_000


async def test_a_refusal_comes_after_the_answers_before_it() -> None:
    app = Application()
    async with served(app) as (_, port):
        asking = asyncio.create_task(told(port, get("/wait") + get("/two") + b"NONSENSE\r\n\r\n"))
        await asyncio.sleep(0.1)
        app.go_on.set()
        answers = await asking
    found = [answers.find(part) for part in (b"/wait", b"/two", b"HTTP/1.1 400 ")]
    assert found == sorted(found)
    assert found[0] > 0


async def test_any_number_of_requests_may_come_at_once() -> None:
    app = Application()
    async with served(app) as (_, port):
        answers = await told(port, get("/one") * 20_000 + get("/last", LAST))
    assert answers.count(b"HTTP/1.1 200") == 20_001
    assert answers.endswith(b"/last")


async def test_empty_lines_keep_no_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "_IDLE_SECONDS", 0.3)
    async with served(Application()) as (_, port):
        answer = await told(port, get("/one"), *[b"\r\n"] * 5, pause=0.01)
    assert answer.endswith(b"/one")


async def test_who_takes_nothing_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "_IDLE_SECONDS", 0.3)
    async with served(Application()) as (server, port):
        with socket.create_connection(("127.0.0.1", port)) as wire:
            wire.sendall(get("/long") * 5)
            async with asyncio.timeout(SECONDS):
                while not server.server_state.total_requests:
                    await asyncio.sleep(0.01)
                while server.server_state.connections:
                    await asyncio.sleep(0.01)


async def test_whoever_is_one_too_many_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "_CONNECTIONS", 1)
    app = Application()
    async with served(app) as (_, port):
        waiting = asyncio.create_task(told(port, get("/wait", LAST)))
        await app.until_asked()
        refusal = await told(port, get("/more", LAST))
        assert refusal.startswith(b"HTTP/1.1 503 ")
        assert b"Retry-After: 1" in refusal
        assert b'"instance":"/more"' in refusal
        app.go_on.set()
        assert (await waiting).endswith(b"/wait")
        assert (await told(port, get("/more", LAST))).endswith(b"/more")


async def test_one_that_closes_answers_those_who_are_there_and_takes_nobody() -> None:
    app = Application()
    async with served(app) as (server, port):
        waiting = asyncio.create_task(told(port, get("/wait", LAST)))
        await app.until_asked()
        server.close()
        with pytest.raises(ConnectionRefusedError):
            await told(port, get("/more", LAST))
        app.go_on.set()
        assert (await waiting).endswith(b"/wait")
