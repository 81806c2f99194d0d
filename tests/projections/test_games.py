"""The list of games: what it holds is what the logs say, and nobody else's."""

import random

from domain.log import fold
from domain.table.state import Table
from eventstore.postgres import EventStore
from projections import games
from projections.games import Listed, Wanted
from tests.projections.driver import check_rebuilt, driving
from tests.projections.played import pieces, put, random_logs


def listed(table: Table, created_at: int, ended_at: int | None) -> Listed:
    """What a list should say of a game, from its table."""
    return Listed(
        id=table.id,
        game=table.game.name,
        version=table.version,
        status=table.status,
        created_at=created_at,
        ended_at=ended_at,
        names=tuple([seated.name for seated in table.seats]),
        refs=tuple(sorted({seated.ref for seated in table.seats if seated.ref})),
        labels=table.labels,
    )


async def test_it_is_what_the_logs_say_at_every_moment(
    store: EventStore, database_url: str
) -> None:
    chance = random.Random(1)
    logs = random_logs(6, chance, ("host", "other"))
    async with driving(store, database_url, [games.PROJECTION]) as driver:
        expected: dict[str, dict[str, Listed]] = {"host": {}, "other": {}}
        for log, after, upto in pieces(logs, chance):
            await put(store, log, after, upto)
            entries = [entry for command in log.commands[:upto] for entry in command]
            ended = [entry.at for entry in entries if entry.type == "GameEnded"]
            table = fold(log.table.id, entries)
            own = listed(table, entries[0].at, ended[0] if ended else None)
            expected[log.tenant][table.id] = own
            if chance.random() < 0.1:
                continue
            await driver.drain([games.PROJECTION], chance=chance)
            for tenant, known in expected.items():
                order = sorted(known.values(), key=lambda it: (it.created_at, it.id), reverse=True)
                assert await games.find(store, tenant, Wanted(), None, 100) == order
                for status in ("waiting", "playing", "finished", "abandoned"):
                    fitting = [it for it in order if it.status == status]
                    assert await games.find(store, tenant, Wanted(status), None, 100) == fitting
                for wanted, fits in (
                    (Wanted(game="loc"), lambda it: it.game == "loc"),
                    (Wanted(ref="ref-1"), lambda it: "ref-1" in it.refs),
                    (Wanted(ref="ref-5", game="loc"), lambda it: "ref-5" in it.refs),
                    (Wanted(labels=(("event", "night"),)), lambda it: True),
                    (Wanted(labels=(("event", "day"),)), lambda it: False),
                ):
                    found = await games.find(store, tenant, wanted, None, 100)
                    fitting = [it for it in order if fits(it) and wanted.game in (None, it.game)]
                    assert found == fitting
        await driver.drain([games.PROJECTION])
        await check_rebuilt(driver, games.PROJECTION, chance)


async def test_pages_leave_nothing_out_and_repeat_nothing_while_games_begin(
    store: EventStore, database_url: str
) -> None:
    chance = random.Random(2)
    logs = random_logs(9, chance)
    async with driving(store, database_url, [games.PROJECTION]) as driver:
        for log in logs[:6]:
            await put(store, log, 0, 1)
        await driver.drain([games.PROJECTION])
        before = None
        seen: list[str] = []
        for new in (*logs[6:], None, None):
            page = await games.find(store, "host", Wanted(), before, 2)
            seen += [it.id for it in page]
            before = page[-1].place if page else before
            if new is not None:
                await put(store, new, 0, 1)
                await driver.drain([games.PROJECTION])
        assert len(set(seen)) == len(seen)
        assert {log.table.id for log in logs[:6]} <= set(seen)
