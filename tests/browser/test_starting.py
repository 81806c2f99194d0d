"""From the host key to the first cards, with links that invite others."""

from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
from playwright.async_api import expect

from api.opening import lead
from tests.api.running import HOST_KEY, bearer
from tests.browser.table import HAND, WAYS, Desk, House


async def test_a_game_is_started_with_the_host_key(house: House, desk: Desk) -> None:
    """A person, a friend and a bot, by a form made of the game's options."""
    seat = await desk.open(house.address)
    page = seat.page
    await page.get_by_label("To start games, enter the key").fill(HOST_KEY)
    await page.get_by_role("button", name="Use this key").click()
    await expect(page.get_by_role("heading", name="Your games")).to_be_visible()
    await page.get_by_role("link", name="New game of Losing Lodam").click()
    await page.get_by_label("Name at seat 1").fill("Anna")
    await page.get_by_label("Who sits at seat 2").select_option("A person")
    await page.get_by_label("Name at seat 2").fill("Bert")
    await page.get_by_role("button", name="Remove seat 4").click()
    await page.get_by_label("Profile").select_option("modern")
    await page.get_by_label("Lives").fill("2")
    await page.get_by_label("Bots act").select_option("after half a second")
    await page.get_by_role("button", name="Start the game").click()
    await seat.reach(1)
    links = page.locator(".link")
    await expect(links).to_have_count(2)
    link = await page.get_by_role("textbox", name="Link for Bert").input_value()
    parts = urlsplit(link)
    fragment = parse_qs(parts.fragment)
    assert (parts.path, parts.query) == ("/", "")
    view = httpx.get(
        f"{house.address}/v1/games/{fragment['game'][0]}", headers=bearer(HOST_KEY)
    ).json()
    assert [one["name"] for one in view["seats"]][:2] == ["Anna", "Bert"]
    assert [one["bot"] for one in view["seats"]] == [None, None, "careful"]
    path = f"{house.address}/v1/games/{view['id']}/events"
    created = httpx.get(path, headers=bearer(HOST_KEY)).json()["items"][0]
    assert created["data"]["seats"][2]["delay_ms"] == 500
    assert view["rules"]["profile"] == "modern"
    assert (view["rules"]["lives"], view["rules"]["trading"]) == (2, "off")
    host = await desk.open(f"{house.address}/#key={HOST_KEY}")
    listed = host.page.locator(".game-list li").filter(has_text="Anna, Bert, ")
    await expect(listed.first).to_contain_text("being played")
    bert = await (await desk.open(link)).reach(1)
    assert urlsplit(bert.page.url).fragment == f"game={view['id']}"
    assert len(await bert.cards()) == 17
    await bert.page.reload()
    await bert.reach(1)
    assert len(await bert.cards()) == 17


async def test_serve_open_leads_to_the_table(house: House, desk: Desk, tmp_path: Path) -> None:
    """The file that `fairdeal serve --open` hands to the browser; the key does not stay in the
    address."""
    seat = await desk.open(lead(tmp_path, house.address, HOST_KEY).as_uri())
    await expect(seat.page.get_by_role("heading", name="Your games")).to_be_visible()
    assert seat.page.url == f"{house.address}/"


async def test_open_seats_are_filled_and_the_game_begins(house: House, desk: Desk) -> None:
    seat = await desk.open(f"{house.address}/#key={HOST_KEY}&new=loc")
    page = seat.page
    assert HOST_KEY not in page.url
    for number in (4, 3):
        await page.get_by_role("button", name=f"Remove seat {number}").click()
    await page.get_by_label("Who sits at seat 2").select_option("Open seat")
    await page.get_by_role("button", name="Start the game").click()
    await seat.reach(1)
    await expect(page.locator(".prompt")).to_have_text("Waiting for one more player.")
    await page.get_by_label("Name for the next open seat").fill("Bert")
    await page.get_by_role("button", name="Fill the seat").click()
    await expect(page.locator(f"{HAND}, {WAYS}").first).to_be_visible()
    await page.get_by_role("button", name="Links").click()
    await expect(page.get_by_role("textbox", name="Link for Bert")).to_be_visible()


async def test_a_key_that_is_not_valid_is_said_and_forgotten(house: House, desk: Desk) -> None:
    desk.allowed = ("401",)
    seat = await desk.open(house.address)
    await seat.page.get_by_label("To start games, enter the key").fill("not-the-key")
    await seat.page.get_by_role("button", name="Use this key").click()
    await expect(seat.page.locator(".notice.problem")).to_contain_text("not valid")
    await expect(seat.page.get_by_label("To start games, enter the key")).to_be_visible()
    assert await seat.page.evaluate("sessionStorage.getItem('fairdeal.host')") is None


async def test_an_option_that_does_not_fit_is_said_in_words(house: House, desk: Desk) -> None:
    desk.allowed = ("400",)
    seat = await desk.open(f"{house.address}/#key={HOST_KEY}&new=lodam")
    await seat.page.get_by_label("Scoring").select_option("cumulative")
    await seat.page.get_by_role("button", name="Start the game").click()
    notice = seat.page.locator(".notice.problem")
    await expect(notice).to_contain_text("announcing needs scoring: per_hand")


