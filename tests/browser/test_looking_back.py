"""The replay viewer: the time line, all hands once they are opened, the chart, and the checks,
which must fail on a log that was tampered with on its way."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.async_api import expect

from tests.api.processes import run
from tests.api.running import HOST_KEY, Json
from tests.browser.table import Desk, House, Played, Seat


@pytest.fixture(scope="module")
def over(house: House) -> Played:
    """A finished game of Losing Lodam among bots."""
    played = house.game("lodam", [], 3, rules={"lives": 1})
    played.finished()
    return played


async def look_back(desk: Desk, played: Played) -> Seat:
    """The host's replay of a game."""
    address = f"{played.house.address}/#key={HOST_KEY}&replay={played.id}"
    return await (await desk.open(address)).reach(1)


async def test_stepping_and_jumping(over: Played, desk: Desk) -> None:
    seat = await look_back(desk, over)
    page = seat.page
    events = over.ask(None, "/events?limit=1000")["items"]
    started = next(e["version"] for e in events if e["type"] == "HandStarted")
    assert await seat.version() == started
    await page.get_by_role("button", name="One step on").click()
    await seat.reach(started + 1)
    await page.get_by_role("button", name="One step back").click()
    await expect(page.locator(f"main[data-version='{started}']")).to_be_attached()
    await page.keyboard.press("ArrowRight")
    await expect(page.locator(f"main[data-version='{started + 1}']")).to_be_attached()
    taken = [e["version"] for e in events if e["type"] == "TrickTaken"]
    await page.get_by_label("Trick", exact=True).select_option("Trick 2")
    await seat.reach(taken[1] - 1)
    trick = over.ask(None, f"/at/{taken[1] - 1}")["table"]["trick"]
    shown = await page.locator(".trick [data-card]").evaluate_all(
        "all => all.map((card) => card.dataset.card)"
    )
    assert shown == [play["card"] for play in trick]
    await page.get_by_role("button", name="To the end").click()
    await seat.reach(events[-1]["version"])
    await expect(page.locator(".event-now")).to_contain_text("The game ends")
    await page.get_by_role("button", name="To the start").click()
    await expect(page.locator("main[data-version='1']")).to_be_attached()
    await page.get_by_role("slider").fill(str(taken[0]))
    await seat.reach(taken[0])


async def test_all_hands_once_opened(over: Played, desk: Desk) -> None:
    seat = await look_back(desk, over)
    events = over.ask(None, "/events?limit=1000")["items"]
    dealt = next(e["version"] for e in events if e["type"] == "HandDealt")
    await seat.page.locator(f"[data-version='{dealt}'].event").click()
    await seat.reach(dealt)
    assert await seat.page.locator(".opened-hand [data-card]").count() == 0
    await seat.page.get_by_label("Show all hands").check()
    await expect(seat.page.locator(".opened-hand [data-card]")).to_have_count(51)
    marks = seat.page.locator(".mark.passed")
    await expect(marks.first).to_be_attached()
    assert await seat.page.locator(".mark.failed").count() == 0


async def test_the_chart_shows_every_hand(over: Played, desk: Desk) -> None:
    seat = await look_back(desk, over)
    hands = over.ask(None, "/scores")["hands"]
    for chart in await seat.page.locator(".chart").all():
        assert await chart.locator("path.line").count() == 3
        assert await chart.locator("circle.dot").count() == 3 * (len(hands) + 1)
    figures = seat.page.get_by_text("Points in figures")
    await figures.click()
    rows = seat.page.locator(".scores details[open] tbody tr")
    await expect(rows).to_have_count(len(hands))


@pytest.mark.parametrize("game", ["lodam", "lorum", "loc"])
async def test_a_real_game_passes(game: str, over: Played, house: House, desk: Desk) -> None:
    played = over
    if game != "lodam":
        rules: Json = {"lorum": {"rounds": 2}, "loc": {"hands": 2}}[game]
        played = house.game(game, [], 4, rules=rules)
        played.finished()
    report = await (await look_back(desk, played)).report()
    assert report["failed"] == []
    assert report["not_yet_possible"] == []
    checks = [check for check, _ in report["passed"]]
    hands = len(played.ask(None, "/scores")["hands"])
    assert checks[:3] == ["chain", "commands", "digests"]
    assert [c for c in checks if c.startswith("deal")] == [
        f"deal of hand {n + 1}" for n in range(hands)
    ]
    assert checks[-1].startswith("receipt")


async def test_during_a_game_what_is_sealed_is_not_yet_possible(house: House, desk: Desk) -> None:
    played = house.game("loc", ["Anna", "Bert"], rules={"hands": 2})
    seat = await desk.open(played.link(0))
    await seat.reach(played.ask(0)["version"])
    await seat.step()
    await seat.page.get_by_role("link", name="Look back").click()
    await seat.page.get_by_role("button", name="Check this game").wait_for()
    report = await seat.report()
    assert report["failed"] == []
    assert [check for check, _ in report["not_yet_possible"]] == ["digests", "deal of hand 1"]
    assert any("kept in this tab" in check for check, _ in report["passed"])
    assert await seat.page.get_by_label("Show all hands").is_disabled()


def event_of(items: list[Json], kind: str) -> Json:
    return next(e for e in items if e["type"] == kind)


def flip(text: str) -> str:
    return ("1" if text[0] == "0" else "0") + text[1:]


def another_card(items: list[Json]) -> None:
    event_of(items, "CardPlayed")["data"]["card"] = "2C"
    event_of(items, "CardPlayed")["data"]["seat"] = 9


