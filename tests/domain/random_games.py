"""Random games of every game on offer: random options, random legal actions, from a number.

What is special about a game stands in `FACTS`, one entry a game. The same number always gives the
same game.
"""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any
from uuid import UUID

import msgspec
import msgspec.inspect

from domain.actions import Action, Cut, CutChoice, Deal
from domain.cards import Card, Pack, by_card
from domain.events import Event
from domain.game import KeyedChance, OptionError
from domain.loc.events import HandSettled
from domain.loc.rules import PACK as loc_pack
from domain.loc.state import LocState
from domain.lodam.events import HandScored
from domain.lodam.rules import PACK as lodam_pack
from domain.lodam.rules import points_of
from domain.lodam.state import LodamState
from domain.lorum.events import RoundScored
from domain.lorum.rules import PACK as lorum_pack
from domain.lorum.state import LorumState
from domain.registry import GAMES
from domain.table.commands import (
    Abandon,
    Clock,
    Command,
    Create,
    ErasePlayer,
    IssueSeatToken,
    IssueSpectatorToken,
    Join,
    Player,
    Resign,
)
from domain.table.decide import Decision, create, decide, server_command, to_act
from domain.table.options import resolve
from domain.table.state import Table
from domain.table.views import playable_actions
from tests.spec import AT

Rules = dict[str, Any]


@dataclass(frozen=True)
class Facts:
    """What the tests of every game need to know of one."""

    rules: Callable[[random.Random], Rules]
    """Random rules, perhaps contradicting each other."""
    cards: Callable[[Any], list[Card]]
    """Every card that the state of a dealt hand accounts for."""
    account: Callable[[Table, Table, Event], None]
    """Assert what must add up where an event ends a hand (the tables before and after it)."""


def common_rules(chance: random.Random) -> Rules:
    """The options that every game has."""
    return {
        "cut": chance.choice(["auto", "auto", "manual"]),
        "deal": chance.choice(["auto", "auto", "manual"]),
        "auto_forced": chance.random() < 0.5,
        "disclosure": chance.choice(["after_hand", "after_game"]),
        "first_dealer": chance.choice([None, None, 0, 1, 2]),
    }


def lodam_rules(chance: random.Random) -> Rules:
    """Any option of Losing Lodam; few lives, to keep games short."""
    picked = {
        "profile": chance.choice(["willughby", "willughby", "modern"]),
        "ranking": chance.choice(["ten_high", "natural"]),
        "lives": chance.choice([1, 1, 2, 3]),
        "stake": chance.choice([0, 1, 250]),
        "trading": chance.choice(["off", "before_play", "any_time"]),
        "trade_offers": chance.choice([0, 1, 1, 2, 5]),
        "trump": chance.choice(["memory", "memory", "open"]),
        "announcing": chance.random() < 0.7,
        "challenging": chance.random() < 0.7,
        "scoring": chance.choice(["per_hand", "cumulative"]),
    }
    named = {name: picked[name] for name in picked if chance.random() < 0.6}
    return {**named, "lives": picked["lives"]}


def _cards(pack: Pack, hand: int) -> tuple[Card, ...]:
    return pack.read(by_card(pack.cards, hand))


def lodam_cards(state: LodamState) -> list[Card]:
    """Hands, the table, the tricks taken and the stock."""
    found = [
        card for hand in state.hands for card in lodam_pack.read(by_card(lodam_pack.cards, hand))
    ]
    found += [card for _, card in state.trick]
    found += [card for tricks in state.taken for trick in tricks for card in trick.cards]
    return found + list(state.stock)


def lodam_account(before: Table, after: Table, event: Event) -> None:
    """lodam, Cards: 108 points in the pack, those of the stock taken by nobody."""
    if isinstance(event, HandScored):
        assert sum(event.points) + points_of(before.play.stock) == 108
        assert event.points == before.play.points
        assert after.game.hand_scores(after.play)[-1].points == event.points


def lorum_rules(chance: random.Random) -> Rules:
    """Any option of Lorum; few rounds, to keep games short."""
    picked = {
        "early_end": chance.random() < 0.5,
        "first_contract": chance.randint(1, 7),
        "starting_chips": chance.choice([0, 0, 25, 1_000_000_000]),
    }
    named = {name: picked[name] for name in picked if chance.random() < 0.6}
    return {**named, "rounds": chance.choice([1, 2, 3, 7, 8, 9])}


