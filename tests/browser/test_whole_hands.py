"""A whole hand of each game, played by clicks alone."""

from typing import Any

import pytest
from playwright.async_api import expect

from tests.browser.table import HAND, WAYS, Desk, House, Seat

GAMES: dict[str, tuple[int, dict[str, Any]]] = {
    # The viewer, at seat 0, is on the dealer's right: so they cut.
    "lodam": (4, {"cut": "manual", "first_dealer": 1}),
    # Dealing goes to the right: who sits on the dealer's left cuts.
    "lorum": (3, {"cut": "manual", "first_dealer": 3}),
    "loc": (3, {"cut": "manual", "bets": "manual", "first_dealer": 1}),
}


async def hand_number(seat: Seat) -> int:
    where = await seat.page.locator("#top .where").inner_text()
    return int(where.split()[1])


@pytest.mark.parametrize("game", GAMES)
async def test_a_whole_hand_by_clicks(game: str, house: House, desk: Desk) -> None:
    bots, rules = GAMES[game]
    played = house.game(game, ["Anna"], bots, rules=rules)
    seat = await desk.open(played.link(0))
    await seat.reach(1)
    if game == "loc":
        await seat.step("button[data-action=bet]")
    await expect(seat.page.locator(".prompt")).to_have_text("Cut the pack.")
    slider = seat.page.get_by_label("Cards to take off")
    await slider.fill("17")
    await seat.page.get_by_label("Your own words for the shuffle").fill("Words of Anna: ß")
    await seat.step(".cut button[type=submit]")
    taken = 0
    while await hand_number(seat) == 1 and taken < 60:
        await seat.page.locator(f"{HAND}, {WAYS}").first.wait_for()
        view = played.ask(0)
        shown = await seat.cards()
        if await seat.version() == view["version"]:
            assert shown == sorted(view["private"]["cards"])
            offered = await seat.page.locator(HAND).count()
            cards = [a for a in view["actions"] if a["type"] in ("play", "discard")]
            assert offered == len(cards)
        await seat.step()
        taken += 1
    view = played.ask(0)
    assert view["hand"]["number"] == 2
    cut = next(e for e in played.ask(0, "/events")["items"] if e["type"] == "PackCut")
    assert (cut["data"]["at"], cut["data"]["nonce"]) == (17, "Words of Anna: ß")
    assert await seat.page.locator(".notice.problem").count() == 0
    for score in view["scores"]:
        row = seat.page.locator(".side tbody tr").nth(score["seat"])
        await expect(row).to_contain_text(str(score["lives"] or abs(score["chips"])))


async def test_a_hand_by_finger(house: House, desk: Desk) -> None:
    """On a telephone: no hovering, cards that are large enough to hit."""
    played = house.game("loc", ["Anna"], 2)
    link = played.link(0)
    seat = await desk.open(link, width=360, height=740, has_touch=True, is_mobile=True)
    await seat.reach(1)
    while await hand_number(seat) == 1:
        before = await seat.version()
        card = seat.page.locator(HAND).last
        box = await card.bounding_box()
        assert box is not None
        assert min(box["width"], box["height"]) >= 44
        await card.tap()
        await seat.reach(before + 1)
        await seat.reach(played.ask(0)["version"])
    assert played.ask(0)["hand"]["number"] == 2


async def test_a_game_to_its_end(house: House, desk: Desk) -> None:
    """The last trick, the result in words, and the way to look back."""
    played = house.game("loc", ["Anna"], 1, rules={"hands": 1})
    seat = await desk.open(played.link(0))
    while played.ask(0)["status"] == "playing":
        await seat.reach(played.ask(0)["version"])
        await seat.step()
    await expect(seat.page.locator(".prompt")).to_contain_text("win")
    await expect(seat.page.locator(".winner").first).to_be_visible()
    await expect(seat.page.locator(f"{HAND}, {WAYS}")).to_have_count(0)
    await expect(seat.page.locator("main")).to_have_attribute("data-line", "over")
    await seat.page.get_by_role("link", name="Look back at the game").click()
    await expect(seat.page.get_by_role("button", name="Check this game")).to_be_visible()


async def test_what_bots_do_is_shown_step_by_step(house: House, desk: Desk) -> None:
    """At the calm pace a trick fills up card by card, Escape goes to the end of it, and what is
    told beside the table is never ahead of it."""
    played = house.game("lorum", ["Anna"], 3, rules={"first_dealer": 1})
    seat = await (await desk.open(played.link(0), pace="calm")).reach(1)
    page = seat.page
    await page.evaluate(
        """() => {
          window.seen = [];
          window.early = [];
          const tell = () => {
            const told = document.querySelector('.feed').textContent;
            const spoken = document.querySelector('#told').textContent;
            if (look() && look() < 4 && /takes? trick/.test(told + spoken)) window.early.push(told);
          };
          const look = () => document.querySelectorAll('.trick .played').length;
          new MutationObserver(() => window.seen.push(look()))
            .observe(document.querySelector('.felt-region'), {childList: true});
          const beside = new MutationObserver(tell);
          beside.observe(document.querySelector('.feed-region'), {childList: true});
          beside.observe(document.querySelector('#told'), {childList: true});
        }"""
    )
    await seat.page.locator(HAND).first.click()
    await page.wait_for_function("() => window.seen.includes(4)")
    assert await page.evaluate("window.early") == []
    await expect(page.locator(".feed")).to_contain_text("trick 1")
    await page.keyboard.press("Escape")
    await seat.reach(played.ask(0)["version"])
    seen = await page.evaluate("window.seen")
    assert [n for n in range(1, 5) if n in seen] == [1, 2, 3, 4]
    assert await seat.page.locator(HAND).count() > 0
