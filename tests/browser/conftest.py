"""A real browser before a real server. Skipped, with the reason, where there is no browser."""

import shutil
from collections.abc import AsyncIterator, Iterator

import pytest
from playwright.async_api import Browser, async_playwright

from tests.api.processes import free_port, serving
from tests.browser.table import Desk, House
from tests.database import Databases

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="session")
def browser_path() -> str:
    """Where the browser is that this machine has."""
    found = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if found is None:
        pytest.skip(f"no browser to drive: none of {', '.join(BROWSERS)} is on PATH")
    return found


@pytest.fixture(scope="session")
async def browser(browser_path: str) -> AsyncIterator[Browser]:
    """One browser for the whole run (each xdist worker has its own)."""
    async with async_playwright() as playwright:
        launched = await playwright.chromium.launch(
            executable_path=browser_path,
            # It runs as root here and there, and has nobody to call.
            args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
        )
        yield launched
        await launched.close()


@pytest.fixture(scope="session")
def house(databases: Databases, browser_path: str) -> Iterator[House]:
    """A server for all tests that do not end it."""
    with (
        databases.fresh() as url,
        serving(free_port(), **House.environment(url)) as server,
    ):
        yield House(server.address)


@pytest.fixture
async def desk(browser: Browser) -> AsyncIterator[Desk]:
    """Opens pages as different people have them; no page may have complained at the end."""
    opened = Desk(browser)
    yield opened
    await opened.close()