def lorum_cards(state: LorumState) -> list[Card]:
    """Hands, the table, the tricks taken and the runs turned over."""
    found = [
        card for hand in state.hands for card in lorum_pack.read(by_card(lorum_pack.cards, hand))
    ]
    found += [card for _, card in state.on_table]
    found += [card for tricks in state.taken for trick in tricks for card in trick]
    return found + [card for run in state.runs for card in run]


def lorum_account(before: Table, after: Table, event: Event) -> None:
    """lorum, Payment: what the round brought is how the balances changed since it began; penalties
    of hearts and no tricks are 8, of Obers and the hairy monkey 10; one player is out of cards."""
    if isinstance(event, RoundScored):
        start = before.play.balances
        now = [score.chips for score in after.game.scores(after.play)]
        assert list(event.chips) == [new - old for new, old in zip(now, start, strict=True)]
        assert event.pot == after.game.pot(after.play)
        totals = {"hearts": 8, "obers": 10, "no_tricks": 8, "hairy_monkey": 10}
        if event.contract in totals:
            assert sum(event.points) == totals[event.contract]
        else:
            assert event.points.count(0) == 1
        scored = after.game.hand_scores(after.play)[-1]
        assert (scored.contract, scored.points) == (event.contract, event.points)


def loc_rules(chance: random.Random) -> Rules:
    """Any option of Loc; few hands, and stacks that run short."""
    picked = {
        "stake": chance.choice([1, 2, 7, 1000]),
        "starting_chips": chance.choice([None, 1, 5, 12, 40]),
        "bets": chance.choice(["auto", "manual"]),
        "joker": chance.choice(["super_ace", "ends_hand"]),
        "hands": chance.choice([None, 1, 3, 6]),
    }
    return {name: picked[name] for name in picked if chance.random() < 0.7}


def loc_cards(state: LocState) -> list[Card]:
    """Hands, discards, cards laid, the tricks shown and what was set aside."""
    found = [card for hand in state.hands for card in _cards(loc_pack, hand)]
    found += [card for card in (*state.discards, *state.laid) if card is not None]
    found += [loc_pack.index[play.card] for trick in state.tricks for play in trick]
    return found + list(state.stock)


def loc_account(before: Table, after: Table, event: Event) -> None:
    """loc, End: a finished hand leaves the bank empty, and brings what was won less what was bet;
    Short stacks: with starting chips nobody falls below zero."""
    if isinstance(event, HandSettled):
        assert after.game.pot(after.play) == 0
        assert sum(event.chips) == 0
        assert after.game.hand_scores(after.play)[-1].chips == event.chips
    if after.play.options.starting_chips is not None:
        assert min(after.play.ledger.balances) >= 0


FACTS: dict[str, Facts] = {
    "lodam": Facts(lodam_rules, lodam_cards, lodam_account),
    "lorum": Facts(lorum_rules, lorum_cards, lorum_account),
    "loc": Facts(loc_rules, loc_cards, loc_account),
}


def setting(game: str, chance: random.Random) -> tuple[int, Rules]:
    """A number of seats and rules that go together."""
    of = GAMES[game]
    while True:
        seats = chance.randint(of.min_seats, of.max_seats)
        rules = {**common_rules(chance), **FACTS[game].rules(chance)}
        try:
            resolve(of, rules, seats)
        except OptionError:
            continue
        return seats, rules


@dataclass(frozen=True)
class Step:
    """One command of a game: the table before it (None: it created the game) and what it did."""

    before: Table | None
    command: Command
    decision: Decision
    command_id: str
    key: bytes


