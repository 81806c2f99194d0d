"""Rating a leaderboard again from the earliest result on that is new, late or changed.

A build that has much of the feed before it only marks what is due, and rates once it has caught up:
rating again and again while results of other lanes are still to come would be for nothing.
"""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, Final

import msgspec

from eventstore import wire
from projections.projection import Target
from projections.rating import Rating, after_game
from projections.results import Forgotten

_CAUGHT_UP: Final = 2_000
"""Events of the lane still to come at which a build counts as up to date."""
_ROWS: Final = 5_000
_LOCKS: Final = 6_665
"""The class of this module's advisory locks."""


class Board(msgspec.Struct, frozen=True):
    """One tenant's leaderboard of one game."""

    tenant: str
    game: str

    @property
    def lane(self) -> int:
        """The lane in which its ratings are kept: they belong to no stream."""
        return wire.lane(wire.scope(f"{self.tenant}\n{self.game}"))


class Moment(msgspec.Struct, frozen=True):
    """Where a result stands in the order of rating."""

    ended_at: int
    stream: str


async def is_current(target: Target, seqs: Mapping[int, int]) -> bool:
    """Whether little is left of a lane's feed after its number here; one such lane is enough."""
    rows = await target.fetch(
        "SELECT bool_or(s.seq - x.seq < %s) FROM unnest(%s::smallint[], %s::bigint[])"
        " AS x (lane, seq) JOIN fairdeal.sequencer s USING (lane)",
        (_CAUGHT_UP, list(seqs), list(seqs.values())),
    )
    return bool(rows[0][0])


async def due(target: Target) -> list[Board]:
    """The leaderboards that are marked to be rated again."""
    return [Board(*row) for row in await target.fetch("SELECT tenant, game FROM {ratings_due}")]


async def lock(target: Target) -> None:
    """Be the only one to write to this build's leaderboards until the transaction ends. One lock
    for all of them, since a transaction may take in pages of several lanes."""
    await target.fetch("SELECT pg_advisory_xact_lock(%s, %s)", (_LOCKS, target.build))


async def mark(target: Target, board: Board, moment: Moment) -> None:
    """Note that the leaderboard is to be rated again from a moment on."""
    await target.execute(
        "INSERT INTO {ratings_due} AS d (lane, tenant, game, ended_at, stream)"
        " VALUES (%s, %s, %s, %s, %s)"
        " ON CONFLICT (lane, tenant, game)"
        " DO UPDATE SET ended_at = excluded.ended_at, stream = excluded.stream"
        " WHERE (excluded.ended_at, excluded.stream) < (d.ended_at, d.stream)",
        (board.lane, board.tenant, board.game, moment.ended_at, moment.stream),
    )


async def forget(target: Target, gone: Forgotten) -> None:
    """Make somebody unknown who has been erased."""
    board, where = Board(gone.tenant, gone.game), (gone.lane, gone.stream, gone.seat)
    rows = await target.fetch(
        "SELECT ended_at, ref FROM {rated_seats}"
        " WHERE lane = %s AND stream = %s AND seat = %s AND ref IS NOT NULL",
        where,
    )
    for ended_at, ref in rows:
        await target.execute(
            "UPDATE {rated_seats}"
            " SET player = NULL, ref = NULL, name = NULL, mu = NULL, sigma = NULL"
            " WHERE lane = %s AND stream = %s AND seat = %s",
            where,
        )
        if ended_at is not None:
            await mark(target, board, Moment(ended_at, gone.stream))
            await _sum_up(target, board, [ref])


async def rate(target: Target, board: Board) -> None:
    """Rate again from the moment that is marked, if one is."""
    where = (board.lane, board.tenant, board.game)
    marked = await target.fetch(
        "DELETE FROM {ratings_due} WHERE lane = %s AND tenant = %s AND game = %s"
        " RETURNING ended_at, stream::text",
        where,
    )
    for ended_at, stream in marked:
        known = await _known_before(target, board, Moment(ended_at, stream))
        rated: set[str] = set()
        after: tuple[Any, ...] = (ended_at, stream, -1)
        while rows := await _results(target, board, after):
            await _rate_rows(target, rows, known, rated)
            after = rows[-1][:3]
        refs = [player.removeprefix("ref:") for player in rated if player.startswith("ref:")]
        await _sum_up(target, board, sorted(refs))


