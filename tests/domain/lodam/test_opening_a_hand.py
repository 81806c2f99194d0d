"""When a hand's hidden cards and seed are shown (common, *Who sees what*, option `disclosure`)."""

import hashlib

import pytest

from domain.hand import HandStarted, SeedRevealed
from domain.table.commands import Abandon
from domain.table.state import Table
from domain.table.views import View, view
from domain.visibility import SPECTATOR, Viewer
from tests.builders import new_game
from tests.domain.lodam.words import PASS, SEE, TAKE, lodam
from tests.spec import Given

HANDS = ("AS 2C", "3H 3C", "KS 4C")
STOCK = "9H 9C"


def trick_two(disclosure: str, lives: tuple[int, int, int] = (3, 3, 3)) -> Given:
    story = lodam(*HANDS, stock=STOCK, disclosure=disclosure, lives=lives)
    return story.plays("AS 3H").each(SEE).plays("KS").after((0, TAKE)).plays("2C 3C 4C")


def revealed(story: Given) -> list[SeedRevealed]:
    return [event for event in story.events if isinstance(event, SeedRevealed)]


def as_of(then: Table, now: Table, seat: int | None) -> View:
    viewer = SPECTATOR if seat is None else Viewer("seat", seat)
    return view(then, viewer, now.openings)


def test_after_hand_opens_the_hand_when_it_is_over() -> None:
    """common, Who sees what: the default; `SeedRevealed` with the versions that are now open."""
    before = trick_two("after_hand")
    first = next(iter(before.table.unopened)).first
    after = before.each(PASS)
    (event,) = revealed(after)
    scored_at = after.table.version - 2
    assert event == SeedRevealed(1, "00" * 32, (first, scored_at))
    assert [record.hand for record in after.table.unopened] == [2]


def test_the_seed_fits_the_commitment() -> None:
    """common, The deal, step 6: anyone can now recompute the whole deal."""
    story = new_game("lodam", 3).served()
    commitment = story.view().hand.commitment  # type: ignore[union-attr]
    (event,) = revealed(story.after((None, Abandon("enough"))))
    assert hashlib.sha256(bytes.fromhex(event.server_seed)).hexdigest() == commitment


@pytest.mark.parametrize("seat", [0, 1, 2, None])
def test_an_opened_hand_shows_everything_of_each_of_its_moments(seat: int | None) -> None:
    """common, Who sees what: its hidden cards are shown to everyone; contract, at/{version}."""
    middle = lodam(*HANDS, stock=STOCK).plays("AS 3H").each(SEE)
    closed = as_of(middle.table, middle.table, seat)
    assert closed.opened is None
    assert closed.table.trump is None
    after = middle.plays("KS").after((0, TAKE)).plays("2C 3C 4C").each(PASS)
    opened = as_of(middle.table, after.table, seat)
    assert opened.opened is not None
    assert opened.opened.hands == (("2C",), ("3C",), ("4C", "KS"))
    assert opened.opened.stock == ("9H", "9C")
    assert opened.opened.turned == "9H"


@pytest.mark.parametrize("seat", [0, 1, None])
def test_the_new_hand_is_closed(seat: int | None) -> None:
    """common, Who sees what: only the hand that is over."""
    after = trick_two("after_hand").each(PASS).served()
    assert after.view(seat).opened is None


def test_after_game_opens_nothing_before_the_end() -> None:
    """common, Who sees what: `disclosure: "after_game"`."""
    story = trick_two("after_game").each(PASS)
    assert revealed(story) == []
    assert [record.hand for record in story.table.unopened] == [1, 2]
    assert story.table.openings.ranges == ()


@pytest.mark.parametrize("seat", [0, 1, 2, None])
def test_until_then_an_earlier_hand_stays_hidden(seat: int | None) -> None:
    """common, Who sees what: "until the hand is over" means until it is opened."""
    middle = lodam(*HANDS, stock=STOCK, disclosure="after_game").plays("AS 3H").each(SEE)
    after = middle.plays("KS").after((0, TAKE)).plays("2C 3C 4C").each(PASS)
    seen = as_of(middle.table, after.table, seat)
    assert seen.opened is None
    assert seen.table.trump is None


def test_after_game_opens_all_hands_when_the_game_ends() -> None:
    """common, Who sees what: every hand, each with its own seed and versions."""
    second = trick_two("after_game", (1, 3, 1)).each(PASS).served()
    assert second.table.hand == 2
    ended = second.after((None, Abandon("enough")))
    events = revealed(ended)
    assert [event.hand for event in events] == [1, 2]
    one, two = events
    assert one.opens[1] == two.opens[0] - 1
    assert two.server_seed == second.table.server_seed.hex()
    assert ended.table.unopened == ()


def test_the_turned_trump_of_an_open_hand_is_gathered_with_it() -> None:
    """contract, The log: `"table"` while it lies face up, then nobody until opened."""
    shown = lodam(
        "AS 2C", "3H 3C", "KS 4C", stock=STOCK, trump="open", disclosure="after_game"
    ).plays("AS 3H")
    assert as_of(shown.table, shown.table, None).table.trump == "H"
    over = shown.plays("KS 3C 4C 2C").each(PASS)
    assert over.table.hand == 2
    assert as_of(shown.table, over.table, None).table.trump is None


def test_a_hand_starts_in_the_same_step_as_the_last_one_ends() -> None:
    """common, Actions: there is no pause between hands; they count from 1."""
    story = trick_two("after_hand").each(PASS)
    started = story.events[-1]
    assert isinstance(started, HandStarted)
    assert started.hand == 2