def steps(game: str, number: int, most: int = 20_000) -> Iterator[Step]:
    """A whole random game, command by command, to its end."""
    chance = random.Random(f"{game} {number}")
    seats, rules = setting(game, chance)
    options, _ = resolve(GAMES[game], rules, seats)
    players = tuple([Player(f"Player {seat}", f"ref-{seat}") for seat in range(seats)])
    late = chance.choice([0, 0, 0, 1, 2])
    # Sometimes a bot with a pace sits among them, from a generator of its own.
    last, pace = seats - late - 1, random.Random(f"pace {game} {number}")
    if last >= 2 and pace.random() < 0.25:
        bot = Player("Bot", None, "random", pace.choice([1, 700]))
        players = (*players[:last], bot, *players[last + 1 :])
    create_ask = Create(
        id=uuid(chance),
        game=game,
        options=options,
        deal_id=chance.choice(["match", uuid(chance)]),
        seeded_by_host=False,
        players=players[: seats - late],
        open_seats=late,
        clock=chance.choice([None, None, Clock(turn_seconds=20)]),
        labels={"event": "night"},
    )
    leaving = chance.random() < 0.15
    key = chance.randbytes(32)
    command = Command(create_ask, None, AT, KeyedChance(key))
    decision = create(command)
    yield Step(None, command, decision, uuid(chance), key)
    for count in range(1, most):
        table = decision.table
        if table.status not in ("waiting", "playing"):
            return
        key = chance.randbytes(32)
        ask = _next(table, chance, players, leaving)
        command = msgspec.structs.replace(ask, at=AT + count * 900_001, chance=KeyedChance(key))
        decision = decide(table, command)
        yield Step(table, command, decision, uuid(chance), key)
    raise AssertionError(f"game {number} of {game} did not end within {most} commands")


def _next(
    table: Table, chance: random.Random, players: tuple[Player, ...], leaving: bool
) -> Command:
    """What happens next, at random; time and chance are filled in by the caller."""

    def ask(what: Any, seat: int | None = None, by: Any = None, forced: bool = False) -> Command:
        return Command(what, seat, 0, KeyedChance(b""), by, forced)

    if table.status == "waiting":
        return ask(Join(players[[seated.taken for seated in table.seats].index(False)]))
    if chance.random() < 0.002:
        return ask(IssueSpectatorToken())
    if chance.random() < 0.002:
        erasable = [] if table.seats[1].erased else [ErasePlayer(1)]
        return ask(chance.choice([IssueSeatToken(0), *erasable]))
    if leaving and chance.random() < 0.02:
        if chance.random() < 0.1:
            return ask(Abandon("enough"))
        able = [seat for seat in table.order if table.bot_at(seat) is None]
        if able:
            return ask(Resign(), chance.choice(able))
    own = server_command(table)
    if own is not None:
        return ask(own[1], own[0], "server", own[2])
    waited = to_act(table)
    assert waited, f"nobody is to act: {table}"
    seat = chance.choice(waited)
    if chance.random() < 0.3:
        seat = chance.choice([s for s in range(len(table.seats)) if playable_actions(table, s)])
    action = chance.choice(playable_actions(table, seat))
    if isinstance(action, CutChoice):
        action = Cut(
            at=chance.randint(action.at.min, action.at.max), nonce=chance.choice(["", "é"])
        )
    return ask(action, seat, None if table.bot_at(seat) is None else "bot")


def uuid(chance: random.Random) -> str:
    """A UUID from the generator."""
    return str(UUID(bytes=chance.randbytes(16), version=4))


def any_action(game: str, chance: random.Random) -> Action:
    """A well-formed action of the game, legal or not: any type, any card, any seat."""
    kinds: list[type[Action]] = [*GAMES[game].actions, Cut, Deal]
    kind = chance.choice(kinds)
    values: dict[str, Any] = {}
    for field in _fields(kind):
        if field.name in ("hand", "trick", "offer"):
            continue
        values[field.name] = _any_value(field.type, GAMES[game].pack.cards, chance)
    return kind(**values)


@cache
def _fields(kind: type[Action]) -> tuple[msgspec.inspect.Field, ...]:
    fields: tuple[msgspec.inspect.Field, ...] = msgspec.inspect.type_info(kind).fields  # type: ignore[attr-defined]
    return fields


def _any_value(of: Any, cards: tuple[str, ...], chance: random.Random) -> Any:
    match of:
        case msgspec.inspect.Metadata(type=inner):
            return _any_value(inner, cards, chance)
        case msgspec.inspect.LiteralType(values=values):
            return chance.choice(values)
        case msgspec.inspect.IntType(ge=least, le=most):
            return chance.randint(least if least is not None else -2, most if most else 60)
        case msgspec.inspect.BoolType():
            return chance.random() < 0.5
        case msgspec.inspect.StrType(pattern=pattern):
            return chance.choice(cards) if pattern else "n"
        case (
            msgspec.inspect.VarTupleType(item_type=item) | msgspec.inspect.ListType(item_type=item)
        ):
            return tuple([_any_value(item, cards, chance) for _ in range(chance.randint(0, 3))])
    raise AssertionError(f"say how a random {of} is made")
