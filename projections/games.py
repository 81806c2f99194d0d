"""Every tenant's games: what a host can list and find them by. Knows no score and no card."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

import msgspec

from domain.hand import HandStarted
from domain.registry import GAMES
from domain.seats import Seat
from domain.table.events import (
    GameAbandoned,
    GameCreated,
    GameEnded,
    PlayerErased,
    PlayerName,
    SeatTaken,
)
from eventstore.feed import FeedEvent
from eventstore.postgres import EventStore
from projections.entries import public
from projections.projection import Projection, Target

NAME: Final = "games"


class Place(msgspec.Struct, frozen=True):
    """Where a game stands in a list: when it was created (microseconds since 1970), and its id."""

    created_at: int
    game: str


class Listed(msgspec.Struct, frozen=True):
    """A game of a list. `version` is where its stream stands now; names are by seat,
    None while a seat is open or once its player is erased; references in order."""

    id: str
    game: str
    version: int
    status: str
    created_at: int
    ended_at: int | None
    names: tuple[str | None, ...]
    refs: tuple[str, ...]
    labels: dict[str, str]

    @property
    def place(self) -> Place:
        """Where it stands in a list."""
        return Place(self.created_at, self.id)


class Wanted(msgspec.Struct, frozen=True):
    """What games are looked for; None: any. All labels must fit."""

    status: str | None = None
    game: str | None = None
    ref: str | None = None
    labels: tuple[tuple[str, str], ...] = ()


async def find(
    store: EventStore, tenant: str, wanted: Wanted, before: Place | None, limit: int
) -> list[Listed]:
    """A tenant's games that fit, newest first, below a place. Raises StoreUnavailable."""
    parameters: list[Any] = [tenant]

    def parameter(value: Any, kind: str) -> str:
        parameters.append(value)
        return f"${len(parameters)}::{kind}"

    conditions = ["g.tenant = $1"]
    if wanted.status is not None:
        conditions.append(f"g.status = {parameter(wanted.status, 'text')}")
    if wanted.game is not None:
        conditions.append(f"g.game = {parameter(wanted.game, 'text')}")
    if wanted.ref is not None:
        conditions.append(_SEATED.format(ref=parameter(wanted.ref, "text")))
    for name, value in wanted.labels:
        label = {"name": parameter(name, "text"), "value": parameter(value, "text")}
        conditions.append(_LABELLED.format(**label))
    if before is not None:
        at, game = parameter(before.created_at, "bigint"), parameter(before.game, "uuid")
        conditions.append(f"(g.created_at, g.stream) < ({at}, {game})")
    statement = _FIND.format(conditions=" AND ".join(conditions), limit=parameter(limit, "bigint"))
    # Planned afresh each time: whether a label is rare or common makes for another plan.
    rows = await store.fetch(statement, *parameters, prepare=False)
    return [
        Listed(
            id_, of, version, status, begun, ended, tuple(names), tuple(refs or ()), labels or {}
        )
        for id_, of, version, status, begun, ended, names, refs, labels in rows
    ]


_FIND: Final = """
SELECT g.stream::text, g.game, h.version, g.status, g.created_at, g.ended_at, s.names, s.refs,
    (SELECT json_object_agg(l.name, l.value) FROM projections.game_labels l
     WHERE l.lane = g.lane AND l.stream = g.stream)
FROM (
    SELECT * FROM projections.games g
    WHERE {conditions}
    ORDER BY g.created_at DESC, g.stream DESC
    LIMIT {limit}
) g
JOIN fairdeal.streams h ON h.lane = g.lane AND h.stream = g.stream,
    LATERAL (
        SELECT array_agg(x.name ORDER BY x.seat) AS names,
            array_agg(DISTINCT x.ref) FILTER (WHERE x.ref IS NOT NULL) AS refs
        FROM projections.game_seats x
        WHERE x.lane = g.lane AND x.stream = g.stream
    ) s
ORDER BY g.created_at DESC, g.stream DESC
"""
_SEATED: Final = (
    "EXISTS (SELECT FROM projections.game_seats x WHERE x.lane = g.lane AND x.stream = g.stream"
    " AND x.tenant = g.tenant AND x.ref = {ref})"
)
_LABELLED: Final = (
    "EXISTS (SELECT FROM projections.game_labels x WHERE x.lane = g.lane AND x.stream = g.stream"
    " AND x.tenant = g.tenant AND x.name = {name} AND x.value = {value})"
)


