"""How a hand of Loc reads in a replay."""

import random

from domain.log import fold
from domain.replay import Replay, replay, transcript
from domain.telling import HandTold, Telling
from tests.domain.loc.words import fives, last_trick, play, trick, tricks
from tests.seeds.games import Played
from tests.seeds.games import play as play_game
from tests.spec import Given

HANDS = ("4C KC XX 7C 8C", "4D 5D 6D AD KH", "QH 5H 6H 7H AS")


def told(*stories: Given) -> Telling:
    """What the last command of each story adds to a telling, seen by everyone."""
    telling = Telling(stories[0].table.game.pack, ["Anna", "Bea", "Cili"])
    telling.hands.append(HandTold(1, 0, False, ""))
    version = 0
    for story in stories:
        for event in story.events:
            version += 1
            story.table.game.narrate(telling, event, version)
    return telling


def lines(*stories: Given) -> list[str]:
    return [moment.text for moment in told(*stories).hand.moments]


def test_an_excused_player() -> None:
    """loc, Play: the others bet."""
    assert lines(trick(fives(*HANDS, stake=5), "4C 4D QH")) == [
        "Cili has the highest card and is excused",
        "The others bet: Anna 5, Bea 5",
    ]


def test_an_ace_and_the_joker_take_the_bank() -> None:
    """loc, Play: card and amount are told, then all bet again."""
    one = trick(fives(*HANDS), "4C AD QH")
    two = trick(one, "XX 4D AS")
    assert lines(one, two) == [
        "Bea takes the bank of 3 with the A♦",
        "Everyone bets again: Anna 1, Bea 1, Cili 1",
        "Anna takes the bank of 3 with the joker",
        "Everyone bets again: Anna 1, Bea 1, Cili 1",
    ]
    assert [(t.trick, t.taker) for t in told(one, two).hand.tricks] == [(1, 1), (2, 0)]


def test_short_bets_and_who_goes_out() -> None:
    """loc, Short stacks."""
    one = trick(fives(*HANDS, stake=2, starting_chips=3), "4C 4D QH")
    assert lines(one)[1] == "The others bet: Anna 1 (all there was), Bea 1 (all there was)"
    end = last_trick(tricks(one, "7C 5D 5H", "8C 6D 6H", "KC KH 7H"))
    assert lines(end) == [
        "Anna takes the bank of 9 with the joker",
        "Bea is out of the game",
        "Cili is out of the game",
    ]
    assert [p.chips for p in told(end).hand.payments] == [6, -3, -3]


def test_the_cards_of_a_trick_are_told_by_seat_whoever_laid_first() -> None:
    """loc, Play: shown together."""
    story = fives(*HANDS).after((2, play("QH")), (0, play("4C"))).after((1, play("4D")))
    (trick_told,) = told(story).hand.tricks
    assert [(p.seat, p.card) for p in trick_told.plays] == [(0, "4C"), (1, "4D"), (2, "QH")]
    assert trick_told.taker is None


def recorded() -> Played:
    return play_game("loc", ("careful", "random", "careful"), {"hands": 2}, random.Random(1))


def test_a_whole_game_in_words() -> None:
    """contract, replay: hands, tricks, plays, with names and payments."""
    game = recorded()
    story = transcript(_replay(game, len(game.entries), None), game.table)
    assert story.count("Everyone bets: ") == 2
    assert story.count("Discards: ") == 2
    assert story.count("\n  5. ") == 2
    assert "Won by " in story


def test_what_is_still_hidden_is_not_told() -> None:
    """common, Who sees what: one's own discard and laid card are told to oneself alone."""
    game = recorded()
    version = next(e.version for e in game.entries if e.type == "CardLaid")
    for seat, own in ((game.entries[version - 1].actor, True), (None, False)):
        hand = _replay(game, version, seat).hands[0]
        assert len(hand.unfinished) == own
        assert any(m.text.startswith("Discards: ") for m in hand.moments) == own


def _replay(game: Played, version: int, seat: int | None) -> Replay:
    entries = game.entries[:version]
    table = fold(game.table.id, entries)
    return replay(table, entries, seat, table.openings)
