"""Whole games for the tests, in a store as whoever has it could put them there: random ones of
every kind, in pieces, side by side."""

import random
from collections.abc import Iterator, Sequence

import msgspec

from api.batch import new_event, tags_of
from domain.codec import read_event
from domain.log import GENESIS, Entry, fold, record
from domain.registry import GAMES
from domain.table.events import GameEnded, PlayerErased, SeatTaken
from domain.table.state import Table
from eventstore.postgres import EventStore
from eventstore.records import Answer, Append, Appended
from tests.domain.random_games import steps


class Log(msgspec.Struct, frozen=True):
    """A random game: its log in commands, and the table after the last of them."""

    commands: tuple[tuple[Entry, ...], ...]
    table: Table
    tenant: str

    @property
    def entries(self) -> list[Entry]:
        """The whole log."""
        return [entry for command in self.commands for entry in command]


class Outcome(msgspec.Struct, frozen=True):
    """What a game's last event says of a seat, and what it had gained since the first one."""

    place: int
    won: bool
    chips: int
    lives: int


def outcomes(log: Log) -> list[Outcome] | None:
    """By seat, how everyone came out of a game; None where it was abandoned."""
    [last] = [entry for entry in log.entries if entry.type == "GameEnded"]
    ended = read_event(last)
    assert isinstance(ended, GameEnded)
    if log.table.status == "abandoned":
        return None
    table = fold(log.table.id, log.entries[:1])
    begun = table.game.scores(table.play)
    return [
        Outcome(
            (ended.places or (1,) * len(begun))[seat],
            seat in ended.winners,
            ended.scores[seat].chips - score.chips,
            (score.lives or 0) - (ended.scores[seat].lives or 0),
        )
        for seat, score in enumerate(begun)
    ]


def random_log(game: str, number: int, tenant: str = "host") -> Log:
    """The random game of that number, played to its end."""
    commands: list[tuple[Entry, ...]] = []
    prev = GENESIS
    table = None
    for step in steps(game, number):
        entries = record(step.decision, step.command, step.command_id, prev, step.key)
        prev, table = entries[-1].hash, step.decision.table
        commands.append(tuple(entries))
    assert table is not None
    return Log(tuple(commands), table, tenant)


def random_logs(count: int, chance: random.Random, tenants: Sequence[str] = ("host",)) -> list[Log]:
    """So many random games, of every kind and of these tenants."""
    names = sorted(GAMES)
    return [
        random_log(names[n % len(names)], chance.randrange(10**6), chance.choice(tenants))
        for n in range(count)
    ]


async def put(store: EventStore, log: Log, after: int, upto: int) -> None:
    """Append the commands of a game after the first `after` of them, up to the `upto`-th; whoever
    is erased by them loses their name in the store with the same append."""
    entries = [entry for command in log.commands[after:upto] for entry in command]
    if not entries:
        return
    outcome = await store.append(
        Append(
            stream=log.table.id,
            expected=entries[0].version - 1,
            prev=entries[0].prev,
            events=tuple([new_event(entry) for entry in entries]),
            command=entries[-1].command,
            answer=Answer(log.table.id, entries[0].version, entries[-1].version, b""),
            tags=tags_of(log.table),
            tenant=log.tenant,
            category=log.table.game.name,
            erase=tuple(names_erased(log, entries)),
        )
    )
    assert isinstance(outcome, Appended)


def names_erased(log: Log, entries: Sequence[Entry]) -> Iterator[tuple[int, int]]:
    """Versions and parts that name those whom these events erase."""
    gone = [e.seat for e in map(read_event, entries) if isinstance(e, PlayerErased)]
    for command in log.commands:
        for entry in command:
            event = read_event(entry)
            if isinstance(event, SeatTaken) and event.seat in gone:
                yield from [(entry.version, part) for part in range(len(entry.sealed))]


def pieces(logs: Sequence[Log], chance: random.Random) -> Iterator[tuple[Log, int, int]]:
    """The games in pieces, interleaved: a game, and from which command up to which."""
    at = {log.table.id: 0 for log in logs}
    left = list(logs)
    while left:
        log = chance.choice(left)
        after = at[log.table.id]
        upto = min(len(log.commands), after + chance.choice([1, 5, 50, 400]))
        at[log.table.id] = upto
        if upto == len(log.commands):
            left.remove(log)
        yield log, after, upto