class _Changes:
    """What pages change, gathered by table."""

    def __init__(self) -> None:
        self.games: Final[list[tuple[Any, ...]]] = []
        self.labels: Final[list[tuple[Any, ...]]] = []
        self.seats: Final[dict[tuple[str, Seat], tuple[Any, ...]]] = {}
        self.statuses: Final[list[tuple[Any, ...]]] = []

    def add(self, fed: FeedEvent) -> None:
        """Take in one event. Raises UnreadableEvent."""
        stored = fed.event
        if stored is None:
            return
        where = (fed.lane, fed.stream)
        match public(stored):
            case GameCreated() as event:
                row = (*where, fed.tenant, event.game, "waiting", stored.at)
                self.games.append(row)
                self.labels.extend((*where, fed.tenant, *label) for label in event.labels.items())
                for plan in event.seats:
                    self._seat(fed, plan.seat, None)
            case SeatTaken() as event:
                self._seat(fed, event.seat, event.player)
            case PlayerErased() as event:
                self._seat(fed, event.seat, None)
            case HandStarted():
                self.statuses.append(("playing", None, *where))
            case GameAbandoned():
                self.statuses.append(("abandoned", None, *where))
            case GameEnded() as event:
                status = "abandoned" if event.reason == "abandoned" else "finished"
                self.statuses.append((status, stored.at, *where))

    def _seat(self, fed: FeedEvent, seat: Seat, player: PlayerName | None) -> None:
        name, ref = (None, None) if player is None else (player.name, player.ref)
        self.seats[fed.stream, seat] = (fed.lane, fed.stream, seat, fed.tenant, name, ref)


async def _apply(target: Target, events: Sequence[FeedEvent]) -> None:
    changes = _Changes()
    for fed in _of_games(events):
        changes.add(fed)
    await target.execute(
        "INSERT INTO {games} (lane, stream, tenant, game, status, created_at)"
        " VALUES (%s, %s, %s, %s, %s, %s)",
        *changes.games,
    )
    await target.execute(
        "INSERT INTO {game_labels} (lane, stream, tenant, name, value) VALUES (%s, %s, %s, %s, %s)",
        *changes.labels,
    )
    await target.execute(
        "INSERT INTO {game_seats} (lane, stream, seat, tenant, name, ref)"
        " VALUES (%s, %s, %s, %s, %s, %s)"
        " ON CONFLICT (lane, stream, seat) DO UPDATE SET name = excluded.name, ref = excluded.ref",
        *changes.seats.values(),
    )
    await target.execute(
        "UPDATE {games} SET status = %s, ended_at = %s WHERE lane = %s AND stream = %s",
        *changes.statuses,
    )


def _of_games(events: Sequence[FeedEvent]) -> Iterable[FeedEvent]:
    return (fed for fed in events if fed.category in GAMES)


PROJECTION: Final = Projection(
    name=NAME,
    version=2,
    types=frozenset(
        kind.__name__
        for kind in (GameCreated, SeatTaken, HandStarted, PlayerErased, GameAbandoned, GameEnded)
    ),
    tables={
        "games": """
            created_at bigint NOT NULL,
            ended_at bigint,
            lane smallint NOT NULL,
            stream uuid NOT NULL,
            tenant text NOT NULL,
            game text NOT NULL,
            status text NOT NULL,
            PRIMARY KEY (lane, stream),
            UNIQUE (tenant, created_at, stream, lane)
        """,
        "game_seats": """
            lane smallint NOT NULL,
            seat smallint NOT NULL,
            stream uuid NOT NULL,
            tenant text NOT NULL,
            name text,
            ref text,
            PRIMARY KEY (lane, stream, seat),
            UNIQUE (tenant, ref, stream, seat, lane)
        """,
        "game_labels": """
            lane smallint NOT NULL,
            stream uuid NOT NULL,
            tenant text NOT NULL,
            name text NOT NULL,
            value text NOT NULL,
            PRIMARY KEY (lane, stream, name),
            UNIQUE (tenant, name, value, stream, lane)
        """,
    },
    apply=_apply,
)
