"""Ranks, loaders and how many cards each player gets (lodam, *Cards*, *Deal*)."""

import pytest

from domain.lodam import rules
from domain.lodam.rules import PACK
from domain.tricks import CardPlayed, Swallowed, TrickTaken
from tests.builders import new_game
from tests.domain.lodam.words import lodam, play


@pytest.mark.parametrize(
    ("ranking", "high_to_low"), [("ten_high", "ATKQJ98765432"), ("natural", "AKQJT98765432")]
)
@pytest.mark.parametrize("suit", "CDHS")
def test_rank_in_every_suit(ranking: str, high_to_low: str, suit: str) -> None:
    """lodam, Cards: A T K Q J 9 … 2, or with `ranking: "natural"` A K Q J T 9 … 2."""
    strength = rules.STRENGTH[ranking]
    ordered = sorted(
        (text for text in PACK.cards if text[1] == suit),
        key=lambda text: -strength[PACK.index[text]],
    )
    assert "".join(text[0] for text in ordered) == high_to_low


@pytest.mark.parametrize(
    ("ranking", "cards", "taker"),
    [
        ("ten_high", "KS TS QS", 1),
        ("natural", "KS TS QS", 0),
        ("ten_high", "TS AS KS", 1),
        ("natural", "TS JS QS", 2),
        ("ten_high", "TS JS QS", 0),
        ("ten_high", "9S 8S JS", 2),
        ("natural", "9S 8S TS", 2),
        ("ten_high", "2S 4S 3S", 1),
    ],
)
def test_the_highest_of_the_suit_led_takes(ranking: str, cards: str, taker: int) -> None:
    """lodam, Cards and Play: the option `ranking` decides who has the highest card."""
    first, second, third = cards.split()
    story = lodam(f"{first} 2C", f"{second} 3C", f"{third} 4C", ranking=ranking)
    story = story.plays(f"{first} {second}")
    story.when(2, play(third)).then(CardPlayed(2, third), TrickTaken(taker, 1, Swallowed(False)))


def test_loaders() -> None:
    """lodam, Cards: ace 11, ten 10, king 3, queen 2, jack 1; 27 a suit, 108 in the pack."""
    worth = {text: rules.LOADER_POINTS[PACK.index[text]] for text in PACK.cards}
    expected = {"A": 11, "T": 10, "K": 3, "Q": 2, "J": 1}
    assert worth == {text: expected.get(text[0], 0) for text in PACK.cards}
    assert sum(worth.values()) == 108
    for suit in "CDHS":
        assert sum(value for text, value in worth.items() if text[1] == suit) == 27


@pytest.mark.parametrize("ranking", ["ten_high", "natural"])
def test_the_taker_scores_the_loaders_of_the_trick(ranking: str) -> None:
    """lodam, Cards: the values do not change with the ranking."""
    story = lodam("AS 2C", "TS 3C", "QS 4C", ranking=ranking).plays("AS TS QS")
    private = story.view(0).private
    assert private is not None
    assert private.points == 11 + 10 + 2


@pytest.mark.parametrize(
    ("players", "each", "left"),
    [
        (2, 25, 2),
        (3, 17, 1),
        (4, 12, 4),
        (5, 10, 2),
        (6, 8, 4),
        (7, 7, 3),
        (8, 6, 4),
        (9, 5, 7),
        (10, 5, 2),
    ],
)
def test_cards_each(players: int, each: int, left: int) -> None:
    """lodam, Deal: floor(51/n) each, so that at least one card is always left over."""
    assert rules.cards_each(players) == each
    assert 52 - players * each == left


@pytest.mark.parametrize("players", range(3, 11))
def test_a_real_deal_gives_that_many(players: int) -> None:
    """lodam, Deal: the deal as the server makes it."""
    story = new_game("lodam", players).served()
    assert story.kinds() == ["HandDealt"]
    each = 51 // players
    (event,) = story.events
    assert event.counts == (each,) * players  # type: ignore[attr-defined]
    assert event.stock == 52 - players * each  # type: ignore[attr-defined]
    assert story.view().table.stock == 52 - players * each
