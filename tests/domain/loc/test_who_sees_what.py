"""What the views of Loc show, and when a hand is opened (common, *Who sees what*)."""

import msgspec

from domain.hand import SeedRevealed
from tests.domain.loc.words import discard, discarded, fives, last_trick, loc, play, trick, tricks
from tests.spec import Given

SIX = ("4C 5C 6C 7C 8C 2S", "4D 5D 6D 7D KH 3S", "4H 5H 6H 7H AS 2H")
FOUR = ("4C 4D 4H", "5C 5D 5H", "6C 6D 6H", "7C 7D 7H")


def played(**rules: object) -> Given:
    """A whole hand in which 2S, 3S and 2H were discarded."""
    return last_trick(tricks(discarded(loc(*SIX, **rules), *SIX), *FOUR))


def test_the_table() -> None:
    """contract, The view: loc `trick, laid [seats], shown [{seat, card}], pot`."""
    story = trick(fives("KS 5C 6C 7C 8C", "QH 5H 6H 7H 8H"), "KS QH").after((1, play("8H")))
    assert msgspec.to_builtins(story.view().table) == {
        "trick": 2,
        "laid": (1,),
        "shown": ({"seat": 0, "card": "KS"}, {"seat": 1, "card": "QH"}),
        "highest": 0,
        "won": 0,
        "pot": 3,
        "tricks": (({"seat": 0, "card": "KS"}, {"seat": 1, "card": "QH"}),),
        "hands": 2,
    }


def test_a_seat_sees_its_own_cards_and_what_it_has_laid() -> None:
    """common, Who sees what: a hand's cards are seen by their holder alone."""
    story = discarded(loc(*SIX), *SIX).after((0, play("8C")))
    assert msgspec.to_builtins(story.view(0).private) == {
        "cards": ("4C", "5C", "6C", "7C"),
        "tricks": (),
        "points": 0,
        "discarded": "2S",
        "laid": "8C",
    }
    assert story.view().private is None
    assert story.view(host=True).private is None


def test_hands_discards_and_stock_are_nobody_elses() -> None:
    """common, Who sees what: not the spectator's, not the host's."""
    story = loc(*SIX).after((0, discard("2S")))
    hidden = [card for hand in SIX for card in hand.split()] + ["XX", "KS"]
    spectator = story.shown()
    host = msgspec.json.encode(story.view(host=True)).decode()
    for card in hidden:
        assert f'"{card}"' not in spectator
        assert f'"{card}"' not in host
    for card in SIX[1].split():
        assert f'"{card}"' not in story.shown(0)


def test_a_hand_is_opened_when_it_is_over() -> None:
    """common, Who sees what: disclosure: "after_hand"."""
    story = played()
    (revealed,) = [event for event in story.events if isinstance(event, SeedRevealed)]
    assert revealed.hand == 1
    # Nothing of the next hand lies open.
    assert story.table.openings.ranges == (revealed.opens,)
    assert not story.table.hand_opened()


def test_an_opened_hand_shows_its_discards() -> None:
    """common, Who sees what: its hidden cards are shown to everyone."""
    opened = played(hands=1).view().opened
    assert opened is not None
    assert opened.discarded == ("2S", "3S", "2H")  # type: ignore[attr-defined]
    assert opened.laid == (None, None, None)  # type: ignore[attr-defined]
    assert opened.hands == ((), (), ())
    assert len(opened.stock) == 53 - 18


def test_cards_left_when_the_joker_ends_the_hand_are_opened_with_it() -> None:
    """loc, Play, "ends_hand"; common: as the hand stood then."""
    story = fives("XX 5C 6C 7C 8C", "4D 5D 6D 7D KH", joker="ends_hand", hands=1)
    opened = trick(story, "XX 4D").view().opened
    assert opened is not None
    assert opened.hands == (("5C", "6C", "7C", "8C"), ("5D", "6D", "7D", "KH"))


def test_discards_may_stay_hidden_until_the_game_ends() -> None:
    """common, Who sees what: disclosure: "after_game"."""
    story = played(disclosure="after_game")
    assert "SeedRevealed" not in story.kinds()
    assert story.table.game.hand_scores(story.table.play)[0].hand == 1
    ranges = story.table.openings.ranges
    # Only the five tricks lie open: three laid cards each.
    assert [last - first for first, last in ranges] == [2, 2, 2, 2, 2]
    over = played(disclosure="after_game", hands=1)
    assert over.kinds().count("SeedRevealed") == 1
    assert over.view().opened is not None
