"""After the last trick (lodam, *Reckoning and the end of a hand*)."""

from domain.lodam.events import Announced, ChallengeDecided
from domain.tricks import Passed
from tests.domain.lodam.words import (
    ANNOUNCE,
    PASS,
    RACE_TRICKS,
    SEE,
    TAKE,
    challenge,
    lodam,
    offer,
    play,
    race,
    scored,
)


def test_after_the_last_trick_every_player_still_in_is_waited_for() -> None:
    """lodam, Reckoning: may announce, challenge or pass."""
    story = race(7)
    hand = story.view().hand
    assert hand is not None
    assert hand.phase == "reckoning"
    assert story.to_act == (0, 1, 2, 3)
    assert story.legal(0) == [ANNOUNCE, PASS]
    assert story.legal(1) == [ANNOUNCE, PASS]
    story = story.after((1, ANNOUNCE))
    assert story.to_act == (0, 1, 2, 3)
    assert story.legal(1) == [challenge(0), challenge(2), challenge(3), PASS]


def test_a_player_with_nothing_legal_but_pass_must_still_pass() -> None:
    """lodam, Reckoning: so that passing tells nothing."""
    story = race(7)
    assert story.legal(3) == [PASS]
    story = story.each(PASS, 0, 1, 2)
    assert story.to_act == (3,)
    assert story.when(3, PASS).accepted().kinds()[:2] == ["Passed", "HandScored"]


def test_who_is_out_is_not_waited_for() -> None:
    """lodam, Reckoning: every player *still in*."""
    story = lodam("AS", "", "TS", "KS").plays("AS TS KS")
    assert story.to_act == (0, 2, 3)
    story.when(1, PASS).refused("common.out")


def test_who_has_passed_can_do_nothing_more() -> None:
    """lodam, Reckoning."""
    story = race(7).when(0, PASS).then(Passed(0))
    assert story.to_act == (1, 2, 3)
    assert story.legal(0) == []
    story.when(0, PASS).refused("lodam.passed")
    story.when(0, ANNOUNCE).refused("lodam.passed")
    story.when(0, challenge(1)).refused("lodam.passed")


def test_the_pass_of_the_trading_phase_does_not_count() -> None:
    """lodam, Reckoning: everyone may act again."""
    story = lodam("AS", "TS", "KS", trading="before_play").each(PASS).plays("AS TS KS")
    assert story.to_act == (0, 1, 2)


def test_announcing_in_the_reckoning() -> None:
    """lodam, Announcing: at any moment of the hand from then on."""
    story = race(7).when(2, ANNOUNCE).then(Announced(2))
    story = story.each(PASS)
    assert scored(story).lost == (0, 0, 1, 0)


def test_announcing_below_31_is_refused_here_too() -> None:
    """lodam, Announcing."""
    race(7).when(3, ANNOUNCE).refused("lodam.below-31")


def test_a_verdict_reopens_it_for_who_has_passed() -> None:
    """lodam, Reckoning: a verdict that makes a player due who has passed; they must pass again."""
    story = race(7).after((0, PASS), (3, PASS), (1, ANNOUNCE), (1, challenge(0)))
    assert isinstance(story.events[0], ChallengeDecided)
    assert story.events[0].upheld
    assert story.to_act == (0, 1, 2)
    assert story.legal(0) == [challenge(2), challenge(3), PASS]
    story = story.each(PASS, 1, 2)
    assert story.to_act == (0,)
    story = story.after((0, PASS))
    assert scored(story).lost == (1, 0, 0, 0)


def test_a_rejected_challenge_reopens_nothing() -> None:
    """lodam, Reckoning: only a verdict that makes a player due."""
    story = race(7).after((1, PASS), (0, ANNOUNCE), (0, challenge(1)))
    assert story.view().table.safe == (1,)
    assert story.to_act == (0, 2, 3)


def test_the_pass_of_the_challenger_stands() -> None:
    """lodam, Reckoning: the reopening is for the challenged alone."""
    story = race(7).after((0, PASS), (3, PASS), (2, ANNOUNCE), (2, challenge(0)))
    assert story.to_act == (0, 1, 2)
    assert PASS in story.legal(2)


def test_the_whole_chain_of_verdicts_ends_with_the_earliest() -> None:
    """lodam, Challenging and Reckoning: each hands it on to one who reached 31 earlier."""
    story = race(7).after((2, ANNOUNCE), (2, challenge(1)), (1, challenge(0))).each(PASS)
    assert scored(story).lost == (1, 0, 0, 0)


def test_without_announcing_there_is_no_reckoning() -> None:
    """lodam, Reckoning: where announcing is on."""
    story = race(6, announcing=False, challenging=False).plays(RACE_TRICKS[6])
    assert story.kinds()[:3] == ["CardPlayed", "TrickTaken", "HandScored"]


def test_play_is_over() -> None:
    """lodam, Reckoning: no card, no trade."""
    story = race(7, trading="off")
    story.when(0, play("AS")).refused("lodam.phase")
    story.when(0, TAKE).refused("lodam.phase")
    story.when(0, SEE).refused("lodam.phase")
    story.when(0, offer("coat", "KS")).refused("lodam.trading")
