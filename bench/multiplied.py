"""A store filled with very many games: recorded ones under new ids, by binary COPY.

Nothing is made up: events, sealed parts and times are those of games that the engine played. Each
copy has ids of its own for the game and its commands, and its chain is hashed anew, so that audits
find it as good as any. Appends may go on meanwhile; the feed is numbered afterwards as always.
"""

import multiprocessing
import random
import time
from collections.abc import Iterator
from struct import Struct
from typing import Any, Final
from uuid import UUID

import msgspec
import psycopg

from api.ids import new_id
from bench.games import start
from domain.game import KeyedChance
from domain.log import GENESIS, Circumstances, Entry, chained, event_hash, record, shapes_of
from domain.table.commands import Command
from domain.table.decide import decide, server_command, to_act
from domain.table.state import Table
from domain.table.views import playable_actions
from eventstore import wire

PROCESSES: Final = 2
AT_ONCE: Final = 2_000

_BEGUN_AT: Final = 1_700_000_000_000_000
"""When the first copy began, microseconds since 1970."""
_APART: Final = 2_000_000
"""Microseconds between the begins of games that follow one another."""

Kind = tuple[str, int, dict[str, Any], int | None, int]
"""Game, seats, options, the events after which it is left (None: played to its end), its share."""

JUST_BEGUN: Final[tuple[Kind, ...]] = (
    ("lodam", 4, {"profile": "modern"}, 18, 6),
    ("lorum", 4, {}, 18, 3),
    ("loc", 2, {"hands": 1}, None, 1),
)
"""Many games and few events: only one in ten is played to its end."""

WHOLE: Final[tuple[Kind, ...]] = (
    ("lodam", 4, {}, None, 2),
    ("lorum", 4, {"rounds": 7}, None, 2),
    ("loc", 4, {"hands": 10}, None, 1),
)
"""Whole games of some hundreds of events."""

_HEADER: Final = b"PGCOPY\n\xff\r\n\0" + bytes(8)
_TRAILER: Final = b"\xff\xff"
_EVENT: Final = Struct("!hiqiqiiihih").pack
_SEALED: Final = Struct("!hiiihihi").pack
_STREAM: Final = Struct("!hiqiiihi").pack
_INT2, _INT4 = Struct("!ih").pack, Struct("!i").pack
_NULL: Final = _INT4(-1)


class Recording(msgspec.Struct, frozen=True):
    """A game as it was played: its log, and what the store looks up about it."""

    category: str
    entries: tuple[Entry, ...]


class Filled(msgspec.Struct, frozen=True):
    """What was written, and how long it took."""

    games: int
    events: int
    rows: int
    seconds: float


def fill(
    url: str, games: int, mix: tuple[Kind, ...] = JUST_BEGUN, at_once: int = AT_ONCE
) -> Filled:
    """Put so many games of a mix into the store, for the tenant `host`; `at_once` of them in a
    transaction."""
    begun = time.perf_counter()
    chunks = [(url, n, min(at_once, games - n)) for n in range(0, games, at_once)]
    with multiprocessing.get_context("spawn").Pool(PROCESSES, _begin, (mix,)) as pool:
        done = pool.starmap(_chunk, chunks, chunksize=1)
    events, rows = (sum(column) for column in zip(*done, strict=True))
    return Filled(games, events, rows, time.perf_counter() - begun)


def recordings(mix: tuple[Kind, ...]) -> list[Recording]:
    """The games that are multiplied, as often as their share says."""
    found = []
    for game, seats, rules, events, share in mix:
        for number in range(share * 4):
            found.append(_recorded(game, seats, rules, events, random.Random(number)))
    random.Random(0).shuffle(found)
    return found


def _recorded(
    game: str, seats: int, rules: dict[str, Any], events: int | None, chance: random.Random
) -> Recording:
    """A game at random up to the command that reaches so many events."""
    key = KeyedChance(chance.randbytes(32))
    first = start(game, [None] * seats, rules, key)
    shared = Circumstances(0, None, new_id(0))
    shapes = shapes_of(first.events, b'{"type":"create"}')
    entries = chained(first.table.id, 0, shapes, shared, GENESIS, chance.randbytes(32))
    table, at = first.table, 0
    while table.status == "playing" and (events is None or len(entries) < events):
        own, at = server_command(table), at + 700_000
        if own is not None:
            command = Command(own[1], own[0], at, key, "server", own[2])
        else:
            seat = to_act(table)[0]
            command = Command(chance.choice(playable_actions(table, seat)), seat, at, key)
        decision = decide(table, command)
        prev, salts = entries[-1].hash, chance.randbytes(32)
        entries += record(decision, command, new_id(at), prev, salts)
        table = decision.table
    return Recording(_category(table), tuple(entries))


