"""What came of the games that end in a page of the feed, seat by seat."""

from collections.abc import Iterator, Sequence

import msgspec

from domain.log import fold
from domain.registry import GAMES
from domain.seats import Seat
from domain.table.events import GameEnded
from domain.table.state import Seated, Table
from eventstore.feed import FeedEvent
from projections.entries import public
from projections.projection import Target


class Result(msgspec.Struct, frozen=True):
    """How one seat came out of a game that was played to its end.

    `place` counts from 1; where nobody has won all share the first. `chips` is what the seat gained
    over the game (below zero: lost), `lives` how many lives it lost; `ended_at` is in microseconds
    since 1970 UTC.
    """

    stream: str
    tenant: str
    game: str
    ended_at: int
    seat: Seat
    seated: Seated
    place: int
    won: bool
    chips: int
    lives: int


async def results(target: Target, events: Sequence[FeedEvent]) -> list[Result]:
    """The results of the games that end here. Abandoned games have none. Raises UnreadableEvent,
    StoreUnavailable."""
    found: list[Result] = []
    for fed in events:
        if fed.event is None or fed.category not in GAMES:
            continue
        ended = public(fed.event)
        if isinstance(ended, GameEnded) and ended.reason != "abandoned":
            # What went before says who sat there, and with what they began.
            table = fold(fed.stream, await target.store.read(fed.stream, 0, fed.version))
            found += _of_game(table, ended, fed.tenant, fed.event.at)
    return found


def _of_game(table: Table, ended: GameEnded, tenant: str, at: int) -> Iterator[Result]:
    game = table.game
    first = game.scores(game.initial(table.options, len(table.seats)))
    for seat, (before, after) in enumerate(zip(first, ended.scores, strict=True)):
        yield Result(
            stream=table.id,
            tenant=tenant,
            game=game.name,
            ended_at=at,
            seat=seat,
            seated=table.seats[seat],
            place=ended.places[seat] if ended.places else 1,
            won=seat in ended.winners,
            chips=after.chips - before.chips,
            lives=(before.lives or 0) - (after.lives or 0),
        )
