"""Saying that one has reached 31 (lodam, *Announcing*)."""

import pytest

from domain.lodam.events import Announced
from tests.domain.lodam.words import (
    ANNOUNCE,
    PASS,
    SEE,
    TAKE,
    challenge,
    lodam,
    race,
    scored,
)


def test_who_has_reached_31_may_announce_and_is_due() -> None:
    """lodam, Announcing: an announcer is due to lose a life when the hand ends; play goes on."""
    story = race(2)
    assert ANNOUNCE in story.legal(0)
    story = story.when(0, ANNOUNCE).then(Announced(0))
    assert story.view().table.due == (0,)
    assert story.to_act == (0,)
    assert story.plays("QH").to_act == (1,)


def test_announcing_below_31_is_refused() -> None:
    """lodam, Announcing: 26 are not enough."""
    story = race(1)
    assert ANNOUNCE not in story.legal(0)
    story.when(0, ANNOUNCE).refused("lodam.below-31")
    story.when(3, ANNOUNCE).refused("lodam.below-31")


@pytest.mark.parametrize(
    ("last", "points"), [("JH 2H 3H 4H 5H", 28), ("KH 2H 3H 4H 5H", 30), ("KH JH 3H 4H 5H", 31)]
)
def test_the_threshold_is_31(last: str, points: int) -> None:
    """lodam, Cards: 31, fixed: 30 is below, 31 is not."""
    firsts = "AS TS KS QS JS"
    lasts = "2C 3C 4C 5C 6C"
    hands = map(" ".join, zip(firsts.split(), last.split(), lasts.split(), strict=True))
    story = lodam(*hands).plays(f"{firsts} {last}")
    assert story.table.play.points[0] == points
    if points >= 31:
        story.when(0, ANNOUNCE).then(Announced(0))
    else:
        story.when(0, ANNOUNCE).refused("lodam.below-31")


def test_exactly_31_is_reached() -> None:
    """lodam, Cards: the race's seat 0 stands at exactly 31, and at 26 before."""
    assert race(2).table.play.points == (31, 0, 0, 0)
    assert race(2).when(0, ANNOUNCE).accepted().view().table.due == (0,)


def test_at_any_moment_from_then_on_out_of_turn_too() -> None:
    """lodam, Announcing: in the middle of a trick, or when another is to lead."""
    story = race(2).plays("QH AH")
    assert story.legal(0) == [ANNOUNCE]
    assert story.to_act == (2,)
    story.when(0, ANNOUNCE).then(Announced(0))
    race(4).when(0, ANNOUNCE).then(Announced(0))
    race(6).when(0, ANNOUNCE).then(Announced(0))


def test_who_may_announce_is_not_waited_for() -> None:
    """common, Actions: a seat that may act but is not waited for is not in to_act."""
    story = race(3)
    assert ANNOUNCE in story.legal(0)
    assert story.to_act == (1,)


def test_not_while_a_trick_lies_untaken_or_trumps_are_shown() -> None:
    """lodam, Announcing, ruling."""
    story = lodam("AS AH 9C 2C", "TS TH 3D 4D", "KS KH 8C 5D", stock="9D", leader=0).plays(
        "AS TS KS AH TH KH"
    )
    assert ANNOUNCE in story.legal(0)
    shown = story.plays("9C 3D")
    assert shown.kinds() == ["CardPlayed", "TrumpTurned"]
    assert shown.legal(0) == [SEE]
    shown.when(0, ANNOUNCE).refused("lodam.speak-later")
    between = shown.each(SEE)
    assert between.legal(0) == [ANNOUNCE]
    untaken = between.plays("8C")
    assert untaken.legal(0) == [TAKE, *untaken.legal(0)[1:]]
    assert ANNOUNCE not in untaken.legal(0)
    untaken.when(0, ANNOUNCE).refused("lodam.speak-later")
    untaken.after((0, TAKE)).when(0, ANNOUNCE).then(Announced(0))


def test_not_before_play() -> None:
    """lodam, Announcing: there are no tricks yet."""
    story = lodam("AS KH", "TS 3C", "KS 4C", trading="before_play")
    story.when(0, ANNOUNCE).refused("lodam.speak-later")


def test_once() -> None:
    """lodam, Announcing: who is due already has nothing to announce."""
    story = race(2).after((0, ANNOUNCE))
    assert ANNOUNCE not in story.legal(0)
    story.when(0, ANNOUNCE).refused("lodam.already-due")


def test_silence_is_possible() -> None:
    """lodam, Announcing: staying silent is what a challenge punishes, and nothing else does."""
    story = race(7)
    assert story.view().table.due == ()
    for seat in range(4):
        story = story.after((seat, PASS))
    assert scored(story).lost == (0, 0, 1, 0)  # nobody is due: the highest of the hand


def test_due_is_on_view_to_everyone() -> None:
    """lodam, Announcing."""
    story = race(4).after((1, ANNOUNCE), (0, ANNOUNCE))
    for seat in (None, 0, 1, 2, 3):
        assert story.view(seat).table.due == (0, 1)


def test_without_announcing_there_is_none() -> None:
    """lodam, Announcing: `announcing: false`."""
    story = race(2, announcing=False, challenging=False)
    assert ANNOUNCE not in story.legal(0)
    story.when(0, ANNOUNCE).refused("lodam.announcing")


def test_announcing_without_challenging() -> None:
    """lodam, Announcing: allowed; then nobody can be challenged."""
    story = race(2, challenging=False).after((0, ANNOUNCE))
    assert all(challenge(seat) not in story.legal(0) for seat in range(4))
    story.when(0, challenge(1)).refused("lodam.challenging")


def test_the_next_hand_starts_afresh() -> None:
    """lodam, Announcing: whose tricks *of this hand* reach 31."""
    story = race(7).after((0, ANNOUNCE)).each(PASS).served()
    assert story.view().table.due == ()
    assert story.table.play.points == (0, 0, 0, 0)
