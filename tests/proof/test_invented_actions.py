"""Actions that nobody made, recorded with hashes that fit: the rules refuse them, or the seats."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from domain.events import encode_canonical
from domain.log import Entry
from tests.proof.logs import (
    SAMPLES,
    caught,
    changed,
    each_sample,
    fits,
    put,
    rechained,
    sample,
    verified,
)


def _by_a_ghost(data: dict[str, Any]) -> None:
    data["action"]["by"] = "ghost"


def _by_a_bot(data: dict[str, Any]) -> None:
    data["action"]["by"] = "bot"


def _by_the_clock(data: dict[str, Any]) -> None:
    data["action"]["by"] = "clock"


def _by_the_server(data: dict[str, Any]) -> None:
    data["action"]["by"] = "server"


def _forced(data: dict[str, Any]) -> None:
    data["action"]["forced"] = True


def _unrecorded(data: dict[str, Any]) -> None:
    del data["action"]


def _another_action(data: dict[str, Any]) -> None:
    data["action"] = {"type": "deal"}


def _no_action_at_all(data: dict[str, Any]) -> None:
    data["action"] = {"type": ["play"]}


MADE_UP = [
    _by_a_ghost,
    _by_a_bot,
    _by_the_clock,
    _by_the_server,
    _forced,
    _unrecorded,
    _another_action,
    _no_action_at_all,
]


@each_sample
@pytest.mark.parametrize("invent", MADE_UP)
def test_an_action_that_was_never_made_like_this(
    path: Path, invent: Callable[[dict[str, Any]], None]
) -> None:
    """In these samples people play, without a clock: nobody else may have acted for them."""
    log = sample(path)
    acted = next(entry for entry in log.entries if entry.actor is not None and _plays(entry))
    forged = put(log.entries, changed(acted, invent))
    caught(log, forged, "rederivation", acted.version, "the recorded action is refused")


def _plays(entry: Entry) -> bool:
    action = msgspec.json.decode(entry.data).get("action")
    return action is not None and "by" not in action and action["type"] not in ("cut", "deal")


@each_sample
def test_an_action_by_nobody_or_by_a_seat_that_is_not_there(path: Path) -> None:
    log = sample(path)
    acted = next(entry for entry in log.entries if entry.actor is not None and _plays(entry))
    for actor in (None, 12):
        group = [
            msgspec.structs.replace(entry, actor=actor)
            for entry in log.entries
            if entry.command == acted.command
        ]
        forged = put(log.entries, *group)
        caught(log, forged, "rederivation", acted.version, "the recorded action is refused")


@each_sample
def test_an_action_left_out_and_one_made_twice(path: Path) -> None:
    log = sample(path)
    group = [e for e in log.entries if e.command == log.entries[len(log.entries) // 2].command]
    first, last = group[0].version, group[-1].version
    left_out = rechained(log.header.id, [*log.entries[: first - 1], *log.entries[last:]])
    assert fits(log, left_out)
    assert any(
        c.check == "rederivation" and c.status == "failed" and c.versions[0] >= first
        for c in verified(log, left_out).checks
    )
    again = [msgspec.structs.replace(e, command=e.command[::-1]) for e in group]
    twice = rechained(log.header.id, [*log.entries[:last], *again, *log.entries[last:]])
    assert fits(log, twice)
    assert any(
        c.check == "rederivation" and c.status == "failed" and c.versions[0] > last
        for c in verified(log, twice).checks
    )


@pytest.mark.parametrize("seat", [-1, 99])
def test_something_done_to_a_seat_that_is_not_there(seat: int) -> None:
    log = sample(SAMPLES[0])
    data = {"action": {"seat": seat, "type": "erase_player"}, "seat": seat}
    erased = msgspec.structs.replace(
        log.entries[-1],
        type="PlayerErased",
        actor=None,
        command="another",
        data=encode_canonical(data),
        sealed=(),
    )
    caught(log, [*log.entries, erased], "rederivation", len(log.entries) + 1, "no seat")
