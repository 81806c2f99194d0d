"""Nobody is told more than they may know: worlds that differ only in that look alike to them, and
each of a dozen leaks planted on purpose is found."""

import os
from collections.abc import Callable, Iterator
from hashlib import sha256
from typing import Any

import msgspec
import pytest

from domain import log, visibility
from domain.cards import by_card
from domain.events import Event, Layout, SealedField
from domain.game import Game, Refused
from domain.lodam import decide, legal, rules, views
from domain.lodam.events import ChallengeDecided, TradeConcluded, TradeOffered
from domain.registry import GAMES
from domain.table import views as table_views
from domain.tricks import Passed, TrickTaken
from domain.visibility import ALL_TEXT, TABLE_TEXT, Openings
from tests.domain.loc.secrets import LOC_SECRETS
from tests.domain.lodam.secrets import LODAM_SECRETS, covered
from tests.domain.lorum.secrets import LORUM_SECRETS
from tests.domain.worlds import OwnActionRefused, Secrets, as_it_is, difference, pairs, planted

PAIRS_EACH = 4 * int(os.environ.get("FAIRDEAL_TEST_GAMES", "160"))
"""How many pairs of worlds of each game."""

BATCH = 40

ENOUGH = 640
"""So many pairs find every planted leak."""

SECRETS: dict[str, Secrets] = {
    "lodam": LODAM_SECRETS,
    "lorum": LORUM_SECRETS,
    "loc": LOC_SECRETS,
}


def test_every_game_says_what_it_shows() -> None:
    assert SECRETS.keys() == GAMES.keys()


@pytest.mark.parametrize("first", range(0, PAIRS_EACH, BATCH))
@pytest.mark.parametrize("game", list(GAMES))
def test_worlds_that_differ_in_secrets_alone_look_alike(game: str, first: int) -> None:
    """architecture, Hidden information; common, Who sees what."""
    assert leak(game, range(first, min(first + BATCH, PAIRS_EACH))) is None


def leak(
    game: str, numbers: range, plant: Callable[[Game[Any]], Game[Any]] = as_it_is
) -> str | None:
    """The first difference that a viewer could see in these pairs of worlds."""
    try:
        for pair in pairs(game, SECRETS[game], numbers, plant):
            found = difference(pair)
            if found is not None:
                return f"{pair.viewer} {pair.swap}\n{found}"
    except OwnActionRefused as refusal:
        return str(refusal)
    return None


def test_the_pairs_reach_what_matters() -> None:
    """Else they could not find it: tricks swallowed in one world alone, trumps that differ, traded
    cards exchanged, every kind of viewer, and hands opened together at the end of the game."""
    reached: set[str] = set()
    for pair in pairs("lodam", LODAM_SECRETS, range(ENOUGH), as_it_is):
        reached.add(pair.viewer.role)
        if pair.a.table.hand > 1:
            reached.add("a hand over and not opened")
        if covered(pair.a) & set(pair.swap):
            reached.add("another trump")
        for step in pair.steps:
            for one, other in zip(pair.a.events[step], pair.b.events[step], strict=True):
                if isinstance(one, TrickTaken) and one != other:
                    reached.add("swallowed in one world")
                if isinstance(one, TradeConcluded) and one != other:
                    reached.add("another card traded")
                if isinstance(one, TradeOffered) and one != other:
                    reached.add("another card offered")
                if isinstance(one, ChallengeDecided):
                    reached.add("a challenge")
    assert reached == {
        "seat",
        "spectator",
        "host",
        "a hand over and not opened",
        "another trump",
        "swallowed in one world",
        "another card traded",
        "another card offered",
        "a challenge",
    }


Plant = Callable[[pytest.MonkeyPatch], Callable[[Game[Any]], Game[Any]]]


def an_event_more_for_a_swallow(patch: pytest.MonkeyPatch) -> Callable[[Game[Any]], Game[Any]]:
    give = decide._give

    def leaking(turn: Any, taker: int, rightful: int) -> None:
        give(turn, taker, rightful)
        if rightful != taker:
            turn.tell(Passed(taker))

    patch.setattr(decide, "_give", leaking)
    return as_it_is


