"""Leaks planted in Loc are found by the worlds that differ in secrets alone (architecture, *Hidden
information*), and the worlds reach what could leak."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from domain import log
from domain.events import Event, Layout, SealedField
from domain.game import Game
from domain.loc import decide, legal, rules, views
from domain.loc.events import BetPlaced, CardDiscarded, CardLaid
from domain.visibility import ALL_TEXT
from tests.domain.loc.secrets import LOC_SECRETS
from tests.domain.test_non_interference import leak
from tests.domain.worlds import as_it_is, pairs, planted

ENOUGH = 240
"""So many pairs find every leak planted here."""

Plant = Callable[[pytest.MonkeyPatch], Callable[[Game[Any]], Game[Any]]]


def test_the_pairs_reach_what_matters() -> None:
    """Other cards discarded and laid in the two worlds, seen by each kind of viewer, also while a
    hand is over and not opened."""
    reached: set[str] = set()
    for pair in pairs("loc", LOC_SECRETS, range(ENOUGH), as_it_is):
        reached.add(pair.viewer.role)
        if pair.a.table.hand > 1:
            reached.add("a hand over and not opened")
        for step in pair.steps:
            for one, other in zip(pair.a.events[step], pair.b.events[step], strict=True):
                if isinstance(one, CardDiscarded | CardLaid) and one != other:
                    reached.add(type(one).__name__)
    assert reached == {
        "seat",
        "spectator",
        "host",
        "a hand over and not opened",
        "CardDiscarded",
        "CardLaid",
    }


def the_card_in_the_record(patch: pytest.MonkeyPatch) -> Callable[[Game[Any]], Game[Any]]:
    def leaking(command: Any, _: Any) -> bytes:
        return msgspec.json.encode(command.ask)

    patch.setattr(log, "recorded_action", leaking)
    return as_it_is


def a_laid_card_for_all(patch: pytest.MonkeyPatch) -> Callable[[Game[Any]], Game[Any]]:
    return _for_all(patch, CardLaid)


def a_discard_for_all(patch: pytest.MonkeyPatch) -> Callable[[Game[Any]], Game[Any]]:
    return _for_all(patch, CardDiscarded)


def _for_all(patch: pytest.MonkeyPatch, kind: type[Event]) -> Callable[[Game[Any]], Game[Any]]:
    audience = Layout._audience

    def leaking(self: Layout, event: Event, field: SealedField) -> str:
        return ALL_TEXT if isinstance(event, kind) else audience(self, event, field)

    patch.setattr(Layout, "_audience", leaking)
    return as_it_is


def an_event_for_a_discarded_taker(
    patch: pytest.MonkeyPatch,
) -> Callable[[Game[Any]], Game[Any]]:
    def leaking(turn: Any, seat: int, action: Any) -> None:
        decide.discard(turn, seat, action)
        if LOC_SECRETS.kinds(action.card) == "taker":
            turn.tell(BetPlaced(seat, 0, "trick", True))

    patch.setattr(decide, "_DECIDE", {**decide._DECIDE, decide.Discard: leaking})
    return as_it_is


def laid_in_the_order_of_the_cards(_: pytest.MonkeyPatch) -> Callable[[Game[Any]], Game[Any]]:
    def leaking(state: Any, show: bool) -> Any:
        table = views.table_view(state, show)
        order = sorted(table.laid, key=lambda seat: state.laid[seat] or state.discards[seat])
        return msgspec.structs.replace(table, laid=tuple(order))

    return planted(table_view=leaking)


def the_winning_chips_before_the_showing(_: pytest.MonkeyPatch) -> Callable[[Game[Any]], Game[Any]]:
    def leaking(state: Any, show: bool) -> Any:
        table = views.table_view(state, show)
        laid = [(seat, card) for seat, card in enumerate(state.laid) if card is not None]
        return msgspec.structs.replace(table, highest=rules.highest(laid)[0]) if laid else table

    return planted(table_view=leaking)


def actions_by_what_another_has_laid(_: pytest.MonkeyPatch) -> Callable[[Game[Any]], Game[Any]]:
    def leaking(state: Any, seat: int) -> Any:
        found = legal.legal(state, seat)
        hidden = sum([card for card in (*state.discards, *state.laid) if card is not None])
        return found[1:] if hidden % 2 and len(found) > 1 else found

    return planted(legal=leaking)


def waiting_by_hidden_cards(_: pytest.MonkeyPatch) -> Callable[[Game[Any]], Game[Any]]:
    def leaking(state: Any) -> Any:
        return tuple(sorted(state.awaited, key=lambda seat: state.hands[seat]))

    return planted(to_act=leaking)


PLANTS: tuple[Plant, ...] = (
    the_card_in_the_record,
    a_laid_card_for_all,
    a_discard_for_all,
    an_event_for_a_discarded_taker,
    laid_in_the_order_of_the_cards,
    the_winning_chips_before_the_showing,
    actions_by_what_another_has_laid,
    waiting_by_hidden_cards,
)


@pytest.mark.parametrize("plant", PLANTS)
def test_a_planted_leak_is_found(plant: Plant, monkeypatch: pytest.MonkeyPatch) -> None:
    """architecture, Hidden information: the test is itself tested."""
    assert leak("loc", range(ENOUGH), plant(monkeypatch)) is not None
