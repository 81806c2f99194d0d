"""A receiver of webhooks: a small HTTP server that answers as told and keeps what it was sent."""

import asyncio
import base64
import hmac
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import httpx

from tests.api.running import HOST, Json

PAUSES = (0.05, 0.1, 0.2)
"""Between attempts, in tests."""


@dataclass(frozen=True)
class Got:
    """A request that came."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def id(self) -> str:
        return self.headers["webhook-id"]

    @property
    def json(self) -> Json:
        found: Json = json.loads(self.body)
        return found

    def verify(self, secret: str) -> None:
        """Check the signature as a receiver would, by the words of the documentation alone."""
        key = base64.b64decode(secret.removeprefix("whsec_"))
        timestamp = self.headers["webhook-timestamp"]
        assert abs(time.time() - int(timestamp)) < 300
        signed = f"{self.id}.{timestamp}.{self.body.decode()}".encode()
        expected = "v1," + base64.b64encode(hmac.new(key, signed, sha256).digest()).decode()
        assert self.headers["webhook-signature"] == expected


Answer = Callable[[Got], Awaitable[int] | int]


class Receiver:
    """What came, and how it is answered."""

    def __init__(self) -> None:
        self.got: list[Got] = []
        self.answer: Answer = lambda _: 204
        self.location = ""
        self.url = ""
        self._came = asyncio.Condition()

    def of(self, kind: str) -> list[Json]:
        """The data of what came of a kind, each delivery once."""
        seen = {got.id: got.json for got in self.got}
        return [body["data"] for body in seen.values() if body["type"] == kind]

    async def until(self, enough: Callable[[], Any]) -> None:
        """Wait for requests until it is enough."""
        async with asyncio.timeout(30), self._came:
            await self._came.wait_for(enough)

    async def take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
                pairs = [line.partition(": ") for line in head[1:] if line]
                headers = {name.lower(): value for name, _, value in pairs}
                body = await reader.readexactly(int(headers["content-length"]))
                got = Got(head[0].split()[1], headers, body)
                async with self._came:
                    self.got.append(got)
                    self._came.notify_all()
                status = self.answer(got)
                if not isinstance(status, int):
                    status = await status
                more = f"Location: {self.location}\r\n" if self.location else ""
                writer.write(f"HTTP/1.1 {status} So\r\n{more}Content-Length: 0\r\n\r\n".encode())
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


@asynccontextmanager
async def receiving(port: int = 0) -> AsyncIterator[Receiver]:
    """A receiver on this machine."""
    receiver = Receiver()
    tasks: set[asyncio.Task[None]] = set()

    def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(receiver.take(reader, writer))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    server = await asyncio.start_server(connected, "127.0.0.1", port)
    receiver.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/hook"
    try:
        yield receiver
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def hook(
    api: httpx.AsyncClient, url: str, *kinds: str, headers: dict[str, str] = HOST, **more: Any
) -> Json:
    """A new webhook."""
    body = {"url": url, "kinds": kinds or ("event",), **more}
    answer = await api.post("/v1/webhooks", json=body, headers=headers)
    assert answer.status_code == 201, answer.text
    made: Json = answer.json()
    return made


async def deliveries(api: httpx.AsyncClient, made: Json, query: str = "") -> list[Json]:
    """The first page of a webhook's deliveries."""
    path = f"/v1/webhooks/{made['id']}/deliveries{query}"
    answer = await api.get(path, headers=HOST)
    assert answer.status_code == 200, answer.text
    items: list[Json] = answer.json()["items"]
    return items


async def until_delivery(
    api: httpx.AsyncClient, made: Json, state: str, number: int = 1
) -> list[Json]:
    """Deliveries in a state, once there are so many."""
    async with asyncio.timeout(30):
        while len(found := await deliveries(api, made, f"?state={state}&limit=200")) < number:
            await asyncio.sleep(0.02)
    return found
