"""Lines of the log reach who reads them, and who does not read holds up nobody."""

import logging
import os
from collections.abc import Iterator

import httpx
import pytest

from api.log_writer import LogWriter
from tests.api.processes import Serving, free_port
from tests.api.running import HOST_KEY, SECRET, SIGNING_KEYS


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    reader, writer = os.pipe()
    yield reader, writer
    for descriptor in (reader, writer):
        os.close(descriptor)


def record(text: str) -> logging.LogRecord:
    return logging.LogRecord("fairdeal", logging.INFO, __file__, 1, text, (), None)


def test_lines_come_in_order(pipe: tuple[int, int]) -> None:
    handler = LogWriter(pipe[1])
    for number in range(100):
        handler.emit(record(f"line {number}"))
    handler.flush()
    assert os.read(pipe[0], 100_000).decode().splitlines() == [f"line {n}" for n in range(100)]


def test_what_nobody_reads_is_dropped_and_told_of(pipe: tuple[int, int]) -> None:
    handler = LogWriter(pipe[1], kept=5)
    long = "x" * 1_000_000  # more than any pipe holds
    for _ in range(50):
        handler.emit(record(long))

    found = b""
    while b"dropped" not in found:
        found += os.read(pipe[0], 1_000_000)
        if b"x\n" in found[-2:]:
            handler.emit(record("more"))
    told = [line for line in found.decode().splitlines() if "dropped" in line]
    assert told[0].endswith("lines of the log were dropped: nobody read them")


def test_a_reader_that_is_gone_is_no_trouble(pipe: tuple[int, int]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    handler = LogWriter(writer)
    handler.emit(record("to nobody"))
    handler.flush()
    os.close(writer)


@pytest.mark.postgres
def test_a_server_whose_log_nobody_reads_goes_on(database_url: str) -> None:
    """Its lines go into a pipe that is full after some hundreds of them."""
    server = Serving(
        free_port(),
        FAIRDEAL_DATABASE_URL=database_url,
        FAIRDEAL_HOST_KEYS=f"host:{HOST_KEY}",
        FAIRDEAL_SECRET=SECRET,
        FAIRDEAL_SIGNING_KEYS=SIGNING_KEYS,
        FAIRDEAL_GUESS_RATE="0",
        FAIRDEAL_LOG="json",
    )
    try:
        server.wait_ready()
        with httpx.Client(base_url=server.address, timeout=60) as client:
            for _ in range(1_000):
                assert client.get("/v1/games").status_code == 401
            assert client.get("/health/live").status_code == 200
    finally:
        code, _, err = server.end()
    assert code == 0
    assert err.count("GET /v1/games 401") >= 900
