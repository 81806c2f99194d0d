"""Requests made up from the OpenAPI document, valid and not, by everybody, at a real process.

`FAIRDEAL_TEST_CASES` says how many in all. No answer is a server error, and each is one that the
document tells: status, media type, headers, body; what the document forbids is refused.
"""

import asyncio
import os
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import (
    negative_data_rejection,
    positive_data_acceptance,
)

from tests.api.processes import free_port, serving
from tests.api.running import HOST_KEY, OTHER_KEY, SECRET, SIGNING_KEYS
from tests.api.security.corners import Corner, Corners, corners
from tests.api.security.test_authorisation_matrix import TABLE
from tests.database import Databases

pytestmark = pytest.mark.postgres

CALLERS = ("none", "malformed", "expired", "revoked", "seat", "spectator", "host")
CASES = int(os.environ.get("FAIRDEAL_TEST_CASES", "350"))
EACH = -(-CASES // (len(CALLERS) * len(TABLE)))
"""Cases of each operation by each caller."""

LONGEST = {"wait": 0.01, "at_least": 1}
"""What is asked to wait for is made to come soon: the waiting itself is tested elsewhere."""


@pytest.fixture(scope="module")
async def address(databases: Databases) -> AsyncIterator[str]:
    """A served API, which is held to have had no trouble in the end."""
    with databases.fresh() as url, _served(url) as found:
        yield found


@contextmanager
def _served(database_url: str) -> Iterator[str]:
    environment = {
        "FAIRDEAL_DATABASE_URL": database_url,
        "FAIRDEAL_HOST_KEYS": f"host:{HOST_KEY},other:{OTHER_KEY}",
        "FAIRDEAL_SECRET": SECRET,
        "FAIRDEAL_SIGNING_KEYS": SIGNING_KEYS,
        "FAIRDEAL_GUESS_RATE": "0",
    }
    with serving(free_port(), **environment) as server:
        yield server.address
        code, _, complaints = server.end()
        assert code == 0
        assert "Traceback" not in complaints
        assert "failed" not in complaints


@pytest.mark.parametrize("caller", CALLERS)
async def test_whatever_is_asked_the_answer_is_one_of_those_told(address: str, caller: str) -> None:
    async with httpx.AsyncClient(base_url=address, timeout=60) as api:
        there = await corners(api, challenged=True)
        document = (await api.get("/schema/openapi.json")).json()
    statuses = await asyncio.to_thread(_ask_all, address, document, there, there.callers[caller])
    print(f"{caller}: {statuses.total()} cases, {dict(sorted(statuses.items()))}")
    assert statuses.total() >= CASES // len(CALLERS)
    if caller in ("none", "malformed", "expired", "revoked"):
        assert statuses.keys() <= {200, 400, 401, 404}


def _ask_all(address: str, document: Any, there: Corners, headers: dict[str, str]) -> Counter[int]:
    """Ask every operation; the statuses of the answers."""
    schema = schemathesis.openapi.from_dict(document)
    schema.config.update(base_url=address)
    found: Counter[int] = Counter()
    with requests.Session() as session:
        operations = [result.ok() for result in schema.get_all_operations()]
        cases = [_cases(operation, there) for operation in operations]
        # What takes no parameters has few cases, so that it may take more rounds.
        while found.total() < CASES // len(CALLERS):
            for strategy in cases:
                _ask(strategy, session, headers, found)
    return found


def _cases(operation: Any, there: Corners) -> st.SearchStrategy[Any]:
    """Valid and invalid requests, to what is there and to what is not."""
    named = [parameter.name for parameter in operation.path_parameters]
    paths: list[dict[str, str] | None] = [None]
    for corner in (there.own, there.sibling, there.foreign):
        paths.append({name: corner.ids[name] for name in named})
    return st.one_of(
        [
            operation.as_strategy(generation_mode=mode, path_parameters=path)
            for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)
            for path in (paths if named else [None])
        ]
    )


def _ask(
    cases: st.SearchStrategy[Any],
    session: requests.Session,
    headers: dict[str, str],
    found: Counter[int],
) -> None:
    @settings(
        max_examples=EACH,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=cases)
    def run(case: Any) -> None:
        # A `?` that a path is made up with ends it, and the rest is another operation's, or none's.
        assume("?" not in case.formatted_path)
        # Nor is another host than this one's address a matter of any operation: 400 (RFC 9112).
        assume("host" not in (case.headers or {}))
        for name, longest in LONGEST.items():
            asked = (case.query or {}).get(name)
            if isinstance(asked, int | float) and asked > longest:
                case.query[name] = longest
        # Valid by the document is not all that a game asks: a cursor is one that was given out.
        unchecked = [positive_data_acceptance]
        told = {parameter.name for parameter in case.operation.query}
        if not told.issuperset(case.query or {}):
            # Parameters that nobody has heard of are left unread, so they alone are no reason.
            unchecked.append(negative_data_rejection)
        answer = case.call_and_validate(
            session=session, headers=headers, timeout=30, excluded_checks=unchecked
        )
        found[answer.status_code] += 1

    run()


async def test_methods_that_are_not_told_are_refused(address: str) -> None:
    async with httpx.AsyncClient(base_url=address) as api:
        document = (await api.get("/schema/openapi.json")).json()
        everything = Corner(
            dict.fromkeys(
                ("game_id", "dispute_id", "webhook_id", "delivery_id"),
                "01970000-0000-7000-8000-00000000ffff",
            )
            | {"ref": "x", "number": "1", "version": "1", "seat": "0", "game": "lodam"}
        )
        for template, item in document["paths"].items():
            told = {method.upper() for method in item}
            path = everything.path(template)
            for method in {"GET", "POST", "PUT", "PATCH", "DELETE", "TRACE"} - told:
                answer = await api.request(method, path)
                assert answer.status_code == 405, (method, path)
                assert answer.json()["type"] == "/problems/method-not-allowed"
                assert told <= set(answer.headers["allow"].split(", "))
            # What is no method of HTTP at all does not reach the application.
            assert (await api.request("FLY", path)).status_code == 400
            if "GET" in told:
                got, head = await api.get(path), await api.head(path)
                assert (head.status_code, head.content) == (got.status_code, b"")
                assert head.headers.keys() == got.headers.keys()
                assert "HEAD" in answer.headers["allow"]
            assert (await api.options(path)).status_code == 204
