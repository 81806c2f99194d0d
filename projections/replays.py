"""Hands of every game told once and kept, each as soon as it is opened.

Names are left out, since they can be erased; readers put them in. What is not opened is not here.
"""

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from domain.hand import SeedRevealed
from domain.log import Entry
from domain.registry import GAMES
from domain.replay import STAND_INS, hands_told
from domain.table.events import GameEnded
from domain.telling import HandTold
from domain.visibility import Openings
from eventstore import wire
from eventstore.feed import FeedEvent
from eventstore.postgres import EventStore
from eventstore.records import Range
from projections.entries import entries, public
from projections.projection import Projection, Target

NAME: Final = "replays"

_encode: Final = msgspec.json.Encoder().encode
_decode: Final = msgspec.json.Decoder(HandTold).decode


class Told(msgspec.Struct, frozen=True):
    """The first hands of a game, told with stand-ins for names up to a version."""

    hands: tuple[HandTold, ...]
    upto: int


async def read(store: EventStore, game_id: str, version: int) -> Told:
    """The opened hands of a game that end by a version, as far as the projection has come. Raises
    StoreUnavailable."""
    raw = wire.uuid(game_id)
    rows = await store.fetch(
        "SELECT told, last FROM projections.replays"
        " WHERE lane = $1::smallint AND stream = $2::uuid AND last <= $3::integer ORDER BY hand",
        wire.lane(raw),
        game_id,
        version,
    )
    return Told(tuple([_decode(told) for told, _ in rows]), rows[-1][1] if rows else 0)


class _Span(msgspec.Struct):
    """A hand to tell: its versions, and the version that opened it."""

    hand: int
    first: int
    last: int
    opened: int


async def _apply(target: Target, events: Sequence[FeedEvent]) -> None:
    streams: dict[str, list[FeedEvent]] = {}
    for fed in events:
        if fed.event is not None and fed.category in GAMES:
            streams.setdefault(fed.stream, []).append(fed)
    opened: dict[str, list[_Span]] = {}
    for stream, happened in streams.items():
        spans = await _spans(target, happened)
        if spans:
            opened[stream] = spans
    rows: list[tuple[Any, ...]] = []
    ranges = [_range(stream, spans) for stream, spans in opened.items()]
    async for read, found in target.store.read_each(ranges):
        newest = streams[read.stream][-1]
        log = entries(found)
        for span in opened[read.stream]:
            told = _encode(_told(newest.category, log, span))
            rows.append((newest.lane, read.stream, span.hand, span.first, span.last, told))
    await target.execute(
        "INSERT INTO {replays} (lane, stream, hand, first, last, told)"
        " VALUES (%s, %s, %s, %s, %s, %s)"
        " ON CONFLICT (lane, stream, hand)"
        " DO UPDATE SET last = excluded.last, told = excluded.told",
        *rows,
    )


async def _spans(target: Target, events: Sequence[FeedEvent]) -> list[_Span]:
    """The hands that these events of a game open; its end may add a last word to its last hand."""
    spans: dict[int, _Span] = {}
    for fed in events:
        assert fed.event is not None
        match public(fed.event):
            case SeedRevealed() as event:
                first, last = event.opens
                spans[event.hand] = _Span(event.hand, first, last, fed.version)
            case GameEnded():
                if not spans:
                    spans = await _last_span(target, fed)
                if spans:
                    spans[max(spans)].last = fed.version
    return list(spans.values())


async def _last_span(target: Target, fed: FeedEvent) -> dict[int, _Span]:
    rows = await target.fetch(
        "SELECT hand, first, last FROM {replays}"
        " WHERE lane = %s AND stream = %s ORDER BY hand DESC LIMIT 1",
        (fed.lane, fed.stream),
    )
    return {hand: _Span(hand, first, last, last) for hand, first, last in rows}


def _range(stream: str, spans: Sequence[_Span]) -> Range:
    """All events of these hands."""
    begin = min([span.first for span in spans])
    end = max([max(span.last, span.opened) for span in spans])
    return Range(stream, begin - 1, end)


def _told(game: str, log: Sequence[Entry], span: _Span) -> HandTold:
    """A hand that is open, told from a part of the game's log that holds it."""
    begin = log[0].version
    own = [*log[span.first - begin : span.last - begin + 1]]
    if span.opened > span.last:
        own.append(log[span.opened - begin])
    now = Openings(((span.first, span.last),))
    [told] = hands_told(GAMES[game], STAND_INS, own, None, now)
    return told


PROJECTION: Final = Projection(
    name=NAME,
    version=1,
    types=frozenset(kind.__name__ for kind in (SeedRevealed, GameEnded)),
    tables={
        "replays": """
            hand integer NOT NULL,
            first integer NOT NULL,
            last integer NOT NULL,
            lane smallint NOT NULL,
            stream uuid NOT NULL,
            told bytea NOT NULL,
            PRIMARY KEY (lane, stream, hand)
        """
    },
    apply=_apply,
)
