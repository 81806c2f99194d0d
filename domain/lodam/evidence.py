"""The evidence of challenges, gathered from the public events of the log alone: enough to check a
verdict by hand (lodam, *Challenging*)."""

from collections.abc import Iterable
from typing import Any

import msgspec

from domain.evidence import Challenge, LoaderCount, Side, TrickCount
from domain.hand import HandStarted
from domain.lodam.events import ChallengeDecided
from domain.lodam.rules import LOADER_POINTS, PACK, THRESHOLD
from domain.seats import Seat
from domain.tricks import CardPlayed, TrickTaken


class _Hand(msgspec.Struct):
    """What has been seen of the hand so far."""

    hand: int
    table: list[str] = []
    sides: dict[Seat, Side] = {}


def evidence(events: Iterable[tuple[int, Any]]) -> list[Challenge]:
    """Every challenge of the log (version and event, in order), numbered from 1 in the game."""
    found: list[Challenge] = []
    hand = _Hand(0)
    for version, event in events:
        match event:
            case HandStarted():
                hand = _Hand(event.hand)
            case CardPlayed():
                hand.table.append(event.card)
            case TrickTaken():
                side = hand.sides.get(event.seat, Side(event.seat, (), 0, None))
                hand.sides[event.seat] = _with_trick(side, event.trick, version, hand.table)
                hand.table = []
            case ChallengeDecided():
                found.append(_challenge(len(found) + 1, version, event, hand))
            case _:
                pass
    return found


def _with_trick(side: Side, trick: int, version: int, cards: list[str]) -> Side:
    loaders = tuple(
        [LoaderCount(card, points) for card in cards if (points := LOADER_POINTS[PACK.index[card]])]
    )
    total = side.total + sum([loader.points for loader in loaders])
    counted = TrickCount(trick, version, tuple(cards), loaders, total)
    reached = side.reached
    if reached is None and total >= THRESHOLD:
        reached = counted
    return Side(side.seat, (*side.tricks, counted), total, reached)


def _challenge(number: int, version: int, event: ChallengeDecided, hand: _Hand) -> Challenge:
    nothing = {seat: Side(seat, (), 0, None) for seat in (event.seat, event.challenged)}
    sides = nothing | hand.sides
    return Challenge(
        number=number,
        hand=hand.hand,
        version=version,
        seat=event.seat,
        challenged=event.challenged,
        upheld=event.upheld,
        challenger_evidence=sides[event.seat],
        challenged_evidence=sides[event.challenged],
    )