async def test_two_clicks_start_one_game(house: House, desk: Desk) -> None:
    seat = await desk.open(f"{house.address}/#key={HOST_KEY}&new=loc")
    await seat.page.get_by_label("Name at seat 1").fill("Twice")
    await seat.page.get_by_role("button", name="Start the game").dblclick()
    await seat.reach(1)
    games = httpx.get(f"{house.address}/v1/games?limit=100", headers=bearer(HOST_KEY)).json()
    assert sum("Twice" in game["names"] for game in games["items"]) == 1


async def test_the_same_form_sent_again_is_the_same_game(house: House, desk: Desk) -> None:
    """The game was made, but its answer never came: pressing the button again finds that game."""
    desk.allowed = ("Failed to load",)
    seat = await desk.open(f"{house.address}/#key={HOST_KEY}&new=loc")
    page = seat.page
    await page.evaluate(
        """() => {
          const ask = window.fetch;
          window.keys = [];
          window.fetch = async (path, how) => {
            const answer = await ask(path, how);
            if (how.method !== 'POST' || path !== '/v1/games') return answer;
            window.keys.push(how.headers['Idempotency-Key']);
            if (window.keys.length <= 5) throw new TypeError('the answer is lost');
            return answer;
          };
        }"""
    )
    await page.get_by_label("Name at seat 1").fill("Again")
    await page.get_by_role("button", name="Start the game").click()
    await expect(page.locator(".notice.problem")).to_contain_text("does not answer", timeout=20_000)
    await page.get_by_role("button", name="Start the game").click()
    await seat.reach(1)
    assert len(await page.evaluate("window.keys")) == 6
    assert len(set(await page.evaluate("window.keys"))) == 1
    games = httpx.get(f"{house.address}/v1/games?limit=100", headers=bearer(HOST_KEY)).json()
    assert sum("Again" in game["names"] for game in games["items"]) == 1


async def test_what_is_wrong_with_a_name_is_said_in_words(house: House, desk: Desk) -> None:
    desk.allowed = ("400",)
    seat = await desk.open(f"{house.address}/#key={HOST_KEY}&new=loc")
    page = seat.page
    notice = page.locator(".notice.problem").last
    await page.get_by_label("Name at seat 1").fill("  ")
    await page.get_by_role("button", name="Start the game").click()
    await expect(notice).to_contain_text("Player 1, the name must not be empty")
    await page.get_by_label("Name at seat 1").fill("An\u0007na")
    await page.get_by_role("button", name="Start the game").click()
    await expect(notice).to_contain_text("holds characters that are not allowed")
    assert "Expected" not in await page.locator("#notices").inner_text()


async def test_what_the_rules_forbid_is_said_with_the_rule(house: House, desk: Desk) -> None:
    """The page is kept from seeing that the moment has passed; the answer leads to the rule."""
    desk.allowed = ("409",)
    played = house.game("lodam", ["Anna", "Bert", "Cleo"])
    seat = await desk.open(played.link(0))
    await seat.reach(played.ask(0)["version"])
    await seat.page.evaluate(
        """() => {
          window.asks = window.fetch;
          window.fetch = (path, how) =>
            how.method === 'POST' ? window.asks(path, how) : new Promise(() => {});
        }"""
    )
    played.act(0, {"type": "pass"})
    await seat.page.locator("button[data-action=pass]").click(force=True)
    notice = seat.page.locator(".notice.problem")
    await expect(notice).to_contain_text("lodam.passed")
    await seat.page.evaluate("() => { window.fetch = window.asks; }")
    await notice.get_by_role("link", name="Rule lodam.passed").click()
    await expect(seat.page.locator(".rule-id.named")).to_have_text("lodam.passed")


async def test_a_link_that_is_no_longer_valid_says_so(house: House, desk: Desk) -> None:
    desk.allowed = ("401",)
    played = house.game("loc", ["Anna", "Bert"])
    httpx.post(f"{played.path}/seats/0/token", headers=bearer(HOST_KEY)).raise_for_status()
    seat = await desk.open(played.link(0))
    await expect(seat.page.locator(".connection.problem")).to_contain_text("revoked")


async def test_resigning_asks_first(house: House, desk: Desk) -> None:
    played = house.game("loc", ["Anna", "Bert"])
    seat = await desk.open(played.link(0))
    await seat.reach(1)
    await seat.page.get_by_role("button", name="Resign").click()
    await seat.page.get_by_role("button", name="Play on").click()
    assert not played.ask(0)["seats"][0]["resigned"]
    await seat.page.get_by_role("button", name="Resign").click()
    await seat.page.get_by_role("dialog").get_by_role("button", name="Resign").click()
    await expect(seat.page.locator(".seat.me .badge.gone").first).to_be_visible()
    assert played.ask(0)["seats"][0]["resigned"]


async def test_a_deadline_is_counted_down(house: House, desk: Desk) -> None:
    clock = {"turn_seconds": 3000, "on_timeout": "bot"}
    played = house.game("loc", ["Anna", "Bert"], clock=clock)
    seat = await desk.open(played.link(0))
    await expect(seat.page.get_by_role("timer")).to_contain_text(":")
    minutes = (await seat.page.get_by_role("timer").inner_text()).split(":")[0]
    assert int(minutes) in (48, 49, 50)
