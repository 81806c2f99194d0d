"""The history checker: what the callers of a run were told, against what the store holds.

Pure: a history and a truth in, violations out. What hidden cards are concerned is in `hidden.py`;
what the store must hold by itself, whoever was told what, in `soundness.py`.
"""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from domain.receipts import Receipt, signature_problem
from faults.hidden import check_hidden
from faults.history import NOT_ANSWERED, Attempt, Command, History, Reading, Told, told
from faults.truth import GameLog, LogCommand, Truth
from faults.violations import Violation

_GUARDS: Final = frozenset({"hand", "trick", "offer"})
"""Parameters of a request that are not recorded."""
_COMMANDS: Final = frozenset({201, 409, 412, *NOT_ANSWERED})
"""What a well-formed command of an entitled caller may be answered with."""
_READINGS: Final = frozenset({200, *NOT_ANSWERED})


def judge(history: History, truth: Truth) -> list[Violation]:
    """Every violation, property by property."""
    return [
        *check_acknowledged(history, truth),
        *check_once(history, truth),
        *check_order(history, truth),
        *check_answers(history),
        *check_receipts(history, truth),
        *check_hidden(history, truth),
    ]


def check_acknowledged(history: History, truth: Truth) -> Iterator[Violation]:
    """acknowledged ⊆ log: the events that were answered are there, and are what was asked for."""
    for command in history.commands:
        for attempt in command.acknowledged:
            answer = told(attempt)
            log = truth.games.get(answer.game)
            if log is None:
                yield _lost(command, answer, "the game is not in the store")
                continue
            if answer.version > len(log.entries):
                reason = f"the log ends at version {len(log.entries)}"
                yield _lost(command, answer, reason)
                continue
            if log.entries[answer.version - 1].hash.hex() != answer.hash:
                yield _lost(command, answer, "the log holds another event there")
                continue
            yield from _same_events(command, answer, log)


def _same_events(command: Command, answer: Told, log: GameLog) -> Iterator[Violation]:
    found = log.entries[answer.version - 1]
    ours = [entry for entry in log.entries if entry.command == found.command]
    if answer.events:
        said = [(event["version"], event["hash"]) for event in answer.events]
        if said != [(entry.version, entry.hash.hex()) for entry in ours]:
            yield _lost(command, answer, "the command's events in the log are others")
    for recorded in log.commands():
        if recorded.first == ours[0].version and not _fits(command, recorded):
            reason = f"seat {recorded.actor} did {recorded.action} there"
            yield _lost(command, answer, reason)


def _lost(command: Command, answer: Told, reason: str) -> Violation:
    what = "a new game" if command.game is None else f"{command.asks.get('type')}"
    text = (
        f"command {command.number} ({what} of seat {command.seat}) was acknowledged at version "
        f"{answer.version}, and {reason}"
    )
    return Violation("acknowledged", text, answer.game, (answer.version,))


def check_once(history: History, truth: Truth) -> Iterator[Violation]:
    """At most once: attempts agree, no two commands are one, and each command of the log that
    somebody must have asked for is explained by one command, which was not refused."""
    explained: dict[tuple[str, int], Command] = {}
    for command in history.commands:
        places = {(answer.game, answer.version) for answer in map(told, command.acknowledged)}
        if len(places) > 1:
            text = f"command {command.number} was acknowledged at {sorted(places)}"
            yield Violation("once", text, command.game)
        for game, version in places:
            place = (game, _first_version(truth, game, version))
            other = explained.setdefault(place, command)
            if other is not command:
                text = f"commands {other.number} and {command.number} were answered with one"
                yield Violation("once", text, game, (version,))
    yield from _unexplained(history, truth, explained)


def _first_version(truth: Truth, game: str, version: int) -> int:
    """The first version of the command that the version belongs to."""
    log = truth.games.get(game)
    if log is None or version > len(log.entries):
        return version
    command = log.entries[version - 1].command
    while version > 1 and log.entries[version - 2].command == command:
        version -= 1
    return version


def _unexplained(
    history: History, truth: Truth, explained: dict[tuple[str, int], Command]
) -> Iterator[Violation]:
    unknown: dict[str | None, list[Command]] = defaultdict(list)
    refused: dict[str | None, list[Command]] = defaultdict(list)
    for command in history.commands:
        if command.fate == "unknown":
            unknown[command.game].append(command)
        elif command.fate == "refused":
            refused[command.game].append(command)
    for log in truth.games.values():
        for recorded in log.commands():
            if not recorded.own or (log.id, recorded.first) in explained:
                continue
            candidates = unknown[None if recorded.first == 1 else log.id]
            fitting = next((each for each in candidates if _fits(each, recorded)), None)
            if fitting is not None:
                candidates.remove(fitting)
                continue
            yield _foreign(log, recorded, refused[log.id])


