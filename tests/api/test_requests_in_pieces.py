"""Requests in pieces: bodies that are late, and what is asked behind others or cut short."""

import asyncio

import pytest

from api import connections
from tests.api.test_connections import BODY, LAST, SECONDS, Application, get, served, told


@pytest.mark.parametrize("pieces", [(b"abc",), (b"", b"abc"), (b"abc", b"def")])
@pytest.mark.parametrize("more", [b"", b"Connection: Upgrade\r\nUpgrade: websocket\r\n"])
async def test_a_body_has_its_time(pieces: tuple[bytes, ...], more: bytes) -> None:
    first, *others = pieces
    head = BODY.replace(b"Content-Length", more + b"Content-Length") % b"/read"
    async with served(Application(), body_seconds=0.2) as (_, port):
        late = await told(port, head + first, *others, pause=0.05)
    assert late.startswith(b"HTTP/1.1 400 ")
    assert late.count(b"HTTP/1.1") == 1
    assert b"$: the body has not come whole in 0.2 seconds" in late
    assert b'"instance":"/read"' in late


async def test_a_body_that_comes_piece_by_piece_is_read() -> None:
    async with served(Application()) as (_, port):
        head = BODY % b"/read"
        length = int(head.partition(b"Content-Length: ")[2].split(b"\r")[0])
        pieces = [b"x"] * length
        answer = await told(port, head, *pieces[:-1], b"x" + get("/two", LAST), pause=0.001)
    assert b"/read" + b"x" * length in answer
    assert answer.endswith(b"/two")


async def test_the_time_of_a_body_that_waits_for_other_answers_is_its_own() -> None:
    app = Application()
    async with served(app, body_seconds=0.2) as (_, port):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(get("/wait") + BODY % b"/read" + b"a" * 20)
        await asyncio.sleep(0.5)
        app.go_on.set()
        writer.write(b"a" * 30 + get("/late") + BODY % b"/read")
        async with asyncio.timeout(SECONDS):
            answers = await reader.read()
        writer.close()
    assert answers.count(b"HTTP/1.1 200") == 3
    assert b"/read" + b"a" * 50 in answers
    assert answers.count(b"HTTP/1.1 400") == 1
    assert b"has not come whole" in answers[answers.index(b"/late") :]


async def test_one_that_is_broken_is_not_begun_behind_others() -> None:
    app = Application()
    async with served(app) as (_, port):
        chunked = b"POST /read HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nnone\r\n"
        asking = asyncio.create_task(told(port, get("/wait") + get("/two") + chunked))
        await app.until_asked()
        await asyncio.sleep(0.1)
        app.go_on.set()
        answers = await asking
    assert app.asked == ["/wait", "/two"]
    assert answers.count(b"HTTP/1.1 200") == 2
    assert answers.count(b"HTTP/1.1 400") == 1


async def test_an_answer_that_has_begun_waits_for_no_body(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "_REST_SECONDS", 0.1)
    app = Application()
    async with served(app, body_seconds=0.1) as (_, port):
        asking = asyncio.create_task(told(port, BODY % b"/begun" + b"abc"))
        await asyncio.sleep(0.3)
        app.go_on.set()
        answer = await asking
    assert b"400" not in answer
    assert b"begun," in answer
    assert b"ended" in answer


async def test_who_ends_in_the_middle_of_a_request_is_told_so() -> None:
    app = Application()
    async with served(app) as (_, port):
        cut_short = await told(port, BODY % b"/wait" + b"abc", end=True)
        app.go_on.set()
    assert cut_short.startswith(b"HTTP/1.1 400 ")
    assert b"not whole" in cut_short


async def test_who_ends_in_the_middle_of_a_request_behind_others_has_their_answers() -> None:
    app = Application()
    async with served(app) as (_, port):
        pieces = get("/slow") + get("/slow") + BODY % b"/read" + b"abc"
        answers = await told(port, pieces, end=True)
    assert app.asked == ["/slow", "/slow"]
    assert answers.count(b"HTTP/1.1 200") == 2
    assert answers.count(b"HTTP/1.1 400") == 1


async def test_who_has_asked_and_says_no_more_is_answered() -> None:
    app = Application()
    async with served(app) as (_, port):
        asking = asyncio.create_task(told(port, get("/wait") + get("/two"), end=True))
        await asyncio.sleep(0.1)
        app.go_on.set()
        answers = await asking
    assert answers.count(b"HTTP/1.1 200") == 2
