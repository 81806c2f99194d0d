"""Two worlds that differ only in what one viewer may not know, and whether that viewer can tell.

World A is a random hand. World B is the same deal with some cards exchanged that the viewer has not
seen, played by the same actions (secret parameters exchanged likewise), as far as they are legal in
it. Whatever the viewer is given must be the same bytes in both, once digests and hashes are masked.

What a game shows to whom is said here again, by `Secrets`, one entry a game: not taken from the
audiences that are under test.
"""

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from domain import log, replay
from domain.actions import Action, Cut, CutChoice
from domain.events import Event
from domain.game import Game, KeyedChance, Refused
from domain.hand import HandDealt, SeedRevealed
from domain.log import GENESIS, Entry
from domain.registry import GAMES
from domain.seats import Seat
from domain.table.commands import Clock, Command
from domain.table.decide import Decision, decide, server_command, to_act
from domain.table.state import Table, copied
from domain.table.views import playable_actions, view
from domain.visibility import HOST, SPECTATOR, Openings, Viewer
from tests.builders import hand_events, ready, told
from tests.domain.random_games import any_action, setting
from tests.spec import AT

Swap = Mapping[str, str]
"""Which card takes the place of which."""

Deal = tuple[dict[Seat, list[str]], list[str]]
"""Hands and stock."""


@dataclass(frozen=True)
class Secrets:
    """What tells one game's two worlds apart, for a viewer at a seat (None: no seat)."""

    shown: Callable[[Event, Seat | None], set[str]]
    """The cards that an event shows to the viewer at the moment it happens."""
    kinds: Callable[[str], str]
    """Cards of one kind are good to exchange: the rest of the game then mostly goes on."""
    alike: Callable[[Event, Event], bool] = lambda _one, _other: True
    """Whether what happened in both worlds is the same to the public *by the rules*."""
    choose: Callable[[Table, Seat, list[Action], random.Random], Action] = (
        lambda _table, _seat, actions, chance: chance.choice(actions)
    )
    """A random action; leaning to what leads into interesting places."""
    covered: Callable[["World"], set[str]] = lambda _: set()
    """Cards that lay open for a while and have been covered again."""
    in_the_open: Callable[["World", int], bool] = lambda _world, _step: False
    """Whether, after so many steps, such a card lies open or what it hides has been told."""
    told: Callable[[Table], object] = lambda _: None
    """What the rules tell everyone of a moment though it follows from hidden cards."""


@dataclass
class World:
    """A table that remembers every moment and its whole log."""

    table: Table
    key: bytes
    deal: Deal
    commands: list[Command] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    """After each step, the deal being the first."""
    entries: list[Entry] = field(default_factory=list)
    events: list[tuple[Event, ...]] = field(default_factory=list)

    def take(self, decision: Decision, command: Command, command_id: str) -> None:
        """Go on with what a command has brought about."""
        prev = self.entries[-1].hash if self.entries else GENESIS
        self.entries += log.record(decision, command, command_id, prev, self.key)
        self.table = decision.table
        self.tables.append(decision.table)
        self.events.append(decision.events)
        self.commands.append(command)


def begin(game: Game[Any], start: Table, deal: Deal, key: bytes) -> World:
    """The table with this deal."""
    table = copied(start)
    table.game = game
    hands = {seat: " ".join(cards) for seat, cards in deal[0].items()}
    events = hand_events(table, hands, " ".join(deal[1]))
    world = World(table, key, deal)
    decision = Decision(events, told(table, *events))
    world.take(decision, Command(Cut(at=1), None, AT, KeyedChance(key), "server"), "deal")
    return world


def dealt_to(event: HandDealt, seat: Seat | None) -> set[str]:
    """The cards that the viewer was dealt."""
    own = event.hands.get(seat) if seat is not None else None
    return set(own.cards) if own is not None else set()


def ids(world: World) -> str:
    """The id of the next command: the same in both worlds."""
    return f"command {len(world.commands)}"


def deal_at_random(start: Table, chance: random.Random) -> Deal:
    """A whole pack, dealt to those who are in."""
    seats = [seat for seat, is_in in enumerate(start.game.still_in(start.play)) if is_in]
    each = start.game.plan(start.play, seats[0]).each
    cards = list(start.game.pack.cards)
    chance.shuffle(cards)
    hands = {seat: [cards.pop() for _ in range(each)] for seat in seats}
    return hands, cards


