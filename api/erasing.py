"""Erasing a person: name and reference in every game of a host, and the words in disputes that are
theirs or about them.

In each game the event that says so and the erasure itself are one transaction, so that whatever
interrupts it, the games that still bear the reference are exactly those not yet done.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from api.execute import Asked
from api.identity import Caller
from api.parts import Parts
from api.problems import Problem
from domain.codec import read_event
from domain.log import Entry
from domain.registry import GAMES
from domain.seats import Seat
from domain.table.commands import ErasePlayer
from domain.table.events import SeatTaken

ALREADY_ERASED: Final = "common.erased"
"""The rule that refuses whoever comes second."""

_PAGE: Final = 100


async def erase_player(parts: Parts, caller: Caller, ref: str) -> int:
    """Erase whoever a host refers to by `ref`; in how many games there was something to erase."""
    done = 0
    before: str | None = None
    tags = (f"ref={ref}",)
    while heads := await parts.store.find(caller.tenant, tags, before, _PAGE, GAMES):
        for head in heads:
            done += await _erase_in(parts, caller, head.stream, ref)
        before = heads[-1].stream
    return done


async def _erase_in(parts: Parts, caller: Caller, game_id: str, ref: str) -> bool:
    """Erase whoever sits in a game under this reference; whether anybody did."""
    history = await parts.games.history(game_id)
    seats = [s for s, seated in enumerate(history.newest.table.seats) if seated.ref == ref]
    done = False
    for seat in seats:
        # The words first: once the name is gone, the reference no longer leads here. And again
        # afterwards, for what was written meanwhile; nothing is written after that.
        name = history.newest.table.seats[seat].name
        names = [ref] if name is None else [ref, name]
        await parts.disputes.erase_words(caller.tenant, game_id, seat, names)
        named = tuple(_names(history.entries, seat))
        try:
            await parts.executor.act(game_id, Asked(caller, ErasePlayer(seat), erase=named))
            done = True
        except Problem as problem:
            if problem.rule != ALREADY_ERASED:
                raise
        await parts.disputes.erase_words(caller.tenant, game_id, seat, names)
    return done


def _names(entries: Sequence[Entry], seat: Seat) -> Iterator[tuple[int, int]]:
    """Versions and numbers of the sealed parts that name the player of a seat."""
    for entry in entries:
        if entry.type == SeatTaken.__name__:
            event = read_event(entry)
            if isinstance(event, SeatTaken) and event.seat == seat:
                yield from [(entry.version, part) for part in range(len(entry.sealed))]
