"""The careful bot of Lorum: what it does with a hand, and that it beats chance."""

import random
from collections import Counter
from typing import Any

import pytest

from domain.actions import Action
from domain.events import Event
from domain.lorum.contracts import ContractName
from domain.lorum.events import ContractAnnounced
from domain.table.commands import BotName
from tests.builders import choose_by_view
from tests.domain.lorum.words import lorum, play
from tests.seeds.games import play as played_game


def choice(contract: ContractName, *hands: str, cards: str = "") -> Action:
    """What the careful bot whose turn it is does after these plays, seat 0 leading."""
    story = lorum(contract, *hands, auto_forced=False)
    events: list[Event] = [ContractAnnounced(1, contract)]
    for card in cards.split():
        story = story.plays(card)
        events += story.events
    (seat,) = story.to_act
    bot = story.table.game.careful
    memory: Any = bot.memory(seat, 4, story.table.options)
    for event in events:
        bot.remember(memory, event)
    return choose_by_view(bot, memory, story.view(seat))


@pytest.mark.parametrize(
    ("contract", "led", "hand", "chosen"),
    [
        ("hearts", "TH", "7H 9H AH", "9H"),
        ("hearts", "TA", "7H AL KL", "7H"),
        ("obers", "KA", "OA UA AA", "OA"),
        ("obers", "TA", "OH OB AL", "OH"),
        ("hairy_monkey", "AH", "KH 7H", "KH"),
        ("hairy_monkey", "7A", "KH AH AL", "KH"),
        ("no_tricks", "TA", "7A 9A AA", "9A"),
        ("no_tricks", "TA", "UA AA", "UA"),
    ],
)
def test_it_ducks_and_throws_away_what_costs(
    contract: ContractName, led: str, hand: str, chosen: str
) -> None:
    """The dearest card that does not win; else the lowest that may."""
    others = "8L 9L TL", "7L UL OL"
    assert choice(contract, f"{led} 8B 9B", *others, hand, cards=led) == play(chosen)


def test_it_takes_last_what_costs_nothing_with_its_highest() -> None:
    """A trick without a heart rids one of a high card."""
    hands = ("TA 7L", "UA AA 7A", "8A 8L", "9A 9L")
    assert choice("hearts", *hands, cards="TA 9A 8A") == play("AA")
    assert choice("no_tricks", *hands, cards="TA 9A 8A") == play("7A")


def test_it_leads_a_run_that_ends_with_a_card_of_its_own() -> None:
    """Quads: to lead again."""
    hands = ("7A 9A TA 8H", "8A 9H", "TL UL", "OB KB")
    assert choice("quads", *hands) == play("7A")


def test_it_leads_the_rank_of_which_it_holds_most() -> None:
    """Fast train: a rank comes once in eight plays."""
    assert choice("fast_train", "7A 9L UH UB", "8A", "TL", "OB") == play("UH")


def test_it_lays_first_what_its_own_cards_wait_for() -> None:
    """Lorum."""
    hands = ("KA 9L", "7A", "8L", "KH KB 7B TB")
    assert choice("lorum", *hands, cards="KA") == play("KB")


def test_it_begins_the_layout_where_its_cards_follow_soonest() -> None:
    """Lorum: from the ten, the others lie one and two ranks on."""
    assert choice("lorum", "TA UB OH", "7A", "8L", "9B") == play("TA")


def test_it_beats_chance() -> None:
    """Two careful against two random players: their chips, over 25 games of seven rounds."""
    won: Counter[str] = Counter()
    chance = random.Random(11)
    for number in range(25):
        pair: tuple[BotName, ...] = ("careful", "random") if number % 2 else ("random", "careful")
        habits = pair * 2
        played = played_game("lorum", habits, {"rounds": 7}, chance)
        for seat, balance in enumerate(played.table.play.ledger.balances):
            won[habits[seat]] += balance
    assert won["careful"] > 200
    assert won["random"] < -200
