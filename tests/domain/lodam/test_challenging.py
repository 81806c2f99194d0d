"""Challenges: "you reached 31 before me and hid it" (lodam, *Challenging*).

All of them in the race: seat 0 reaches 31 with trick 2, seat 1 with trick 4, seat 2 with trick 6.
"""

from domain.lodam.events import ChallengeDecided, Reached
from tests.domain.lodam.words import (
    ANNOUNCE,
    PASS,
    RACE,
    RACE_STOCK,
    RACE_TRICKS,
    SEE,
    TAKE,
    challenge,
    lodam,
    play,
    race,
)
from tests.spec import Given

TRICK_VERSION: dict[int, int] = {}
"""The version of the event that took each of the race's tricks."""

_story = race(0)
for _number, _cards in enumerate(RACE_TRICKS, 1):
    _story = _story.plays(_cards)
    TRICK_VERSION[_number] = _story.table.version


def reached(trick: int, *, later: int = 0) -> Reached:
    """Evidence: that trick, and its version where so many other events came before it."""
    return Reached(trick, TRICK_VERSION[trick] + later)


def announced(tricks: int, *seats: int) -> Given:
    """The race after so many tricks, then announced by these seats."""
    return race(tricks).after(*[(seat, ANNOUNCE) for seat in seats])


def test_only_who_is_due_may_challenge() -> None:
    """lodam, Challenging: whatever they hold."""
    story = race(4)
    for seat in range(4):
        other = (seat + 1) % 4
        assert challenge(other) not in story.legal(seat)
        story.when(seat, challenge(other)).refused("lodam.not-due")


def test_whom_one_may_challenge() -> None:
    """lodam, Challenging: another player who is still in, is not due and is not safe."""
    story = announced(4, 1)
    assert [action for action in story.legal(1) if action in map(challenge, range(4))] == [
        challenge(0),
        challenge(2),
        challenge(3),
    ]
    story.when(1, challenge(1)).refused("lodam.challenge-whom")
    story.when(1, challenge(9)).refused("lodam.challenge-whom")
    both = story.after((0, ANNOUNCE))
    both.when(1, challenge(0)).refused("lodam.challenge-whom")


def test_a_player_who_is_out_cannot_be_challenged() -> None:
    """lodam, Challenging: still in."""
    story = lodam(*RACE, "", stock=RACE_STOCK).plays(" ".join(RACE_TRICKS[:2]))
    story = story.after((0, ANNOUNCE))
    assert challenge(4) not in story.legal(0)
    story.when(0, challenge(4)).refused("lodam.challenge-whom")


def test_upheld_where_the_challenged_reached_31_with_an_earlier_trick() -> None:
    """lodam, Challenging: the challenged becomes due, the challenger is no longer due and safe; the
    verdict, both totals and the tricks on which each reached 31 are public, with versions."""
    story = (
        announced(4, 1)
        .when(1, challenge(0))
        .then(ChallengeDecided(1, 0, True, (36, 31), (reached(4), reached(2))))
    )
    for seat in (None, 0, 1, 2, 3):
        table = story.view(seat).table
        assert table.due == (0,)
        assert table.safe == (1,)
        (shown,) = table.challenges
        assert (shown.number, shown.seat, shown.challenged, shown.upheld) == (1, 1, 0, True)
        assert shown.points == (36, 31)
        assert shown.reached == (reached(4), reached(2))
        assert shown.version == story.table.version


def test_rejected_where_the_challenged_reached_it_later() -> None:
    """lodam, Challenging: the challenger stays due; the challenged, at 31 or more, is safe."""
    story = announced(2, 0)
    for cards in RACE_TRICKS[2:4]:
        story = story.plays(cards)
    story = story.when(0, challenge(1)).then(
        ChallengeDecided(0, 1, False, (31, 36), (reached(2), reached(4, later=1)))
    )
    assert story.view().table.due == (0,)
    assert story.view().table.safe == (1,)
    story.when(1, ANNOUNCE).refused("lodam.safe")


def test_who_reached_it_later_may_not_be_challenged_again() -> None:
    """lodam, Challenging: safe for the rest of the hand, though another reached it later still."""
    story = announced(2, 0)
    for cards in RACE_TRICKS[2:4]:
        story = story.plays(cards)
    story = story.after((0, challenge(1)))
    for cards in RACE_TRICKS[4:6]:
        story = story.plays(cards)
    story = story.after((2, ANNOUNCE))
    assert story.legal(2) == [play("2S"), challenge(3)]
    story.when(2, challenge(1)).refused("lodam.challenge-whom")


