"""What every game must fulfil, over random games of each (number: FAIRDEAL_TEST_GAMES)."""

import os
import random
from collections.abc import Iterator

import msgspec
import pytest

from domain import rederive
from domain.actions import Action, Cut, CutChoice
from domain.events import layout
from domain.game import Refused
from domain.hand import SeedRevealed
from domain.log import GENESIS, Entry, chain_breaks, event_view, fold, record
from domain.registry import GAMES
from domain.table.decide import decide, server_command, to_act
from domain.table.events import GameAbandoned, GameCreated, GameEnded
from domain.table.state import EVOLVE, Table, copied, evolve
from domain.table.views import hand_score_views, legal, playable_actions
from domain.visibility import Openings
from tests.domain.random_games import FACTS, Step, any_action, steps
from tests.domain.second_opinion import check_chain, decoded
from tests.spec import command, snapshot

GAMES_EACH = int(os.environ.get("FAIRDEAL_TEST_GAMES", "160"))
"""How many random games of each game."""

BATCH = 20

SCORING = {GameCreated, SeedRevealed, GameEnded, GameAbandoned}
"""Events of every game that change scores, or what everyone may know of them."""

EVERYTHING = Openings(((1, 10**9),))


def test_every_game_says_what_its_tests_need() -> None:
    assert FACTS.keys() == GAMES.keys()


def batches() -> Iterator[tuple[str, range]]:
    for game in GAMES:
        for first in range(0, GAMES_EACH, BATCH):
            yield game, range(first, min(first + BATCH, GAMES_EACH))


@pytest.mark.parametrize(("game", "numbers"), list(batches()))
def test_random_games(game: str, numbers: range) -> None:
    """Each ends; all that every moment, command and log must fulfil holds."""
    for number in numbers:
        try:
            _check_game(game, number)
        except AssertionError as failure:
            raise AssertionError(f"random game {number} of {game}: {failure}") from failure


def _check_game(game: str, number: int) -> None:
    chance = random.Random(number)
    entries: list[Entry] = []
    step: Step | None = None
    for step in steps(game, number):
        table = step.decision.table
        prev = entries[-1].hash if entries else GENESIS
        entries += record(step.decision, step.command, step.command_id, prev, step.key)
        assert len(entries) == table.version
        if step.before is not None:
            _replay_events(game, step)
        if table.status == "playing":
            _check_moment(game, table)
            if chance.random() < 0.02:
                _legal_is_exact(game, table, chance)
    assert step is not None
    end = step.decision.table
    assert end.status in ("finished", "abandoned")
    assert end.result is not None
    _check_log(end, entries, chance)


def _replay_events(game: str, step: Step) -> None:
    """evolve never raises on what was decided, and yields the decided table; each event keeps the
    chips together, and the cards of a dealt hand."""
    assert step.before is not None
    after = copied(step.before)
    chips = _chips(after)
    for event in step.decision.events:
        before = copied(after)
        evolve(after, event)
        assert _chips(after) == chips, f"chips are lost with {event}"
        FACTS[game].account(before, after, event)
        if type(event) not in SCORING | after.game.scoring:
            assert _known_scores(after) == _known_scores(before), f"{event} changes the scores"
    assert after == step.decision.table


def _known_scores(table: Table) -> object:
    return table.game.scores(table.play), hand_score_views(table)


def _chips(table: Table) -> int:
    scores = table.game.scores(table.play)
    return sum([score.chips for score in scores]) + table.game.pot(table.play)


def _check_moment(game: str, table: Table) -> None:
    if table.dealt:
        cards = FACTS[game].cards(table.play)
        assert sorted(cards) == list(range(len(table.game.pack))), "cards are lost or doubled"
    waited = to_act(table)
    assert len(waited) == len(set(waited))
    assert bool(waited) != (server_command(table) is not None), "nobody or too many to act"
    for seat in waited:
        assert playable_actions(table, seat), f"{seat} is waited for and can do nothing"


def _legal_is_exact(game: str, table: Table, chance: random.Random) -> None:
    """Every listed action is accepted, no other is, and none changes the table."""
    before = snapshot(table)
    for seat in range(len(table.seats)):
        listed = legal(table, seat)
        assert len(set(map(repr, listed))) == len(listed), "an action is listed twice"
        for action in listed:
            for ask in _spelled_out(action):
                decide(table, command(ask, seat))
        for _ in range(12):
            action = any_action(game, chance)
            if not _is_listed(action, listed):
                refusal = _refusal(table, seat, action)
                assert refusal is not None, f"{seat} {action} is not listed, but accepted"
                assert refusal.rule.partition(".")[0] in ("common", game)
    assert snapshot(table) == before, "an action tried or refused changed the table"


def _spelled_out(action: Action) -> list[Action]:
    if isinstance(action, CutChoice):
        return [Cut(at=at) for at in range(action.at.min, action.at.max + 1)]
    return [action]


def _is_listed(action: Action, listed: list[Action]) -> bool:
    if isinstance(action, Cut):
        return any(
            isinstance(choice, CutChoice) and choice.at.min <= action.at <= choice.at.max
            for choice in listed
        )
    return action in listed


def _refusal(table: Table, seat: int, action: Action) -> Refused | None:
    try:
        decide(table, command(action, seat))
    except Refused as refusal:
        return refusal
    return None


def _check_log(end: Table, entries: list[Entry], chance: random.Random) -> None:
    """The recorded log folds to the live table, from the start and from the middle; its chain
    holds, by this code and by code that shares nothing with it; the recorded actions yield it
    again."""
    assert fold(end.id, entries) == end
    middle = chance.randint(1, len(entries))
    assert fold(end.id, entries[middle:], fold(end.id, entries[:middle])) == end
    assert chain_breaks(end.id, entries) is None
    if chance.random() < 0.3:
        derived = list(rederive.steps(end.id, entries))
        assert [found for step in derived for found in rederive.differences(step)] == []
        assert derived[-1].after == end
    if chance.random() < 0.2:
        shown = [event_view(end.id, entry, None, EVERYTHING) for entry in entries]
        check_chain([decoded(msgspec.json.encode(event)) for event in shown])
    if chance.random() < 0.2:
        closed = [event_view(end.id, entry, 0, Openings()) for entry in entries]
        check_chain([decoded(msgspec.json.encode(event)) for event in closed])


@pytest.mark.parametrize("game", list(GAMES))
def test_every_event_of_a_game_is_applied(game: str) -> None:
    """Each type of its list either has a handler or only moves what lies open on the table."""
    for kind in GAMES[game].events:
        if kind not in GAMES[game].evolve:
            assert kind in EVOLVE, f"{kind.__name__} does nothing"


@pytest.mark.parametrize("game", list(GAMES))
def test_every_event_happens_in_random_games(game: str) -> None:
    """The random games are rich enough: each event type and each action of the game occurs."""
    happened: set[type] = set()
    asked: set[type] = set()
    for number in range(400):
        for step in steps(game, number):
            happened.update(map(type, step.decision.events))
            asked.add(type(step.command.ask))
        if happened.issuperset(GAMES[game].events) and asked.issuperset(GAMES[game].actions):
            break
    assert not set(GAMES[game].events) - happened
    assert not set(GAMES[game].actions) - asked


@pytest.mark.parametrize("game", list(GAMES))
def test_no_event_of_a_game_is_public_without_saying_so(game: str) -> None:
    """Default deny: a field without a declared audience is sealed for nobody; none is."""
    for kind in GAMES[game].events:
        assert not any(field.wrapped for field in layout(kind).sealed)
