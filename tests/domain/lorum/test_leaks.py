"""Leaks planted in Lorum are found by the worlds that differ in secrets alone."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from domain.actions import Play
from domain.game import Game, Refused
from domain.lorum import decide, legal, views
from domain.lorum.contracts import TRICK_CONTRACTS
from domain.lorum.rules import PACK
from domain.tricks import Passed
from tests.domain.lorum.secrets import LORUM_SECRETS
from tests.domain.test_non_interference import leak
from tests.domain.worlds import as_it_is, pairs, planted

ENOUGH = range(320)
"""So many pairs find every planted leak."""

Plant = Callable[[Game[Any]], Game[Any]]


def a_lone_card_played_by_the_server(state: Any) -> Any:
    """What the rules forbid: it tells that the suit cannot be followed with another card."""
    if state.contract in TRICK_CONTRACTS and state.phase == "playing" and state.on_table:
        found = legal.legal(state, state.to_play)
        if len(found) == 1 and state.options.auto_forced:
            return state.to_play, found[0]
    return legal.forced(state)


def waiting_past_who_cannot_follow(state: Any) -> Any:
    """The next player is not named where they hold none of the suit led."""
    waited = legal.to_act(state)
    return waited if state.hands and state.hands[state.to_play] & state.fits else ()


def a_table_that_counts(state: Any, show: bool) -> Any:
    """A count that follows from the hands: how many players hold a heart."""
    shown = views.table_view(state, show)
    hearts = sum([bool(hand & PACK.suit_masks[2]) for hand in state.hands])
    return msgspec.structs.replace(shown, round=shown.round + hearts)


def a_refusal_that_names_the_holder(turn: Any, seat: int, action: Any) -> None:
    """A card that is not in one's hand is said to be in another's."""
    card = PACK.index.get(action.card) if isinstance(action, Play) else None
    for other, hand in enumerate(turn.state.hands):
        if card is not None and other != seat and hand >> card & 1:
            raise Refused("lorum.not-in-hand", f"seat {other} has it")
    decide.decide(turn, seat, action)


def an_event_more_where_a_suit_is_out(turn: Any, seat: int, action: Any) -> None:
    """An event that follows from the next player's hand."""
    decide.decide(turn, seat, action)
    state = turn.state
    if state.phase == "playing" and not state.hands[state.to_play] & state.fits:
        turn.tell(Passed(seat))


@pytest.mark.parametrize(
    "plant",
    [
        planted(forced=a_lone_card_played_by_the_server),
        planted(to_act=waiting_past_who_cannot_follow),
        planted(table_view=a_table_that_counts),
        planted(decide=a_refusal_that_names_the_holder),
        planted(decide=an_event_more_where_a_suit_is_out),
    ],
    ids=["forced", "to_act", "table", "refusal", "event"],
)
def test_a_planted_leak_is_found(plant: Plant) -> None:
    """architecture, Hidden information: the test is itself tested."""
    assert leak("lorum", ENOUGH, plant) is not None


def test_the_pairs_reach_every_contract() -> None:
    """Else they could not find it there: with every kind of viewer."""
    reached: set[str] = set()
    for pair in pairs("lorum", LORUM_SECRETS, ENOUGH, as_it_is):
        reached.add(pair.viewer.role)
        if len(pair.steps) > 4:
            reached.add(pair.a.tables[0].play.contract)
    assert reached == {
        "seat",
        "spectator",
        "host",
        "hearts",
        "obers",
        "no_tricks",
        "quads",
        "fast_train",
        "hairy_monkey",
        "lorum",
    }
