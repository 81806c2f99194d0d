"""A stand-in for the network between the store and Postgres, that can lose what it carries."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import quote

from psycopg.conninfo import conninfo_to_dict

from tests.database import open_folder

_READY = b"Z\x00\x00\x00\x05I"
"""How the server ends an answer outside a transaction."""


class Line:
    """Carries bytes both ways. What is to be lost is lost once, with its connection."""

    def __init__(self, real_url: str) -> None:
        self._real = conninfo_to_dict(real_url)
        self._writers: list[asyncio.StreamWriter] = []
        self.lose_next_request = False
        self.lose_next_answer = False
        self.silent = False
        self.lost = 0

    def url(self, folder: Path) -> str:
        user = quote(str(self._real.get("user", "")), safe="")
        password = quote(str(self._real.get("password", "")), safe="")
        name = self._real["dbname"]
        host = quote(str(folder), safe="")
        return f"postgresql://{user}:{password}@/{name}?host={host}&port=5432&sslmode=disable"

    async def carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection of the store's."""
        host, port = str(self._real.get("host", "")), int(self._real.get("port") or 5432)
        if host.startswith("/"):
            there = await asyncio.open_unix_connection(f"{host}/.s.PGSQL.{port}")
        else:
            there = await asyncio.open_connection(host, port)
        self._writers += [writer, there[1]]
        ways = [
            asyncio.create_task(self._requests(reader, there[1])),
            asyncio.create_task(self._answers(there[0], writer)),
        ]
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        for way in ways:
            way.cancel()
        await asyncio.gather(*ways, return_exceptions=True)
        writer.close()
        there[1].close()

    async def _requests(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError):
            while data := await source.read(65536):
                if self.lose_next_request:
                    self.lose_next_request = False
                    self.lost += 1
                    return
                if not self.silent:
                    sink.write(data)
                    await sink.drain()

    async def _answers(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError):
            while data := await source.read(65536):
                if self.lose_next_answer:
                    if data.endswith(_READY):
                        self.lose_next_answer = False
                        self.lost += 1
                        return
                    continue
                if not self.silent:
                    sink.write(data)
                    await sink.drain()

    def hang_up(self) -> None:
        for writer in self._writers:
            writer.close()


@contextlib.asynccontextmanager
async def line_to(real_url: str) -> AsyncIterator[tuple[Line, str]]:
    """A line to a database, and the URL by which the store reaches the database over it."""
    line = Line(real_url)
    with open_folder("fairdeal-line-") as folder:
        listener = await asyncio.start_unix_server(line.carry, str(folder / ".s.PGSQL.5432"))
        try:
            yield line, line.url(folder)
        finally:
            listener.close()
            line.hang_up()
            await asyncio.sleep(0.05)