def _category(table: Table) -> str:
    return table.game.name


_templates: list[Recording] = []


def _begin(mix: tuple[Kind, ...]) -> None:
    _templates.extend(recordings(mix))


def _chunk(url: str, first: int, games: int) -> tuple[int, int]:
    """One transaction: so many games from number `first` on. Gives how many events and rows."""
    copies = [
        _Copy(_templates[number % len(_templates)], _BEGUN_AT + number * _APART)
        for number in range(first, first + games)
    ]
    with psycopg.connect(url) as conn:
        # As every append does: first an id of its own, then numbers.
        conn.execute("SELECT pg_current_xact_id()")
        numbers = _numbers(conn, copies)
        sealed = [row for copy in copies for row in copy.sealed()]
        events = [row for copy in copies for row in copy.events(numbers[copy.lane])]
        streams = [copy.stream_row() for copy in copies]
        for table, columns, rows in (
            ("streams", "created_at, version, lane, stream, head_hash, tenant, category", streams),
            ("sealed", "version, lane, part, stream, audience, digest, salt, body", sealed),
            ("events", "alloc, at, version, lane, schema_version, actor, stream, command_id, type,"
             " prev, hash, data", events),
        ):  # fmt: skip
            statement = f"COPY fairdeal.{table} ({columns}) FROM STDIN (FORMAT binary)"
            with conn.cursor().copy(statement.encode()) as copying:
                copying.write(b"".join([_HEADER, *rows, _TRAILER]))
    return len(events), len(events) + len(sealed) + len(streams)


def _numbers(conn: psycopg.Connection[Any], copies: list["_Copy"]) -> dict[int, Iterator[int]]:
    """Numbers of the log for each lane, as many as it needs, ascending."""
    needed = [0] * wire.LANES
    for copy in copies:
        needed[copy.lane] += len(copy.recording.entries)
    found: dict[int, Iterator[int]] = {}
    for lane, count in enumerate(needed):
        rows = conn.execute(
            f"SELECT nextval('fairdeal.alloc_{lane}') FROM generate_series(1, %s)", [count]
        )
        found[lane] = iter([number for (number,) in rows.fetchall()])
    return found


class _Copy:
    """One game: a recording under an id of its own, at a time of its own."""

    def __init__(self, recording: Recording, at: int) -> None:
        self.recording, self.at = recording, at
        self.game = new_id(at)
        self.raw = UUID(self.game).bytes
        self.lane = wire.lane(self.raw)
        self._named = _INT4(16) + self.raw
        self._hash = GENESIS

    def events(self, numbers: Iterator[int]) -> Iterator[bytes]:
        """Rows of `events`."""
        before = command = ""
        command_raw = b""
        for entry in self.recording.entries:
            at = self.at + entry.at
            if entry.command != before:
                before, command = entry.command, new_id(at)
                command_raw = _INT4(16) + UUID(command).bytes
            prev = self._hash
            copied = Entry(
                entry.version, entry.type, entry.schema, at, entry.actor, command, entry.data,
                prev, b"", entry.sealed,
            )  # fmt: skip
            self._hash = event_hash(self.game, copied)
            kind = entry.type.encode()
            yield b"".join(
                (
                    _EVENT(12, 8, next(numbers), 8, at, 4, entry.version, 2, self.lane, 2,
                           entry.schema),
                    _NULL if entry.actor is None else _INT2(2, entry.actor),
                    self._named,
                    command_raw,
                    _INT4(len(kind)), kind,
                    _INT4(32), prev,
                    _INT4(32), self._hash,
                    _INT4(len(entry.data)), entry.data,
                )
            )  # fmt: skip

    def sealed(self) -> Iterator[bytes]:
        """Rows of `sealed`."""
        for entry in self.recording.entries:
            for place, part in enumerate(entry.sealed):
                audience = part.audience.encode()
                assert part.salt is not None
                assert part.body is not None
                yield b"".join(
                    (
                        _SEALED(8, 4, entry.version, 2, self.lane, 2, place, 16),
                        self.raw,
                        _INT4(len(audience)), audience,
                        _INT4(32), part.digest,
                        _INT4(len(part.salt)), part.salt,
                        _INT4(len(part.body)), part.body,
                    )
                )  # fmt: skip

    def stream_row(self) -> bytes:
        """The row of `streams`, once the events have been hashed."""
        category = self.recording.category.encode()
        version = self.recording.entries[-1].version
        return b"".join(
            (
                _STREAM(7, 8, self.at, 4, version, 2, self.lane, 16),
                self.raw,
                _INT4(32), self._hash,
                _INT4(4), b"host",
                _INT4(len(category)), category,
            )
        )  # fmt: skip
