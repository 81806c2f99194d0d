"""Every tenant's players by reference: the games that each has sat in, and how they came out.

A row is a seat of people; erasing a player empties it. Abandoned games are no results: nobody has
won or lost them.
"""

from collections.abc import Sequence
from typing import Final

import msgspec

from eventstore.feed import FeedEvent
from eventstore.postgres import EventStore
from projections.projection import Projection, Target
from projections.results import TYPES, gathered

NAME: Final = "players"
OPPONENTS: Final = 100
"""How many opponents are told of, those met most often."""


class Record(msgspec.Struct, frozen=True):
    """How somebody's finished games came out. Chips are those won less those lost; `lives_lost`
    counts the lives lost in games that have them."""

    games: int
    wins: int
    chips: int
    chips_won: int
    chips_lost: int
    lives_lost: int
    last_ended_at: int


class Opponent(msgspec.Struct, frozen=True):
    """Whom somebody has met in finished games: how often one was placed above the other."""

    ref: str
    name: str
    games: int
    wins: int
    losses: int
    draws: int


class Person(msgspec.Struct, frozen=True):
    """Somebody by reference, under the newest name, with what came of their games by kind."""

    ref: str
    name: str
    records: dict[str, Record]
    opponents: tuple[Opponent, ...]


async def read(store: EventStore, tenant: str, ref: str) -> Person | None:
    """A tenant's player; None where nobody has sat down under this reference, or they have been
    erased since. Raises StoreUnavailable."""
    named = await store.fetch(_NAME, tenant, ref)
    if not named:
        return None
    records = await store.fetch(_RECORDS, tenant, ref)
    opponents = await store.fetch(_OPPONENTS, tenant, ref, OPPONENTS)
    return Person(
        ref,
        named[0][0],
        {game: Record(*counts) for game, *counts in records},
        tuple([Opponent(*row) for row in opponents]),
    )


_NAME: Final = """
SELECT name
FROM projections.player_seats
WHERE tenant = $1::text AND ref = $2::text
ORDER BY taken_at DESC, stream DESC, seat DESC
LIMIT 1
"""
# Of several seats in one game the best counts.
_OWN: Final = """
SELECT DISTINCT ON (stream) lane, stream, game, place, won, chips, lives, ended_at
FROM projections.player_seats
WHERE tenant = $1::text AND ref = $2::text AND place IS NOT NULL
ORDER BY stream, place, seat
"""
_RECORDS: Final = f"""
SELECT game, count(*), count(*) FILTER (WHERE won), sum(chips)::bigint,
    sum(greatest(chips, 0))::bigint, sum(greatest(-chips, 0))::bigint, sum(lives)::bigint,
    max(ended_at)
FROM ({_OWN}) own
GROUP BY game
ORDER BY game
"""
_OPPONENTS: Final = f"""
SELECT met.ref, newest.name, met.games, met.wins, met.losses, met.draws
FROM (
    SELECT other.ref, count(*) AS games,
        count(*) FILTER (WHERE own.place < other.place) AS wins,
        count(*) FILTER (WHERE own.place > other.place) AS losses,
        count(*) FILTER (WHERE own.place = other.place) AS draws
    FROM ({_OWN}) own,
        LATERAL (
            SELECT DISTINCT ON (x.ref) x.ref, x.place
            FROM projections.player_seats x
            WHERE x.lane = own.lane AND x.stream = own.stream AND x.ref <> $2::text
            ORDER BY x.ref, x.place, x.seat
        ) other
    GROUP BY other.ref
    ORDER BY count(*) DESC, other.ref
    LIMIT $3::bigint
) met,
    LATERAL (
        SELECT x.name
        FROM projections.player_seats x
        WHERE x.tenant = $1::text AND x.ref = met.ref
        ORDER BY x.taken_at DESC, x.stream DESC, x.seat DESC
        LIMIT 1
    ) newest
ORDER BY met.games DESC, met.ref
"""


async def _apply(target: Target, events: Sequence[FeedEvent]) -> None:
    page = gathered(events)
    await target.execute(
        "INSERT INTO {player_seats}"
        " (lane, stream, seat, tenant, game, ref, name, taken_at, first_chips, first_lives)"
        " VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s)",
        *[
            (
                s.lane,
                s.stream,
                s.seat,
                s.tenant,
                s.game,
                s.ref,
                s.name,
                s.taken_at,
                s.chips,
                s.lives,
            )
            for s in page.begun
            if s.bot is None
        ],
    )
    await target.execute(
        "UPDATE {player_seats} SET ref = %s, name = %s, taken_at = %s"
        " WHERE lane = %s AND stream = %s AND seat = %s",
        *[(s.ref, s.name, s.at, s.lane, s.stream, s.seat) for s in page.sat],
    )
    await target.execute(
        "UPDATE {player_seats} SET place = %s, won = %s, ended_at = %s,"
        " chips = %s - first_chips, lives = first_lives - %s"
        " WHERE lane = %s AND stream = %s AND seat = %s",
        *[(o.place, o.won, o.at, o.chips, o.lives, o.lane, o.stream, o.seat) for o in page.over],
    )
    await target.execute(
        "UPDATE {player_seats} SET ref = NULL, name = NULL, taken_at = NULL"
        " WHERE lane = %s AND stream = %s AND seat = %s",
        *[(gone.lane, gone.stream, gone.seat) for gone in page.gone],
    )


PROJECTION: Final = Projection(
    name=NAME,
    version=2,
    types=TYPES,
    tables={
        "player_seats": """
            first_chips bigint NOT NULL,
            chips bigint,
            taken_at bigint,
            ended_at bigint,
            first_lives integer NOT NULL,
            lives integer,
            place integer,
            lane smallint NOT NULL,
            seat smallint NOT NULL,
            won boolean,
            stream uuid NOT NULL,
            tenant text NOT NULL,
            game text NOT NULL,
            ref text,
            name text,
            PRIMARY KEY (lane, stream, seat),
            UNIQUE (tenant, ref, stream, seat, lane)
        """
    },
    apply=_apply,
)