def play_on(world: World, secrets: Secrets, chance: random.Random, most: int) -> None:
    """Up to so many random steps, not beyond the opening of a hand."""
    while len(world.commands) <= most and world.table.status == "playing":
        table = world.table
        own = server_command(table)
        if own is not None:
            command = Command(own[1], own[0], AT, KeyedChance(world.key), "server", own[2])
        else:
            # By the game as it is: what is planted must be found, not fallen over.
            honest = msgspec.structs.replace(table, game=GAMES[table.game.name])
            seat = chance.choice(to_act(honest))
            if chance.random() < 0.15:
                able = [s for s in range(len(table.seats)) if playable_actions(honest, s)]
                seat = chance.choice(able)
            action = secrets.choose(table, seat, playable_actions(honest, seat), chance)
            if isinstance(action, CutChoice):
                action = action.somewhere(chance.getrandbits(32))
            command = Command(action, seat, AT + len(world.commands), KeyedChance(world.key))
        decision = decide(table, command)
        if any(isinstance(event, SeedRevealed) for event in decision.events):
            return
        world.take(decision, command, ids(world))


def exchanged(deal: Deal, swap: Swap) -> Deal:
    """The deal with some cards in each other's place."""
    hands, stock = deal
    return (
        {seat: [swap.get(card, card) for card in cards] for seat, cards in hands.items()},
        [swap.get(card, card) for card in stock],
    )


class OwnActionRefused(Exception):
    """What the viewer could do in one world it cannot do in the other: a leak by itself."""


def other_world(
    game: Game[Any], start: Table, a: World, swap: Swap, secrets: Secrets, seat: Seat | None
) -> World:
    """World B, as far as the rules let it go the same way to the public.

    Raises OwnActionRefused.
    """
    b = begin(game, start, exchanged(a.deal, swap), a.key)
    for number, command in enumerate(a.commands[1:], 1):
        ask = command.ask
        assert isinstance(ask, Action)
        card = getattr(ask, "card", "")
        if card in swap and b.table.hand == 1:
            ask = msgspec.structs.replace(ask, card=swap[card])
        command = msgspec.structs.replace(command, ask=ask)
        try:
            decision = decide(b.table, command)
        except Refused as refusal:
            if command.seat is not None and command.seat == seat:
                raise OwnActionRefused(f"step {number}: {refusal}") from None
            break
        if secrets.told(a.tables[number]) != secrets.told(decision.table):
            break
        both = zip(a.events[number], decision.events, strict=False)
        if not all(secrets.alike(one, other) for one, other in both):
            break
        b.take(decision, command, ids(b))
    return b


@dataclass(frozen=True)
class Pair:
    """Two worlds, the viewer who must not tell them apart, and the steps at which to compare."""

    a: World
    b: World
    viewer: Viewer
    swap: Swap
    steps: tuple[int, ...]
    chance: random.Random


def pairs(
    name: str, secrets: Secrets, numbers: range, planted: Callable[[Game[Any]], Game[Any]]
) -> Iterator[Pair]:
    """Random pairs of worlds of a game, with a change planted in it (or none)."""
    game = planted(GAMES[name])
    for number in numbers:
        chance = random.Random(f"worlds of {name} {number}")
        start = _start(name, chance)
        a = begin(game, start, deal_at_random(start, chance), chance.randbytes(32))
        play_on(a, secrets, chance, chance.choice([5, 20, 60, 150, 300]))
        viewers = [SPECTATOR, HOST, *[Viewer("seat", seat) for seat in range(len(start.seats))]]
        viewer = chance.choice(viewers)
        found: list[Pair] = []
        for _ in range(8):
            swap = _swap(a, secrets, viewer.seat, chance)
            if swap is None:
                break
            b = other_world(game, start, a, swap, secrets, viewer.seat)
            steps = _steps(a, b, swap, secrets)
            found.append(Pair(a, b, viewer, swap, steps, random.Random(number)))
            if len(b.tables) == len(a.tables):
                break
        if found:
            yield max(found, key=lambda pair: len(pair.steps))


def _start(name: str, chance: random.Random) -> Table:
    """A table before a hand, as if after earlier ones: some out, running scores, a clock."""
    seats, rules = setting(name, chance)
    clock = chance.choice([None, Clock(turn_seconds=60)])
    start = ready(name, seats, clock=clock, **rules)
    if hasattr(start.play, "lives"):
        lives = [chance.choice([0, 1, 1, 2, 3]) for _ in range(seats)]
        lives[chance.randrange(seats)] = 1
        if sum(map(bool, lives)) >= 2:
            start.play.lives = tuple(lives)
    return start