def a_part_only_where_swallowed(patch: pytest.MonkeyPatch) -> Callable[[Game[Any]], Game[Any]]:
    parts = Layout.parts

    def leaking(self: Layout, event: Event) -> Iterator[tuple[str, bytes]]:
        return iter([part for part in parts(self, event) if part[1] != b'{"swallowed":false}'])

    patch.setattr(Layout, "parts", leaking)
    return as_it_is


def parts_in_the_order_of_what_they_hide(
    patch: pytest.MonkeyPatch,
) -> Callable[[Game[Any]], Game[Any]]:
    parts = Layout.parts

    def leaking(self: Layout, event: Event) -> Iterator[tuple[str, bytes]]:
        return iter(sorted(parts(self, event), key=lambda part: part[1]))

    patch.setattr(Layout, "parts", leaking)
    return as_it_is


def a_command_id_from_the_request(patch: pytest.MonkeyPatch) -> Callable[[Game[Any]], Game[Any]]:
    record = log.record

    def leaking(decision: Any, command: Any, _: str, prev: bytes, key: bytes) -> Any:
        return record(decision, command, sha256(repr(command.ask).encode()).hexdigest(), prev, key)

    patch.setattr(log, "record", leaking)
    return as_it_is


def a_secret_parameter_in_the_record(
    patch: pytest.MonkeyPatch,
) -> Callable[[Game[Any]], Game[Any]]:
    def leaking(command: Any, _: Any) -> bytes:
        return msgspec.json.encode(command.ask)

    patch.setattr(log, "recorded_action", leaking)
    return as_it_is


def a_refusal_that_says_more(patch: pytest.MonkeyPatch) -> Callable[[Game[Any]], Game[Any]]:
    def leaking(state: Any, seat: int) -> None:
        must_decide(state, seat)

    def must_decide(state: Any, seat: int) -> None:
        if state.phase != "taking":
            raise Refused("lodam.phase", f"no trick lies on the table, trump {state.trump}")

    patch.setattr(decide, "_must_decide", leaking)
    return as_it_is


def a_refusal_by_anothers_hand(_: pytest.MonkeyPatch) -> Callable[[Game[Any]], Game[Any]]:
    def leaking(turn: Any, seat: int, action: Any) -> None:
        index = rules.PACK.index.get(getattr(action, "card", ""))
        if index is not None and not any(hand >> index & 1 for hand in turn.state.hands):
            raise Refused("lodam.not-in-hand", "nobody has that card")
        decide.decide(turn, seat, action)

    return planted(decide=leaking)


def a_count_of_hidden_cards(_: pytest.MonkeyPatch) -> Callable[[Game[Any]], Game[Any]]:
    def leaking(state: Any, show: bool) -> Any:
        shown = views.table_view(state, show)
        loaders = rules.points_of(state.stock)
        return msgspec.structs.replace(shown, stock=shown.stock + loaders)

    return planted(table_view=leaking)


def an_audience_widened(patch: pytest.MonkeyPatch) -> Callable[[Game[Any]], Game[Any]]:
    audience = Layout._audience

    def leaking(self: Layout, event: Event, field: SealedField) -> str:
        if field.audience.kind == "seats":
            return ALL_TEXT
        return audience(self, event, field)

    patch.setattr(Layout, "_audience", leaking)
    return as_it_is


def swallowed_in_what_has_gone(_: pytest.MonkeyPatch) -> Callable[[Game[Any]], Game[Any]]:
    def leaking(state: Any) -> Any:
        last = [trick for tricks in state.taken for trick in tricks if trick.trick == state.tricks]
        if state.previous is None or not any(trick.swallowed for trick in last):
            return state.previous
        return msgspec.structs.replace(state.previous, taker=None)

    return planted(previous=leaking)


