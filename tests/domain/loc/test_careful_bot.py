"""The careful bot of Loc: sensible in plain situations, true to what it was shown, and better than
chance."""

import random
from typing import Any

import pytest

from domain.actions import Action
from domain.bots import as_shown
from domain.loc.careful import CAREFUL, Memory
from domain.seats import Seat
from tests.builders import choose_by_view, new_game
from tests.domain.loc.words import bank, discard, fives, loc, play, served_once, tricks
from tests.seeds.games import play as play_game
from tests.spec import Given


def choice(story: Given, seat: Seat, **known: Any) -> Action:
    """What the bot at a seat does, knowing the bank and the tricks shown."""
    table = story.view().table
    memory = Memory(
        stake=1,
        joker_ends_hand=False,
        players=len(story.table.order),
        bank=table.pot,
        tricks=max(0, table.trick - 1),
        **known,
    )
    return choose_by_view(CAREFUL, memory, story.view(seat))


@pytest.mark.parametrize(
    ("hand", "weakest"),
    [
        ("KS QS 2H 3C AC XX", "2H"),
        ("2S 2H 2D 2C 3C 3D", "2C"),
        ("AS AH AD AC XX KS", "KS"),
    ],
)
def test_it_discards_its_weakest_card(hand: str, weakest: str) -> None:
    """loc, Play, 1: by rank, then by suit."""
    others = ["9C 9D 9H 9S TC TD", "JC JD JH JS 4C 4D"]
    assert choice(loc(hand, *others), 0) == discard(weakest)


@pytest.mark.parametrize("hand", ["XX KS QS JS TS", "XX 3C 4C 6S 7S"])
def test_the_joker_waits_while_the_bank_is_likely_to_grow(hand: str) -> None:
    """loc, Play: against one other player, what both bet will most likely still lie there in trick
    5, and the joker is sure to take it."""
    assert choice(fives(hand, "9C 8C 7C 6C 5C"), 0) != play("XX")


def test_a_low_card_goes_before_a_sure_one() -> None:
    """loc, Play, Trick 5: the highest card takes the bank."""
    story = tricks(fives("XX 2C AD AH AS", "9C 8C 7C 6C 5C"), "AD 9C", "AH 8C", "AS 7C")
    assert choice(story, 0) == play("2C")


def test_a_joker_that_ends_the_hand_is_kept_for_the_end() -> None:
    """loc, Play, "ends_hand": what is played after it is nothing."""
    story = fives("XX AC AD AH AS", "9C 8C 7C 6C 5C", joker="ends_hand")
    memory = Memory(stake=1, joker_ends_hand=True, players=2, bank=2)
    assert choose_by_view(CAREFUL, memory, story.view(0)) != play("XX")


def test_it_chooses_by_what_it_was_shown_alone() -> None:
    """common, Leaving: a pure function of the seat's view and memory."""
    worlds = [
        fives("KS 9C 8C 3C 2C", others, "9D 8D 7D 6D 5D")
        for others in ("AC AD AH AS XX", "4C 5C 6C 7C 4D")
    ]
    assert choice(worlds[0], 0) == choice(worlds[1], 0)


@pytest.mark.parametrize("number", range(5))
def test_it_remembers_bank_and_cards(number: int) -> None:
    """Its own count of the bank is the bank; each trick's cards are seen, until the next hand."""
    chance = random.Random(number)
    story = new_game("loc", 3, starting_chips=9, stake=2)
    memory = CAREFUL.memory(1, 3, story.table.options)
    while True:
        for event in story.events:
            CAREFUL.remember(memory, as_shown(event, 1))
        assert memory.bank == bank(story)
        shown = sum(map(len, story.view().table.tricks))
        assert len(memory.seen) == (0 if story.kinds()[-1:] == ["HandStarted"] else shown)
        if story.table.status != "playing":
            return
        story = _one_step(story, chance)


def _one_step(story: Given, chance: random.Random) -> Given:
    if not story.to_act:
        return served_once(story)
    seat = chance.choice(story.to_act)
    return story.after((seat, chance.choice(story.legal(seat))))


@pytest.mark.parametrize("rules", [{}, {"joker": "ends_hand"}, {"starting_chips": 20}])
def test_it_beats_chance(rules: dict[str, Any]) -> None:
    """Two careful players take chips from two that play at random."""
    gained = 0
    for number in range(12):
        seats = ("careful", "random") * 2 if number % 2 else ("random", "careful") * 2
        game = play_game("loc", seats, {"hands": 8, **rules}, random.Random(number))
        balances = game.table.play.ledger.balances
        start = rules.get("starting_chips", 0)
        gained += sum([balances[s] - start for s in range(4) if seats[s] == "careful"])
    # Over 96 hands of a stake of 1: more than a stake for each careful player and hand.
    assert gained > 96
