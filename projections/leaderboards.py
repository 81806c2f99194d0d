"""Every tenant's leaderboards: the finished games of each kind, and the ratings that follow.

A rating depends on the order of the games, and games of one leaderboard end in every lane. So what
is kept are results, each with the ratings after it, and whatever comes in between earlier ones
(late by lane, imported, erased) has all after it rated again (see `rerating`): the tables are a
function of the set of results alone. Whoever writes here holds the build's lock from before its
first write, in a transaction that reads what others have committed meanwhile.

Bots are rated as players of their kind, and never listed. Who has no reference, or has been erased,
plays as somebody unknown and keeps no rating. Abandoned games count nowhere.
"""

from collections.abc import Sequence
from typing import Final, Literal

import msgspec

from eventstore.feed import FeedEvent
from eventstore.postgres import EventStore
from projections import rerating
from projections.projection import Projection, Target
from projections.rating import Rating
from projections.rerating import Board
from projections.results import TYPES, Sitting, gathered

NAME: Final = "leaderboards"

Window = Literal["all", "week", "day"]
WINDOWS: Final[dict[Window, int | None]] = {
    "all": None,
    "week": 7 * 86_400_000_000,
    "day": 86_400_000_000,
}
"""Who is listed: all, or who has finished a game within so many microseconds."""


class Place(msgspec.Struct, frozen=True):
    """Where a player stands in a leaderboard: the number in the list, the rank (shared by those of
    the same rating), the conservative rating with its sign turned (as it is kept, to the last bit),
    and the reference. `since`: when the window began."""

    number: int
    rank: int
    minus_rating: float
    ref: str
    since: int | None


class Ranked(msgspec.Struct, frozen=True):
    """A player of a leaderboard; the counts are those of the window."""

    ref: str
    name: str
    rating: Rating
    games: int
    wins: int
    chips: int
    lives_lost: int


async def read(
    store: EventStore, board: Board, since: int | None, after: Place | None, limit: int
) -> list[Ranked]:
    """The players of a leaderboard who have finished a game `since` then (microseconds since 1970
    UTC; None: ever), best first, below a place. Raises StoreUnavailable."""
    minus, ref = (None, None) if after is None else (after.minus_rating, after.ref)
    keyset = (board.tenant, board.game, minus, ref, limit)
    if since is None:
        rows = await store.fetch(_ALL, *keyset)
    else:
        rows = await store.fetch(_WINDOW, *keyset, since)
    return [Ranked(row[0], row[1], Rating(*row[2:4]), *row[4:]) for row in rows]


async def ratings_of(store: EventStore, tenant: str, ref: str) -> dict[str, Rating]:
    """A player's ratings by game. Raises StoreUnavailable."""
    rows = await store.fetch(
        "SELECT game, mu, sigma FROM projections.ratings"
        " WHERE tenant = $1::text AND ref = $2::text ORDER BY game",
        tenant,
        ref,
    )
    return {game: Rating(mu, sigma) for game, mu, sigma in rows}


_BELOW: Final = """
WHERE r.tenant = $1::text AND r.game = $2::text
    AND ($3::float8 IS NULL OR (r.minus_rating, r.ref) > ($3::float8, $4::text))
ORDER BY r.minus_rating, r.ref
LIMIT $5::bigint
"""
_ALL: Final = f"""
SELECT r.ref, r.name, r.mu, r.sigma, r.games, r.wins, r.chips, r.lives
FROM projections.ratings r
{_BELOW}
"""
_WINDOW: Final = f"""
SELECT r.ref, r.name, r.mu, r.sigma, w.games, w.wins, w.chips, w.lives
FROM projections.ratings r
JOIN (
    SELECT s.ref, count(*) AS games, count(*) FILTER (WHERE s.won) AS wins,
        sum(s.chips)::bigint AS chips, sum(s.lives)::bigint AS lives
    FROM (
        SELECT DISTINCT ON (x.ref, x.stream) x.ref, x.won, x.chips, x.lives
        FROM projections.rated_seats x
        WHERE x.tenant = $1::text AND x.game = $2::text AND x.ended_at >= $6::bigint
            AND x.ref IS NOT NULL
        ORDER BY x.ref, x.stream, x.place, x.seat
    ) s
    GROUP BY s.ref
) w USING (ref)
{_BELOW}
"""


