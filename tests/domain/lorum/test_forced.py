"""What the server does by itself, exactly (lorum, *Shedding contracts*; common, *Actions*)."""

import random

import msgspec
import pytest

from domain.actions import Action, Pass
from domain.log import shapes
from domain.lorum.contracts import ContractName
from domain.table.commands import By
from domain.table.decide import decide, server_command, to_act
from domain.table.state import Table
from tests.builders import new_game
from tests.domain.lorum.words import PASS, lorum, play
from tests.spec import Given, command


def first_record(table: Table, action: Action, seat: int, by: By | None, forced: bool) -> object:
    """`data.action` as the log has it."""
    ask = command(action, seat, by=by, forced=forced)
    shape = shapes(decide(table, ask), ask)[0]
    return msgspec.json.decode(shape.data)["action"]


def dealt(story: Given) -> Given:
    """The story once the server has cut and dealt, forced actions apart."""
    while story.table.stage in ("cutting", "dealing"):
        own = server_command(story.table)
        assert own is not None
        assert not own[2]
        story = story.apply(command(own[1], own[0], by="server"))
    return story


def test_the_log_says_that_it_was_forced() -> None:
    """common, Actions: `forced: true`, and that the server did it."""
    story = lorum("quads", "UA 7B", "OA 9H", "KA 9B", "AA TL").plays("UA")
    assert first_record(story.table, play("OA"), 1, "server", True) == {
        "by": "server",
        "card": "OA",
        "forced": True,
        "type": "play",
    }
    story = lorum("lorum", "UA 7B", "OA 9H", "KA 9B", "AA TL").plays("UA")
    assert first_record(story.table, PASS, 3, "server", True) == {
        "by": "server",
        "forced": True,
        "type": "pass",
    }


def test_a_player_s_own_play_is_not_called_forced() -> None:
    """common, Actions: without `auto_forced` the player makes it."""
    story = lorum("quads", "UA 7B", "OA 9H", "KA 9B", "AA TL", auto_forced=False).plays("UA")
    assert first_record(story.table, play("OA"), 1, None, False) == {"card": "OA", "type": "play"}


@pytest.mark.parametrize("number", range(6))
def test_exactly_the_continuations_and_the_passes_are_forced(number: int) -> None:
    """lorum, Shedding contracts: nothing else, and everything of the kind."""
    chance = random.Random(number)
    story = new_game("lorum", 4, rounds=7)
    seen = set()
    while (story := dealt(story)).view().status == "playing":
        contract = story.view().table.contract
        own = server_command(story.table)
        if own is None:
            (seat,) = story.to_act
            action = chance.choice(story.legal(seat))
            assert not isinstance(action, Pass)
            assert contract != "quads" or not story.view().table.run
            story = story.after((seat, action))
        else:
            holder, action, forced = own
            assert holder is not None
            assert forced
            assert story.legal(holder) == [action]
            seen.add((contract, "pass" if isinstance(action, Pass) else "continuation"))
            story = story.apply(command(action, holder, by="server", forced=True))
    assert seen == {("quads", "continuation"), ("fast_train", "pass"), ("lorum", "pass")}


@pytest.mark.parametrize("contract", ["quads", "fast_train", "lorum"])
def test_without_auto_forced_the_player_is_waited_for(contract: ContractName) -> None:
    """common, Actions; lorum, Quads, ruling."""
    hands = ("UA 7B 8B", "OA 9H", "KA 9B", "AA TL")
    with_it = lorum(contract, *hands).plays("UA")
    without = lorum(contract, *hands, auto_forced=False).plays("UA")
    assert with_it.to_act == ()
    own = server_command(with_it.table)
    assert own is not None
    assert without.to_act == (own[0],)
    assert own[0] is not None
    assert without.legal(own[0]) == [own[1]]
    assert server_command(without.table) is None


def test_a_game_is_the_same_whoever_makes_the_forced_actions() -> None:
    """common, Actions: `auto_forced` decides who acts, not what happens."""
    cards = []
    for auto_forced in (True, False):
        chance = random.Random(5)
        story: Given = new_game("lorum", 4, auto_forced=auto_forced, rounds=7, first_dealer=0)
        events = list(story.events[1:])
        while story.view().status == "playing":
            own = server_command(story.table)
            if own is None:
                seat = to_act(story.table)[0]
                legal = story.legal(seat)
                compulsory = isinstance(legal[0], Pass) or (
                    story.table.play.contract == "quads" and story.table.play.on_table
                )
                action = legal[0] if compulsory else chance.choice(legal)
                story = story.after((seat, action))
            else:
                story = story.apply(command(own[1], own[0], by="server", forced=own[2]))
            events += story.events
        cards.append(events)
    assert cards[0] == cards[1]
