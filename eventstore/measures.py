"""What the store counts and times about itself, for Prometheus. Knows no statement, no stream."""

from collections.abc import Iterable
from typing import Final

import psycopg
from prometheus_client import Counter, Histogram


def known(counter: Counter, values: Iterable[str]) -> Counter:
    """A counter of one label with a row for each of these values from the start: what appears with
    its first count shows no increase by it."""
    for value in values:
        counter.labels(value)
    return counter


_OUTCOMES: Final = ("appended", "wrong-version", "replayed", "mismatch", "unavailable", "failed")
APPENDS: Final = known(
    Counter("fairdeal_appends", "Appends by outcome, as the store answered them", ["outcome"]),
    _OUTCOMES,
)
"""`appended`, `wrong-version` (another was faster), `replayed` and `mismatch` (the caller's key was
known), `unavailable` (no answer within the deadline), `failed`."""
APPEND_SECONDS: Final = Histogram(
    "fairdeal_append_seconds",
    "From asking for an append to its durable outcome",
    buckets=(0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5),
)
_BY_OUTCOME: Final = {word: APPENDS.labels(word) for word in _OUTCOMES}


def appended(outcome: str, seconds: float) -> None:
    """Count an append that was asked for so long ago."""
    _BY_OUTCOME[outcome].inc()
    APPEND_SECONDS.observe(seconds)


GROUP_SIZE: Final = Histogram(
    "fairdeal_append_group_size",
    "Appends that shared a transaction",
    buckets=(1, 2, 4, 8, 16, 32, 64),
)
GROUPS_GIVEN_BACK: Final = Counter(
    "fairdeal_append_groups_given_back", "Groups of appends that failed and were sent one by one"
)
RETRIES: Final = Counter(
    "fairdeal_database_retries", "Statements sent again after trouble that passes"
)
UNAVAILABLE: Final = Counter(
    "fairdeal_database_unavailable", "Statements given up because their time was over"
)
POOL_TIMEOUTS: Final = Counter(
    "fairdeal_pool_timeouts", "Times that no connection was to be had for a second"
)
_ERRORS: Final = known(
    Counter(
        "fairdeal_database_errors",
        "Errors that Postgres or its driver reported",
        ["sqlstate_class"],
    ),
    ("none", "08", "40", "42", "53", "55", "57", "58", "XX"),
)
"""With rows for the classes that tell of trouble; others come with their first error."""


def failed(error: psycopg.Error) -> None:
    """Count an error by the first two characters of its SQLSTATE; one without is a connection that
    was lost, or never made."""
    _ERRORS.labels(error.sqlstate[:2] if error.sqlstate else "none").inc()
