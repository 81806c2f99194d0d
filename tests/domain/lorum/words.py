"""The words of Lorum's tests: its actions in short, and tables with hands put in by hand."""

from collections.abc import Sequence
from typing import Any, TypeVar

from domain.actions import Action, Pass, Play
from domain.events import Event
from domain.ledger import ChipsMoved, Ledger
from domain.lorum.contracts import CONTRACTS, ContractName
from domain.lorum.events import RoundScored
from domain.seats import Seat
from tests.builders import deal_by_hand, ready, seats_of
from tests.spec import Given, given

PASS = Pass()

E = TypeVar("E", bound=Event)


def play(card: str) -> Action:
    return Play(card=card)


def plays(cards: str) -> list[Action]:
    """A list of legal actions that is these cards, in the pack's order."""
    return [play(card) for card in cards.split()]


def lorum(
    contract: ContractName,
    *hands: str,
    leader: Seat = 0,
    balances: tuple[int, ...] = (0, 0, 0, 0),
    pot: int = 0,
    **rules: Any,
) -> Given:
    """The first round of a game, of this contract, with these cards by seat, led by `leader`;
    balances and pot as if from earlier rounds."""
    number = [known.name for known in CONTRACTS].index(contract) + 1
    table = ready("lorum", 4, **{"first_contract": number, **rules})
    table.play.ledger = Ledger(balances, pot)
    return given(deal_by_hand(table, seats_of(hands), "", leader=leader))


def of_tricks(contract: ContractName, *tricks: str, leader: Seat = 0, **rules: Any) -> Given:
    """The same, the hands being what the tricks (cards by seat) take."""
    cards = [trick.split() for trick in tricks]
    hands = [" ".join([trick[seat] for trick in cards]) for seat in range(4)]
    return lorum(contract, *hands, leader=leader, **rules)


def tricks(story: Given, *played: str) -> Given:
    """The story after these tricks, each given as cards by seat and played in turn."""
    for trick in played:
        cards = trick.split()
        for _ in cards:
            (seat,) = story.to_act
            story = story.after((seat, play(cards[seat])))
    return story


def won_by(*winners: Seat) -> tuple[str, ...]:
    """Eight tricks with these winners, as cards by seat, in which everyone follows suit: in each of
    acorns, leaves, hearts and bells first A K O U, then T 9 8 7, the winner having the highest."""
    found = []
    for number, winner in enumerate(winners):
        suit, ranks = "ALHB"[number // 2], "AKOU" if number % 2 == 0 else "T987"
        lower = iter(ranks[1:])
        cards = [ranks[0] if seat == winner else next(lower) for seat in range(4)]
        found.append(" ".join([rank + suit for rank in cards]))
    return tuple(found)


def happened(story: Given, kind: type[E]) -> list[E]:
    """The last command's events of a type."""
    return [event for event in story.events if isinstance(event, kind)]


def scored(story: Given) -> RoundScored:
    """How the round that has just ended was scored."""
    (event,) = happened(story, RoundScored)
    return event


def moved(story: Given) -> list[tuple[str, tuple[int, ...], int]]:
    """The payments of the last command: reason, changes by seat, the pot's change."""
    return [(event.reason, event.changes, event.pot) for event in happened(story, ChipsMoved)]


def chips(story: Given) -> list[int]:
    """The balances by seat."""
    return [score.chips for score in story.view().scores]


def names(cards: Sequence[Any]) -> str:
    """Played cards as `0 AH, 3 KH`."""
    return ", ".join([f"{shown.seat} {shown.card}" for shown in cards])
