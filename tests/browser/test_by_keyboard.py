"""Played by the keyboard alone."""

from playwright.async_api import Page, expect

from tests.browser.table import HAND, Desk, House


async def focused(page: Page) -> str:
    """What has the focus, as a reader of the page is told it."""
    return await page.evaluate(
        """() => {
          const held = document.activeElement;
          return held.getAttribute('aria-label') ?? held.textContent;
        }"""
    )


async def test_a_trick_by_keyboard(house: House, desk: Desk) -> None:
    played = house.game("lorum", ["Anna"], 3, rules={"first_dealer": 1})
    seat = await desk.open(played.link(0))
    await seat.reach(played.ask(0)["version"])
    page = seat.page
    for _ in range(40):
        await page.keyboard.press("Tab")
        if (await focused(page)).startswith("Play "):
            break
    first = await focused(page)
    assert first.startswith("Play ")
    if await page.locator(HAND).count() > 1:
        await page.keyboard.press("ArrowRight")
        assert await focused(page) != first
        await page.keyboard.press("Home")
        assert await focused(page) == first
    for _ in range(2):
        before = played.ask(0)["version"]
        chosen = await page.evaluate("() => document.activeElement.dataset.card")
        await page.keyboard.press("Enter")
        await seat.reach(before + 1)
        await seat.reach(played.ask(0)["version"])
        assert chosen not in await seat.cards()
        # The focus is on the next choice: nobody has to look for it.
        await expect(page.locator(f"{HAND}:focus")).to_have_count(1)
    assert played.ask(0)["previous"]["trick"]


async def test_the_next_card_has_the_focus(house: House, desk: Desk) -> None:
    """Also after others have played one after the other, and where the card in the middle was."""
    played = house.game("loc", ["Anna"], 2, rules={"seed": "52" * 32})
    seat = await desk.open(played.link(0), pace="quick")
    await seat.reach(played.ask(0)["version"])
    page = seat.page
    cards = page.locator(".hand [data-card]")
    held = await cards.evaluate_all("cards => cards.map((card) => card.dataset.card)")
    await page.locator(HAND).nth(2).focus()
    await page.keyboard.press("Enter")
    await expect(cards).to_have_count(len(held) - 1)
    await expect(page.locator(f'.hand [data-card="{held[3]}"]')).to_be_focused()
    await page.locator(HAND).last.focus()
    await page.keyboard.press("Enter")
    await expect(cards).to_have_count(len(held) - 2)
    await expect(page.locator(HAND).last).to_be_focused()


async def test_focus_is_visible_and_the_way_is_short(house: House, desk: Desk) -> None:
    played = house.game("lodam", ["Anna"], 2)
    seat = await desk.open(played.link(0))
    await seat.reach(1)
    page = seat.page
    await page.keyboard.press("Tab")
    assert await focused(page) == "Skip to the table"
    await page.keyboard.press("Enter")
    assert await page.evaluate("document.activeElement.id") == "main"
    await page.keyboard.press("Tab")
    outline = await page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"
    assert await page.evaluate("document.activeElement.closest('.dock') !== null")


async def test_what_happens_is_announced(house: House, desk: Desk) -> None:
    """Who does not see the page is told of turns and events."""
    played = house.game("loc", ["Anna", "Bert"])
    seat = await desk.open(played.link(0))
    await seat.reach(played.ask(0)["version"])
    told = seat.page.locator("#told[aria-live=polite]")
    await expect(told).to_contain_text("Lay one card aside, face down.")
    played.act(1, played.ask(1)["actions"][0])
    await expect(told).to_contain_text("Bert discards.")
