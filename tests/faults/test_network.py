"""The proxy loses what it is told to lose, and only after the request has got through."""

import asyncio
from random import Random

from faults.network import proxy


async def asked(port: int, times: int) -> list[bytes]:
    """What comes back of so many requests, each on a connection of its own."""
    answers = []
    for number in range(times):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"%d\n" % number)
        await writer.drain()
        answers.append(await reader.readline())
        writer.close()
        await writer.wait_closed()
    return answers


class Echo:
    """A server that says again what it has heard."""

    def __init__(self) -> None:
        self.heard: list[bytes] = []

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        line = await reader.readline()
        if line:
            self.heard.append(line)
            writer.write(line)
        writer.close()


async def test_answers_and_requests_are_lost_as_told() -> None:
    echo = Echo()
    server = await asyncio.start_server(echo.serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    said = [b"%d\n" % number for number in range(20)]
    async with server:
        async with proxy(port, Random(1)) as line:
            assert await asked(line.port, 20) == said
        assert echo.heard == said

        echo.heard.clear()
        async with proxy(port, Random(1), answers=1.0) as line:
            assert await asked(line.port, 20) == [b""] * 20
            assert line.lost_answers == 20
        assert echo.heard == said, "every request was forwarded before its answer was lost"

        echo.heard.clear()
        async with proxy(port, Random(1), requests=1.0) as line:
            assert await asked(line.port, 20) == [b""] * 20
            assert line.lost_requests == 20
            line.losing = False
            assert await asked(line.port, 20) == said
        assert echo.heard == said


async def test_a_place_that_is_not_there_ends_the_connection() -> None:
    async with proxy("/nowhere/at/all", Random(1)) as line:
        reader, writer = await asyncio.open_connection("127.0.0.1", line.port)
        assert await reader.read() == b""
        writer.close()
        await writer.wait_closed()
