"""How many workers run the tests, and database fixtures for every test folder.

What those stand on is in tests/database.py.
"""

import os
import signal
from collections.abc import AsyncIterator, Iterator

import pytest

from api.settings import DATA_DIR_ENV
from eventstore.postgres import EventStore
from tests.database import Databases, postgres


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whatever uses a database says so: `-m "not postgres"` leaves it out."""
    for item in items:
        if "databases" in getattr(item, "fixturenames", ()):
            item.add_marker("postgres")


def pytest_configure() -> None:
    """Who starts the tests may have let signals be ignored (a shell does so in the background),
    which processes that are started here would inherit."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGHUP, signal.SIGTERM):
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)


@pytest.fixture(scope="session", autouse=True)
def _no_folder_of_this_machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What somebody has served on this machine is none of the tests' business."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(DATA_DIR_ENV, str(tmp_path_factory.mktemp("data")))
        yield


def pytest_xdist_auto_num_workers() -> int:
    """Three workers for every two processors: many tests wait for a process or a clock."""
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 2
    return max(2, processors * 3 // 2)


@pytest.fixture(scope="session")
def databases() -> Iterator[Databases]:
    """One server for the whole run (each xdist worker has its own)."""
    with postgres() as url:
        made = Databases(url)
        made.prepare()
        yield made
        made.close()


@pytest.fixture
def database_url(databases: Databases) -> Iterator[str]:
    """A fresh, migrated database for one test."""
    with databases.fresh() as url:
        yield url


@pytest.fixture
async def store(database_url: str) -> AsyncIterator[EventStore]:
    """A store on a fresh database."""
    async with EventStore.open(database_url) as opened:
        yield opened
