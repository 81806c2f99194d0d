"""Resigning and abandoning (common, *Leaving*; lorum, *End*)."""

import pytest

from domain.hand import PlayerResigned
from domain.table.commands import Abandon, By, Resign
from domain.table.events import GameEnded
from tests.builders import new_game
from tests.domain.lorum.words import happened, lorum, of_tricks, play, won_by
from tests.spec import AT, Given, command

RESIGN = Resign()

PLAYED = won_by(0, 1, 2, 3, 0, 1, 2, 3)
"""Seat 0 takes the king of hearts with the fifth trick."""

Balances = tuple[int, int, int, int]


def bots_play(story: Given, *played: str) -> Given:
    """Tricks (cards by seat), the bot acting for those who have resigned."""
    for trick in played:
        for _ in range(4):
            (seat,) = story.to_act
            by: By | None = "bot" if story.table.seats[seat].resigned else None
            story = story.apply(command(play(trick.split()[seat]), seat, by=by, at=AT))
    return story


def last_round(balances: Balances, *resigned: int) -> GameEnded:
    """The end of a game whose last round is the hairy monkey, with these resignations."""
    story = of_tricks("hairy_monkey", *PLAYED, rounds=1, balances=balances)
    story = story.after(*[(seat, RESIGN) for seat in resigned])
    story = bots_play(story, *PLAYED[:5])
    result = story.view().result
    assert result is not None
    assert result.resigned == tuple(sorted(resigned))
    assert result.reason == happened(story, GameEnded)[0].reason
    return happened(story, GameEnded)[0]


def test_a_careful_bot_plays_on() -> None:
    """common, Leaving: nobody is out, and the player themselves acts no more."""
    story = lorum("no_tricks", "7A 8A", "9A 9H", "TA TH", "UA UH")
    after = story.when(0, RESIGN).then(PlayerResigned(0))
    assert after.table.bot_at(0) == "careful"
    assert after.to_act == (0,)
    assert [seat.still_in for seat in after.view().seats] == [True] * 4
    assert after.legal(0) == []
    after.when(0, play("7A")).refused("common.resigned")
    after.when(0, RESIGN).refused("common.resigned")
    after.when(0, play("7A"), by="bot").accepted()


def test_the_game_goes_on_to_its_last_round() -> None:
    """common, Leaving, Lorum: the bot plays to the end, not to the end of the round."""
    story = of_tricks("hairy_monkey", *PLAYED).after((0, RESIGN), (1, RESIGN), (2, RESIGN))
    story = bots_play(story, *PLAYED[:5]).served()
    assert story.view().status == "playing"
    assert story.view().table.contract == "lorum"
    assert [seat.resigned for seat in story.view().seats] == [True, True, True, False]


@pytest.mark.parametrize(
    ("balances", "resigned", "winners"),
    [
        ((0, 30, 20, 10), (1,), (2,)),
        ((0, 30, 20, 20), (1,), (2, 3)),
        ((0, 30, 30, 10), (1,), (2,)),
        ((0, 30, 30, 30), (1, 2), (3,)),
        ((40, 30, 20, 10), (0, 1, 2), (3,)),
        ((0, 30, 20, 10), (3,), (1,)),
        ((0, 30, 20, 10), (0, 1, 2, 3), ()),
    ],
)
def test_who_has_resigned_cannot_win(
    balances: Balances, resigned: tuple[int, ...], winners: tuple[int, ...]
) -> None:
    """common, Leaving, Lorum: a tie or lead of theirs goes to the best of the others. All stay
    where they are, but for seat 0, who pays 10."""
    assert last_round(balances, *resigned).winners == winners


def test_the_result_marks_the_resignation() -> None:
    """common, Leaving, Lorum."""
    assert last_round((0, 30, 20, 10)).reason == "played"
    assert last_round((0, 30, 20, 10), 2).reason == "resigned"
    assert last_round((0, 30, 20, 10), 0, 1, 2, 3).reason == "resigned"


def test_their_chips_stay_theirs() -> None:
    """lorum, End: the pot is shared out among all four."""
    story = of_tricks("hairy_monkey", *PLAYED, rounds=1).after((0, RESIGN))
    story = bots_play(story, *PLAYED[:5])
    result = story.view().result
    assert result is not None
    assert result.balances == (-8, 2, 2, 2)
    assert result.winners == (1, 2, 3)


def test_the_host_may_abandon() -> None:
    """common, Leaving: without winners; the pot stays and is shown, the hands are opened."""
    story = lorum("lorum", "KA 7B", "7A", "8B", "AL KH", pot=6).plays("KA")
    after = story.after((None, Abandon("the bell rang")))
    assert after.kinds() == ["GameAbandoned", "SeedRevealed", "GameEnded"]
    result = after.view().result
    assert result is not None
    assert (result.winners, result.reason, result.pot) == ((), "abandoned", 6)
    opened = after.view().opened
    assert opened is not None
    assert opened.hands == (("7B",), ("7A",), ("8B",), ("AL", "KH"))


def test_four_seats_must_be_taken_before_it_starts() -> None:
    """lorum: four players."""
    story = new_game("lorum", 3, open_seats=1)
    assert story.view().hand is None
    assert story.view().table.contract is None
    story.when(0, RESIGN).refused("common.not-started")
    story.when(0, play("7A")).refused("common.not-started")
