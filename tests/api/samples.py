"""Recorded games of seeds/ in a store, as `fairdeal import` puts them there."""

import json
from collections.abc import Sequence
from pathlib import Path

from api.batch import new_event, tags_of
from api.importing import Imported, import_log
from domain.export import Export, read
from domain.log import GENESIS, Entry
from domain.table.state import Table
from domain.verify import verify
from eventstore.postgres import EventStore
from eventstore.records import Answer, Append, Appended

SEEDS = Path(__file__).parents[2] / "seeds"
CHALLENGES = SEEDS / "lodam" / "samples" / "trades-swallow-challenges.ndjson"


def log_of(path: Path) -> Export:
    """A recorded game."""
    with path.open("rb") as file:
        return read(file)


async def imported(store: EventStore, log: Export, tenant: str = "host") -> Imported:
    """What becomes of a log that is imported."""
    return await import_log(store, log, verify(log), tenant)


def events_of(path: Path) -> list[dict[str, object]]:
    """The events of a recorded game, as its file has them."""
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return [line["event"] for line in lines if "event" in line]


async def planted(store: EventStore, table: Table, entries: Sequence[Entry]) -> None:
    """Put a log into a store as whoever has the store could, whatever it says."""
    outcome = await store.append(
        Append(
            stream=table.id,
            expected=0,
            prev=GENESIS,
            events=tuple([new_event(entry) for entry in entries]),
            command=entries[-1].command,
            answer=Answer(table.id, 1, len(entries), b""),
            tags=tags_of(table),
            tenant="host",
            category=table.game.name,
        )
    )
    assert isinstance(outcome, Appended)