async def _apply(target: Target, events: Sequence[FeedEvent]) -> None:
    page = gathered(events)
    current = await rerating.is_current(target, {fed.lane: fed.seq for fed in events})
    if page.over or page.gone or (current and await rerating.due(target)):
        await rerating.lock(target)
    await target.execute(
        "INSERT INTO {rated_seats} (lane, stream, seat, tenant, game, player, ref, name,"
        " first_chips, first_lives) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s)",
        *[
            (s.lane, s.stream, s.seat, s.tenant, s.game, *_who(s), s.chips, s.lives)
            for s in page.begun
        ],
    )
    await target.execute(
        "UPDATE {rated_seats} SET player = 'ref:' || %s, ref = %s, name = %s"
        " WHERE lane = %s AND stream = %s AND seat = %s AND player IS NULL",
        *[(s.ref, s.ref, s.name, s.lane, s.stream, s.seat) for s in page.sat if s.ref],
    )
    await target.execute(
        "UPDATE {rated_seats} SET place = %s, won = %s, ended_at = %s,"
        " chips = %s - first_chips, lives = first_lives - %s"
        " WHERE lane = %s AND stream = %s AND seat = %s",
        *[(o.place, o.won, o.at, o.chips, o.lives, o.lane, o.stream, o.seat) for o in page.over],
    )
    for over in page.over:
        if over.seat == 0:
            board, moment = Board(over.tenant, over.game), rerating.Moment(over.at, over.stream)
            await rerating.mark(target, board, moment)
    for gone in page.gone:
        await rerating.forget(target, gone)
    if current:
        for board in await rerating.due(target):
            await rerating.rate(target, board)


def _who(sitting: Sitting) -> tuple[str | None, str | None, str | None]:
    """Who is rated, and the reference and name that they are listed with; None for guests."""
    if sitting.bot is not None:
        return f"bot:{sitting.bot}", None, None
    if sitting.ref is None:
        return None, None, None
    return f"ref:{sitting.ref}", sitting.ref, sitting.name


PROJECTION: Final = Projection(
    name=NAME,
    version=1,
    types=TYPES,
    tables={
        "rated_seats": """
            first_chips bigint NOT NULL,
            ended_at bigint,
            chips bigint,
            mu double precision,
            sigma double precision,
            first_lives integer NOT NULL,
            place integer,
            lives integer,
            lane smallint NOT NULL,
            seat smallint NOT NULL,
            won boolean,
            stream uuid NOT NULL,
            tenant text NOT NULL,
            game text NOT NULL,
            player text,
            ref text,
            name text,
            PRIMARY KEY (lane, stream, seat),
            UNIQUE (tenant, game, ended_at, stream, seat, lane),
            UNIQUE (tenant, game, player, ended_at, stream, seat, lane)
        """,
        "ratings": """
            minus_rating double precision NOT NULL,
            mu double precision NOT NULL,
            sigma double precision NOT NULL,
            games bigint NOT NULL,
            wins bigint NOT NULL,
            chips bigint NOT NULL,
            lives bigint NOT NULL,
            lane smallint NOT NULL,
            tenant text NOT NULL,
            game text NOT NULL,
            ref text NOT NULL,
            name text NOT NULL,
            PRIMARY KEY (lane, tenant, game, ref),
            UNIQUE (tenant, game, minus_rating, ref, lane),
            UNIQUE (tenant, ref, game, lane)
        """,
        "ratings_due": """
            ended_at bigint NOT NULL,
            lane smallint NOT NULL,
            stream uuid NOT NULL,
            tenant text NOT NULL,
            game text NOT NULL,
            PRIMARY KEY (lane, tenant, game)
        """,
    },
    apply=_apply,
)
