"""Who sits in games and how they come out, seat by seat, gathered from a page of the feed."""

from collections.abc import Sequence
from typing import Final

import msgspec

from domain.registry import GAMES
from domain.seats import Seat
from domain.table.events import GameCreated, GameEnded, PlayerErased, SeatTaken
from domain.table.state import created
from eventstore.feed import FeedEvent
from projections.entries import public

TYPES: Final = frozenset(
    kind.__name__ for kind in (GameCreated, SeatTaken, PlayerErased, GameEnded)
)
"""The types of the events that are gathered here."""


class Sitting(msgspec.Struct):
    """A seat of a new game: what it begins with (`lives` 0 where there are none), and who sits
    there, if they have sat down in the same page. `ref` and `name` are those of people, `bot` the
    kind of a bot."""

    lane: int
    stream: str
    seat: Seat
    tenant: str
    game: str
    bot: str | None
    chips: int
    lives: int
    ref: str | None = None
    name: str | None = None
    taken_at: int | None = None


class SatDown(msgspec.Struct, frozen=True):
    """Somebody sat down in a game of an earlier page."""

    lane: int
    stream: str
    seat: Seat
    ref: str | None
    name: str
    at: int


class CameOut(msgspec.Struct, frozen=True):
    """How a seat came out of a game that was played to its end. `place` counts from 1; where nobody
    has won all share the first. `chips` and `lives` are what it ends with, `at` is in microseconds
    since 1970 UTC."""

    lane: int
    stream: str
    seat: Seat
    tenant: str
    game: str
    at: int
    place: int
    won: bool
    chips: int
    lives: int


class Forgotten(msgspec.Struct, frozen=True):
    """The player of a seat was erased."""

    lane: int
    stream: str
    seat: Seat
    tenant: str
    game: str


class Gathered(msgspec.Struct, frozen=True):
    """What a page of the feed says of seats, in the order in which it is to be written down."""

    begun: tuple[Sitting, ...]
    sat: tuple[SatDown, ...]
    over: tuple[CameOut, ...]
    gone: tuple[Forgotten, ...]


def gathered(events: Sequence[FeedEvent]) -> Gathered:
    """What these events say of seats. Abandoned games do not come out. Raises UnreadableEvent."""
    begun: dict[tuple[str, Seat], Sitting] = {}
    sat: list[SatDown] = []
    over: list[CameOut] = []
    gone: list[Forgotten] = []
    for fed in events:
        if fed.event is None or fed.category not in GAMES:
            continue
        match public(fed.event):
            case GameCreated() as event:
                begun.update(_begun(fed, event))
            case SeatTaken(player=player) as event if player is not None:
                sitting = begun.get((fed.stream, event.seat))
                ref, at = player.ref, fed.event.at
                if sitting is None:
                    sat.append(SatDown(fed.lane, fed.stream, event.seat, ref, player.name, at))
                elif sitting.bot is None:
                    sitting.ref, sitting.name, sitting.taken_at = ref, player.name, at
            case GameEnded(reason="played" | "resigned") as event:
                over += _came_out(fed, event, fed.event.at)
            case PlayerErased() as event:
                gone.append(Forgotten(fed.lane, fed.stream, event.seat, fed.tenant, fed.category))
    return Gathered(tuple(begun.values()), tuple(sat), tuple(over), tuple(gone))


def _begun(fed: FeedEvent, event: GameCreated) -> dict[tuple[str, Seat], Sitting]:
    table = created(fed.stream, event)
    return {
        (fed.stream, score.seat): Sitting(
            lane=fed.lane,
            stream=fed.stream,
            seat=score.seat,
            tenant=fed.tenant,
            game=event.game,
            bot=table.seats[score.seat].bot,
            chips=score.chips,
            lives=score.lives or 0,
        )
        for score in table.game.scores(table.play)
    }


def _came_out(fed: FeedEvent, event: GameEnded, at: int) -> list[CameOut]:
    return [
        CameOut(
            lane=fed.lane,
            stream=fed.stream,
            seat=score.seat,
            tenant=fed.tenant,
            game=fed.category,
            at=at,
            place=event.places[score.seat] if event.places else 1,
            won=score.seat in event.winners,
            chips=score.chips,
            lives=score.lives or 0,
        )
        for score in event.scores
    ]
