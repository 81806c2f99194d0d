"""The history checker finds every kind of lie, and none where there is none."""

import random
from collections.abc import Callable

import msgspec
import pytest

from domain.registry import GAMES
from faults.checker import judge
from faults.history import NOT_ANSWERED, Attempt
from faults.on_storage import known_before
from faults.soundness import check_clocks, check_feed, check_logs
from faults.truth import GameLog, Truth
from faults.violations import Property, Violation
from tests.faults.histories import Made, made, respoken, somewhere
from tests.projections.played import random_log

NOTHING = msgspec.Raw(b"null")
REFUSAL = msgspec.Raw(b'{"status": 409, "version": 1}')


def found(violations: list[Violation]) -> set[Property]:
    return {violation.property for violation in violations}


def judged(case: Made) -> set[Property]:
    return found(
        [
            *judge(case.history, case.truth),
            *check_logs(case.truth),
            *check_feed(case.truth),
            *check_clocks(case.truth),
        ]
    )


@pytest.mark.parametrize("game", sorted(GAMES))
def test_an_honest_history_has_no_violation(game: str) -> None:
    for number in range(4):
        case = made(game, 10 * number)
        assert len(case.acted()) > 5
        assert judged(case) == set()


def unanswered(attempt: Attempt) -> None:
    attempt.status, attempt.body = None, NOTHING


def lose_the_tail(case: Made, _: random.Random) -> None:
    last = [command for command in case.log.commands() if command.own][-1]
    del case.log.entries[last.first - 1 :]
    case.log.version = len(case.log.entries)
    case.log.hash = case.log.entries[-1].hash
    del case.truth.feed[0][last.first - 1 :]


def lose_the_game(case: Made, _: random.Random) -> None:
    case.truth.games.clear()
    case.truth.feed.clear()


def acknowledge_other_events(case: Made, chance: random.Random) -> None:
    [attempt] = somewhere(case.acted(), chance).attempts
    events = msgspec.json.decode(attempt.body)["events"]
    respoken(attempt, events=[*events, *events])


def acknowledge_what_another_did(case: Made, chance: random.Random) -> None:
    command = somewhere(case.acted(), chance)
    command.asks = command.asks | {"type": "sing"}


def answer_a_key_twice(case: Made, _: random.Random) -> None:
    first, second = case.acted()[2:4]
    first.attempts.append(second.attempts[0])


def answer_two_with_one(case: Made, _: random.Random) -> None:
    first, second = case.acted()[2:4]
    second.attempts[0] = first.attempts[0]
    second.asks, second.seat = first.asks, first.seat


def answer_a_new_one_with_another(case: Made, chance: random.Random) -> None:
    answered = somewhere(case.acted(), chance)
    asked = case.history.command("new", answered.game, answered.seat, answered.asks)
    asked.attempts.append(answered.attempts[0])


def acknowledge_another_hash(case: Made, chance: random.Random) -> None:
    [attempt] = somewhere(case.acted(), chance).attempts
    receipt = msgspec.json.decode(attempt.body)["receipt"]
    respoken(attempt, receipt=receipt | {"hash": "00" * 32}, events=[])


def do_what_nobody_asked(case: Made, chance: random.Random) -> None:
    case.history.commands.remove(somewhere(case.acted(), chance))


def do_what_is_unknown_twice(case: Made, _: random.Random) -> None:
    twice = same_asked_twice(case)
    for command in twice:
        unanswered(command.attempts[0])
    case.history.commands.remove(twice[0])


def same_asked_twice(case: Made) -> list:  # type: ignore[type-arg]
    """Two commands that asked for the same."""
    seen = {}
    for command in case.acted():
        what = (command.seat, str(sorted(command.asks.items())))
        if what in seen:
            return [seen[what], command]
        seen[what] = command
    raise AssertionError("nobody asked for the same twice")


def set_up_two_games(case: Made, _: random.Random) -> None:
    other = random_log("loc", 1)
    entries = [entry for entry in other.commands[0]]
    case.truth.games[other.table.id] = GameLog(
        other.table.id, len(entries), entries[-1].hash, entries
    )
    case.truth.feed[1] = [(e.version, other.table.id, e.version) for e in entries]


