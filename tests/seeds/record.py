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
from domain.loc.events import BetPlaced, CardsShown, HandSettled
from domain.lodam.events import ChallengeDecided, TradeConcluded, TrickLeft
from domain.log import event_view
from domain.lorum.events import RoundScored
from domain.table.commands import BotName
from domain.table.events import GameEnded
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


def a_tie_by_suit(events: list[Event]) -> bool:
    """Two players show cards of the highest rank of a trick, no aces."""
    return any(
        isinstance(event, CardsShown)
        and event.bank in (None, "last_trick")
        and [play.card[0] for play in event.cards].count(_highest_rank(event)) > 1
        for event in events
    )


def two_aces(events: list[Event]) -> bool:
    """Two players show an ace in one trick, and the higher suit takes the bank."""
    return any(
        isinstance(event, CardsShown)
        and event.bank == "ace"
        and [play.card[0] for play in event.cards].count("A") > 1
        for event in events
    )


def the_joker_in_the_middle(events: list[Event]) -> bool:
    """The joker is shown before the last trick."""
    return any(
        isinstance(event, CardsShown) and event.bank == "joker" and event.trick < 5
        for event in events
    )


def a_short_bet(events: list[Event]) -> bool:
    """A player bets all that is left, and it is something."""
    return any(isinstance(event, BetPlaced) and event.short and event.amount for event in events)


def somebody_out(events: list[Event]) -> bool:
    """A player loses the last chips while the game goes on."""
    return any(isinstance(event, HandSettled) and event.gone for event in events[:-3])


def places_told_apart(events: list[Event]) -> bool:
    """At least four places are told apart at the end, and one is shared."""
    return any(
        isinstance(event, GameEnded) and 4 <= len(set(event.places)) < len(event.places)
        for event in events
    )


def _highest_rank(event: CardsShown) -> str:
    return next(play.card[0] for play in event.cards if play.seat == event.highest)


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
        "lodam",
        "six-players-out-one-after-another",
        ("careful", "random") * 3,
        {"lives": 1, "profile": "modern"},
        (places_told_apart,),
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
    Situation(
        "loc",
        "tie-by-suit-and-two-aces",
        ("careful", "random") * 2,
        {},
        (a_tie_by_suit, two_aces),
    ),
    Situation(
        "loc",
        "joker-in-the-middle-and-at-the-end",
        ("random", "careful", "random"),
        {"stake": 5},
        (the_joker_in_the_middle, has(CardsShown, bank="joker", trick=5)),
    ),
    Situation(
        "loc",
        "short-stacks-until-one-is-left",
        ("careful", "random", "careful"),
        {"stake": 4, "starting_chips": 25, "hands": 40},
        (a_short_bet, has(BetPlaced, short=True, amount=0), somebody_out),
    ),
    Situation(
        "loc",
        "joker-ends-the-hand-with-everything-by-hand",
        ("careful", "random"),
        {
            "joker": "ends_hand",
            "bets": "manual",
            "cut": "manual",
            "deal": "manual",
            "auto_forced": False,
            "hands": 5,
        },
        (the_joker_in_the_middle,),
    ),
    Situation(
        "loc",
        "eight-players-opened-after-the-game",
        ("careful", "random") * 4,
        {"hands": 3, "disclosure": "after_game"},
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
