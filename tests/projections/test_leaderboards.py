"""Leaderboards: ratings are a function of the results, in whatever order they come in."""

import random
from collections.abc import Sequence

import msgspec
import pytest
from openskill.models import PlackettLuce

from eventstore.postgres import EventStore
from projections import leaderboards, rerating
from projections.leaderboards import Place, Ranked
from projections.rerating import Board
from tests.projections.driver import check_rebuilt, driving
from tests.projections.played import Log, outcomes, pieces, put, random_logs
from tests.projections.running import caught_up, runner

GAMES = ("loc", "lodam", "lorum")
P = leaderboards.PROJECTION


def at(log: Log, start: int) -> Log:
    """The same game, later: its events so many microseconds after (hashes are not looked at)."""
    commands = tuple(
        [
            tuple([msgspec.structs.replace(entry, at=entry.at + start) for entry in command])
            for command in log.commands
        ]
    )
    return msgspec.structs.replace(log, commands=commands)


def expected(logs: Sequence[Log], tenant: str, game: str, since: int = 0) -> list[Ranked]:
    """The leaderboard, rated game by game from nothing."""
    model = PlackettLuce()
    known: dict[str, tuple[float, float]] = {}
    rows: dict[str, list[int]] = {}
    names: dict[str, str] = {}
    over = [
        (ended(log), log.table.id, log)
        for log in logs
        if log.tenant == tenant and log.table.game.name == game
    ]
    for when, _, log in sorted(over, key=lambda it: it[:2]):
        found = outcomes(log)
        if found is None:
            continue
        refs = [seated.ref for seated in log.table.seats]
        keys = [seated.ref or (seated.bot and f"({seated.bot})") for seated in log.table.seats]
        teams = []
        for key in keys:
            mu, sigma = known.get(key or "", (model.mu, model.sigma))
            teams.append([model.rating(mu=mu, sigma=sigma)])
        after = model.rate(teams, ranks=[float(s.place) for s in found])
        for seat, ref in enumerate(refs):
            known[keys[seat] or ""] = (after[seat][0].mu, after[seat][0].sigma)
            known.pop("", None)
            if ref is None:
                continue
            names[ref] = log.table.seats[seat].name or ""
            if when >= since:
                own = found[seat]
                row = rows.setdefault(ref, [0, 0, 0, 0])
                for place, value in enumerate((1, own.won, own.chips, own.lives)):
                    row[place] += value
    ranked = [
        Ranked(ref, names[ref], leaderboards.Rating(*known[ref]), *row) for ref, row in rows.items()
    ]
    return sorted(ranked, key=lambda r: (-r.rating.conservative, r.ref))


def ended(log: Log) -> int:
    return next(entry.at for entry in log.entries if entry.type == "GameEnded")


@pytest.mark.parametrize("seed", range(3))
async def test_whatever_comes_first_the_ratings_are_those_of_the_order_of_the_games(
    store: EventStore, database_url: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(seed)
    monkeypatch.setattr(rerating, "_ROWS", 37)
    logs = [
        at(log, chance.randrange(10) * 3_600_000_000)
        for log in random_logs(30, chance, ("host", "host", "other"))
    ]
    async with driving(store, database_url, [P]) as driver:
        for log, after, upto in pieces(logs, chance):
            await put(store, log, after, upto)
            if chance.random() < 0.1:
                monkeypatch.setattr(rerating, "_CAUGHT_UP", chance.choice([1, 2_000]))
                await driver.drain([P], chance=chance)
        await driver.drain([P], chance=chance)
        listed = 0
        for tenant in ("host", "other", "nobody"):
            for game in GAMES:
                board = Board(tenant, game)
                found = await leaderboards.read(store, board, None, None, 100)
                assert found == expected(logs, tenant, game)
                listed += len(found)
                for ranked in found:
                    ratings = await leaderboards.ratings_of(store, tenant, ranked.ref)
                    assert ratings[game] == ranked.rating
                since = ended(chance.choice(logs))
                window = await leaderboards.read(store, board, since, None, 100)
                assert window == expected(logs, tenant, game, since)
        assert listed > 15
        assert (await driver.rows(P))["ratings_due"] == []
        await check_rebuilt(driver, P, chance)


async def test_pages_go_on_where_they_left_off(store: EventStore, database_url: str) -> None:
    chance = random.Random(11)
    logs = random_logs(12, chance)
    async with driving(store, database_url, [P]) as driver:
        for log in logs:
            await put(store, log, 0, len(log.commands))
        await driver.drain([P])
        for game in GAMES:
            for since in (None, 0):
                paged: list[Ranked] = []
                place: Place | None = None
                while page := await leaderboards.read(store, Board("host", game), since, place, 2):
                    paged += page
                    last = page[-1]
                    place = Place(
                        len(paged), len(paged), -last.rating.conservative, last.ref, since
                    )
                assert paged == expected(logs, "host", game)


async def test_who_is_erased_is_unknown_in_every_game_before(
    store: EventStore, database_url: str
) -> None:
    chance = random.Random(12)
    logs = [
        log
        for log in random_logs(90, chance)
        if log.table.seats[1].erased and log.table.status == "finished"
    ][:4]
    async with driving(store, database_url, [P]) as driver:
        for log in logs:
            await put(store, log, 0, len(log.commands))
            await driver.drain([P])
        for game in GAMES:
            found = await leaderboards.read(store, Board("host", game), None, None, 100)
            assert found == expected(logs, "host", game)
            assert "ref-1" not in [ranked.ref for ranked in found]
        assert "Player 1" not in repr(await driver.rows(P))


async def test_two_runners_side_by_side_come_to_the_same(
    store: EventStore, database_url: str
) -> None:
    chance = random.Random(13)
    logs = [at(log, chance.randrange(5) * 3_600_000_000) for log in random_logs(24, chance)]
    async with runner(database_url, P), runner(database_url, P):
        for log, after, upto in pieces(logs, chance):
            await put(store, log, after, upto)
        await caught_up(store, leaderboards.NAME)
        for game in GAMES:
            found = await leaderboards.read(store, Board("host", game), None, None, 100)
            assert found == expected(logs, "host", game)
    assert await store.fetch("SELECT FROM projections.parked") == []
