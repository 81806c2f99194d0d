"""What came of the games that end in a page of the feed, seat by seat."""

from collections.abc import Sequence

import msgspec

from domain.log import fold
from domain.registry import GAMES
from domain.standing import Standing, standings
from domain.table.events import GameEnded
from domain.table.state import Seated
from eventstore.feed import FeedEvent
from projections.projection import Target


class Result(msgspec.Struct, frozen=True):
    """How one seat came out of a game that was played to its end (`ended_at` in microseconds since
    1970 UTC), and who sat there."""

    stream: str
    tenant: str
    game: str
    ended_at: int
    seated: Seated
    standing: Standing


async def results(target: Target, events: Sequence[FeedEvent]) -> list[Result]:
    """The results of the games that end here, from their whole logs. Abandoned games have none.
    Raises UnreadableEvent, StoreUnavailable."""
    found: list[Result] = []
    for fed in events:
        if fed.type != GameEnded.__name__ or fed.event is None or fed.category not in GAMES:
            continue
        table = fold(fed.stream, await target.store.read(fed.stream, 0, fed.version))
        for standing in standings(table) or ():
            seated = table.seats[standing.seat]
            found.append(
                Result(fed.stream, fed.tenant, fed.category, fed.event.at, seated, standing)
            )
    return found
