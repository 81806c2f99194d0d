"""Everything has its place on the table: nothing covers anything else, on low screens as well, and
what one chooses from is in sight."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.async_api import Page

from tests.api.running import Json
from tests.browser.table import Desk, House, Played

NAMES = ["Anna", "Bert", "Cleopatra the second", "Dora"]
SEED = "52" * 32

OVERLAPS = """() => {
  const felt = document.querySelector('.felt').getBoundingClientRect();
  const parts = [...document.querySelectorAll(
      '.felt .seat, .felt .middle .card, .felt .slot, .felt .plate p, ' +
      '.felt .plate span:not(.card)')]
    .map((part) => ({part, box: part.getBoundingClientRect(),
      name: `${part.className} ${part.dataset.card ?? part.textContent}`}))
    .filter(({part, box}) => box.width > 2 && !part.classList.contains('unseen'));
  const found = [];
  for (const [i, {part, box, name}] of parts.entries()) {
    if (box.top < felt.top || box.bottom > felt.bottom || box.left < felt.left
        || box.right > felt.right)
      found.push(`${name} is not on the table`);
    for (const other of parts.slice(i + 1)) {
      if (part.contains(other.part) || other.part.contains(part)) continue;
      const wide = Math.min(box.right, other.box.right) - Math.max(box.left, other.box.left);
      const high = Math.min(box.bottom, other.box.bottom) - Math.max(box.top, other.box.top);
      if (wide > 1.5 && high > 1.5) found.push(`${name} and ${other.name}`);
    }
  }
  return found;
}"""

BELOW = """() => [...document.querySelectorAll('.hand .card')]
  .filter((card) => card.getBoundingClientRect().bottom > innerHeight).length"""

BROKEN_HEADINGS = """() => [...document.querySelectorAll('.side thead th')]
  .filter((heading) => {
    const words = document.createRange();
    words.selectNodeContents(heading);
    return words.getClientRects().length > heading.textContent.split(' ').length;
  }).length"""

HIDDEN_SUITS = """() => [...document.querySelectorAll('.hand li')].filter((place) => {
  const sign = [...place.querySelectorAll('.coarse .sign, .fine .sign')]
    .map((one) => one.getBoundingClientRect()).filter(({width}) => width > 0)
    .sort((a, b) => a.left - b.left)[0];
  const next = place.nextElementSibling?.getBoundingClientRect();
  const mine = place.getBoundingClientRect();
  return next && next.top < mine.bottom - 5 && next.left < sign.right - 1;
}).length"""


def _four_suits(view: Json) -> bool:
    layout = view["table"]["layout"]
    return sum(layout[suit] is not None for suit in "ALBH") == 4


def _three_played(view: Json) -> bool:
    table = view["table"]
    return bool(table["trump_turned"]) and len(table["trick"]) == 3


TABLES: dict[str, tuple[str, dict[str, Any], Callable[[Json], bool]]] = {
    "a layout": ("lorum", {"first_contract": 7}, _four_suits),
    "penalties": ("lorum", {"first_contract": 2}, lambda view: len(view["table"]["trick"]) == 3),
    "the bank": ("loc", {}, lambda view: len(view["table"]["shown"]) == 4),
    "a turned trump": ("lodam", {"trading": "off"}, lambda v: v["hand"]["phase"] == "trump_shown"),
    "open trumps": ("lodam", {"trading": "off", "trump": "open"}, _three_played),
    "trading": ("lodam", {}, lambda view: view["hand"]["phase"] == "trading"),
}


def _lead_to(played: Played, there: Callable[[Json], bool]) -> Json:
    """Have everybody take their first choice until a view is as wanted."""
    for _ in range(120):
        view = played.ask(None)
        if there(view):
            return view
        seat = view["to_act"][0]
        played.act(seat, played.ask(seat)["actions"][0])
    raise AssertionError("the game does not get there")


async def _is_in_order(page: Page, size: str) -> None:
    assert await page.evaluate(OVERLAPS) == [], size
    assert await page.evaluate(HIDDEN_SUITS) == 0, size
    assert await page.evaluate(BROKEN_HEADINGS) == 0, size
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth"), size


@pytest.mark.parametrize("table", TABLES)
async def test_nothing_covers_anything(table: str, house: House, desk: Desk) -> None:
    game, rules, there = TABLES[table]
    played = house.game(game, NAMES, rules={**rules, "seed": SEED})
    view = _lead_to(played, there)
    seat = await (await desk.open(played.link(0))).reach(view["version"])
    for width, height in ((360, 740), (800, 900), (1280, 720), (1280, 800), (1600, 900)):
        await seat.page.set_viewport_size({"width": width, "height": height})
        await _is_in_order(seat.page, f"{width} by {height}")
        if width >= 800:
            assert await seat.page.evaluate(BELOW) == 0, f"{width} by {height}"


async def test_long_names_break_no_heading(house: House, desk: Desk) -> None:
    played = house.game("lodam", ["A" * 64, "Bert of the very long name " * 2, "C" * 40])
    seat = await (await desk.open(played.link(0))).reach(played.ask(0)["version"])
    for width, height in ((360, 740), (1280, 720)):
        await seat.page.set_viewport_size({"width": width, "height": height})
        await _is_in_order(seat.page, f"{width} by {height}")


async def test_ten_players_have_room(house: House, desk: Desk) -> None:
    names = [*NAMES, "Eve", "Fritz", "Gusti", "Hans", "Ida", "Jo"]
    played = house.game("lodam", names, rules={"trading": "off", "trump": "open", "seed": SEED})
    view = _lead_to(
        played,
        lambda view: bool(view["table"]["trump_turned"]) and len(view["table"]["trick"]) == 9,
    )
    seat = await (await desk.open(played.link(0))).reach(view["version"])
    for width, height in ((800, 900), (1280, 720), (1600, 900)):
        await seat.page.set_viewport_size({"width": width, "height": height})
        await _is_in_order(seat.page, f"{width} by {height}")
