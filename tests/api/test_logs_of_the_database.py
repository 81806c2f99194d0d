"""What is logged while the database cannot be reached: kinds and places, and not where it is."""

import asyncio
import json
import logging
from collections.abc import Iterator

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from api import logs
from eventstore.records import StoreUnavailable
from tests.api.running import HOST, running
from tests.api.test_logs import Heard

NAMES = {
    "user": "role-that-serves",
    "password": "what-nobody-may-see",
    "dbname": "name-of-the-database",
}
LONG_SECONDS = 60.0
"""A limit that only a hanging test reaches."""


@pytest.fixture
def heard() -> Iterator[Heard]:
    """What every logger of the process says, as it is written."""
    handler, root = Heard(), logging.getLogger()
    root.addHandler(handler)
    try:
        yield handler
    finally:
        root.removeHandler(handler)


def unreachable(how: str, database_url: str) -> str:
    match how:
        case "no such host":
            return make_conninfo(host="host-of-the-database.invalid", **NAMES)
        case "nobody listens":
            return make_conninfo(host="127.0.0.1", port="1", **NAMES)
        case "no such role":
            return make_conninfo(**{**conninfo_to_dict(database_url), **NAMES})
    raise ValueError(how)


@pytest.mark.parametrize("how", ["no such host", "nobody listens", "no such role"])
async def test_a_connection_that_is_not_made_is_told_by_its_kind(
    database_url: str, heard: Heard, how: str
) -> None:
    url = unreachable(how, database_url)
    async with running(url, database_deadline_seconds=1.2) as api, asyncio.timeout(LONG_SECONDS):
        assert (await api.get("/v1/games", headers=HOST)).status_code == 503
        wanted = ("psycopg.pool", "fairdeal.api", "fairdeal.projections", "fairdeal.webhooks")
        while not set(wanted) <= {line["logger"] for line in heard.lines}:
            await asyncio.sleep(0.05)
    [said] = {line["message"] for line in heard.lines if "error connecting" in line["message"]}
    assert said == "error connecting in 'eventstore': psycopg.OperationalError"
    text = json.dumps(heard.lines)
    for never in (*NAMES.values(), "host-of-the-database", "127.0.0.1", str(url)):
        assert never not in text, never
    host = conninfo_to_dict(url)["host"]
    assert str(host) not in text


async def test_a_connection_that_was_lost_is_told_without_its_address(database_url: str) -> None:
    async with await psycopg.AsyncConnection.connect(database_url) as conn:
        line = logs.JsonLines().format(record("discarding connection: %s", conn))
        assert json.loads(line)["message"] == "discarding connection: AsyncConnection"


def record(message: object, *arguments: object) -> logging.LogRecord:
    return logging.LogRecord("library", logging.WARNING, "", 1, message, arguments, None)


def told(message: object, *arguments: object) -> str:
    said: str = json.loads(logs.JsonLines().format(record(message, *arguments)))["message"]
    return said


def test_errors_in_messages_of_libraries_are_told_by_their_kind() -> None:
    error = OSError("the ace of spades")
    assert told("it failed: %s, %d times", error, 3) == "it failed: OSError, 3 times"
    assert told(error) == "OSError"
    assert told("%(what)s in %(where)s", {"what": error, "where": "x"}) == "OSError in x"
    assert told("100% of it") == "100% of it"
    # Words that we chose ourselves may stand.
    assert told("%s", StoreUnavailable("no answer")) == "no answer"
