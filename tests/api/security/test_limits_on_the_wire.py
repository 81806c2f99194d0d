"""Requests that are too large or not well formed, at a real process: each has an answer, and the
process goes on."""

import json
import socket
from collections.abc import Iterator
from contextlib import suppress

import httpx
import pytest

from tests.api.processes import create, free_port, serving
from tests.api.running import HOST_KEY, SECRET, SIGNING_KEYS, bearer
from tests.database import Databases

pytestmark = pytest.mark.postgres

HOST = f"Host: x\r\nAuthorization: Bearer {HOST_KEY}\r\n"
CLOSE = "Connection: close\r\n\r\n"
KB = 1024


@pytest.fixture(scope="module")
def port(databases: Databases) -> Iterator[int]:
    """Where a served API listens."""
    found = free_port()
    with databases.fresh() as url:
        environment = {
            "FAIRDEAL_DATABASE_URL": url,
            "FAIRDEAL_HOST_KEYS": f"host:{HOST_KEY}",
            "FAIRDEAL_SECRET": SECRET,
            "FAIRDEAL_SIGNING_KEYS": SIGNING_KEYS,
        }
        with serving(found, **environment) as server:
            yield found
            code, _, complaints = server.end()
            assert code == 0
            assert "Traceback" not in complaints
            assert '"level": "error"' not in complaints


def told(port: int, request: str | bytes) -> tuple[int, bytes]:
    """Status and body of the answer to these bytes. The connection is closed by the server."""
    with socket.create_connection(("127.0.0.1", port)) as wire:
        wire.settimeout(60)
        with suppress(BrokenPipeError, ConnectionResetError):  # it may answer before all has come
            wire.sendall(request if isinstance(request, bytes) else request.encode("latin-1"))
        answer = b""
        with suppress(ConnectionResetError):
            while piece := wire.recv(65_536):
                answer += piece
    head, _, body = answer.partition(b"\r\n\r\n")
    return int(head.split()[1]), body


def still_serves(port: int) -> bool:
    return httpx.get(f"http://127.0.0.1:{port}/health/live").status_code == 200


def lines(count: int) -> str:
    return "".join([f"X-{number}: y\r\n" for number in range(count)])


