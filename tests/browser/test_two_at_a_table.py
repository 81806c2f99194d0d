"""Several people at one table: each sees their own cards alone, and what all do at once."""

import httpx
import pytest
from playwright.async_api import expect

from tests.api.running import HOST_KEY, bearer
from tests.browser.table import HAND, WAYS, Desk, House


@pytest.mark.parametrize("game", ["lodam", "loc"])
async def test_each_sees_only_their_own_cards(game: str, house: House, desk: Desk) -> None:
    played = house.game(game, ["Anna", "Bert", "Cleo"])
    seats = [await desk.open(played.link(n)) for n in range(3)]
    version = played.ask(None)["version"]
    for seat in seats:
        await seat.reach(version)
    hands = [set(played.ask(n)["private"]["cards"]) for n in range(3)]
    for n, seat in enumerate(seats):
        assert set(await seat.cards()) == hands[n]
        # Nothing has been played yet: no other card can be on the page.
        assert await seat.every_card() == hands[n]
        source = await seat.page.content()
        for other in range(3):
            if other != n:
                assert not any(f'data-card="{card}"' in source for card in hands[other])


async def test_what_one_does_the_others_see(house: House, desk: Desk) -> None:
    played = house.game("lorum", ["Anna", "Bert"], 2, rules={"first_dealer": 1})
    anna, bert = [await desk.open(played.link(n)) for n in range(2)]
    for _ in range(4):
        view = played.ask(None)
        mover, other = (anna, bert) if view["to_act"] == [0] else (bert, anna)
        await other.reach(view["version"])
        await expect(other.page.locator(HAND)).to_have_count(0)
        await mover.reach(view["version"])
        version = await mover.step(HAND)
        await other.reach(version)
    assert await anna.version() >= played.ask(None)["version"] - 1


async def test_a_spectator_and_the_host_see_no_hand(house: House, desk: Desk) -> None:
    played = house.game("lodam", ["Anna", "Bert", "Cleo"])
    host = await desk.open(f"{house.address}/#key=key-of-the-host-under-test&game={played.id}")
    await host.reach(1)
    assert await host.every_card() == set()
    await expect(host.page.locator(f"{HAND}, {WAYS}")).to_have_count(0)
    await host.page.get_by_role("button", name="Links").click()
    await host.page.get_by_role("button", name="A link for spectators").click()
    link = await host.page.get_by_role("textbox", name="Link for spectators").input_value()
    spectator = await desk.open(link)
    await spectator.reach(1)
    assert await spectator.every_card() == set()
    await expect(spectator.page.get_by_role("button", name="Resign")).to_have_count(0)


async def test_names_are_text_whatever_they_look_like(house: House, desk: Desk) -> None:
    name = "<img src=x onerror=alert(1)>"
    played = house.game("lodam", [name, "<b>Bert</b>", "Cleo"])
    seat = await desk.open(played.link(2))
    await seat.reach(1)
    await expect(seat.page.locator(".seats .name").filter(has_text=name)).to_be_visible()
    assert await seat.page.locator("main img, main b").count() == 0


async def test_the_look_of_the_cards_can_be_changed(house: House, desk: Desk) -> None:
    """French suits for who does not know the German ones; the notation sent stays the game's."""
    played = house.game("lorum", ["Anna", "Bert", "Cleo", "Dora"])
    seat = await desk.open(played.link(0))
    await seat.reach(1)
    own = await seat.page.locator(".hand [data-card]").evaluate_all(
        "all => all.map((card) => card.getAttribute('aria-label')).join()"
    )
    assert any(suit in own for suit in ("acorns", "leaves", "bells"))
    await seat.page.get_by_role("button", name="How the table looks").click()
    await seat.page.get_by_label("French suits").check()
    await seat.page.keyboard.press("Escape")
    changed = await seat.page.locator(".hand [data-card]").evaluate_all(
        "all => all.map((card) => card.getAttribute('aria-label')).join()"
    )
    assert not any(suit in changed for suit in ("acorns", "leaves", "bells", "Ober", "Unter"))
    assert await seat.cards() == sorted(played.ask(0)["private"]["cards"])


async def test_a_trump_that_is_turned_down_is_told_no_more(house: House, desk: Desk) -> None:
    """Who has to remember the trump finds it nowhere on the page: neither seats nor spectators."""
    rules = {"trump": "memory", "trading": "off", "seed": "52" * 32}
    played = house.game("lodam", ["Anna", "Bert", "Cleo"], rules=rules)
    issued = httpx.post(f"{played.path}/spectators", headers=bearer(HOST_KEY)).json()
    watching = f"{house.address}/#game={played.id}&token={issued['token']}"
    pages = [await desk.open(link) for link in (played.link(0), played.link(1), watching)]
    for page in pages:
        await page.reach(1)
    view = played.ask(None)
    while view["hand"]["phase"] != "trump_shown":
        seat = view["to_act"][0]
        played.act(seat, played.ask(seat)["actions"][0])
        view = played.ask(None)
    card = view["table"]["trump_card"]
    for page in pages:
        await page.reach(view["version"])
        await expect(page.page.locator(".feed")).to_contain_text("The trump is turned up: the ")
        await expect(page.page.locator(f'.trump [data-card="{card}"]')).to_be_visible()
    words = await pages[0].page.locator(".trump [data-card]").get_attribute("aria-label")
    assert words
    told = pages[0].page.locator("#told")
    await expect(told).to_contain_text("Remember the trump")
    for seat in (2, 1, 0):
        played.act(seat, {"type": "see_trump"})
    view = played.ask(None)
    assert view["table"]["trump_card"] is None
    for page in pages:
        await page.reach(view["version"])
        feed = page.page.locator(".feed")
        await expect(feed).to_contain_text("The trump is turned down again.")
        await expect(feed).to_contain_text("The trump is turned up.")
        before = await feed.inner_text()
        # A step that is being shown may still be told for the moment it takes.
        await page.page.wait_for_function(
            """([forgotten, words]) => {
                const everything = [document.body.textContent, document.title,
                    JSON.stringify(localStorage), JSON.stringify(sessionStorage)].join(' ');
                return !forgotten.some((text) => everything.includes(text))
                    && !document.querySelector('#told').textContent.includes(words);
            }""",
            arg=[["turned up: the", "Remember the trump"], words],
        )
        await page.page.reload()
        await page.reach(view["version"])
        await page.page.wait_for_function(
            "(before) => document.querySelector('.feed').innerText === before", arg=before
        )