def refuse_and_do(case: Made, chance: random.Random) -> None:
    [attempt] = somewhere(case.acted(), chance).attempts
    attempt.status, attempt.body = 409, REFUSAL


def refuse_at_last_and_do(case: Made, chance: random.Random) -> None:
    command = somewhere(case.acted(), chance)
    unanswered(command.attempts[0])
    asked = command.asked + 5
    command.attempts.append(Attempt("last", asked, asked + 1, 409, final=True, body=REFUSAL))


def change_the_order(case: Made, _: random.Random) -> None:
    first, second = case.acted()[2:4]
    one, other = first.attempts[0], second.attempts[0]
    one.asked, other.asked = other.asked, one.asked
    one.ended, other.ended = other.ended, one.ended


def read_what_is_old(case: Made, _: random.Random) -> None:
    views = [reading for reading in case.history.readings if reading.what == "view"]
    views[-1].attempt.body = views[0].attempt.body
    views[-1].seat = views[0].seat


def fail(case: Made, chance: random.Random) -> None:
    attempt = chance.choice(case.history.readings).attempt
    attempt.status, attempt.body = 500, msgspec.Raw(b'{"type": "/problems/internal-error"}')


def know_no_token(case: Made, chance: random.Random) -> None:
    somewhere(case.acted(), chance).attempts.insert(0, Attempt("a", 0.0, 1.0, 401))


def say_not_when_to_come_back(case: Made, chance: random.Random) -> None:
    somewhere(case.acted(), chance).attempts.insert(0, Attempt("a", 0.0, 1.0, 503))


def sign_falsely(case: Made, chance: random.Random) -> None:
    [attempt] = somewhere(case.acted(), chance).attempts
    receipt = msgspec.json.decode(attempt.body)["receipt"]
    respoken(attempt, receipt=receipt | {"at": "2020-01-01T00:00:00.000000Z"})


def sign_another_history(case: Made, chance: random.Random) -> None:
    [attempt] = somewhere(case.acted(), chance).attempts
    receipt = msgspec.json.decode(attempt.body)["receipt"]
    respoken(attempt, receipt=receipt | {"hash": "00" * 32})


def change_an_event(case: Made, _: random.Random) -> None:
    entry = case.log.entries[3]
    case.log.entries[3] = msgspec.structs.replace(entry, at=entry.at + 1)


def leave_a_version_out(case: Made, _: random.Random) -> None:
    del case.log.entries[4]


def have_a_head_beyond(case: Made, _: random.Random) -> None:
    case.log.version += 1


def leave_a_number_out(case: Made, _: random.Random) -> None:
    del case.truth.feed[0][5]


def number_in_another_order(case: Made, _: random.Random) -> None:
    feed = case.truth.feed[0]
    (a, game, first), (b, _, second) = feed[5:7]
    feed[5:7] = [(a, game, second), (b, game, first)]


def number_twice(case: Made, _: random.Random) -> None:
    feed = case.truth.feed[0]
    feed.append((feed[-1][0] + 1, feed[-1][1], feed[-1][2]))


def forget_to_number(case: Made, _: random.Random) -> None:
    case.truth.feed[0].pop()


@pytest.mark.parametrize("number", [0, 30])
@pytest.mark.parametrize("game", sorted(GAMES))
@pytest.mark.parametrize(
    ("spoil", "expected"),
    [
        (lose_the_tail, "acknowledged"),
        (lose_the_game, "acknowledged"),
        (acknowledge_other_events, "acknowledged"),
        (acknowledge_what_another_did, "acknowledged"),
        (acknowledge_another_hash, "acknowledged"),
        (answer_a_key_twice, "once"),
        (answer_two_with_one, "once"),
        (answer_a_new_one_with_another, "once"),
        (do_what_nobody_asked, "once"),
        (set_up_two_games, "once"),
        (refuse_and_do, "refused"),
        (refuse_at_last_and_do, "refused"),
        (change_the_order, "order"),
        (read_what_is_old, "order"),
        (fail, "answer"),
        (know_no_token, "answer"),
        (say_not_when_to_come_back, "answer"),
        (sign_falsely, "receipt"),
        (sign_another_history, "receipt"),
        (change_an_event, "log"),
        (leave_a_version_out, "log"),
        (have_a_head_beyond, "log"),
        (leave_a_number_out, "feed"),
        (number_in_another_order, "feed"),
        (number_twice, "feed"),
        (forget_to_number, "feed"),
    ],
)
def test_each_lie_is_found(
    game: str, number: int, spoil: Callable[[Made, random.Random], None], expected: Property
) -> None:
    case = made(game, number)
    spoil(case, random.Random(number))
    assert expected in judged(case)


