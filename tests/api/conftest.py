"""The API as a fixture."""

from collections.abc import AsyncIterator

import httpx
import pytest

from tests.api.running import Game, new_game, running
from tests.database import Databases


@pytest.fixture
async def api(database_url: str) -> AsyncIterator[httpx.AsyncClient]:
    """A client of the API on a fresh database."""
    async with running(database_url) as client:
        yield client


@pytest.fixture
async def game(api: httpx.AsyncClient) -> Game:
    """A game of three people, at the start of its first hand."""
    return await new_game(api)


@pytest.fixture(scope="module")
async def shared_api(databases: Databases) -> AsyncIterator[httpx.AsyncClient]:
    """One API for all tests of a module: for those that change nothing."""
    with databases.fresh() as url:
        async with running(url) as client:
            yield client


@pytest.fixture(scope="module")
async def shared_game(shared_api: httpx.AsyncClient) -> Game:
    """A game of three people that nobody changes."""
    return await new_game(shared_api)
