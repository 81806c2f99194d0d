"""Bots with a pace (contract, *The log*: `delay_ms`): when they act is a fact of the log."""

from typing import Any

import pytest

from domain.actions import Action
from domain.events import layout
from domain.log import GENESIS, Entry, record
from domain.rederive import derive
from domain.table.commands import Clock, IssueSeatToken, Resign
from domain.table.decide import decide
from domain.table.events import BotTimed, ClockStarted, GameCreated
from domain.table.views import playable_actions
from domain.times import format_at
from tests.builders import new_game
from tests.domain.lodam.words import PASS
from tests.spec import AT, KEY, Given, command

SECOND = 1_000_000


def paced(clock: Clock | None = None, **rules: Any) -> Given:
    """A person at seat 0 and bots with a pace of 800 and of 1,500 ms, their cards dealt."""
    bots = {1: "random", 2: "careful"}
    paces = {1: 800, 2: 1500}
    story = new_game("lodam", 3, bots=bots, paces=paces, clock=clock, first_dealer=2, **rules)
    return story.served()


def timed(story: Given) -> dict[int, int]:
    """Milliseconds after the start by seat, as the last command said."""
    found = {event.seat: event.due for event in story.events if isinstance(event, BotTimed)}
    for seat, due in found.items():
        assert due == format_at(story.table.due[seat])
    return {seat: (story.table.due[seat] - AT) // 1000 for seat in found}


def first_action(story: Given, seat: int) -> Action:
    return playable_actions(story.table, seat)[0]


def test_the_pace_is_a_public_fact() -> None:
    """contract, GameCreated: who sits there and how."""
    created = new_game("lodam", 3, bots={1: "random"}, paces={1: 800}).events[0]
    assert isinstance(created, GameCreated)
    assert b'{"bot":"random","delay_ms":800,"kind":"bot","seat":1}' in layout(GameCreated).data(
        created
    )


def test_without_a_pace_nothing_is_said_of_one() -> None:
    """docs/log.md: `delay_ms` stands with bots that have a pace."""
    story = new_game("lodam", 3, bots={1: "random"})
    assert b"delay_ms" not in layout(GameCreated).data(story.events[0])
    assert "BotTimed" not in story.served().kinds()


def test_every_bot_that_a_command_lets_act_is_timed_from_it() -> None:
    """contract, The log: the time of the command that let them act, plus `delay_ms`."""
    assert timed(paced()) == {1: 800, 2: 1500}  # all may trade, or pass


def test_what_others_do_meanwhile_moves_nobody_s_time() -> None:
    """contract, The log: the command that let them act was an earlier one."""
    story = paced().when(0, PASS, at=AT + SECOND // 2).accepted()
    assert timed(story) == {}
    story = story.when(None, IssueSeatToken(0), at=AT + SECOND // 2).accepted()
    assert timed(story) == {}
    story = story.when(1, PASS, by="bot", at=AT + 800_000).accepted()
    assert timed(story) == {}
    assert story.table.due[2] == AT + 1_500_000


def test_one_bot_after_another_is_timed_from_the_one_before() -> None:
    """contract, The log: a bot's command lets the next one act."""
    story = paced(trading="off")
    assert story.to_act == (0,)
    assert timed(story) == {}
    story = story.when(0, first_action(story, 0), at=AT + SECOND).accepted()
    assert timed(story) == {1: 1800}
    story = story.when(1, first_action(story, 1), by="bot", at=AT + 1_800_000).accepted()
    assert timed(story) == {2: 3300}


def test_the_clock_runs_for_people_alone() -> None:
    """rules, common 5.7: no turn clock runs for a bot with a pace."""
    story = paced(Clock(turn_seconds=1), trading="off")
    assert [type(event) for event in story.events if isinstance(event, ClockStarted)]
    story = story.when(0, first_action(story, 0), at=AT + SECOND // 2).accepted()
    assert story.table.deadline is None
    for seat, at in ((1, 1_300_000), (2, 2_800_000)):
        story = story.when(seat, first_action(story, seat), by="bot", at=AT + at).accepted()
        story = story.served()
    if 0 in story.to_act:
        assert story.table.deadline == AT + 2_800_000 + SECOND


def test_who_has_resigned_is_played_for_without_delay() -> None:
    """rules, common 5.2: a careful bot plays on; a pace is for bots that were set up with one."""
    story = paced().when(0, Resign()).accepted()
    assert not story.table.paced(0)
    assert 0 not in story.table.due


@pytest.mark.parametrize(("early", "why"), [(1, "the bot acts before its time"), (0, None)])
def test_a_log_in_which_a_bot_acts_early_is_found_out(early: int, why: str | None) -> None:
    """contract, verify: re-deriving knows when a bot may act."""
    story = paced(trading="off")
    story = story.when(0, first_action(story, 0), at=AT + SECOND).accepted()
    ask = command(first_action(story, 1), 1, by="bot", at=story.table.due[1] - early)
    entries: list[Entry] = record(decide(story.table, ask), ask, "c", GENESIS, KEY)
    refusal = derive(story.table.id, story.table, tuple(entries)).refusal
    assert (refusal is None) if why is None else (why in str(refusal))
