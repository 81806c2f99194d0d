"""How everyone comes out of a game: places that fit winners, lives and chips, in every game."""

import msgspec
import pytest

from domain.registry import GAMES
from domain.standing import Standing, standings
from domain.table.state import Table
from tests.domain.random_games import steps
from tests.domain.test_every_game import GAMES_EACH


def ends(game: str, number: int) -> Table:
    """The table at the end of a random game."""
    *_, last = steps(game, number)
    return last.decision.table


@pytest.mark.parametrize("game", sorted(GAMES))
def test_places_fit_who_won_and_what_is_left(game: str) -> None:
    for number in range(GAMES_EACH):
        table = ends(game, number)
        found = standings(table)
        if table.status == "abandoned":
            assert found is None
            continue
        assert found is not None
        assert table.result is not None
        winners = set(table.result.winners)
        assert {s.seat for s in found if s.won} == winners
        if winners:
            assert {s.seat for s in found if s.placing == 1} == winners
        for own in found:
            assert own.placing == 1 + sum(better(table, other, own) for other in found)
        assert sum(s.chips for s in found) == -table.game.pot(table.play)


def better(table: Table, one: Standing, other: Standing) -> bool:
    """Whether the first came out before the second, said anew: one comparison after another."""
    if one.won != other.won:
        return one.won
    if one.won:
        return False
    gone = [table.seats[s.seat].resigned for s in (one, other)]
    if gone[0] != gone[1]:
        return gone[1]
    scores = table.game.scores(table.play)
    lives = [scores[s.seat].lives for s in (one, other)]
    if lives[0] is not None and lives[1] is not None:
        if lives[0] != lives[1]:
            return lives[0] > lives[1]
        hands = [out_in(table, s.seat) for s in (one, other)]
        if hands[0] != hands[1]:
            return hands[0] > hands[1]
    return one.chips > other.chips


def out_in(table: Table, seat: int) -> int:
    """The hand in which the seat lost its last life (or the last one, with lives left)."""
    losses = [hand.hand for hand in table.game.hand_scores(table.play) if (hand.lives or ())[seat]]
    left = table.game.scores(table.play)[seat].lives
    return table.hand if left or not losses else losses[-1]


def test_a_game_that_goes_on_has_no_places() -> None:
    first = next(iter(steps("loc", 1)))
    assert standings(first.decision.table) is None


def test_lodam_ranks_by_who_lasted_longer() -> None:
    tables = [ends("lodam", number) for number in range(40)]
    spread = [
        sorted(s.placing for s in found)
        for table in tables
        if (found := standings(table)) is not None and len(table.seats) >= 4
    ]
    assert any(len(set(places)) > 2 for places in spread)


def test_loc_and_lorum_rank_by_chips() -> None:
    table = ends("lorum", 3)
    while table.status == "abandoned" or any(seat.resigned for seat in table.seats):
        table = ends("lorum", table.version)
    found = standings(table)
    assert found is not None
    for one in found:
        for other in found:
            assert (one.chips > other.chips) == (one.placing < other.placing)


def test_a_resigned_player_comes_last_whatever_they_hold() -> None:
    for number in range(400):
        table = ends("loc", number)
        found = standings(table)
        if found is None or not any(seat.resigned for seat in table.seats):
            continue
        left = [s.placing for s in found if table.seats[s.seat].resigned]
        stayed = [s.placing for s in found if not table.seats[s.seat].resigned]
        if stayed and max(s.chips for s in found if table.seats[s.seat].resigned) > 0:
            assert min(left) > max(stayed)
            return
    raise AssertionError("no player resigned who was ahead")


def test_a_shared_win_is_one_place() -> None:
    table = ends("lorum", 3)
    assert table.result is not None
    shared = msgspec.structs.replace(
        table, result=msgspec.structs.replace(table.result, winners=(0, 1))
    )
    if shared.status == "finished":
        found = standings(shared)
        assert found is not None
        assert [s.placing for s in found][:2] == [1, 1]
        assert min(s.placing for s in found[2:]) == 3
