"""Scores of every game, by hand and by seat, as everyone may know them. Knows no names, which can
be erased: readers put them in.

They follow from the whole log, but change at few events (`SCORING`): at one of those, a game is
folded up to it. The tables of games lately met are kept in memory, each by its version and hash, so
that mostly only what has come since is read.
"""

from collections import OrderedDict
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from domain.game import HandScore, Score
from domain.hand import SeedRevealed
from domain.log import fold
from domain.registry import GAMES
from domain.table.events import GameAbandoned, GameCreated, GameEnded
from domain.table.state import Table, copied
from domain.table.views import hand_score_views
from eventstore import wire
from eventstore.feed import FeedEvent
from eventstore.postgres import EventStore
from eventstore.records import Range
from projections.projection import Projection, Target

NAME: Final = "scores"
SCORING: Final = frozenset(
    kind.__name__
    for kinds in (
        (GameCreated, SeedRevealed, GameEnded, GameAbandoned),
        *[game.scoring for game in GAMES.values()],
    )
    for kind in kinds
)
"""The types of the events at which a score can change, or what everyone may know of one."""


class Scores(msgspec.Struct, frozen=True):
    """Where every seat of a game stood at a version, and what each finished hand brought."""

    version: int
    seats: tuple[Score, ...]
    hands: tuple[HandScore, ...]


def scores_of(table: Table) -> Scores:
    """The scores of a table, as everyone may know them."""
    return Scores(table.version, table.game.scores(table.play), hand_score_views(table))


async def read(store: EventStore, game_id: str) -> Scores | None:
    """The scores of a game as far as the projection has come; None where it has nothing of it.
    Raises StoreUnavailable."""
    raw = wire.uuid(game_id)
    rows = await store.fetch(_READ, wire.lane(raw), game_id)
    if not rows:
        return None
    version, lives, chips, points = rows[0][:4]
    seats = zip(range(len(chips)), lives, chips, points, strict=True)
    return Scores(
        version,
        tuple([Score(*seat) for seat in seats]),
        tuple([_hand(*row[4:]) for row in rows if row[4] is not None]),
    )


_READ: Final = """
SELECT greatest(s.version, (
        SELECT e.version
        FROM projections.builds b
        JOIN projections.checkpoints c ON c.name = b.name AND c.build = b.build AND c.lane = s.lane
        JOIN fairdeal.events e ON e.lane = s.lane AND e.stream = s.stream
        JOIN LATERAL (
            SELECT r.seq, r.alloc, r.count FROM fairdeal.feed r
            WHERE r.lane = e.lane AND r.alloc >= e.alloc ORDER BY r.alloc LIMIT 1
        ) f ON e.alloc > f.alloc - f.count AND f.seq - (f.alloc - e.alloc) <= c.seq
        WHERE b.name = 'scores' AND b.state = 'live'
            AND NOT EXISTS (SELECT FROM projections.parked p WHERE p.lane = s.lane
                AND p.name = b.name AND p.build = b.build AND p.stream = s.stream)
        ORDER BY e.version DESC LIMIT 1
    )),
    s.lives, s.chips, s.points,
    h.hand, h.dealer, h.points, h.chips, h.lives, h.contract, h.swallowed
FROM projections.scores s
LEFT JOIN projections.hand_scores h ON h.lane = s.lane AND h.stream = s.stream
WHERE s.lane = $1::smallint AND s.stream = $2::uuid
ORDER BY h.hand
"""


def _hand(
    hand: int,
    dealer: int,
    points: list[int],
    chips: list[int],
    lives: list[int] | None,
    contract: str | None,
    swallowed: list[int] | None,
) -> HandScore:
    return HandScore(
        hand=hand,
        dealer=dealer,
        points=tuple(points),
        chips=tuple(chips),
        lives=None if lives is None else tuple(lives),
        contract=contract,
        swallowed=None if swallowed is None else tuple(swallowed),
    )


class _Folded(msgspec.Struct, frozen=True):
    """A game after the event with this hash."""

    table: Table
    hash: bytes


_KEPT: Final = 2_000
_folded: Final[OrderedDict[tuple[int, str], _Folded]] = OrderedDict()
"""By build and stream. An entry is used only where it is older than all events of a page, so one
of a page that was rolled back does no harm, and where the next event's `prev` follows on it, so one
of another database does none."""


