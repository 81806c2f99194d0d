"""Leading, following and taking tricks of one suit (lodam, *Play*)."""

import pytest

from domain.lodam.events import TrumpTurned
from domain.tricks import CardPlayed, Swallowed, TrickTaken
from tests.domain.lodam.words import PASS, SEE, TAKE, lodam, play


def test_eldest_leads_any_card() -> None:
    """lodam, Play."""
    story = lodam("AS 2C", "TS 3C", "KS 4C")
    assert story.to_act == (0,)
    assert story.legal(0) == [play("2C"), play("AS")]
    assert story.legal(1) == []
    story.when(0, play("2C")).then(CardPlayed(0, "2C"))
    story.when(0, play("AS")).then(CardPlayed(0, "AS"))


def test_each_in_turn_clockwise() -> None:
    """lodam, Play; common, Seats."""
    story = lodam("AS 2C", "TS 3C", "KS 4C", leader=1)
    story.when(0, play("AS")).refused("lodam.turn")
    story.when(2, play("KS")).refused("lodam.turn")
    story = story.plays("TS")
    assert story.to_act == (2,)
    story = story.plays("KS")
    assert story.to_act == (0,)


def test_play_passes_over_who_is_out() -> None:
    """lodam, Deal: a player with no life left is dealt no cards."""
    story = lodam("AS 2C", "", "KS 4C", "QS 5C").plays("AS")
    assert story.to_act == (2,)
    story.plays("KS").when(3, play("QS")).then(
        CardPlayed(3, "QS"), TrickTaken(0, 1, Swallowed(False))
    )


def test_who_can_must_follow_suit() -> None:
    """lodam, Play: must follow the suit led if able (nobody can revoke)."""
    story = lodam("AS 2C", "TS 9S 3C", "KS 4C").plays("AS")
    assert story.legal(1) == [play("9S"), play("TS")]
    story.when(1, play("3C")).refused("lodam.follow-suit")


def test_who_cannot_follow_may_play_any_card() -> None:
    """lodam, Play: no duty to trump."""
    story = lodam("AS 2C", "3C 4H 5D", "KS 4C").plays("AS")
    assert story.legal(1) == [play("3C"), play("5D"), play("4H")]


def test_there_is_no_duty_to_beat() -> None:
    """lodam, Play."""
    story = lodam("9S 2C", "TS 2S", "KS 4C").plays("9S")
    assert story.legal(1) == [play("2S"), play("TS")]


@pytest.mark.parametrize("card", ["TS", "2D", "XX", "OA"])
def test_only_a_card_of_the_hand_is_played(card: str) -> None:
    """lodam, Play: another's, the stock's, of another pack."""
    lodam("AS 2C", "TS 3C", "KS 4C").when(0, play(card)).refused("lodam.not-in-hand")


def test_a_card_is_played_once() -> None:
    """lodam, Play."""
    story = lodam("AS 2S", "TS 3S", "KS 4S").plays("AS TS KS")
    story.when(0, play("AS")).refused("lodam.not-in-hand")


def test_whoever_takes_leads_to_the_next() -> None:
    """lodam, Play."""
    story = (
        lodam("2S AC", "KS 3C", "QS 4C")
        .plays("2S KS")
        .when(2, play("QS"))
        .then(CardPlayed(2, "QS"), TrickTaken(1, 1, Swallowed(False)))
    )
    assert story.to_act == (1,)
    previous = story.view().previous
    assert previous is not None
    assert (previous.hand, previous.taker) == (1, 1)
    assert [(p.seat, p.card) for p in previous.trick] == [(0, "2S"), (1, "KS"), (2, "QS")]


def test_an_all_follow_trick_goes_to_its_highest_at_once() -> None:
    """lodam, Taking a trick: if every card is of the suit led, to L at once; no trump is turned."""
    story = lodam("AS 2C", "TS 3C", "KS 4C").plays("AS TS KS")
    assert story.kinds() == ["CardPlayed", "TrickTaken"]
    assert story.view().table.trump_turned is False


def test_an_all_follow_trick_of_trumps_goes_to_its_highest_at_once() -> None:
    """lodam, Taking a trick: also when the suit led is trumps."""
    story = lodam("2S 2D", "2C 3D", "3S 4D", stock="9D", trump="memory")
    story = story.plays("2S 2C").each(SEE).plays("3S")
    story = story.after((2, TAKE))
    story.plays("4D 2D").when(1, play("3D")).then(
        CardPlayed(1, "3D"), TrickTaken(2, 2, Swallowed(False))
    )


def test_the_hand_is_played_to_its_last_trick() -> None:
    """lodam, Unplayed questions: also when every loader has gone."""
    story = lodam("AS 2C", "TS 3C", "KS 4C").plays("AS TS KS")
    assert story.to_act == (0,)
    assert story.plays("2C 3C 4C").each(PASS).kinds()[:2] == ["Passed", "HandScored"]


def test_following_with_a_discard_is_a_renounce() -> None:
    """lodam, Play: cannot follow suit and plays another suit."""
    story = lodam("AS 2C", "3C 4H", "KS 4C", stock="9H").plays("AS 3C")
    assert [type(event) for event in story.events] == [CardPlayed, TrumpTurned]
