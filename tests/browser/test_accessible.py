"""axe-core on every screen, narrow and wide, light and dark; and nothing wider than the screen."""

import pytest
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import Page, expect

from tests.api.running import HOST_KEY
from tests.browser.table import Desk, House

WIDTHS = [(360, "light"), (1600, "dark")]

RULES = {
    "runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}
}


async def is_sound(page: Page) -> None:
    """No finding of axe-core that is serious or worse, and no scrolling sideways."""
    found = await Axe().run(page, options=RULES)
    serious = [
        (one["id"], [node["html"][:160] for node in one["nodes"]])
        for one in found.response["violations"]
        if one["impact"] in ("serious", "critical")
    ]
    assert not serious, serious
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize(("width", "scheme"), WIDTHS)
async def test_before_a_game(width: int, scheme: str, house: House, desk: Desk) -> None:
    seat = await desk.open(house.address, width=width, color_scheme=scheme)
    page = seat.page
    await expect(page.locator(".offer")).to_have_count(3)
    await is_sound(page)
    await page.goto(f"{house.address}/#key={HOST_KEY}")
    await expect(page.get_by_role("heading", name="Your games")).to_be_visible()
    await is_sound(page)
    await page.goto(f"{house.address}/#new=lodam")
    await page.get_by_role("button", name="Start the game").wait_for()
    await is_sound(page)
    await page.goto(f"{house.address}/#rules=lorum")
    await page.locator(".rulebook h1").wait_for()
    await is_sound(page)


@pytest.mark.parametrize(("width", "scheme"), WIDTHS)
@pytest.mark.parametrize("game", ["lodam", "lorum", "loc"])
async def test_at_the_table(game: str, width: int, scheme: str, house: House, desk: Desk) -> None:
    bots = {"lodam": 4, "lorum": 3, "loc": 4}[game]
    rules = {"first_contract": 7} if game == "lorum" else {}
    played = house.game(game, ["Anna of the very long name that hardly fits"], bots, rules=rules)
    seat = await desk.open(played.link(0), width=width, color_scheme=scheme)
    await seat.reach(1)
    await is_sound(seat.page)
    for _ in range(3):
        await seat.step()
    await is_sound(seat.page)


@pytest.mark.parametrize(("width", "scheme"), WIDTHS)
async def test_looking_back(width: int, scheme: str, house: House, desk: Desk) -> None:
    played = house.game("loc", [], 4, rules={"hands": 2})
    played.finished()
    address = f"{house.address}/#key={HOST_KEY}&replay={played.id}&at=40"
    seat = await (await desk.open(address, width=width, color_scheme=scheme)).reach(1)
    await seat.page.get_by_label("Show all hands").check()
    await seat.report()
    await is_sound(seat.page)


@pytest.mark.parametrize("width", [360, 1600])
async def test_the_largest_table(width: int, house: House, desk: Desk) -> None:
    """Ten players, and the links of a host."""
    names = [f"Player number {n}" for n in range(10)]
    played = house.game("lodam", names)
    seat = await desk.open(f"{house.address}/#key={HOST_KEY}&game={played.id}", width=width)
    await seat.reach(1)
    await is_sound(seat.page)
    await seat.page.get_by_role("button", name="Links").click()
    await seat.page.get_by_role("button", name="A link for spectators").wait_for()
    await is_sound(seat.page)
