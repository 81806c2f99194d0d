"""The clock of a turn (contract, `clock`): when the deadline starts, moves and stops."""

from domain.table.commands import Abandon, Clock, Resign
from domain.table.events import ClockStarted
from domain.times import format_at
from tests.builders import new_game
from tests.domain.lodam.words import ANNOUNCE, DECLINE, PASS, RACE, RACE_STOCK, lodam, offer, play
from tests.spec import AT, Given

CLOCK = Clock(turn_seconds=30)
SECOND = 1_000_000


def clocks(story: Given) -> list[str | None]:
    return [event.deadline for event in story.events if isinstance(event, ClockStarted)]


def at(seconds: int) -> int:
    return AT + seconds * SECOND


def deadline(seconds: int) -> str:
    return format_at(at(seconds + 30))


def test_the_clock_starts_with_the_first_turn() -> None:
    """contract, clock: `turn_seconds` from the command that makes the game wait."""
    story = new_game("lodam", 3, clock=CLOCK)
    assert clocks(story) == []  # the server cuts and deals
    assert story.view().deadline is None
    story = story.served()
    assert clocks(story) == [deadline(0)]
    assert story.view().deadline == deadline(0)
    assert story.view().clock == CLOCK


def test_without_a_clock_there_is_none() -> None:
    """contract, clock: optional."""
    story = new_game("lodam", 3, trading="off").served()
    assert clocks(story) == []
    assert story.view().deadline is None


def test_the_next_player_gets_the_whole_time() -> None:
    """contract, clock: each turn anew."""
    story = lodam("AS 2C", "TS 3C", "KS 4C", clock=CLOCK)
    story = story.when(0, play("AS"), at=at(12)).accepted()
    assert clocks(story) == [deadline(12)]
    story = story.when(1, play("TS"), at=at(40)).accepted()
    assert clocks(story) == [deadline(40)]
    assert story.view().deadline == deadline(40)


def test_whoever_takes_the_trick_and_leads_gets_it_anew() -> None:
    """contract, clock: the same seat waited for again after it has acted."""
    story = lodam("KS 2C", "TS 3C", "AS 4C", leader=0, clock=CLOCK).plays("KS TS")
    story = story.when(2, play("AS"), at=at(5)).accepted()
    assert story.to_act in ((1,), (2,))
    assert clocks(story) == [deadline(5)]


def test_another_seats_action_out_of_turn_does_not_move_it() -> None:
    """contract, clock: the time is that of those waited for."""
    story = lodam(*RACE, stock=RACE_STOCK, clock=CLOCK).plays("AS TS KS QS KD QD 2D 3D QH")
    before = story.view().deadline
    story = story.when(0, ANNOUNCE, at=at(20)).accepted()
    assert clocks(story) == []
    assert story.view().deadline == before
    story = story.when(2, Resign(), at=at(21)).accepted()
    assert clocks(story) == []


def test_in_trading_the_clock_follows_who_is_waited_for() -> None:
    """contract, clock: an offer asks something new, and its end again; where several are waited
    for, one who answers or passes gives the others no more time."""
    story = lodam("KS 2C", "QH 3C", "JS 4C", trading="before_play", clock=CLOCK)
    story = story.when(0, offer("coat", "KS"), at=at(1)).accepted()
    assert clocks(story) == [deadline(1)]
    story = story.when(1, DECLINE, at=at(2)).accepted()
    assert clocks(story) == []
    story = story.when(2, DECLINE, at=at(3)).accepted()
    assert clocks(story) == [deadline(3)]
    story = story.when(1, PASS, at=at(4)).accepted()
    assert clocks(story) == []
    assert story.view().deadline == deadline(3)


def test_between_hands_the_clock_stops_until_the_server_has_dealt() -> None:
    """contract, clock: null while nobody is waited for."""
    story = lodam("AS", "TS", "KS", clock=CLOCK).plays("AS TS KS").each(PASS)
    assert clocks(story) == [None]
    assert story.view().deadline is None
    assert clocks(story.served()) == [deadline(0)]


def test_the_clock_stops_with_the_game() -> None:
    """contract, clock: no deadline after the end."""
    story = lodam("AS", "TS", "KS", clock=CLOCK).plays("AS").after((None, Abandon("")))
    assert clocks(story) == []
    assert story.view().deadline is None


def test_the_deadline_of_a_manual_cut_is_the_cutters() -> None:
    """contract, clock; common, Actions: `cut: "manual"`."""
    story = new_game("lodam", 3, clock=CLOCK, cut="manual")
    assert clocks(story) == [deadline(0)]
