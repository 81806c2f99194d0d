"""Following suit and the highest card, whatever the game."""

from domain.cards import FRENCH_53, by_card, mask
from domain.seats import Seat
from domain.tricks import highest_of, playable

CLUBS, DIAMONDS, HEARTS, SPADES = range(4)
NATURAL = tuple(range(53))


def can_play(hand: str, led: int | None) -> list[str]:
    bits = playable(mask(FRENCH_53.read(hand.split())), led, FRENCH_53)
    return by_card(FRENCH_53.cards, bits)


def test_whoever_leads_may_play_anything() -> None:
    assert can_play("2C AS", None) == ["2C", "AS"]


def test_who_holds_the_suit_follows() -> None:
    assert can_play("2C AC AS", CLUBS) == ["2C", "AC"]
    assert can_play("2C AC AS", SPADES) == ["AS"]


def test_who_does_not_may_play_anything() -> None:
    assert can_play("2C AC AS", HEARTS) == ["2C", "AC", "AS"]
    assert can_play("2C XX", SPADES) == ["2C", "XX"]


def best(plays: str, suit: int) -> Seat | None:
    trick = [(seat, FRENCH_53.index[text]) for seat, text in enumerate(plays.split())]
    return highest_of(trick, suit, FRENCH_53, NATURAL)


def test_the_highest_of_a_suit() -> None:
    assert best("2S AS KS", SPADES) == 1
    assert best("2S AH KS", SPADES) == 2
    assert best("2S AH KS", HEARTS) == 1
    assert best("2S XX KS", SPADES) == 2


def test_nobody_has_one() -> None:
    assert best("2S AH KS", DIAMONDS) is None
