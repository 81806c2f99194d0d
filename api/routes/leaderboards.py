"""`/v1/leaderboards/{game}`: a host's players of one game, best first."""

import time
from collections.abc import Iterable, Iterator
from math import inf
from typing import Annotated, Any

from litestar import Controller, Request
from litestar.di import NamedDependency
from litestar.params import FromPath, FromQuery, QueryParameter

from api import freshness
from api.asking import caller_of
from api.freshness import AtLeastPosition
from api.guards import get, only
from api.parts import Parts
from api.people_answers import LeaderboardPage, leaderboard_item
from api.problems import not_found
from api.replies import FOR_HOST, READING
from domain.registry import GAMES
from projections import leaderboards
from projections.leaderboards import WINDOWS, Place, Window
from projections.rerating import Board

Limit = Annotated[int, QueryParameter(ge=1, le=200, description="Players on a page.")]
InWindow = Annotated[
    Window,
    QueryParameter(
        name="window",
        description="Who has finished a game in the last 24 hours (`day`), the last 7 days "
        "(`week`), or ever (`all`).",
    ),
]


class LeaderboardsController(Controller):
    """Who plays best."""

    path = "/v1/leaderboards"
    tags = ("players",)

    @get(
        "/{game:str}",
        guards=[only("host")],
        security=FOR_HOST,
        operation_id="getLeaderboard",
        summary="See a leaderboard",
        responses=READING,
    )
    async def look(
        self,
        request: Request[Any, Any, Any],
        parts: NamedDependency[Parts],
        game: FromPath[str],
        in_window: InWindow = "all",
        cursor: FromQuery[str | None] = None,
        limit: Limit = 50,
        at_least: AtLeastPosition = None,
    ) -> LeaderboardPage:
        """The host's players of a game by rating, best first. Only players with a `ref` are listed;
        bots and guests count as opponents. Two seats of one player in a game count as the better
        one."""
        if game not in GAMES:
            raise not_found(f"The games are {', '.join(sorted(GAMES))}.")
        board = Board(caller_of(request).tenant, game)
        name = f"{leaderboards.NAME}/{game}/{in_window}"
        after = parts.cursors.read(name, board.tenant, cursor, Place)
        as_of = await freshness.as_of(parts.store, (leaderboards.NAME,), at_least)
        since = None if after is None else after.since
        if after is None and (microseconds := WINDOWS[in_window]) is not None:
            since = time.time_ns() // 1000 - microseconds
        found = await leaderboards.read(parts.store, board, since, after, limit + 1)
        places = list(_places(after or Place(0, 0, -inf, "", since), found))
        items = [leaderboard_item(p.rank, r) for p, r in zip(places, found, strict=True)]
        return LeaderboardPage(
            items=tuple(items[:limit]),
            next=parts.cursors.following(name, board.tenant, places, limit),
            as_of=as_of,
        )


def _places(last: Place, found: Iterable[leaderboards.Ranked]) -> Iterator[Place]:
    """Where each of the players stands, one after another, below a place."""
    for ranked in found:
        number, minus = last.number + 1, -ranked.rating.conservative
        rank = last.rank if minus == last.minus_rating else number
        last = Place(number, rank, minus, ranked.ref, last.since)
        yield last
