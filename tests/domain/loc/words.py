"""The words of Loc's tests: its actions in short, and tables with hands put in by hand."""

from typing import Any

from domain.actions import Action, Play
from domain.hand import OneCard, PackCut
from domain.loc.commands import Bet, Discard
from domain.loc.events import BetPlaced, BetReason, CardDiscarded, CardLaid, HandSettled
from domain.loc.rules import PACK
from domain.seats import Seat
from domain.table.decide import server_command
from domain.table.state import Table, copied
from tests.builders import dealt, new_game, seats_of, told
from tests.spec import Given, command, given

BET = Bet()


def play(card: str) -> Action:
    return Play(card=card)


def discard(card: str) -> Action:
    return Discard(card=card)


def laid(seat: Seat, trick: int, card: str) -> CardLaid:
    return CardLaid(seat, trick, OneCard(card))


def put_aside(seat: Seat, card: str) -> CardDiscarded:
    return CardDiscarded(seat, OneCard(card))


def bets(reason: BetReason, amount: int, *seats: Seat) -> list[BetPlaced]:
    """Bets in full, in this order."""
    return [BetPlaced(seat, amount, reason, False) for seat in seats]


def loc(*hands: str, chips: tuple[int, ...] | None = None, **rules: Any) -> Given:
    """A first hand of Loc with these cards by seat: bets are in, nobody has discarded.

    Seat 0 is dealt first unless `first_dealer` says otherwise. `chips` are balances as if from
    earlier hands, before the bets.
    """
    wanted = {"first_dealer": len(hands) - 1, "cut": "manual", **rules}
    story = new_game("loc", len(hands), **wanted)
    if chips is not None:
        with_chips(story.table, chips)
    return deal(story.served(), *hands)


def with_chips(table: Table, chips: tuple[int, ...]) -> None:
    """Give these balances to a table whose first hand has just started."""
    assert table.play.hand == 1
    table.play.ledger = type(table.play.ledger)(chips)
    table.play.before = chips


def deal(story: Given, *hands: str) -> Given:
    """Cut, and deal these cards; what is left of the pack is the stock."""
    table = copied(story.table)
    used = {card for hand in hands for card in hand.split()}
    stock = " ".join([card for card in PACK.cards if card not in used])
    by_seat = seats_of(hands)
    return given(
        told(
            table,
            PackCut(table.hand, 1, "", False),
            dealt(table.hand, len(table.seats), by_seat, stock),
        )
    )


def fives(*hands: str, chips: tuple[int, ...] | None = None, **rules: Any) -> Given:
    """Trick 1 of a first hand with these five cards by seat."""
    six = sixth(*hands)
    return discarded(loc(*six, chips=chips, **rules), *six)


def deal_fives(story: Given, *hands: str) -> Given:
    """Trick 1 of the hand that waits for its deal."""
    six = sixth(*hands)
    return discarded(deal(story, *six), *six)


def sixth(*fives: str) -> list[str]:
    """Each five cards with a sixth that nobody has: the one to discard."""
    used = {card for hand in fives for card in hand.split()}
    spare = iter([card for card in PACK.cards if card not in used])
    return [f"{hand} {next(spare)}" if hand else "" for hand in fives]


def discarded(story: Given, *hands: str) -> Given:
    """Everyone has discarded the last card of these."""
    return story.after(*[(seat, discard(hands[seat].split()[-1])) for seat in story.to_act])


def trick(story: Given, cards: str) -> Given:
    """Those who are waited for lay these cards, in order of seats."""
    return story.after(*[(s, play(c)) for s, c in zip(story.to_act, cards.split(), strict=True)])


def tricks(story: Given, *cards: str) -> Given:
    """Several tricks."""
    for one in cards:
        story = trick(story, one)
    return story


def served_once(story: Given) -> Given:
    """The table after the next thing that the server does by itself."""
    step = server_command(story.table)
    assert step is not None, story.telling("the server has nothing to do")
    seat, ask, forced = step
    return story.apply(command(ask, seat, by="server", forced=forced))


def last_trick(story: Given) -> Given:
    """The server lays everybody's last card; the events are those of the showing."""
    for _ in story.table.play.awaited:
        story = served_once(story)
    return story


def settled(story: Given) -> HandSettled:
    """How the hand that has just ended was settled."""
    (event,) = [event for event in story.events if isinstance(event, HandSettled)]
    return event


def chips(story: Given) -> list[int]:
    """Balances by seat."""
    return [score.chips for score in story.view().scores]


def bank(story: Given) -> int:
    """Chips in the bank."""
    pot: int = story.view().table.pot
    return pot
