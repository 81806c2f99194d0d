"""Resigning and abandoning (common, *Leaving*)."""

from domain.hand import PlayerResigned
from domain.ledger import ChipsMoved
from domain.table.commands import Abandon, Resign
from domain.table.events import GameAbandoned, GameEnded
from tests.builders import new_game
from tests.domain.lodam.words import ANNOUNCE, PASS, lodam, play, race, scored
from tests.spec import AT, Given, command

RESIGN = Resign()


def bot_plays(story: Given, seat: int, action: object) -> Given:
    """The careful bot of a player who has resigned acts."""
    return story.apply(command(action, seat, by="bot", at=AT))  # type: ignore[arg-type]


def test_a_player_may_resign_at_any_moment() -> None:
    """common, Leaving: out of turn too; it is public, and a careful bot plays their cards."""
    story = lodam("AS 2C", "TS 3C", "KS 4C")
    for seat in range(3):
        after = story.when(seat, RESIGN).then(PlayerResigned(seat))
        assert after.table.bot_at(seat) == "careful"
        assert after.view().seats[seat].resigned is True
        assert after.to_act == (0,)


def test_who_has_resigned_acts_no_more() -> None:
    """common, Leaving: the bot does, for them."""
    story = lodam("AS 2C", "TS 3C", "KS 4C").after((0, RESIGN))
    assert story.legal(0) == []
    story.when(0, play("AS")).refused("common.resigned")
    story.when(0, RESIGN).refused("common.resigned")
    after = bot_plays(story, 0, play("AS"))
    assert after.to_act == (1,)


def test_they_are_out_when_the_hand_ends() -> None:
    """common, Leaving, Losing Lodam: their lives are gone; the others' loss is as ever."""
    story = race(6).after((3, RESIGN)).plays("2S")
    story = bot_plays(story, 3, play("3S")).plays("4S 5S").each(PASS, 0, 1, 2)
    story = bot_plays(story, 3, PASS)
    assert scored(story).lost == (0, 0, 1, 3)
    assert scored(story).lives == (3, 3, 2, 0)
    assert [seat.still_in for seat in story.view().seats] == [True, True, True, False]
    assert story.view().status == "playing"
    story.when(3, PASS).refused("common.resigned")


def test_their_chips_stay_theirs() -> None:
    """common, Leaving: what they have paid or won."""
    story = new_game("lodam", 3, stake=10).served()
    after = story.after((1, RESIGN))
    assert [score.chips for score in after.view().scores] == [-10, -10, -10]
    assert after.table.play.ledger.pot == 30


def test_if_one_other_player_is_left_the_game_ends_with_the_hand() -> None:
    """common, Leaving: not before the hand ends."""
    story = lodam("AS 2C", "TS 3C", "KS 4C").after((0, RESIGN), (1, RESIGN))
    assert story.view().status == "playing"
    story = bot_plays(story, 0, play("AS"))
    story = bot_plays(story, 1, play("TS")).plays("KS")
    story = bot_plays(story, 0, play("2C"))
    story = bot_plays(story, 1, play("3C")).plays("4C")
    story = bot_plays(bot_plays(story, 0, PASS), 1, PASS).after((2, PASS))
    ended = story.events[-1]
    assert isinstance(ended, GameEnded)
    assert (ended.winners, ended.reason) == ((2,), "resigned")
    result = story.view().result
    assert result is not None
    assert result.resigned == (0, 1)
    assert result.lives == (0, 0, 3)


def test_the_last_player_left_by_resignations_takes_the_pool() -> None:
    """lodam, Reckoning, with common, Leaving: the last player left wins, however it came to it."""
    story = lodam("AS", "TS", "KS", stake=10).after((0, RESIGN), (1, RESIGN))
    story = bot_plays(bot_plays(story, 0, play("AS")), 1, play("TS")).plays("KS")
    story = bot_plays(bot_plays(story, 0, PASS), 1, PASS).after((2, PASS))
    assert ChipsMoved("pool", (0, 0, 30), -30) in story.events
    result = story.view().result
    assert result is not None
    assert (result.winners, result.reason) == ((2,), "resigned")
    assert (result.balances, result.pot) == ((-10, -10, 20), 0)


