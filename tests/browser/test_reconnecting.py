"""A connection that is lost in the middle: it is said, and the table goes on when it is back."""

import asyncio

from playwright.async_api import expect

from tests.api.processes import free_port, serving
from tests.browser.table import HAND, WAYS, Desk, House
from tests.database import Databases


async def test_the_server_starts_again_in_the_middle(
    databases: Databases, desk: Desk, browser_path: str
) -> None:
    desk.allowed = ("net::ERR",)
    port = free_port()
    with databases.fresh() as url:
        environment = House.environment(url)
        with serving(port, **environment) as server:
            house = House(server.address)
            played = house.game("lodam", ["Anna", "Bert"], 2, rules={"trading": "off"})
            seat = await desk.open(played.link(0))
            await seat.reach(played.ask(0)["version"])
            cards = await seat.cards()
        await expect(seat.page.locator(".connection")).to_contain_text("Connection lost")
        assert await seat.cards() == cards
        with serving(port, **environment):
            await expect(seat.page.locator(".connection")).to_be_empty(timeout=20_000)
            while 0 not in played.ask(0)["to_act"]:
                played.act(1, played.ask(1)["actions"][0])
            await seat.reach(played.ask(0)["version"])
            await seat.step()
            assert await seat.version() <= played.ask(0)["version"]
            await desk.forget()


async def test_what_happened_meanwhile_is_caught_up_with(house: House, desk: Desk) -> None:
    desk.allowed = ("net::ERR_INTERNET_DISCONNECTED",)
    played = house.game("loc", ["Anna", "Bert"], rules={"hands": 3})
    seat = await desk.open(played.link(0))
    await seat.reach(played.ask(0)["version"])
    await seat.page.context.set_offline(True)
    await expect(seat.page.locator(".connection")).to_contain_text("Connection lost")
    for who in (0, 1):
        played.act(who, played.ask(who)["actions"][0])
    await seat.page.context.set_offline(False)
    await expect(seat.page.locator(".connection")).to_be_empty(timeout=20_000)
    await seat.reach(played.ask(0)["version"])
    assert await seat.cards() == sorted(played.ask(0)["private"]["cards"])
    await expect(seat.page.locator(".pot").filter(has_text="Trick 1 of 5")).to_be_visible()


async def test_an_action_whose_answer_was_lost_acts_once(house: House, desk: Desk) -> None:
    """The first answer never arrives; the page asks again with the same key."""
    desk.allowed = ("net::ERR_FAILED",)
    played = house.game("loc", ["Anna", "Bert"])
    seat = await desk.open(played.link(0))
    await seat.reach(played.ask(0)["version"])
    keys: list[str | None] = []

    async def lose_first(route, request):  # type: ignore[no-untyped-def]
        keys.append(request.headers.get("idempotency-key"))
        if len(keys) == 1:
            await route.fetch()
            await route.abort()
        else:
            await route.continue_()

    await seat.page.route("**/actions", lose_first)
    async with seat.page.expect_response(lambda answer: answer.url.endswith("/actions")):
        await seat.step(HAND)
    assert keys[0]
    assert keys == [keys[0]] * 2
    discarded = [e for e in played.ask(0, "/events")["items"] if e["type"] == "CardDiscarded"]
    assert len(discarded) == 1


async def test_a_click_on_what_is_outdated_is_none(house: House, desk: Desk) -> None:
    """The answer is there and the page has not drawn it yet: what it still offers is not sent."""
    played = house.game("loc", ["Anna", "Bert"])
    seat = await desk.open(played.link(0))
    await seat.reach(played.ask(0)["version"])
    held = asyncio.Event()

    async def hold(route):  # type: ignore[no-untyped-def]
        await held.wait()
        await route.continue_()

    await seat.page.route("**/events?*", hold)
    async with seat.page.expect_response("**/actions"):
        await seat.page.locator(HAND).first.click()
    await seat.page.locator(HAND).last.click()
    held.set()
    await seat.reach(played.ask(0)["version"])
    await expect(seat.page.locator(HAND)).to_have_count(0)
    events = played.ask(0, "/events")["items"]
    assert len([event for event in events if event["type"] == "CardDiscarded"]) == 1
    assert len([url for url in desk.asked if url.endswith("/actions")]) == 1


async def test_a_way_without_streams_will_do(house: House, desk: Desk) -> None:
    """Where streams are refused the page waits by long polls."""
    desk.allowed = ("406",)
    played = house.game("loc", ["Anna", "Bert"])
    person = await desk.person()

    async def refuse(route, request):  # type: ignore[no-untyped-def]
        if request.headers.get("accept") == "text/event-stream":
            await route.fulfill(status=406, json={"status": 406, "detail": "no streams here"})
        else:
            await route.continue_()

    await person.route("**/events*", refuse)
    page = await person.new_page()
    seat = desk.seat(page)
    await page.goto(played.link(0))
    await seat.reach(played.ask(0)["version"])
    played.act(1, played.ask(1)["actions"][0])
    await seat.reach(played.ask(0)["version"])
    await seat.step(HAND)
    assert any("wait=" in url for url in desk.asked)


async def test_a_tab_that_nobody_looks_at_costs_nothing(house: House, desk: Desk) -> None:
    """After a minute in the background it lets go of the stream; when looked at it catches up."""
    played = house.game("loc", ["Anna", "Bert"])
    person = await desk.person()
    await person.add_init_script(
        "Object.defineProperty(document, 'hidden', {get: () => window.away === true})"
    )
    page = await person.new_page()
    await page.clock.install()
    await page.goto(played.link(0))
    seat = desk.seat(page)
    await seat.reach(played.ask(0)["version"])
    turn_away = (
        "away => { window.away = away; document.dispatchEvent(new Event('visibilitychange')); }"
    )
    await page.evaluate(turn_away, True)
    await page.clock.fast_forward("01:01")
    await expect(page.locator("main[data-line=asleep]")).to_be_attached()
    before = len(desk.asked)
    played.act(1, played.ask(1)["actions"][0])
    await page.clock.fast_forward("10:00")
    assert len(desk.asked) == before
    await page.evaluate(turn_away, False)
    await page.clock.resume()
    await seat.reach(played.ask(0)["version"])
    await expect(page.locator(f"{HAND}, {WAYS}").first).to_be_visible()
