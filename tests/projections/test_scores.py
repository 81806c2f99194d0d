"""Scores: what the logs say, hand by hand, and nothing that is not open yet."""

import random
from collections import Counter

import pytest

from domain.hand import HandStarted
from domain.log import Entry, fold, seen_event
from domain.table.state import Table
from domain.tricks import TrickTaken
from eventstore.postgres import EventStore
from projections import scores
from projections.scores import Scores
from tests.projections.driver import check_rebuilt, driving
from tests.projections.played import Log, pieces, put, random_log, random_logs


def swallowed_as_seen(
    table: Table, entries: list[Entry]
) -> dict[int, tuple[tuple[int, ...], bool]]:
    """By hand: swallowed tricks by seat as a spectator counts them, and whether all are told."""
    hand = 0
    counts: dict[int, Counter[int]] = {}
    told: dict[int, bool] = {}
    for entry in entries:
        match seen_event(entry, None, table.openings):
            case HandStarted() as event:
                hand = event.hand
                counts[hand], told[hand] = Counter(), table.openings.opened(entry.version)
            case TrickTaken() as event if event.truth is not None:
                counts[hand][event.seat] += event.truth.swallowed
    seats = range(len(table.seats))
    return {
        hand: (tuple([count[seat] for seat in seats]), told[hand]) for hand, count in counts.items()
    }


def check(found: Scores | None, log: Log, upto: int) -> None:
    """The scores are those of the log at their version, and tell what a spectator can count."""
    assert found is not None
    entries = [entry for command in log.commands[:upto] for entry in command]
    scoring = [entry.version for entry in entries if entry.type in scores.SCORING]
    # Without checkpoints, where they last changed is all that is known.
    assert found.version == scoring[-1]
    table = fold(log.table.id, entries)
    assert found.seats == table.game.scores(table.play)
    raw = table.game.hand_scores(table.play)
    assert [(h.hand, h.dealer, h.points, h.chips, h.lives, h.contract) for h in found.hands] == [
        (h.hand, h.dealer, h.points, h.chips, h.lives, h.contract) for h in raw
    ]
    seen = swallowed_as_seen(table, entries)
    for hand in found.hands:
        counted, told = seen[hand.hand]
        if not told or table.game.name != "lodam":
            assert hand.swallowed is None
        else:
            assert hand.swallowed == counted


async def test_they_are_those_of_the_log_at_every_version(
    store: EventStore, database_url: str
) -> None:
    chance = random.Random(3)
    logs = random_logs(6, chance)
    async with driving(store, database_url, [scores.PROJECTION]) as driver:
        for log, after, upto in pieces(logs, chance):
            await put(store, log, after, upto)
            if chance.random() < 0.3:
                continue
            await driver.drain([scores.PROJECTION], chance=chance)
            check(await scores.read(store, log.table.id), log, upto)
        await driver.drain([scores.PROJECTION])
        for log in logs:
            check(await scores.read(store, log.table.id), log, len(log.commands))
        await check_rebuilt(driver, scores.PROJECTION, chance)


async def test_a_swallowed_trick_told_too_early_is_found(
    store: EventStore, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = next(n for n in range(1_000) if waits_with_swallowed_tricks(random_log("lodam", n)))
    log = random_log("lodam", number)
    upto = waiting_at(log)
    monkeypatch.setattr(scores, "hand_score_views", lambda t: t.game.hand_scores(t.play))
    async with driving(store, database_url, [scores.PROJECTION]) as driver:
        await put(store, log, 0, upto)
        await driver.drain([scores.PROJECTION])
        found = await scores.read(store, log.table.id)
        with pytest.raises(AssertionError):
            check(found, log, upto)


def waits_with_swallowed_tricks(log: Log) -> bool:
    return any(map(any, swallowed_while_closed(log, waiting_at(log))))


def waiting_at(log: Log) -> int:
    """How many commands of a game there are before the last one."""
    return len(log.commands) - 1


def swallowed_while_closed(log: Log, upto: int) -> list[tuple[int, ...]]:
    table = fold(log.table.id, [entry for command in log.commands[:upto] for entry in command])
    closed = {record.hand for record in table.unopened}
    return [
        hand.swallowed or () for hand in table.game.hand_scores(table.play) if hand.hand in closed
    ]