def test_what_is_unknown_may_have_been_done_once() -> None:
    case = made("loc", 0)
    for command in case.acted()[::2]:
        unanswered(command.attempts[0])
        assert command.fate == "unknown"
    assert judged(case) == set()


def test_what_is_unknown_may_not_have_been_done() -> None:
    case = made("loc", 0)
    commands = case.acted()
    for command in commands[:5]:
        asked = case.history.command("another", command.game, command.seat, {"type": "sing"})
        asked.attempts.append(Attempt("a", 1.0, 2.0, 503, retry_after="1"))
    assert judged(case) == set()


def test_what_is_unknown_is_not_done_twice() -> None:
    case = next(m for n in range(50) if (m := made("loc", n)) and repeats(m))
    do_what_is_unknown_twice(case, random.Random(1))
    assert "once" in judged(case)


def repeats(case: Made) -> bool:
    try:
        same_asked_twice(case)
    except AssertionError:
        return False
    return True


def test_a_repeated_answer_is_no_second_command() -> None:
    case = made("lodam", 0)
    for command in case.acted():
        again = msgspec.structs.replace(command.attempts[0], replayed=True)
        command.attempts.append(again)
    assert judged(case) == set()


def test_a_last_word_settles_what_was_unknown() -> None:
    case = made("loc", 0)
    command = case.history.command("new", case.log.id, 0, {"type": "sing"})
    command.attempts.append(Attempt("a", 1.0, None, None))
    assert command.attempts[0].status in NOT_ANSWERED
    assert command.fate == "unknown"
    command.attempts.append(Attempt("a", 3.0, 4.0, 409))
    assert command.fate == "unknown", "the first attempt may come later still"
    command.attempts.append(Attempt("last", 5.0, 6.0, 409, final=True))
    assert command.fate == "refused"


def clocked(*commands: tuple[int, dict[str, object], int, str | None]) -> Truth:
    """A log of commands: version, action, time in seconds, and the deadline that it sets."""
    entries = []
    _, some = made("loc", 0).truth.games.popitem()
    for version, action, seconds, deadline in commands:
        data: dict[str, object] = {"action": action}
        if deadline is not None:
            data["deadline"] = deadline
        entries.append(
            msgspec.structs.replace(
                some.entries[0],
                version=version,
                type="CardPlayed" if deadline is None else "ClockStarted",
                at=seconds * 1_000_000,
                actor=1,
                command=str(version),
                data=msgspec.json.encode(data),
            )
        )
    return Truth({"g": GameLog("g", len(entries), b"", entries)}, {})


BY_CLOCK: dict[str, object] = {"type": "play", "by": "clock"}


@pytest.mark.parametrize(
    ("fired_at", "again", "expected"),
    [(10, False, set()), (11, False, set()), (9, False, {"clock"}), (11, True, {"clock"})],
)
def test_a_clock_fires_once_and_not_early(
    fired_at: int, again: bool, expected: set[Property]
) -> None:
    truth = clocked(
        (1, {"type": "play"}, 5, "1970-01-01T00:00:10.000000Z"),
        (2, BY_CLOCK, fired_at, None),
        *([(3, BY_CLOCK, fired_at, None)] if again else []),
    )
    assert found(list(check_clocks(truth))) == expected


def test_what_was_known_before_a_moment_is_all_that_counts() -> None:
    """For a dump: what was acknowledged later is unknown, what was asked later was never asked."""
    case = made("loc", 0)
    moment = case.acted()[4].asked + 0.5
    known = known_before(case.history, moment, moment)
    fates = [command.fate for command in known.commands]
    assert set(fates[:-1]) == {"acknowledged"}
    assert fates[-1] == "unknown"
    assert known.done == len(fates) - 1
    assert all((reading.attempt.ended or 0) < moment for reading in known.readings)
    assert case.history.commands[len(fates) - 1].fate == "acknowledged", "the original stays"