async def _tables(
    target: Target, first: Mapping[str, int], last: Mapping[str, int]
) -> AsyncIterator[tuple[Table | None, Table]]:
    """Of each stream: the table as it was before the first of these pages' events (None: that is
    not known), and as it is after the last of them."""
    known = {stream: _folded.get((target.build, stream)) for stream in last}
    usable = {
        stream: kept
        for stream, kept in known.items()
        if kept is not None and kept.table.version < first[stream]
    }
    anew = [Range(stream, 0, upto) for stream, upto in last.items() if stream not in usable]
    more = [Range(stream, kept.table.version, last[stream]) for stream, kept in usable.items()]
    async for read, events in target.store.read_each(more):
        kept = usable[read.stream]
        if events and events[0].prev == kept.hash:
            table = fold(read.stream, events, copied(kept.table))
            _keep(target, table, events[-1].hash)
            yield kept.table, table
        else:
            anew.append(Range(read.stream, 0, read.upto))
    async for read, events in target.store.read_each(anew):
        table = fold(read.stream, events)
        _keep(target, table, events[-1].hash)
        yield None, table


def _keep(target: Target, table: Table, digest: bytes) -> None:
    key = (target.build, table.id)
    _folded[key] = _Folded(table, digest)
    _folded.move_to_end(key)
    while len(_folded) > _KEPT:
        _folded.popitem(last=False)


async def _apply(target: Target, events: Sequence[FeedEvent]) -> None:
    wanted = [fed for fed in events if fed.category in GAMES and fed.event is not None]
    last = {fed.stream: fed.version for fed in wanted}
    first = {fed.stream: fed.version for fed in reversed(wanted)}
    lanes = {fed.stream: fed.lane for fed in wanted}
    scores: list[tuple[Any, ...]] = []
    hands: list[tuple[Any, ...]] = []
    async for before, after in _tables(target, first, last):
        where = (lanes[after.id], after.id)
        scores.append((*where, *_row(after)))
        known = () if before is None else hand_score_views(before)
        hands += [
            (*where, *_hand_row(hand))
            for place, hand in enumerate(hand_score_views(after))
            if place >= len(known) or known[place] != hand
        ]
    await target.execute(
        "INSERT INTO {scores} (lane, stream, version, lives, chips, points)"
        " VALUES (%s, %s, %s, %s::integer[], %s::bigint[], %s::bigint[])"
        " ON CONFLICT (lane, stream) DO UPDATE SET version = excluded.version,"
        " lives = excluded.lives, chips = excluded.chips, points = excluded.points",
        *scores,
    )
    await target.execute(
        "INSERT INTO {hand_scores}"
        " (lane, stream, hand, dealer, contract, points, chips, lives, swallowed)"
        " VALUES (%s, %s, %s, %s, %s,"
        " %s::integer[], %s::bigint[], %s::integer[], %s::integer[])"
        " ON CONFLICT (lane, stream, hand) DO UPDATE SET swallowed = excluded.swallowed",
        *hands,
    )


def _row(table: Table) -> tuple[Any, ...]:
    seats = table.game.scores(table.play)
    return (
        table.version,
        [seat.lives for seat in seats],
        [seat.chips for seat in seats],
        [seat.points for seat in seats],
    )


def _hand_row(hand: HandScore) -> tuple[Any, ...]:
    return (
        hand.hand,
        hand.dealer,
        hand.contract,
        list(hand.points),
        list(hand.chips),
        None if hand.lives is None else list(hand.lives),
        None if hand.swallowed is None else list(hand.swallowed),
    )


PROJECTION: Final = Projection(
    name=NAME,
    version=2,
    types=SCORING,
    tables={
        "scores": """
            version integer NOT NULL,
            lane smallint NOT NULL,
            stream uuid NOT NULL,
            lives integer[] NOT NULL,
            chips bigint[] NOT NULL,
            points bigint[] NOT NULL,
            PRIMARY KEY (lane, stream)
        """,
        "hand_scores": """
            hand integer NOT NULL,
            lane smallint NOT NULL,
            dealer smallint NOT NULL,
            stream uuid NOT NULL,
            contract text,
            points integer[] NOT NULL,
            chips bigint[] NOT NULL,
            lives integer[],
            swallowed integer[],
            PRIMARY KEY (lane, stream, hand)
        """,
    },
    apply=_apply,
)