def test_rejected_where_the_challenged_stands_below_31() -> None:
    """lodam, Challenging, ruling: simply vindicated, not safe."""
    story = (
        announced(2, 0)
        .when(0, challenge(1))
        .then(ChallengeDecided(0, 1, False, (31, 0), (reached(2), None)))
    )
    assert story.view().table.due == (0,)
    assert story.view().table.safe == ()


def test_who_was_vindicated_may_become_due_later() -> None:
    """lodam, Challenging, ruling: by announcing."""
    story = announced(2, 0).after((0, challenge(1)))
    for cards in RACE_TRICKS[2:4]:
        story = story.plays(cards)
    story = story.after((1, ANNOUNCE))
    assert story.view().table.due == (0, 1)


def test_who_was_vindicated_may_be_challenged_by_another() -> None:
    """lodam, Challenging, ruling: and lose it then."""
    story = announced(2, 0).after((0, challenge(1)))
    for cards in RACE_TRICKS[2:6]:
        story = story.plays(cards)
    story = (
        story.after((2, ANNOUNCE))
        .when(2, challenge(1))
        .then(ChallengeDecided(2, 1, True, (37, 36), (reached(6, later=2), reached(4, later=2))))
    )
    assert story.view().table.due == (0, 1)
    assert story.view().table.safe == (2,)


def test_once_in_the_hand() -> None:
    """lodam, Challenging: whatever came of it."""
    story = announced(4, 0).after((0, challenge(3)))
    assert story.legal(0) == []
    story.when(0, challenge(1)).refused("lodam.challenged-once")


def test_who_is_made_due_by_a_verdict_may_challenge_in_turn() -> None:
    """lodam, Challenging, ruling."""
    story = announced(6, 2).after((2, challenge(1)))
    assert story.view().table.due == (1,)
    assert challenge(0) in story.legal(1)
    story = story.when(1, challenge(0)).then(
        ChallengeDecided(1, 0, True, (36, 31), (reached(4), reached(2)))
    )
    assert story.view().table.due == (0,)
    assert story.view().table.safe == (1, 2)
    assert [verdict.number for verdict in story.view().table.challenges] == [1, 2]


def test_a_safe_player_can_neither_announce_nor_be_challenged() -> None:
    """lodam, Challenging, ruling: neither can nor need announce; nor challenge, not being due."""
    story = announced(6, 2).after((2, challenge(1)))
    assert ANNOUNCE not in story.legal(2)
    story.when(2, ANNOUNCE).refused("lodam.safe")
    assert challenge(2) not in story.legal(1)
    story.when(1, challenge(2)).refused("lodam.challenge-whom")
    story.when(2, challenge(0)).refused("lodam.not-due")


def test_who_was_challenged_early_and_is_made_due_stays_due() -> None:
    """lodam, Challenging: a rejected challenge leaves the challenger due."""
    story = announced(6, 2).after((2, challenge(1)), (1, challenge(3)))
    assert story.view().table.due == (1,)
    assert story.view().table.safe == (2,)


def test_at_the_moments_when_announcing_is_allowed() -> None:
    """lodam, Challenging: out of turn, but not while trumps are shown or a trick lies."""
    story = lodam("AS AH 9C 2C", "TS TH 3D 4D", "KS KH 8C 5D", stock="9D")
    story = story.plays("AS TS KS AH TH KH").after((0, ANNOUNCE))
    shown = story.plays("9C 3D")
    assert shown.legal(0) == [SEE]
    shown.when(0, challenge(1)).refused("lodam.speak-later")
    between = shown.each(SEE)
    assert between.to_act == (2,)
    assert between.legal(0) == [challenge(1), challenge(2)]
    untaken = between.plays("8C")
    assert challenge(1) not in untaken.legal(0)
    untaken.when(0, challenge(1)).refused("lodam.speak-later")
    assert challenge(1) in untaken.after((0, TAKE)).legal(0)


def test_the_next_hand_starts_afresh() -> None:
    """lodam, Challenging: once in the hand, safe for the rest of the hand."""
    story = announced(6, 2).after((2, challenge(1))).plays(RACE_TRICKS[6]).each(PASS)
    table = story.view().table
    assert table.challenges == ()
    assert (table.due, table.safe) == ((), ())
    assert story.table.play.challenged == frozenset()