def _swap(
    a: World, secrets: Secrets, seat: Seat | None, chance: random.Random
) -> dict[str, str] | None:
    """Some cards that the viewer has not seen (or that have been covered since), exchanged."""
    seen: set[str] = set(a.deal[0].get(seat, ())) if seat is not None else set()
    for events in a.events:
        for event in events:
            seen |= secrets.shown(event, seat)
    hidden = [card for card in a.table.game.pack.cards if card not in seen]
    covered = sorted(secrets.covered(a))
    if len(hidden) < 2:
        return None
    swap: dict[str, str] = {}
    if covered and chance.random() < 0.6:
        first = covered[0]
        second = chance.choice(hidden)
        return {first: second, second: first}
    for _ in range(chance.randint(1, 3)):
        one = chance.choice(hidden)
        same = [card for card in hidden if secrets.kinds(card) == secrets.kinds(one)]
        other = chance.choice(same if chance.random() < 0.7 else hidden)
        if one != other and one not in swap and other not in swap:
            swap |= {one: other, other: one}
    return swap or None


def _steps(a: World, b: World, swap: Swap, secrets: Secrets) -> tuple[int, ...]:
    """Where the viewer must see the same: everywhere, unless an exchanged card lies open."""
    both = range(len(b.tables))
    if not secrets.covered(a) & set(swap):
        return tuple(both)
    return tuple([number for number in both if not secrets.in_the_open(a, number)])


def difference(pair: Pair) -> str | None:
    """The first thing by which the viewer could tell the worlds apart, or None."""
    a, b, viewer = pair.a, pair.b, pair.viewer
    last = pair.steps[-1]
    for step in pair.steps:
        for what, of_a, of_b in zip(
            ("view", "new events"),
            _given(a, step, viewer),
            _given(b, step, viewer),
            strict=True,
        ):
            if of_a != of_b:
                return f"step {step}: {what}\n{of_a}\n{of_b}"
        if viewer.seat is not None and (step == last or pair.chance.random() < 0.2):
            for _ in range(5):
                action = _any_action(pair)
                tried = [_try(world, step, viewer.seat, action) for world in (a, b)]
                if tried[0] != tried[1]:
                    return f"step {step}: {action}\n{tried[0]}\n{tried[1]}"
        if step == last or (step + 1 not in pair.steps):
            for what, of_a, of_b in zip(
                ("log", "earlier views", "replay"),
                _history(a, step, viewer),
                _history(b, step, viewer),
                strict=True,
            ):
                if of_a != of_b:
                    return f"step {step}: {what}\n{of_a}\n{of_b}"
    return None


def _any_action(pair: Pair) -> Action:
    """Any action, legal or not; often about one of the cards that differ."""
    action = any_action(pair.a.table.game.name, pair.chance)
    if hasattr(action, "card") and pair.chance.random() < 0.5:
        return msgspec.structs.replace(action, card=pair.chance.choice(sorted(pair.swap)))
    return action


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _given(world: World, step: int, viewer: Viewer) -> tuple[str, str]:
    """What a viewer who looks after each step is given: the view, and the events of the step."""
    table = world.tables[step]
    before = world.tables[step - 1].version if step else 0
    versions = range(before, table.version)
    return (
        _json(view(table, viewer, table.openings)),
        _events(world, versions, viewer, table.openings),
    )


def _events(world: World, versions: range, viewer: Viewer, now: Openings) -> str:
    first = world.entries[0].version - 1
    listed = [world.entries[v - first] for v in versions if v >= first]
    return "\n".join([_json(_masked(world, entry, viewer, now)) for entry in listed])


def _masked(world: World, entry: Entry, viewer: Viewer, now: Openings) -> Any:
    """The event as the viewer gets it, without what may differ by itself: digests and hashes."""
    seen = log.event_view(world.table.id, entry, viewer.seat, now)
    sealed = [msgspec.structs.replace(part, digest="") for part in seen.sealed]
    return msgspec.structs.replace(seen, prev="", hash="", sealed=tuple(sealed))


def _history(world: World, step: int, viewer: Viewer) -> tuple[str, str, str]:
    """What a viewer is given who looks back after a step: the log so far, every earlier view, the
    game told."""
    table = world.tables[step]
    now = table.openings
    views = [_json(view(earlier, viewer, now)) for earlier in world.tables[: step + 1]]
    first = world.entries[0].version
    so_far = world.entries[: table.version - first + 1]
    told_again = replay.replay(table, so_far, viewer.seat, now)
    return (
        _events(world, range(table.version), viewer, now),
        "\n".join(views),
        _json(told_again) + replay.transcript(told_again, table),
    )


def _try(world: World, step: int, seat: Seat, action: Action) -> str:
    try:
        decide(world.tables[step], Command(action, seat, AT, KeyedChance(world.key)))
    except Refused as refusal:
        return f"{refusal.rule}: {refusal.detail}"
    return "accepted"


def planted(**changes: Any) -> Callable[[Game[Any]], Game[Any]]:
    """The game with some of its functions replaced."""

    def plant(game: Game[Any]) -> Game[Any]:
        return replace(game, **changes)

    return plant


def as_it_is(game: Game[Any]) -> Game[Any]:
    """The game with nothing planted."""
    return game
