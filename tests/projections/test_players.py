"""Players across games: what came of theirs, whom they met, and that they can be forgotten."""

import random
from collections import Counter
from collections.abc import Sequence

from eventstore.postgres import EventStore
from projections import players
from projections.players import Opponent, Person, Record
from tests.projections.driver import check_rebuilt, driving
from tests.projections.played import Log, outcomes, pieces, put, random_logs


def expected(logs: Sequence[Log], tenant: str, ref: str) -> Person | None:
    """What should be told of a player, counted game by game."""
    sat: list[tuple[int, str, int, str]] = []
    counts: dict[str, list[int]] = {}
    met: dict[str, Counter[str]] = {}
    names: dict[str, tuple[int, str, int, str]] = {}
    for log in logs:
        if log.tenant != tenant:
            continue
        table = log.table
        for entry in log.entries:
            if entry.type == "SeatTaken":
                seat = int(entry.data.split(b'"seat":')[1].split(b"}")[0].split(b",")[0])
                seated = table.seats[seat]
                if seated.ref is not None and seated.name is not None:
                    key = (entry.at, table.id, seat, seated.name)
                    names[seated.ref] = max(key, names.get(seated.ref, key))
                    if seated.ref == ref:
                        sat.append(key)
        found = outcomes(log)
        by_ref = {seated.ref: seat for seat, seated in enumerate(table.seats) if seated.ref}
        if found is None or ref not in by_ref:
            continue
        own = found[by_ref[ref]]
        ended = next(entry.at for entry in log.entries if entry.type == "GameEnded")
        row = counts.setdefault(table.game.name, [0, 0, 0, 0, 0, 0, 0])
        for place, value in enumerate(
            (1, own.won, own.chips, max(own.chips, 0), max(-own.chips, 0), own.lives)
        ):
            row[place] += value
        row[6] = max(row[6], ended)
        for other, seat in by_ref.items():
            if other != ref:
                count = met.setdefault(other, Counter())
                count["games"] += 1
                place = found[seat].place
                count["wins"] += own.place < place
                count["losses"] += own.place > place
                count["draws"] += own.place == place
    if not sat:
        return None
    opponents = [
        Opponent(other, names[other][3], c["games"], c["wins"], c["losses"], c["draws"])
        for other, c in met.items()
    ]
    opponents.sort(key=lambda o: (-o.games, o.ref))
    records = {game: Record(*row) for game, row in sorted(counts.items())}
    return Person(ref, max(sat)[3], records, tuple(opponents))


async def test_it_is_what_the_logs_say_of_everyone(store: EventStore, database_url: str) -> None:
    chance = random.Random(5)
    logs = random_logs(18, chance, ("host", "host", "other"))
    async with driving(store, database_url, [players.PROJECTION]) as driver:
        for log, after, upto in pieces(logs, chance):
            await put(store, log, after, upto)
            if chance.random() < 0.05:
                await driver.drain([players.PROJECTION], chance=chance)
        await driver.drain([players.PROJECTION], chance=chance)
        met = 0
        for tenant in ("host", "other", "nobody"):
            for seat in range(10):
                found = await players.read(store, tenant, f"ref-{seat}")
                assert found == expected(logs, tenant, f"ref-{seat}")
                met += len(found.opponents) if found else 0
        assert met > 20
        await check_rebuilt(driver, players.PROJECTION, chance)


async def test_a_player_erased_everywhere_is_unknown_and_leaves_no_trace(
    store: EventStore, database_url: str
) -> None:
    chance = random.Random(6)
    logs = [log for log in random_logs(60, chance) if erased(log, 1)][:3]
    assert len(logs) == 3
    async with driving(store, database_url, [players.PROJECTION]) as driver:
        for log in logs:
            # First as they were known, and then no more.
            known = erasing(log)
            await put(store, log, 0, known)
            await driver.drain([players.PROJECTION], chance=chance)
            assert await players.read(store, "host", "ref-1") is not None
            await put(store, log, known, len(log.commands))
            await driver.drain([players.PROJECTION], chance=chance)
        assert await players.read(store, "host", "ref-1") is None
        other = await players.read(store, "host", "ref-0")
        assert other is not None
        assert "ref-1" not in [opponent.ref for opponent in other.opponents]
        assert "ref-2" in [opponent.ref for opponent in other.opponents]
        assert "Player 1" not in repr(await driver.rows(players.PROJECTION))
        # A build from zero finds the name erased where the first one has read it.
        await check_rebuilt(driver, players.PROJECTION, chance)


def erasing(log: Log) -> int:
    """How many commands come before the first that erases somebody."""
    return next(n for n, (first, *_) in enumerate(log.commands) if first.type == "PlayerErased")


def erased(log: Log, seat: int) -> bool:
    return log.table.seats[seat].erased and log.table.status == "finished"
