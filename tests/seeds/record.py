"""Record the sample games of `seeds/` that are missing: `python -m tests.seeds.record`.

Each situation is searched for among games drawn from numbered seeds, and written once: a sample
that exists is never touched.
"""

import random
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from domain import export
from domain.codec import read_event
from domain.events import Event
from domain.ledger import ChipsMoved
from domain.lodam.events import ChallengeDecided, TradeConcluded, TrickLeft
from domain.log import event_view
from domain.lorum.events import RoundScored
from domain.table.commands import BotName
from domain.tricks import TrickTaken
from tests.seeds.games import Played, play

SEEDS = Path(__file__).parents[2] / "seeds"

Wanted = Callable[[list[Event]], bool]


class Situation(msgspec.Struct, frozen=True):
    """A sample to record: the game's name, who plays, the options, and what must happen in it."""

    game: str
    name: str
    habits: tuple[BotName, ...]
    rules: dict[str, Any]
    wanted: Sequence[Wanted] = ()


def has(kind: type[Event], **values: Any) -> Wanted:
    """An event of this type with these field values happens."""

    def look(events: list[Event]) -> bool:
        return any(
            isinstance(event, kind)
            and all(getattr(event, name) == value for name, value in values.items())
            for event in events
        )

    return look


def a_swallowed_trick(events: list[Event]) -> bool:
    """Some trick is swallowed."""
    return any(
        isinstance(event, TrickTaken) and event.truth is not None and event.truth.swallowed
        for event in events
    )


def takers(number: int) -> Wanted:
    """In a round where the takers pay each other or the pot, so many take something that costs."""

    def look(events: list[Event]) -> bool:
        return any(
            isinstance(event, RoundScored)
            and event.contract in ("hearts", "obers", "no_tricks")
            and sum([cost > 0 for cost in event.points]) == number
            for event in events
        )

    return look


SITUATIONS = (
    Situation("lodam", "willughby-four-players", ("careful", "random") * 2, {"lives": 2}),
    Situation(
        "lodam",
        "modern-three-players-with-stake",
        ("careful", "random", "careful"),
        {"profile": "modern", "stake": 5, "lives": 2},
    ),
    Situation(
        "lodam",
        "trades-swallow-challenges",
        ("random", "careful", "random", "careful", "random"),
        {"trading": "any_time", "trade_offers": 2, "lives": 2, "cut": "manual", "deal": "manual"},
        (
            has(TradeConcluded, annulled=True),
            has(TradeConcluded, annulled=False),
            a_swallowed_trick,
            has(TrickLeft, believed=True),
            has(TrickLeft, believed=False),
            has(ChallengeDecided, upheld=True),
            has(ChallengeDecided, upheld=False),
        ),
    ),
    Situation(
        "lodam",
        "open-trump-ten-players-opened-after-the-game",
        ("careful",) * 5 + ("random",) * 5,
        {"trump": "open", "ranking": "natural", "lives": 1, "disclosure": "after_game"},
    ),
    Situation(
        "lorum",
        "28-rounds-with-one-to-four-takers",
        ("careful", "random") * 2,
        {},
        [takers(number) for number in (1, 2, 3, 4)],
    ),
    Situation(
        "lorum",
        "seven-rounds-nothing-done-by-the-server",
        ("random", "careful") * 2,
        {
            "rounds": 7,
            "first_contract": 4,
            "starting_chips": 20,
            "early_end": False,
            "auto_forced": False,
            "cut": "manual",
            "deal": "manual",
        },
    ),
    Situation(
        "lorum",
        "a-pot-shared-out-and-opened-after-the-game",
        ("careful",) * 4,
        {"rounds": 6, "disclosure": "after_game", "first_dealer": 2},
        (has(ChipsMoved, reason="pot_shared"),),
    ),
)


def main() -> None:
    """Write every sample that does not exist yet."""
    for situation in SITUATIONS:
        path = SEEDS / situation.game / "samples" / f"{situation.name}.ndjson"
        if path.exists():
            continue
        for number in range(10_000):
            played = play(situation.game, situation.habits, situation.rules, random.Random(number))
            events = [read_event(entry) for entry in played.entries]
            if all(wanted(events) for wanted in situation.wanted):
                break
        else:
            sys.exit(f"{situation.name}: no such game found")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"".join(sample(played)))
        print(f"{path.relative_to(SEEDS)}: {len(played.entries)} events")


def sample(played: Played) -> list[bytes]:
    """The lines of a sample file."""
    table = played.table
    header = export.Header(
        format=export.FORMAT,
        game=table.game.name,
        id=table.id,
        rules_version=table.rules_version,
        viewer={"role": "spectator"},
    )
    views = [event_view(table.id, entry, None, table.openings) for entry in played.entries]
    return list(export.lines(header, views))


if __name__ == "__main__":
    main()