async def _known_before(target: Target, board: Board, moment: Moment) -> dict[str, Rating]:
    """The ratings, as they were before a moment, of all who have a result from then on."""
    of = (board.tenant, board.game)
    since = (moment.ended_at, moment.stream)
    rows = await target.fetch(
        "SELECT p.player, r.mu, r.sigma FROM ("
        " SELECT DISTINCT player FROM {rated_seats}"
        " WHERE tenant = %s AND game = %s AND (ended_at, stream) >= (%s, %s::uuid)"
        " AND player IS NOT NULL) p,"
        " LATERAL (SELECT x.mu, x.sigma FROM {rated_seats} x"
        " WHERE x.tenant = %s AND x.game = %s AND x.player = p.player"
        " AND (x.ended_at, x.stream) < (%s, %s::uuid)"
        " ORDER BY x.ended_at DESC, x.stream DESC LIMIT 1) r",
        (*of, *since, *of, *since),
    )
    return {player: Rating(mu, sigma) for player, mu, sigma in rows}


async def _results(target: Target, board: Board, after: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    """The next results after a row (moment and seat), whole games of them."""
    rows = await target.fetch(
        "SELECT ended_at, stream::text, seat, lane, player, place, mu, sigma FROM {rated_seats}"
        " WHERE tenant = %s AND game = %s AND (ended_at, stream, seat) > (%s, %s::uuid, %s)"
        " ORDER BY ended_at, stream, seat LIMIT %s",
        (board.tenant, board.game, *after, _ROWS),
    )
    if len(rows) < _ROWS:
        return rows
    # The last game may go on beyond the page.
    last = rows[-1][1]
    return [row for row in rows if row[1] != last]


async def _rate_rows(
    target: Target, rows: Sequence[tuple[Any, ...]], known: dict[str, Rating], rated: set[str]
) -> None:
    """Rate games in their order; `known` and `rated` (all who have been) move on with them."""
    changed: list[tuple[Any, ...]] = []
    for _, game in groupby(rows, key=lambda row: row[1]):
        seats = list(game)
        players = [row[4] for row in seats]
        new = after_game(players, [row[5] for row in seats], known)
        known.update(new)
        rated.update(new)
        for _, stream, seat, lane, player, _, mu, sigma in seats:
            if player is None:
                continue
            rating = new[player]
            if (mu, sigma) != (rating.mu, rating.sigma):
                changed.append((lane, stream, seat, rating.mu, rating.sigma))
    if changed:
        columns = [list(column) for column in zip(*changed, strict=True)]
        await target.execute(
            "UPDATE {rated_seats} r SET mu = x.mu, sigma = x.sigma"
            " FROM unnest(%s::smallint[], %s::uuid[], %s::smallint[], %s::float8[], %s::float8[])"
            " AS x (lane, stream, seat, mu, sigma)"
            " WHERE r.lane = x.lane AND r.stream = x.stream AND r.seat = x.seat",
            columns,
        )


async def _sum_up(target: Target, board: Board, refs: Sequence[str]) -> None:
    """Bring players' newest ratings and their counts up to date with their results."""
    where = (board.tenant, board.game, list(refs))
    await target.execute(
        "DELETE FROM {ratings} WHERE lane = %s AND tenant = %s AND game = %s AND ref = ANY(%s)",
        (board.lane, *where),
    )
    # Of several seats in one game the best counts.
    await target.execute(
        "INSERT INTO {ratings}"
        " (lane, tenant, game, ref, name, mu, sigma, minus_rating, games, wins, chips, lives)"
        " SELECT %s, %s, %s, t.ref, t.names[1], t.mus[1], t.sigmas[1],"
        " 3 * t.sigmas[1] - t.mus[1], t.games, t.wins, t.chips, t.lives"
        " FROM (SELECT s.ref, array_agg(s.name ORDER BY s.ended_at DESC, s.stream DESC) AS names,"
        " array_agg(s.mu ORDER BY s.ended_at DESC, s.stream DESC)"
        " FILTER (WHERE s.mu IS NOT NULL) AS mus,"
        " array_agg(s.sigma ORDER BY s.ended_at DESC, s.stream DESC)"
        " FILTER (WHERE s.mu IS NOT NULL) AS sigmas,"
        " count(*) AS games, count(*) FILTER (WHERE s.won) AS wins,"
        " sum(s.chips) AS chips, sum(s.lives) AS lives"
        " FROM (SELECT DISTINCT ON (x.ref, x.stream) x.* FROM {rated_seats} x"
        " WHERE x.tenant = %s AND x.game = %s AND x.player = ANY(%s) AND x.ended_at IS NOT NULL"
        " ORDER BY x.ref, x.stream, x.place, x.seat) s"
        " GROUP BY s.ref) t"
        " WHERE t.mus IS NOT NULL",
        (
            board.lane,
            board.tenant,
            board.game,
            board.tenant,
            board.game,
            [f"ref:{ref}" for ref in refs],
        ),
    )
