"""What the workers of one service tell one another: a hint that spares reading, never more."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random

import httpx
import msgspec
import pytest

from api.children import RUN_FOLDER_ENV
from api.games import Games, News, encode_news
from api.siblings import Siblings, siblings
from eventstore.postgres import EventStore
from projections.entries import entries
from tests.api.running import Game, filled_in, new_game, running

SECONDS = 30.0
"""A limit that only a hanging test reaches."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The run folder of a service."""
    monkeypatch.setenv(RUN_FOLDER_ENV, str(tmp_path))
    return tmp_path


class Heard:
    """A worker that writes down what it is told."""

    def __init__(self, folder: Path) -> None:
        self.news: list[tuple[str, int, bytes]] = []
        self.came = asyncio.Event()
        self.own = Siblings(folder, self._note)

    def _note(self, game_id: str, version: int, news: bytes) -> None:
        self.news.append((game_id, version, news))
        self.came.set()

    async def until(self, count: int) -> list[tuple[str, int, bytes]]:
        async with asyncio.timeout(SECONDS):
            while len(self.news) < count:
                self.came.clear()
                await self.came.wait()
        return self.news


@asynccontextmanager
async def heard(folder: Path, count: int) -> AsyncIterator[list[Heard]]:
    """Workers that know one another."""
    found = [Heard(folder) for _ in range(count)]
    looking = [asyncio.create_task(one.own.run()) for one in found]
    async with asyncio.timeout(SECONDS):
        while any(one.own.alone for one in found) and count > 1:
            await asyncio.sleep(0.01)
    try:
        yield found
    finally:
        for task in looking:
            task.cancel()
        await asyncio.gather(*looking, return_exceptions=True)
        for one in found:
            one.own.close()


async def test_all_others_are_told_and_nobody_else(folder: Path) -> None:
    async with heard(folder, 3) as (first, second, third):
        for number in range(40):
            first.own.tell("a game", number, b"%d" % number)
        expected = [("a game", number, b"%d" % number) for number in range(40)]
        assert await second.until(40) == await third.until(40) == expected
        assert first.news == []
    assert list(folder.iterdir()) == []


async def test_what_is_too_long_is_left_out_and_the_rest_is_told(folder: Path) -> None:
    async with heard(folder, 2) as (first, second):
        long, longer = b"x" * 30_000, b"x" * 60_000
        for news in (long, longer, long, b"short"):
            first.own.tell("g", 1, news)
        assert [news for *_, news in await second.until(3)] == [long, long, b"short"]


async def test_one_that_died_is_forgotten(folder: Path) -> None:
    dead = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    dead.bind(str(folder / "sibling-1-dead"))
    dead.close()
    async with heard(folder, 1) as [only]:
        assert not only.own.alone
        only.own.tell("a game", 7, b"news")
        async with asyncio.timeout(SECONDS):
            while not only.own.alone:
                await asyncio.sleep(0.01)
    assert list(folder.iterdir()) == []


async def test_what_nobody_understands_is_passed_over(folder: Path) -> None:
    async with heard(folder, 2) as (first, second):
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as stranger:
            for path in folder.iterdir():
                stranger.sendto(b"\xc1 nothing", str(path))
                stranger.sendto(msgspec.msgpack.encode([["a game"]]), str(path))
        first.own.tell("a game", 7, b"news")
        assert await second.until(1) == [("a game", 7, b"news")]


async def test_a_process_by_itself_and_a_path_too_long_have_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(RUN_FOLDER_ENV, raising=False)
    with siblings(lambda *_: None) as found:
        assert found is None
    deep = tmp_path / ("x" * 120)
    deep.mkdir()
    monkeypatch.setenv(RUN_FOLDER_ENV, str(deep))
    with siblings(lambda *_: None) as found:
        assert found is None


async def test_a_game_moves_between_workers_without_being_read_again(
    folder: Path, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []
    load = EventStore.load

    async def counted(store: EventStore, stream: str, after: int = 0) -> object:
        read.append(after)
        return await load(store, stream, after)

    monkeypatch.setattr(EventStore, "load", counted)
    monkeypatch.delenv(RUN_FOLDER_ENV)
    async with running(database_url) as onlooker:
        monkeypatch.setenv(RUN_FOLDER_ENV, str(folder))
        async with running(database_url) as one, running(database_url) as two:
            game = await new_game(one, people=3, rules={"trading": "off", "lives": 9})
            watched = Game(onlooker, game.created)
            places = (game, Game(two, game.created))
            chance, unread, turn = Random(3), 0, 0
            # At first they have not found one another.
            while unread < 20:
                view = await watched.view()
                assert view["status"] == "playing"
                seat = view["to_act"][0]
                action = filled_in(chance.choice((await watched.view(seat))["actions"]), chance)
                read.clear()
                assert (await places[turn % 2].act(seat, action)).status_code == 201
                unread, turn = 0 if read else unread + 1, turn + 1
            assert [await where.view(0) for where in places] == [await watched.view(0)] * 2


async def test_news_with_a_gap_or_of_another_line_change_nothing(
    api: httpx.AsyncClient, game: Game, database_url: str
) -> None:
    async with EventStore.open(database_url) as store:
        games = Games(store, 10)
        before = await games.fresh(game.id)
        assert before is not None
        for seat in range(3):
            assert (await game.act(seat, {"type": "pass"})).status_code == 201
        new = entries(await store.read(game.id, before.table.version))
        news = [encode_news(News(before.tags, [entry])) for entry in new]
        forged = encode_news(News(before.tags, [msgspec.structs.replace(new[0], prev=bytes(32))]))

        def known() -> int:
            found = games.cached(game.id)
            assert found is not None
            return found.table.version

        games.told("another game", news[0])
        for useless in (news[1], forged, b"\x93", encode_news(News((), []))):
            games.told(game.id, useless)
            assert known() == before.table.version
        games.told(game.id, news[0])
        games.told(game.id, news[2])
        games.told(game.id, news[1])
        assert known() == before.table.version + 2
        # More than is kept: what is missing is read.
        for one in [*news] * 20:
            games.told(game.id, one)
        caught_up = await games.fresh(game.id)
        assert caught_up is not None
        newest = await games.history(game.id)
        assert caught_up.hash == newest.entries[-1].hash
        assert caught_up.table == newest.table