HEADS = {
    "a header of 300 KB": (431, f"GET /v1/games HTTP/1.1\r\n{HOST}X: {'y' * 300 * KB}\r\n{CLOSE}"),
    "a header of 5 MB": (431, f"GET /v1/games HTTP/1.1\r\n{HOST}X: {'y' * 5000 * KB}\r\n{CLOSE}"),
    "200 headers": (431, f"GET /v1/games HTTP/1.1\r\n{HOST}{lines(200)}{CLOSE}"),
    "a path of 1 MB": (431, f"GET /v1/{'y' * 1000 * KB} HTTP/1.1\r\n{HOST}{CLOSE}"),
    "a query of 1 MB": (431, f"GET /v1/games?ref={'y' * 1000 * KB} HTTP/1.1\r\n{HOST}{CLOSE}"),
    "a path of 60 KB": (404, f"GET /v1/{'y' * 60 * KB} HTTP/1.1\r\n{HOST}{CLOSE}"),
    "a path of 30,000 steps": (404, f"GET {'/y' * 30_000} HTTP/1.1\r\n{HOST}{CLOSE}"),
    "a cursor of 60 KB": (400, f"GET /v1/games?cursor={'y' * 60 * KB} HTTP/1.1\r\n{HOST}{CLOSE}"),
    "6,000 labels": (400, f"GET /v1/games?{'&label=a:b' * 6000} HTTP/1.1\r\n{HOST}{CLOSE}"),
    "20 labels": (400, f"GET /v1/games?{'&label=a:b' * 20} HTTP/1.1\r\n{HOST}{CLOSE}"),
    "a token of 60 KB": (
        401,
        f"GET /v1/games HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {'a.' * 30_000}\r\n{CLOSE}",
    ),
    "12,000 media types": (
        200,
        f"GET /v1/games HTTP/1.1\r\n{HOST}Accept: {'a/b,' * 12_000}c/d\r\n{CLOSE}",
    ),
    "a body of 10^30 bytes": (
        400,
        f"POST /v1/games HTTP/1.1\r\n{HOST}Content-Length: {10**30}\r\n{CLOSE}",
    ),
    "a body of 10^12 bytes": (
        413,
        f"POST /v1/games HTTP/1.1\r\n{HOST}Content-Length: {10**12}\r\n{CLOSE}" + "{",
    ),
    "a body of 100 KB in pieces": (
        413,
        f"POST /v1/games HTTP/1.1\r\n{HOST}Transfer-Encoding: chunked\r\n{CLOSE}"
        + f"8000\r\n{'y' * 0x8000}\r\n" * 4
        + "0\r\n\r\n",
    ),
    "HTTP/2 without TLS": (400, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    "TLS": (400, b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"),
    "two lengths": (
        400,
        f"POST /v1/games HTTP/1.1\r\n{HOST}Content-Length: 4\r\nContent-Length: 6\r\n{CLOSE}abcdef",
    ),
    "a length that is none": (
        400,
        f"POST /v1/games HTTP/1.1\r\n{HOST}Content-Length: +4\r\n{CLOSE}abcd",
    ),
    "another coding than chunked": (
        400,
        f"POST /v1/games HTTP/1.1\r\n{HOST}Transfer-Encoding: xchunked\r\n{CLOSE}abcd",
    ),
    "a space before the colon": (
        400,
        f"GET /v1/games HTTP/1.1\r\nHost: x\r\nAuthorization : Bearer {HOST_KEY}\r\n{CLOSE}",
    ),
    "a folded header": (400, f"GET /v1/games HTTP/1.1\r\n{HOST}X: a\r\n b\r\n{CLOSE}"),
    "NUL in a header": (400, f"GET /v1/games HTTP/1.1\r\n{HOST}X: a\0b\r\n{CLOSE}"),
    "a host that is none": (400, f"GET /v1/nothing HTTP/1.1\r\nHost: a b/<>\r\n{CLOSE}"),
    "a host that is none, and a token that is none": (
        400,  # RFC 9112, 3.2
        f"GET /v1/webhooks HTTP/1.1\r\nHost: m@O`&FZ|\r\nAuthorization: Bearer x\r\n{CLOSE}",
    ),
    "a token of other letters": (
        401,
        f"GET /v1/games HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \xff\xfe\r\n{CLOSE}",
    ),
    "a path that is no UTF-8": (404, f"GET /v1/players/%ff%zz HTTP/1.1\r\n{HOST}{CLOSE}"),
    "another's address": (400, f"CONNECT example.com:80 HTTP/1.1\r\n{HOST}{CLOSE}"),
}


@pytest.mark.parametrize("what", HEADS)
def test_each_has_its_answer_and_the_process_goes_on(port: int, what: str) -> None:
    status, request = HEADS[what]
    found, body = told(port, request)
    assert found == status
    if status >= 400 and status != 431:
        assert json.loads(body)["status"] == status
    assert still_serves(port)


def test_after_the_answer_to_head_the_connection_is_good_for_more(port: int) -> None:
    head = f"HEAD /v1/rules HTTP/1.1\r\n{HOST}\r\n" * 2
    _, rest = told(port, f"{head}GET /health/live HTTP/1.1\r\n{HOST}{CLOSE}")
    assert rest.count(b"HTTP/1.1 200") == 2
    assert rest.endswith(b"}")


def test_what_comes_with_two_framings_is_no_second_request(port: int) -> None:
    """Length and chunks at once: only the chunks count, and nothing is read after them."""
    smuggled = "GET /health/live HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    request = (
        f"POST /v1/games HTTP/1.1\r\n{HOST}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n"
        f"0\r\n\r\n{smuggled}"
    )
    status, body = told(port, request)
    assert status == 400
    assert b"HTTP/1.1" not in body


def test_deep_bodies_are_refused_by_every_operation_that_takes_one(port: int) -> None:
    game = create(f"http://127.0.0.1:{port}", HOST_KEY)
    seat = game["seats"][0]["token"]
    paths = {"/actions": seat, "/abandon": HOST_KEY, "/seats": HOST_KEY, "/disputes": seat}
    for path, token in paths.items():
        for body in (b"[" * 60_000, b'{"type":' * 7_000, b'{"claim":{"kind":' * 3_000):
            url = f"http://127.0.0.1:{port}/v1/games/{game['id']}{path}"
            answer = httpx.post(url, content=body, headers=bearer(token))
            assert answer.status_code == 400
            assert answer.json()["errors"]


def test_files_are_served_from_the_table_alone(port: int) -> None:
    for path in (
        "/table/..%2fapp.py",
        "/table/%2e%2e/app.py",
        "/table/..%5c..%5capp.py",
        "/table/%2fetc%2fpasswd",
        "/table//etc/passwd",
        "/table/a%00.js",
        "/table/%252e%252e/app.py",
        "/table/./src/../../app.py",
    ):
        status, _ = told(port, f"GET {path} HTTP/1.1\r\nHost: x\r\n{CLOSE}")
        assert status == 404, path