def another_hash(items: list[Json]) -> None:
    items[4]["hash"] = flip(items[4]["hash"])


def another_dealt_card(items: list[Json]) -> None:
    part = event_of(items, "HandDealt")["sealed"][0]
    part["data"]["cards"][:2] = reversed(part["data"]["cards"][:2])


def another_seed(items: list[Json]) -> None:
    revealed = event_of(items, "SeedRevealed")
    revealed["data"]["server_seed"] = flip(revealed["data"]["server_seed"])


def another_commitment(items: list[Json]) -> None:
    started = event_of(items, "HandStarted")
    started["data"]["commitment"] = flip(started["data"]["commitment"])


def another_cut(items: list[Json]) -> None:
    cut = event_of(items, "PackCut")["data"]
    cut["at"] += 1 if cut["at"] < 26 else -1
    # Without the cards, which would not fit either: the server's place for the cut is known.
    for part in event_of(items, "HandDealt")["sealed"]:
        del part["data"], part["salt"]


def another_dealer(items: list[Json]) -> None:
    started = event_of(items, "HandStarted")["data"]
    started["dealer"] = (started["dealer"] + 1) % 3


def one_left_out(items: list[Json]) -> None:
    del items[10]


def tail_cut_off(items: list[Json]) -> None:
    del items[-3:]


@pytest.mark.parametrize(
    ("tamper", "failing"),
    [
        (another_card, ["chain"]),
        (another_hash, ["chain"]),
        (another_dealt_card, ["deal of hand 1", "digests"]),
        (another_seed, ["chain", "deal of hand 1"]),
        (another_commitment, ["chain", "deal of hand 1"]),
        (another_cut, ["chain", "deal of hand 1", "digests"]),
        (another_dealer, ["chain", "deal of hand 1"]),
        (one_left_out, ["chain"]),
        (tail_cut_off, ["receipt (of the service, now)"]),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
async def test_a_log_that_was_tampered_with_fails(
    tamper: Callable[[list[Json]], None], failing: list[str], over: Played, desk: Desk
) -> None:
    """Between service and page a single thing is changed; the page says what and where."""
    person = await desk.person()

    async def change(route):  # type: ignore[no-untyped-def]
        answer = await route.fetch()
        body = await answer.json()
        tamper(body["items"])
        await route.fulfill(response=answer, body=json.dumps(body))

    await person.route("**/events?*", change)
    page = await person.new_page()
    await page.goto(f"{over.house.address}/#key={HOST_KEY}&replay={over.id}")
    seat = await desk.seat(page).reach(1)
    report = await seat.report()
    found = [check for check, _ in report["failed"]]
    assert sorted(set(found)) == failing, report["failed"]
    assert all("version" in words for _, words in report["failed"])


async def test_a_browser_that_cannot_hash_here_says_so(over: Played, desk: Desk) -> None:
    """Over http from another machine a page is given no cryptography."""
    person = await desk.person()
    await person.add_init_script("Object.defineProperty(crypto, 'subtle', {get: () => undefined})")
    page = await person.new_page()
    await page.goto(f"{over.house.address}/#key={HOST_KEY}&replay={over.id}")
    report = await (await desk.seat(page).reach(1)).report()
    assert (report["passed"], report["failed"]) == ([], [])
    assert "over https" in report["not_yet_possible"][0][1]


async def test_a_browser_without_ed25519_checks_all_but_the_signature(
    over: Played, desk: Desk
) -> None:
    person = await desk.person()
    await person.add_init_script(
        """if (crypto.subtle) {
          const importKey = crypto.subtle.importKey.bind(crypto.subtle);
          crypto.subtle.importKey = (form, key, how, ...more) =>
            how.name === 'Ed25519'
              ? Promise.reject(new DOMException('no such thing', 'NotSupportedError'))
              : importKey(form, key, how, ...more);
        }"""
    )
    page = await person.new_page()
    await page.goto(f"{over.house.address}/#key={HOST_KEY}&replay={over.id}")
    report = await (await desk.seat(page).reach(1)).report()
    assert report["failed"] == []
    assert "cannot check Ed25519" in report["not_yet_possible"][0][1]
    assert "chain" in dict(report["passed"])


async def test_the_log_can_be_taken_along(over: Played, desk: Desk, tmp_path: Path) -> None:
    """What is saved is what `fairdeal verify` reads."""
    seat = await look_back(desk, over)
    async with seat.page.expect_download() as coming:
        await seat.page.get_by_role("button", name="Save the log").click()
    saved = await coming.value
    assert saved.suggested_filename == f"fairdeal-{over.id}.ndjson"
    path = tmp_path / saved.suggested_filename
    await saved.save_as(path)
    done = run("verify", str(path))
    assert done.returncode == 0, done.stdout + done.stderr


async def test_a_forged_receipt_fails(over: Played, desk: Desk) -> None:
    person = await desk.person()

    async def change(route):  # type: ignore[no-untyped-def]
        answer = await route.fetch()
        body = await answer.json()
        body["signature"] = ("B" if body["signature"][0] == "A" else "A") + body["signature"][1:]
        await route.fulfill(response=answer, body=json.dumps(body))

    await person.route("**/receipt", change)
    page = await person.new_page()
    await page.goto(f"{over.house.address}/#key={HOST_KEY}&replay={over.id}")
    report = await (await desk.seat(page).reach(1)).report()
    assert [check for check, _ in report["failed"]] == ["receipt (of the service, now)"]
    assert "signature" in report["failed"][0][1]
