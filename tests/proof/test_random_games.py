"""An honest log never fails: of any game, at any moment, in anybody's hands. What is sealed is said
to be not yet possible, with its versions, and nothing raises."""

import random
from collections.abc import Iterator

import pytest

from domain.registry import GAMES
from domain.verify import Report, verify
from tests.proof.played import Recorded, against_the_clock, erased, exported, recorded

NUMBERS = range(16)


def moments(game: Recorded, chance: random.Random) -> Iterator[int]:
    """How many commands have been made: at the start, here and there, at the end."""
    last = len(game.tables)
    yield from (1, 2, 3, last)
    yield from [chance.randint(1, last) for _ in range(2)]


def check(game: Recorded, commands: int, seat: int | None) -> Report:
    """Assert that nothing fails, and that what is not open is said to be so."""
    log = exported(game, seat, commands)
    assert log.faults == ()
    told: list[int] = []
    report = verify(log, progress=told.append)
    assert not report.failed, [c for c in report.checks if c.status == "failed"]
    table = game.tables[commands - 1]
    by_name = {
        name: [c for c in report.checks if c.check == name]
        for name in ("form", "chain", "commands", "digests", "deals", "rederivation")
    }
    for name in ("form", "chain", "commands"):
        assert [(c.status, c.versions) for c in by_name[name]] == [("passed", (1, table.version))]
    sealed = [
        entry.version
        for entry in log.entries
        if any(part.body is None and part.audience != '"all"' for part in entry.sealed)
    ]
    pending = [c for c in by_name["digests"] if c.status == "not_yet_possible"]
    assert [v for c in pending for v in c.versions] == sealed
    assert len(by_name["deals"]) == table.hand
    closed = [c for c in by_name["deals"] if c.status == "not_yet_possible"]
    assert len(closed) == len(table.unopened)
    assert told == sorted(told)
    statuses = [c.status for c in by_name["rederivation"]]
    if table.unopened:
        assert statuses in (["passed", "not_yet_possible"], ["passed"])
        assert told[-1] >= table.unopened[0].first
    else:
        assert statuses == ["passed"]
        assert told[-1] == table.version
    return report


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("game", list(GAMES))
def test_any_game_at_any_moment_in_anybodys_hands(game: str, number: int) -> None:
    played = recorded(game, number)
    chance = random.Random(number)
    for commands in moments(played, chance):
        table = played.tables[commands - 1]
        for seat in (None, chance.randrange(len(table.seats))):
            check(played, commands, seat)


@pytest.mark.parametrize("number", range(3))
@pytest.mark.parametrize("on_timeout", ["bot", "forfeit"])
@pytest.mark.parametrize("game", list(GAMES))
def test_games_of_bots_and_people_against_the_clock(
    game: str, on_timeout: str, number: int
) -> None:
    played = against_the_clock(game, number, on_timeout)
    assert any(b'"by":"clock"' in entry.data for entry in played.entries)
    chance = random.Random(number)
    for commands in moments(played, chance):
        check(played, commands, chance.choice([None, 0, 1]))


def test_the_games_hold_all_that_happens_at_a_table() -> None:
    """Joining, leaving, abandoning, erasing, tokens, nonces, closed hands: the games above have
    them all, so the claim covers them."""
    happened: set[str] = set()
    traits: set[str] = set()
    for game in GAMES:
        for number in NUMBERS:
            played = recorded(game, number)
            happened.update(entry.type for entry in played.entries)
            traits.update(_traits(played))
    assert traits == {"after_game", "after_hand", "joined", "nonce", "erased"}
    assert happened >= {
        "SeatTokenIssued",
        "SpectatorTokenIssued",
        "PlayerErased",
        "PlayerResigned",
        "ClockStarted",
        "BotTimed",
        "SeedRevealed",
        "GameEnded",
    }


def _traits(played: Recorded) -> Iterator[str]:
    yield played.tables[-1].options.disclosure
    if erased(played.entries) != played.entries:
        yield "erased"
    for entry in played.entries:
        if b'"action":{"type":"join"}' in entry.data:
            yield "joined"
        if entry.type == "PackCut" and '"nonce":"é"'.encode() in entry.data:
            yield "nonce"
