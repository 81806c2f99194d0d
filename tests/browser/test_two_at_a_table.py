"""Several people at one table: each sees their own cards alone, and what all do at once."""

import pytest
from playwright.async_api import expect

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