def test_the_last_player_cannot_be_put_out_by_the_same_hand() -> None:
    """lodam, Reckoning, ruling (all out), with common, Leaving: who stays and has the highest of
    those who stay is still everybody of them, and loses nothing."""
    story = lodam("AS", "TS", "KS", lives=(1, 1, 1)).after((1, RESIGN), (2, RESIGN)).plays("AS")
    story = bot_plays(bot_plays(story, 1, play("TS")), 2, play("KS"))
    story = bot_plays(bot_plays(story, 1, PASS), 2, PASS).after((0, PASS))
    assert scored(story).lost == (0, 1, 1)
    result = story.view().result
    assert result is not None
    assert result.winners == (0,)


def test_where_all_resign_nobody_wins() -> None:
    """common, Leaving: a resigned player is out."""
    story = lodam("AS", "TS", "KS").after((0, RESIGN), (1, RESIGN), (2, RESIGN))
    for seat, card in enumerate(("AS", "TS", "KS")):
        story = bot_plays(story, seat, play(card))
    for seat in range(3):
        story = bot_plays(story, seat, PASS)
    result = story.view().result
    assert result is not None
    assert (result.winners, result.reason) == ((), "resigned")


def test_who_is_out_or_done_cannot_resign() -> None:
    """common, Leaving."""
    story = lodam("AS", "", "KS", lives=(1, 0, 1))
    story.when(1, RESIGN).refused("common.out")
    over = story.plays("AS KS").each(PASS)
    over.when(2, RESIGN).refused("common.game-over")
    new_game("lodam", 2, open_seats=1).when(0, RESIGN).refused("common.not-started")


def test_a_due_player_who_resigns_is_out_all_the_same() -> None:
    """common, Leaving: the lives are gone, due or not."""
    story = race(7).after((0, ANNOUNCE), (0, RESIGN))
    story = bot_plays(story, 0, PASS).each(PASS, 1, 2, 3)
    assert scored(story).lost == (3, 0, 0, 0)


def test_the_host_may_abandon() -> None:
    """common, Leaving: it ends without winners; hands and seeds are opened."""
    story = lodam("AS 2C", "TS 3C", "KS 4C").plays("AS")
    after = story.after((None, Abandon("the bell rang")))
    assert after.kinds() == ["GameAbandoned", "SeedRevealed", "GameEnded"]
    assert after.events[0] == GameAbandoned("the bell rang")
    view = after.view()
    assert view.status == "abandoned"
    assert view.result is not None
    assert (view.result.winners, view.result.reason) == ((), "abandoned")
    assert view.opened is not None
    assert view.opened.hands == (("2C",), ("3C", "TS"), ("4C", "KS"))
    assert view.hand is not None
    assert view.hand.phase == "over"
    assert view.to_act == ()
    after.when(1, play("TS")).refused("common.game-over")
    after.when(None, Abandon("again")).refused("common.game-over")


def test_abandoning_leaves_the_pool_unpaid() -> None:
    """common, Leaving: without winners; common, Cards: chips are conserved."""
    after = new_game("lodam", 3, stake=10).after((None, Abandon("")))
    result = after.view().result
    assert result is not None
    assert result.balances == (-10, -10, -10)
    assert result.pot == 30


def test_a_waiting_game_may_be_abandoned() -> None:
    """common, Leaving: nothing has been dealt, nothing is opened."""
    after = new_game("lodam", 2, open_seats=1).after((None, Abandon("nobody came")))
    assert after.kinds() == ["GameAbandoned", "GameEnded"]
    assert after.view().status == "abandoned"
    assert after.view().hand is None
