"""The least that a durable action over HTTP costs with these libraries: one SELECT, one INSERT.

`python -m bench.peers.minimal PORT FOLDER` serves it with one worker, by the server and settings of
`fairdeal serve`: `POST /act` with a JSON body, on a Postgres in the folder.
"""

import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import psycopg
import uvicorn
from litestar import Litestar, get, post
from litestar.params import JSONBody
from psycopg_pool import AsyncConnectionPool

from eventstore import embedded

URL = "FAIRDEAL_BENCH_URL"


class Act(msgspec.Struct):
    """The body of a request."""

    game: int
    text: str


@get("/ready", sync_to_thread=False)
def ready() -> str:
    """Whether it serves."""
    return "yes"


def app() -> Litestar:
    """The application of the worker."""
    pool: AsyncConnectionPool[Any] = AsyncConnectionPool(
        os.environ[URL],
        min_size=8,
        max_size=8,
        open=False,
        kwargs={"autocommit": True, "prepare_threshold": 0},
    )

    @asynccontextmanager
    async def running(_: Litestar) -> AsyncIterator[None]:
        async with pool:
            yield

    @post("/act")
    async def act(data: JSONBody[Act]) -> Act:
        async with pool.connection() as conn:
            cursor = await conn.execute("SELECT text FROM game WHERE id = %s", [data.game])
            await cursor.fetchone()
            await conn.execute(
                "INSERT INTO act (game, text) VALUES (%s, %s)", [data.game, data.text]
            )
        return data

    return Litestar([ready, act], lifespan=[running], logging_config=None, debug=False)


def main(port: int, folder: str) -> None:
    """Serve until told to stop."""
    with embedded.server(Path(folder)) as url:
        with psycopg.connect(url) as conn:
            conn.execute("CREATE TABLE game (id int PRIMARY KEY, text text)")
            conn.execute("INSERT INTO game SELECT n, 'a state' FROM generate_series(0, 99) n")
            conn.execute(
                "CREATE TABLE act (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,"
                " game int, text text)"
            )
        os.environ[URL] = url
        uvicorn.run(
            app,
            factory=True,
            port=port,
            loop="uvloop",
            http="httptools",
            ws="none",
            log_level="warning",
            access_log=False,
        )


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
