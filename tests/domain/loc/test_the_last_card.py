"""The fifth card is forced (loc, *Play*; common, *Actions*, `auto_forced`)."""

import msgspec

from domain.codec import recorded_action
from domain.loc.events import CardLaid, CardsShown
from domain.table.decide import server_command
from tests.domain.loc.words import fives, laid, last_trick, play, served_once, tricks
from tests.spec import Given, command

HANDS = ("4C 5C 6C 7C KS", "4D 5D 6D 7D KH", "4H 5H 6H 7H KD")


def four_tricks(**rules: object) -> Given:
    return tricks(fives(*HANDS, **rules), "4C 4D 4H", "5C 5D 5H", "6C 6D 6H", "7C 7D 7H")


def test_the_server_lays_everybodys_last_card_and_shows_them() -> None:
    """loc, Play: under auto_forced nobody is waited for; each card is a forced action."""
    story = four_tricks(first_dealer=0)
    assert story.to_act == ()
    for seat, card in ((1, "KH"), (2, "KD")):
        assert server_command(story.table) == (seat, play(card), True)
        story = served_once(story)
        assert story.events == (laid(seat, 5, card),)
    story = served_once(story)
    assert story.events[0] == laid(0, 5, "KS")
    assert isinstance(story.events[1], CardsShown)
    assert [p.card for p in story.events[1].cards] == ["KS", "KH", "KD"]


def test_a_forced_card_is_recorded_as_forced_and_sealed() -> None:
    """common, Actions: the event says forced: true; contract, The log: secret parameters."""
    ask = command(play("KS"), 0, by="server", forced=True)
    assert msgspec.json.decode(recorded_action(ask, CardLaid)) == {
        "type": "play",
        "forced": True,
        "by": "server",
    }


def test_until_they_are_shown_forced_cards_are_hidden() -> None:
    """common, Who sees what."""
    story = served_once(four_tricks(first_dealer=0))
    assert "KH" in story.shown(1)
    for seat in (0, 2, None):
        assert "KH" not in story.shown(seat)


def test_without_auto_forced_everyone_lays_the_last_card() -> None:
    """common, Actions: auto_forced: false."""
    story = four_tricks(auto_forced=False)
    assert story.to_act == (0, 1, 2)
    assert server_command(story.table) is None
    assert [story.legal(seat) for seat in range(3)] == [[play("KS")], [play("KH")], [play("KD")]]
    story = story.after((2, play("KD")), (0, play("KS"))).when(1, play("KH")).accepted()
    assert story.kinds()[:3] == ["CardLaid", "CardsShown", "ChipsMoved"]


def test_earlier_cards_are_never_forced() -> None:
    """loc, Play: only the fifth."""
    story = tricks(fives(*HANDS), "4C 4D 4H", "5C 5D 5H", "6C 6D 6H")
    assert server_command(story.table) is None
    assert story.to_act == (0, 1, 2)


def test_both_ways_come_to_the_same() -> None:
    """loc, Play: the option moves no chip."""
    by_server = last_trick(four_tricks())
    by_players = four_tricks(auto_forced=False).after(
        (0, play("KS")), (1, play("KH")), (2, play("KD"))
    )
    assert by_server.view().scores == by_players.view().scores
