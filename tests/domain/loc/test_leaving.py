"""Players who resign (common, *Leaving*; loc, *End*)."""

from domain.actions import Cut
from domain.hand import PlayerResigned
from domain.table.commands import Resign
from domain.table.events import GameEnded
from tests.builders import new_game
from tests.domain.loc.words import (
    BET,
    chips,
    deal_fives,
    fives,
    last_trick,
    play,
    settled,
    trick,
    tricks,
    with_chips,
)
from tests.spec import Given

HANDS = ("4C 5C 6C 7C 8C", "4D 5D 6D 7D KH", "4H 5H 6H 7H AS")
FOUR = ("4C 4D 4H", "5C 5D 5H", "6C 6D 6H", "7C 7D 7H")


def ended(story: Given) -> GameEnded:
    (event,) = [event for event in story.events if isinstance(event, GameEnded)]
    return event


def played_on(story: Given, *cards: str) -> Given:
    """Tricks in which a bot plays for whoever has resigned."""
    for one in cards:
        for seat, card in zip(story.to_act, one.split(), strict=True):
            by = "bot" if story.table.seats[seat].resigned else None
            story = story.when(seat, play(card), by=by).accepted()  # type: ignore[arg-type]
    return story


def test_the_hand_is_finished_by_a_bot() -> None:
    """common, Leaving: a careful bot plays their cards from then on."""
    story = fives(*HANDS).when(0, Resign()).then(PlayerResigned(0))
    assert story.to_act == (0, 1, 2)
    assert story.table.bot_at(0) == "careful"
    assert story.legal(0) == []
    story.when(0, play("4C")).refused("common.resigned")
    story.when(0, Resign()).refused("common.resigned")
    story = story.when(0, play("4C"), by="bot").accepted()
    assert story.to_act == (1, 2)


def test_who_resigns_is_out_when_the_hand_ends_and_keeps_the_chips() -> None:
    """common, Leaving: the chips stay theirs; loc: passed over from then on."""
    story = trick(fives(*HANDS), FOUR[0]).after((2, Resign()))
    story = last_trick(played_on(story, *FOUR[1:]))
    assert settled(story).gone == (2,)
    assert chips(story) == [-5, -5, 10]
    assert story.table.order == (1, 0)
    assert [seat.still_in for seat in story.view().seats] == [True, True, False]


def test_a_player_who_has_resigned_cannot_win() -> None:
    """loc, End: though they have most chips."""
    story = trick(fives(*HANDS, hands=1, chips=(1, 0, 0)), FOUR[0]).after((2, Resign()))
    story = last_trick(played_on(story, *FOUR[1:]))
    assert chips(story) == [-4, -5, 10]
    assert ended(story).winners == (0,)


def test_a_lead_of_one_who_resigned_earlier_does_not_count_either() -> None:
    """loc, End: their chips stay theirs to the end."""
    story = fives(*HANDS, hands=2).after((2, Resign()))
    story = last_trick(played_on(story, *FOUR)).served()
    story = deal_fives(story, HANDS[0], HANDS[1], "")
    story = last_trick(tricks(story, "4C 4D", "5C 5D", "6C 6D", "7C 7D"))
    # The second hand brings seat 1 the bank of 2 + 4.
    assert chips(story) == [-10, 0, 10]
    assert ended(story).winners == (1,)


def test_if_one_other_is_left_the_game_ends() -> None:
    """common, Leaving: with the hand; the one left wins, though behind."""
    story = fives("4C 5C 6C 7C 8C", "4D 5D 6D 7D KH", hands=50).after((1, Resign()))
    story = last_trick(played_on(story, "4C 4D", "5C 5D", "6C 6D", "7C 7D"))
    assert chips(story) == [-5, 5]
    assert ended(story).winners == (0,)
    assert ended(story).reason == "resigned"


def test_if_only_players_who_resigned_are_left_nobody_wins() -> None:
    """loc, End: the game ends without a winner."""
    story = fives(*HANDS, hands=50).after((0, Resign()), (1, Resign()), (2, Resign()))
    story = last_trick(played_on(story, *FOUR))
    assert settled(story).gone == (0, 1, 2)
    assert ended(story).winners == ()
    assert ended(story).reason == "resigned"


def test_if_only_players_who_resigned_have_chips_nobody_wins() -> None:
    """loc, End, Short stacks: the others are out for want of chips."""
    story = fives("4C 5C 6C 7C 8C", "4D 5D 6D 7D KH", hands=50, starting_chips=5)
    story = story.after((1, Resign()))
    story = last_trick(played_on(story, "4C 4D", "5C 5D", "6C 6D", "7C 7D"))
    assert chips(story) == [0, 10]
    assert settled(story).gone == (0, 1)
    assert ended(story).winners == ()


def test_the_last_hand_may_be_the_one_of_resigning() -> None:
    """loc, End: most chips of those who can win."""
    story = new_game("loc", 3, first_dealer=2, cut="manual", hands=1)
    with_chips(story.table, (0, 8, 100))
    story = deal_fives(story.served(), *HANDS).after((2, Resign()))
    story = last_trick(played_on(story, *FOUR))
    assert ended(story).winners == (1,)
    assert ended(story).reason == "played"


def test_resigning_before_the_deal() -> None:
    """common, Leaving: the bot bets, cuts and plays the hand that has begun."""
    story = new_game("loc", 3, first_dealer=0, bets="manual", cut="manual").after((2, Resign()))
    assert story.to_act == (0, 1, 2)
    story.when(2, BET).refused("common.resigned")
    story = story.when(2, BET, by="bot").accepted().after((0, BET), (1, BET))
    assert story.to_act == (2,)
    story = story.when(2, Cut(at=7), by="bot").accepted().served()
    assert story.to_act == (0, 1, 2)


def test_who_is_out_cannot_resign() -> None:
    """common, Actions."""
    story = fives(*HANDS).after((2, Resign()))
    story = last_trick(played_on(story, *FOUR))
    story.when(2, Resign()).refused("common.resigned")
