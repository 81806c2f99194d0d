"""Tables for tests: seats and options as wanted, hands and stock put in by hand.

Cards are given as text, `"AS KS"`. An injected hand need not use the whole pack, nor be as long as
the rules deal: the fewer cards, the plainer the test. Knows no game's rules.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from domain.actions import Action
from domain.events import Event
from domain.game import Bot, Options, Turn
from domain.hand import Cards, HandDealt, HandStarted, PackCut, ServerSeed
from domain.registry import GAMES
from domain.seats import Seat
from domain.table.commands import Clock, Create, Player
from domain.table.decide import Decision, create
from domain.table.options import resolve
from domain.table.state import Table, copied, evolve
from domain.table.views import View
from tests.spec import AT, KEY, Given, command

GAME_ID = "0190d3a2-7c1e-7b3a-9f00-00000000000c"


def options(game: str, seats: int, **rules: Any) -> Options:
    """Complete options, as a request's `rules` would give them."""
    return resolve(GAMES[game], rules, seats)[0]


def creation(
    game: str,
    seats: int,
    *,
    key: bytes = KEY,
    deal_id: str = GAME_ID,
    open_seats: int = 0,
    clock: Clock | None = None,
    bots: Mapping[Seat, Any] | None = None,
    paces: Mapping[Seat, int] | None = None,
    seeded: bool = False,
    **rules: Any,
) -> Decision:
    """A game set up as a host would: with players P0, P1, … and some seats open."""
    players = tuple(
        [
            Player(f"P{seat}", f"ref-{seat}", (bots or {}).get(seat), (paces or {}).get(seat, 0))
            for seat in range(seats)
        ]
    )
    ask = Create(
        id=GAME_ID,
        game=game,
        options=options(game, seats + open_seats, **rules),
        deal_id=deal_id,
        seeded_by_host=seeded,
        players=players,
        open_seats=open_seats,
        clock=clock,
    )
    return create(command(ask, key=key))


def new_game(game: str, seats: int, **rules: Any) -> Given:
    """The story of a game just created, with the creation's events."""
    decision = creation(game, seats, **rules)
    return Given(decision.table, decision.events)


def told(table: Table, *events: Event) -> Table:
    """The same table, after these events."""
    for event in events:
        evolve(table, event)
    return table


def ready(game: str, seats: int, *, clock: Clock | None = None, **rules: Any) -> Table:
    """A full table whose first hand has not started."""
    waiting = creation(game, seats - 1, open_seats=1, clock=clock, **rules).table
    waiting.seats = tuple(
        [msgspec.structs.replace(seated, taken=True, generation=1) for seated in waiting.seats]
    )
    return waiting


def deal_by_hand(
    table: Table, hands: Mapping[Seat, str], stock: str, *, leader: Seat | None = None
) -> Table:
    """Start a hand with these cards. `leader` is the first of the deal (default: as it comes)."""
    return told(table, *hand_events(table, hands, stock, leader=leader))


def hand_events(
    table: Table, hands: Mapping[Seat, str], stock: str, *, leader: Seat | None = None
) -> tuple[Event, ...]:
    """The events that start, cut and deal the next hand, with these cards."""
    game, play = table.game, table.play
    still_in = [seat for seat, is_in in enumerate(game.still_in(play)) if is_in]
    if leader is None:
        dealer = game.next_dealer(play, table.dealer) if table.hand else 0
    else:
        dealer = next(seat for seat in still_in if game.plan(play, seat).seats[0] == leader)
    plan = game.plan(play, dealer)
    hand = table.hand + 1
    seed = ServerSeed("00" * 32)
    started = HandStarted(hand, dealer, False, plan.seats, plan.cutter, "ab" * 32, seed)
    begun = copied(table)
    turn = Turn(begun, begun.play, AT, evolve)
    turn.tell(started)
    game.begin(turn)
    return (
        *turn.events,
        PackCut(hand, 1, "", True),
        dealt(hand, len(table.seats), hands, stock),
    )


def dealt(hand: int, seats: int, hands: Mapping[Seat, str], stock: str) -> HandDealt:
    """The event that deals these cards."""
    return HandDealt(
        hand=hand,
        counts=tuple([len(hands.get(seat, "").split()) for seat in range(seats)]),
        stock=len(stock.split()),
        hands={seat: Cards(tuple(hands[seat].split())) for seat in sorted(hands)},
        rest=Cards(tuple(stock.split())),
    )


def seats_of(hands: Sequence[str]) -> dict[Seat, str]:
    """Hands by seat, leaving out those without a card."""
    return {seat: cards for seat, cards in enumerate(hands) if cards}


def choose_by_view(bot: Bot, memory: Any, view: View) -> Action:
    """What a bot does that has this memory and is shown this view."""
    assert view.private is not None
    return bot.choose(memory, view.actions, view.private.cards, 0)
