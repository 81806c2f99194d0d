"""Readers of live streams, for the tests: one that is the server's other side in this process (so
that it can stop taking, or leave, at a chosen moment), and one over the wire.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import httpx
import msgspec

from api.parts import Parts
from tests.api.running import Json, bearer

SECONDS = 30


class Message(msgspec.Struct, frozen=True):
    """A server-sent event; a comment has no data."""

    event: str
    id: str | None
    data: str | None
    comment: str | None = None

    @property
    def json(self) -> Json:
        assert self.data is not None, self
        found: Json = msgspec.json.decode(self.data)
        return found


def messages(text: str) -> Iterator[Message]:
    """The messages of a stream, by the HTML standard's grammar as far as it is used here."""
    for block in text.split("\n\n"):
        fields: dict[str, str] = {}
        for line in filter(None, block.split("\n")):
            name, colon, value = line.partition(":")
            assert colon, line
            assert name in ("", "retry", "event", "id", "data"), line
            assert name not in fields, block
            fields[name] = value.removeprefix(" ")
        if "data" in fields or "" in fields:
            data = fields.get("data")
            yield Message(fields.get("event", "message"), fields.get("id"), data, fields.get(""))


class Reader:
    """Who reads a stream. `taking` is clear while nothing is taken."""

    def __init__(self) -> None:
        self.status: int | None = None
        self.headers: dict[str, str] = {}
        self.taking = asyncio.Event()
        self.taking.set()
        self.left = asyncio.Event()
        self.offered = 0
        """Pieces of the body that the application has tried to send."""
        self.comments = 0
        self.problem: Json | None = None
        self._asked = False
        self._got: asyncio.Queue[Message | None] = asyncio.Queue()
        self.task: asyncio.Task[None] | None = None

    async def receive(self) -> Json:
        if not self._asked:
            self._asked = True
            return {"type": "http.request", "body": b"", "more_body": False}
        await self.left.wait()
        return {"type": "http.disconnect"}

    async def send(self, event: Json) -> None:
        if event["type"] == "http.response.start":
            self.status = event["status"]
            self.headers = {k.decode().lower(): v.decode() for k, v in event["headers"]}
            return
        self.offered += 1
        await self.taking.wait()
        self.take(event["body"].decode())
        if not event.get("more_body", False):
            self.end()

    def take(self, text: str) -> None:
        """A piece of the body: the application sends whole messages."""
        if self.headers.get("content-type", "").startswith("application/problem+json"):
            self.problem = msgspec.json.decode(text)
            return
        for message in messages(text):
            self._got.put_nowait(message)

    def end(self) -> None:
        """The server has ended the stream."""
        self._got.put_nowait(None)

    async def next(self) -> Message | None:
        """The next message that is no comment; None at the end."""
        async with asyncio.timeout(SECONDS):
            while True:
                message = await self._got.get()
                if message is None or message.data is not None:
                    return message
                self.comments += 1

    async def event(self) -> Message:
        """The next message, which there must be."""
        message = await self.next()
        assert message is not None, "the stream has ended"
        return message

    async def until(self, version: int) -> list[Message]:
        """Messages up to that of this version."""
        found: list[Message] = []
        while not found or int(found[-1].id or 0) < version:
            found.append(await self.event())
        return found

    async def rest(self) -> list[Message]:
        """All messages up to the end."""
        found: list[Message] = []
        while (message := await self.next()) is not None:
            found.append(message)
        return found


def application(api: httpx.AsyncClient) -> Any:
    """The application that a client of `running` talks to."""
    return api._transport.app  # type: ignore[attr-defined]


def parts(api: httpx.AsyncClient) -> Parts:
    """What the process behind a client of `running` is made of."""
    found: Parts = application(api).state.parts
    return found


@asynccontextmanager
async def reading(
    api: httpx.AsyncClient, path: str, token: str, **headers: str
) -> AsyncIterator[Reader]:
    """A reader of the stream at a path of the application in this process, who leaves at the end
    of the block."""
    reader = Reader()
    sent = bearer(token, Accept="text/event-stream", **headers)
    address = urlsplit(path)
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": address.path,
        "raw_path": address.path.encode(),
        "root_path": "",
        "query_string": address.query.encode(),
        "headers": [(k.lower().encode(), v.encode()) for k, v in sent.items()],
        "client": ("127.0.0.1", 1),
        "server": ("api.test", 80),
    }
    task = reader.task = asyncio.create_task(application(api)(scope, reader.receive, reader.send))
    try:
        yield reader
    finally:
        reader.left.set()
        async with asyncio.timeout(SECONDS):
            await task


@asynccontextmanager
async def reading_over_the_wire(address: str, token: str, **headers: str) -> AsyncIterator[Reader]:
    """A reader of the stream at an address, over HTTP; the connection is cut at the end of the
    block. A stream that breaks off has ended for its reader."""
    reader = Reader()

    async def read() -> None:
        sent = bearer(token, Accept="text/event-stream", **headers)
        async with (
            httpx.AsyncClient(timeout=SECONDS) as http,
            http.stream("GET", address, headers=sent) as answer,
        ):
            reader.status = answer.status_code
            reader.headers = {k.lower(): v for k, v in answer.headers.items()}
            text = ""
            try:
                async for piece in answer.aiter_text():
                    text += piece
                    whole, _, text = text.rpartition("\n\n")
                    if whole:
                        reader.take(whole)
            except httpx.TransportError:
                pass
        reader.end()

    task = reader.task = asyncio.create_task(read())
    try:
        yield reader
    finally:
        task.cancel()
        await asyncio.wait([task])