def _foreign(log: GameLog, recorded: LogCommand, refused: list[Command]) -> Violation:
    versions = (recorded.first, recorded.last)
    what = f"{recorded.action} of seat {recorded.actor}"
    fitting = next((each for each in refused if _fits(each, recorded)), None)
    if fitting is not None:
        text = f"the log holds {what}: command {fitting.number}, which was refused"
        return Violation("refused", text, log.id, versions)
    text = f"the log holds {what} once more than anybody asked for it"
    return Violation("once", text, log.id, versions)


def _fits(command: Command, recorded: LogCommand) -> bool:
    """Whether what the log records can be what the command asked for."""
    if command.game is None:
        return recorded.first == 1 and recorded.action.get("type") == "create"
    asks: dict[str, Any] = command.asks
    shared = (asks.keys() & recorded.action.keys()) - _GUARDS
    return (
        recorded.first > 1
        and recorded.actor == command.seat
        and recorded.action.get("type") == asks.get("type")
        and all(asks[name] == recorded.action[name] for name in shared)
    )


def check_order(history: History, truth: Truth) -> Iterator[Violation]:
    """Whoever was answered before another asked comes first; readings are as new as what had been
    acknowledged when they were asked for, and as what had been read."""
    # Moments of a game: (asked, version at least, ended, version at most, what).
    moments: dict[str, list[tuple[float, float, int, int, str]]] = defaultdict(list)
    for command in history.commands:
        done = [attempt for attempt in command.acknowledged if attempt.ended is not None]
        if not done:
            continue
        first = min(done, key=_end)
        answer = told(first)
        begin = _first_version(truth, answer.game, answer.version)
        what = f"command {command.number}"
        moments[answer.game].append((command.asked, _end(first), begin, answer.version, what))
    for number, reading in enumerate(history.readings, 1):
        version = _version_read(reading)
        if version is not None:
            attempt, what = reading.attempt, f"reading {number}"
            moments[reading.game].append((attempt.asked, _end(attempt), version + 1, version, what))
    for game, found in moments.items():
        yield from _out_of_order(game, found)


def _out_of_order(
    game: str, moments: list[tuple[float, float, int, int, str]]
) -> Iterator[Violation]:
    """`begin` of a moment must lie above what every moment that had ended before reached."""
    ended = sorted(moments, key=lambda moment: moment[1])
    reached, by, place = 0, "", 0
    for asked, _, begin, version, what in sorted(moments):
        while place < len(ended) and ended[place][1] < asked:
            if ended[place][3] > reached:
                reached, by = ended[place][3], ended[place][4]
            place += 1
        if begin <= reached:
            text = f"{what} was asked after {by} had been answered with version {reached}"
            yield Violation("order", f"{text}, and stands at version {version}", game, (version,))


def _end(attempt: Attempt) -> float:
    assert attempt.ended is not None
    return attempt.ended


def _version_read(reading: Reading) -> int | None:
    if reading.attempt.status != 200 or reading.attempt.ended is None:
        return None
    body = msgspec.json.decode(reading.attempt.body)
    if reading.what == "view":
        return int(body["version"])
    # A page that is not the last says nothing about where the game stands.
    return int(body["items"][-1]["version"]) if body["items"] and body["next"] is None else None


def check_answers(history: History) -> Iterator[Violation]:
    """No status but those that the contract has for it; 503 says when to come back."""
    for command in history.commands:
        for attempt in command.attempts:
            yield from _check_status(attempt, _COMMANDS, f"command {command.number}", command.game)
    for number, reading in enumerate(history.readings, 1):
        yield from _check_status(reading.attempt, _READINGS, f"reading {number}", reading.game)


def _check_status(
    attempt: Attempt, allowed: frozenset[int | None], what: str, game: str | None
) -> Iterator[Violation]:
    if attempt.status not in allowed:
        said = bytes(attempt.body)[:300].decode(errors="replace")
        text = f"{what} was answered with {attempt.status} by {attempt.process}: {said}"
        yield Violation("answer", text, game)
    elif attempt.status == 503 and not attempt.retry_after:
        text = f"{what} was answered with 503 without Retry-After by {attempt.process}"
        yield Violation("answer", text, game)


def check_receipts(history: History, truth: Truth) -> Iterator[Violation]:
    """Every receipt is signed with a key of the service, and its hash is the log's."""
    seen: set[str] = set()
    for command in history.commands:
        for attempt in command.acknowledged:
            answer = told(attempt)
            receipt = msgspec.convert(answer.receipt, Receipt)
            log = truth.games.get(receipt.game)
            versions = (receipt.version,)
            entries = [] if log is None else log.entries
            found = entries[receipt.version - 1 : receipt.version]
            if found and found[0].hash.hex() != receipt.hash:
                text = f"the receipt of command {command.number} contradicts the log"
                yield Violation("receipt", text, receipt.game, versions)
            if receipt.signature in seen:
                continue
            seen.add(receipt.signature)
            problem = signature_problem(receipt, truth.keys)
            if problem is not None:
                text = f"the receipt of command {command.number}: {problem}"
                yield Violation("receipt", text, receipt.game, versions)
