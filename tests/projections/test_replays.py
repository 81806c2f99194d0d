"""Hands kept told: the same as told from the log, nothing before it is opened, and no names."""

import random

import pytest

from domain.log import fold
from domain.replay import replay, retold
from domain.visibility import Openings
from eventstore.postgres import EventStore
from projections import replays
from projections.entries import entries
from tests.projections.driver import check_rebuilt, driving
from tests.projections.played import Log, pieces, put, random_log, random_logs

P = replays.PROJECTION


async def check(store: EventStore, log: Log, upto: int) -> int:
    """What is kept, gone on with from the log, is the whole replay for everyone; and it is of
    opened hands alone. Gives how many hands are kept."""
    own = [entry for command in log.commands[:upto] for entry in command]
    table = fold(log.table.id, own)
    for seat in (None, 0, 1):
        kept = await replays.read(store, table.id, table.version)
        rest = entries(await store.read(table.id, kept.upto, table.version))
        told = retold(table, kept.hands, rest, seat, table.openings)
        assert told == replay(table, own, seat, table.openings)
    kept = await replays.read(store, table.id, table.version)
    closed = {record.hand for record in table.unopened}
    assert not closed & {hand.hand for hand in kept.hands}
    return len(kept.hands)


async def test_kept_hands_are_as_told_from_the_log(store: EventStore, database_url: str) -> None:
    chance = random.Random(7)
    logs = random_logs(9, chance)
    kept = 0
    async with driving(store, database_url, [P]) as driver:
        for log, after, upto in pieces(logs, chance):
            await put(store, log, after, upto)
            if chance.random() < 0.5:
                await driver.drain([P], chance=chance)
            kept += await check(store, log, upto)
        await driver.drain([P], chance=chance)
        for log in logs:
            hands = await check(store, log, len(log.commands))
            assert hands == log.table.hand
        assert kept > 20
        for log in logs:
            for seated in log.table.seats:
                assert (seated.name or "Player 0") not in str(await driver.rows(P))
        await check_rebuilt(driver, P, chance)


async def test_an_earlier_version_is_not_told_what_came_later(
    store: EventStore, database_url: str
) -> None:
    log = random_log("lodam", 5)
    async with driving(store, database_url, [P]) as driver:
        await put(store, log, 0, len(log.commands))
        await driver.drain([P])
        for upto in range(1, len(log.commands), 7):
            await check_hands_end_by(store, log, upto)


async def check_hands_end_by(store: EventStore, log: Log, upto: int) -> None:
    version = sum(map(len, log.commands[:upto]))
    assert (await replays.read(store, log.table.id, version)).upto <= version


async def test_a_hand_told_before_it_is_opened_is_found(
    store: EventStore, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The telling passes what the hand's opening allows: with nothing open, cards stay away."""
    log = random_log("loc", 4)
    monkeypatch.setattr(replays, "Openings", lambda _: Openings())
    async with driving(store, database_url, [P]) as driver:
        await put(store, log, 0, len(log.commands))
        await driver.drain([P])
        with pytest.raises(AssertionError):
            await check(store, log, len(log.commands))
