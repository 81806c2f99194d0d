"""A stand-in for the network: a loopback proxy that loses what it carries, at random.

An answer is lost whole: the request has been forwarded and carried out, and the connection is cut
before a byte of what comes back is passed on. Knows neither HTTP nor Postgres.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from random import Random
from typing import Final

_CHUNK: Final = 65_536


class Proxy:
    """Listens on a port of the loopback and passes on to one place, a port or a socket's path."""

    def __init__(
        self, target: int | str, chance: Random, *, answers: float, requests: float
    ) -> None:
        """`answers`, `requests`: how likely the next thing that comes back, or goes there, is lost
        with its connection."""
        self._target: Final = target
        self._chance: Final = chance
        self._answers: Final = answers
        self._requests: Final = requests
        self.port = 0
        self.losing = True
        self.lost_answers = 0
        self.lost_requests = 0

    async def carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection."""
        try:
            there = await self._open()
        except OSError:
            return
        ways = [
            asyncio.create_task(self._pass_on(reader, there[1], self._requests, requests=True)),
            asyncio.create_task(self._pass_on(there[0], writer, self._answers, requests=False)),
        ]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            there[1].close()
            await asyncio.gather(*ways, return_exceptions=True)

    async def _open(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if isinstance(self._target, int):
            return await asyncio.open_connection("127.0.0.1", self._target)
        return await asyncio.open_unix_connection(self._target)

    async def _pass_on(
        self,
        source: asyncio.StreamReader,
        sink: asyncio.StreamWriter,
        likely: float,
        *,
        requests: bool,
    ) -> None:
        with contextlib.suppress(ConnectionError):
            while data := await source.read(_CHUNK):
                if self.losing and self._chance.random() < likely:
                    if requests:
                        self.lost_requests += 1
                    else:
                        self.lost_answers += 1
                    return
                sink.write(data)
                await sink.drain()


@contextlib.asynccontextmanager
async def proxy(
    target: int | str, chance: Random, *, answers: float = 0.0, requests: float = 0.0
) -> AsyncIterator[Proxy]:
    """A proxy that listens while the block lasts."""
    made = Proxy(target, chance, answers=answers, requests=requests)
    under_way: set[asyncio.Task[None]] = set()

    async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        under_way.add(task)
        try:
            # A cancelled one would be told of by the streams' own callback.
            with contextlib.suppress(asyncio.CancelledError):
                await made.carry(reader, writer)
        finally:
            writer.close()
            under_way.discard(task)

    server = await asyncio.start_server(carry, "127.0.0.1", 0)
    made.port = server.sockets[0].getsockname()[1]
    try:
        yield made
    finally:
        server.close()
        for task in list(under_way):
            task.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)
