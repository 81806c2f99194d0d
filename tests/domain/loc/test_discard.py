"""Each player lays one of six cards aside (loc, *Play*, 1)."""

import pytest

from domain.codec import recorded_action
from domain.loc.events import CardDiscarded
from tests.domain.loc.words import BET, discard, loc, play, put_aside
from tests.spec import command

HANDS = ("KS QS JS TS 9S 2C", "KH QH JH TH 9H 2D", "KD QD JD TD 9D 2H")


def test_everyone_discards_in_any_order() -> None:
    """loc, Play, 1: each player, in any order; five cards are left."""
    story = loc(*HANDS)
    assert story.to_act == (0, 1, 2)
    story = story.when(2, discard("KD")).then(put_aside(2, "KD"))
    assert story.to_act == (0, 1)
    story = story.when(0, discard("2C")).then(put_aside(0, "2C"))
    story = story.when(1, discard("2D")).then(put_aside(1, "2D"))
    assert story.to_act == (0, 1, 2)
    for seat in range(3):
        private = story.view(seat).private
        assert private is not None
        assert len(private.cards) == 5


def test_any_card_of_the_hand_may_go() -> None:
    """loc, Play, 1: the list of legal actions is the hand."""
    assert loc(*HANDS).legal(1) == [discard(card) for card in ("2D", "9H", "TH", "JH", "QH", "KH")]


@pytest.mark.parametrize("card", ["KH", "8C", "XX", "OA"])
def test_only_a_card_of_the_hand_is_discarded(card: str) -> None:
    """loc, Play, 1: another's, the stock's, of another pack."""
    loc(*HANDS).when(0, discard(card)).refused("loc.not-in-hand")


def test_a_player_discards_once() -> None:
    """loc, Play, 1."""
    story = loc(*HANDS).after((0, discard("2C")))
    assert story.legal(0) == []
    story.when(0, discard("KS")).refused("loc.discard-once")
    story.when(0, discard("2C")).refused("loc.discard-once")


def test_nothing_is_played_before_all_have_discarded() -> None:
    """loc, Play: discard, then five tricks."""
    story = loc(*HANDS).after((0, discard("2C")))
    story.when(0, play("KS")).refused("loc.phase")
    story.when(1, play("KH")).refused("loc.phase")
    story.when(1, BET).refused("loc.phase")


def test_a_discard_cannot_be_played() -> None:
    """loc, Play, 1: five cards are left."""
    story = loc(*HANDS).after((0, discard("KS")), (1, discard("2D")), (2, discard("2H")))
    story.when(0, play("KS")).refused("loc.not-in-hand")
    story.when(0, discard("QS")).refused("loc.phase")


def test_a_discard_is_seen_by_its_player_alone() -> None:
    """loc, Play, 1: face down, seen by nobody else; the event tells only who."""
    story = loc(*HANDS).after((0, discard("2C")))
    own = story.view(0).private
    assert own is not None
    assert own.discarded == "2C"
    for seat in (1, 2, None):
        assert "2C" not in story.shown(seat)
    assert story.view(1).table.laid == (0,)
    recorded = recorded_action(command(discard("2C"), 0), CardDiscarded)
    assert recorded == b'{"type":"discard"}'


def test_who_has_discarded_is_listed_by_seat_not_in_order() -> None:
    """loc, Play: while discarding, `laid` lists who has discarded and `trick` is 0."""
    story = loc(*HANDS)
    assert (story.view().table.trick, story.view().table.laid) == (0, ())
    story = story.after((2, discard("2H")), (0, discard("2C")))
    assert (story.view().table.trick, story.view().table.laid) == (0, (0, 2))
    story = story.after((1, discard("2D")))
    assert (story.view().table.trick, story.view().table.laid) == (1, ())
