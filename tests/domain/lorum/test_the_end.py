"""How a game ends: rounds, the pot that is left, the winners (lorum, *End*)."""

import random

import pytest

from domain.ledger import ChipsMoved
from domain.table.events import GameEnded
from tests.builders import new_game
from tests.domain.lorum.words import (
    chips,
    happened,
    lorum,
    moved,
    of_tricks,
    scored,
    tricks,
    won_by,
)
from tests.spec import Given

PLAYED = won_by(0, 1, 2, 3, 0, 1, 2, 3)


def ended(story: Given) -> GameEnded:
    (event,) = happened(story, GameEnded)
    return event


def at_random(seed: int, **rules: object) -> Given:
    """A whole game, every choice drawn."""
    chance = random.Random(seed)
    story = new_game("lorum", 4, **rules)
    while (story := story.served()).view().status == "playing":
        (seat,) = story.to_act
        story = story.after((seat, chance.choice(story.legal(seat))))
    return story


@pytest.mark.parametrize("rounds", [1, 2, 5, 8])
def test_rounds_counts_the_rounds_played(rounds: int) -> None:
    """lorum, End, option `rounds`."""
    story = at_random(1, rounds=rounds)
    assert story.view().table.round == rounds
    assert len(story.table.game.hand_scores(story.table.play)) == rounds


def test_28_rounds_by_default() -> None:
    """lorum: each contract dealt once by each player; the pot is empty, contract 7 being last."""
    story = at_random(2)
    scores = story.table.game.hand_scores(story.table.play)
    assert len(scores) == 28
    assert len({(score.dealer, score.contract) for score in scores}) == 28
    assert story.view().table.pot == 0
    assert sum(chips(story)) == 0
    assert ended(story).reason == "played"


@pytest.mark.parametrize("starting_chips", [0, 1, 1_000_000_000])
def test_balances_start_at_starting_chips(starting_chips: int) -> None:
    """lorum, Cards, option `starting_chips`; balances and pot together stay what they were."""
    story = new_game("lorum", 4, starting_chips=starting_chips)
    assert chips(story) == [starting_chips] * 4
    assert story.view().table.pot == 0
    over = at_random(3, starting_chips=starting_chips, rounds=7)
    assert sum(chips(over)) + over.view().table.pot == 4 * starting_chips


@pytest.mark.parametrize(
    ("pot", "share", "rest"), [(0, 2, 0), (1, 2, 1), (2, 2, 2), (3, 2, 3), (4, 3, 0)]
)
def test_what_is_left_in_the_pot_is_shared_out_equally(pot: int, share: int, rest: int) -> None:
    """lorum, End, ruling: an indivisible rest stays in the pot and is shown. Four takers of two
    tricks each have put 8 chips to what was there."""
    played = won_by(0, 0, 1, 1, 2, 2, 3, 3)
    story = tricks(of_tricks("no_tricks", *played, rounds=1, pot=pot), *played)
    assert moved(story) == [
        ("penalties", (-2, -2, -2, -2), 8),
        ("pot_shared", (share, share, share, share), -4 * share),
    ]
    assert ended(story).pot == rest
    result = story.view().result
    assert result is not None
    assert (result.pot, story.view().table.pot) == (rest, rest)


@pytest.mark.parametrize(("pot", "shared"), [(0, []), (3, []), (4, ["pot_shared"])])
def test_a_pot_too_small_to_share_stays(pot: int, shared: list[str]) -> None:
    """lorum, End, ruling: no payment of nothing; four chips are one each."""
    played = won_by(*[0] * 8)
    story = tricks(of_tricks("no_tricks", *played, rounds=1, pot=pot), *played)
    assert [reason for reason, _, _ in moved(story)] == ["penalties", *shared]
    assert ended(story).pot == pot % 4


def test_the_share_comes_after_the_last_round_s_reckoning() -> None:
    """lorum, End: the round's chips do not hold the share."""
    story = tricks(of_tricks("hairy_monkey", *PLAYED, rounds=1), *PLAYED[:5])
    assert scored(story).chips == (-10, 0, 0, 0)
    assert happened(story, ChipsMoved)[-1] == ChipsMoved("pot_shared", (2, 2, 2, 2), -8)
    assert chips(story) == [-8, 2, 2, 2]
    assert story.kinds()[-2:] == ["ChipsMoved", "GameEnded"]


@pytest.mark.parametrize(
    ("balances", "winners"),
    [
        ((0, 0, 0, 0), (1, 2, 3)),
        ((11, 0, 0, 0), (0,)),
        ((10, 0, 0, 0), (0, 1, 2, 3)),
        ((0, 5, 6, 5), (2,)),
        ((-9, 7, -7, 7), (1, 3)),
    ],
)
def test_most_chips_win_and_equal_balances_share(
    balances: tuple[int, ...], winners: tuple[int, ...]
) -> None:
    """lorum, End. Seat 0 then pays 10 for the king of hearts."""
    four = (balances[0], balances[1], balances[2], balances[3])
    story = tricks(of_tricks("hairy_monkey", *PLAYED, rounds=1, balances=four), *PLAYED[:5])
    assert ended(story).winners == winners
    result = story.view().result
    assert result is not None
    assert (result.winners, result.reason) == (winners, "played")
    assert list(result.balances) == chips(story)
    assert result.lives is None


def test_a_game_that_ends_with_contract_7_has_an_empty_pot() -> None:
    """lorum, End, ruling: there is nothing to share."""
    story = lorum("lorum", "KA", "7A", "8B", "AL", pot=6, rounds=1).plays("KA")
    assert [reason for reason, _, _ in moved(story)] == ["cards_left", "payout"]
    assert ended(story).pot == 0
