"""All projections together: over the recorded games, and nothing hidden in any of their tables."""

import dataclasses
import random
from collections.abc import Sequence

import msgspec
import pytest

from domain.codec import read_event
from domain.hand import HandDealt, HandStarted
from domain.log import fold
from domain.replay import replay, retold
from eventstore.feed import FeedEvent
from eventstore.postgres import EventStore
from projections import games, replays, scores
from projections.entries import entries
from projections.games import Wanted
from projections.projection import Target
from projections.registry import PROJECTIONS
from tests.api.samples import SEEDS, imported, log_of
from tests.projections.driver import Driver, check_rebuilt, driving
from tests.projections.played import Log, put, random_log

ALL = list(PROJECTIONS.values())


async def test_the_recorded_games_are_told_and_scored_as_their_logs_say(
    store: EventStore, database_url: str
) -> None:
    logs = [log_of(path) for path in sorted(SEEDS.glob("*/samples/*.ndjson"))]
    async with driving(store, database_url, ALL) as driver:
        for log in logs:
            assert (await imported(store, log)).outcome == "imported"
        await driver.drain(ALL, chance=random.Random(1))
        for log in logs:
            table = fold(log.header.id, log.entries)
            assert await scores.read(store, table.id) == scores.scores_of(table)
            kept = await replays.read(store, table.id, table.version)
            assert len(kept.hands) == table.hand
            rest = entries(await store.read(table.id, kept.upto))
            told = retold(table, kept.hands, rest, None, table.openings)
            assert told == replay(table, log.entries, None, table.openings)
        listed = await games.find(store, "host", Wanted(status="finished"), None, 100)
        assert {it.id for it in listed} == {log.header.id for log in logs}
        for projection in ALL:
            await check_rebuilt(driver, projection, random.Random(2))


def hidden(log: Log, upto: int) -> list[str]:
    """Seeds and dealt hands that nobody may know after so many commands, as text."""
    own = [entry for command in log.commands[:upto] for entry in command]
    open_now = fold(log.table.id, own).openings
    found: list[str] = []
    for entry in own:
        if open_now.opened(entry.version):
            continue
        match read_event(entry):
            case HandStarted(seed=seed) if seed is not None:
                found.append(seed.server_seed)
            case HandDealt() as event:
                parts = [*event.hands.values(), event.rest]
                found += [",".join(part.cards) for part in parts if part and part.cards[1:]]
    return found


async def check_nothing_hidden(driver: Driver, log: Log, upto: int) -> int:
    """No table holds what is hidden; gives how much that is."""
    text = ""
    for projection in ALL:
        text += repr(await driver.rows(projection))
    plain = text.replace('"', "").replace("'", "").replace(" ", "")
    secrets = hidden(log, upto)
    for secret in secrets:
        assert secret not in plain
    return len(secrets)


@pytest.mark.parametrize("game", ["loc", "lodam", "lorum"])
async def test_nothing_hidden_is_in_any_table(
    store: EventStore, database_url: str, game: str
) -> None:
    log = random_log(game, 8)
    known = 0
    async with driving(store, database_url, ALL) as driver:
        at = 0
        while at < len(log.commands):
            upto = min(len(log.commands), at + 1 + len(log.commands) // 12)
            await put(store, log, at, upto)
            await driver.drain(ALL)
            known += await check_nothing_hidden(driver, log, upto)
            at = upto
    assert known > 10


async def test_a_hand_kept_before_it_is_opened_is_found(
    store: EventStore, database_url: str
) -> None:
    """The check above fails where a projection tells a hand as soon as it has been dealt."""
    log = random_log("loc", 8)
    upto = next(n for n in range(1, len(log.commands)) if hidden(log, n)[1:])
    told = [
        msgspec.json.encode(read_event(entry))
        for command in log.commands[:upto]
        for entry in command
    ]

    async def too_early(target: Target, events: Sequence[FeedEvent]) -> None:
        await target.execute(
            "INSERT INTO {replays} (lane, stream, hand, first, last, told)"
            " VALUES (%s, %s, 1, 1, 1, %s)",
            (events[0].lane, log.table.id, b"".join(told)),
        )

    async with driving(store, database_url, ALL) as driver:
        await put(store, log, 0, upto)
        await driver.drain([dataclasses.replace(replays.PROJECTION, apply=too_early)])
        with pytest.raises(AssertionError):
            await check_nothing_hidden(driver, log, upto)