def the_trump_left_on_view(_: pytest.MonkeyPatch) -> Callable[[Game[Any]], Game[Any]]:
    def leaking(state: Any, show: bool) -> Any:
        shown = views.table_view(state, show)
        trump = None if state.trump is None else rules.PACK.suits[state.trump]
        return msgspec.structs.replace(shown, trump=trump)

    return planted(table_view=leaking)


def the_trump_in_an_earlier_view(patch: pytest.MonkeyPatch) -> Callable[[Game[Any]], Game[Any]]:
    patch.setattr(table_views, "_still_face_up", lambda table, now: True)
    return as_it_is


def the_covered_trump_in_the_log(patch: pytest.MonkeyPatch) -> Callable[[Game[Any]], Game[Any]]:
    may = visibility.entitled

    def leaking(audience: str, version: int, seat: int | None, now: Openings) -> bool:
        return audience == TABLE_TEXT or may(audience, version, seat, now)

    patch.setattr(log, "entitled", leaking)
    return as_it_is


def legal_actions_by_anothers_hand(_: pytest.MonkeyPatch) -> Callable[[Game[Any]], Game[Any]]:
    def leaking(state: Any, seat: int) -> Any:
        found = legal.legal(state, seat)
        others = [hand for other, hand in enumerate(state.hands) if other != seat]
        points = sum(
            [rules.points_of(rules.PACK.read(by_card(rules.PACK.cards, hand))) for hand in others]
        )
        return found[1:] if points % 2 else found

    return planted(legal=leaking)


def nobody_names_who_cannot_have_trumped(
    patch: pytest.MonkeyPatch,
) -> Callable[[Game[Any]], Game[Any]]:
    def leaking(state: Any, seat: int) -> list[int]:
        if seat in state.take_only:
            return []
        return sorted([p for p, card in state.trick if rules.PACK.suit_of[card] == state.trump])

    patch.setattr(legal, "nameable", leaking)
    patch.setattr(decide, "nameable", leaking)
    return as_it_is


def a_hand_opened_early(patch: pytest.MonkeyPatch) -> Callable[[Game[Any]], Game[Any]]:
    patch.setattr(Openings, "opened", lambda self, version: True)
    return as_it_is


def waiting_only_for_who_can_trade(_: pytest.MonkeyPatch) -> Callable[[Game[Any]], Game[Any]]:
    tradable = rules.KIND_MASKS["coat"] | rules.KIND_MASKS["card"]

    def leaking(state: Any) -> Any:
        waited = legal.to_act(state)
        if state.phase != "trading":
            return waited
        return tuple([seat for seat in waited if state.hands[seat] & tradable])

    return planted(to_act=leaking)


def waiting_only_where_trumped(_: pytest.MonkeyPatch) -> Callable[[Game[Any]], Game[Any]]:
    def leaking(state: Any) -> Any:
        if state.phase != "taking":
            return legal.to_act(state)
        rightful = rules.rightful_taker(state.trick, state.trump, state.strength)
        return () if rightful == legal.decider(state) else legal.to_act(state)

    return planted(to_act=leaking)


PLANTS: tuple[Plant, ...] = (
    an_event_more_for_a_swallow,
    a_part_only_where_swallowed,
    parts_in_the_order_of_what_they_hide,
    a_command_id_from_the_request,
    a_secret_parameter_in_the_record,
    a_refusal_that_says_more,
    a_refusal_by_anothers_hand,
    a_count_of_hidden_cards,
    an_audience_widened,
    swallowed_in_what_has_gone,
    the_trump_left_on_view,
    the_trump_in_an_earlier_view,
    the_covered_trump_in_the_log,
    legal_actions_by_anothers_hand,
    nobody_names_who_cannot_have_trumped,
    a_hand_opened_early,
    waiting_only_for_who_can_trade,
    waiting_only_where_trumped,
)


@pytest.mark.parametrize("plant", PLANTS)
def test_a_planted_leak_is_found(plant: Plant, monkeypatch: pytest.MonkeyPatch) -> None:
    """architecture, Hidden information: the test is itself tested."""
    assert leak("lodam", range(ENOUGH), plant(monkeypatch)) is not None
