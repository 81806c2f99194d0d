"""The library `eventsourcing` on the same Postgres, in its two modes.

*Safe*, its default: every transaction locks the whole table, so that events become visible in the
order of their numbers. *Unsafe* (`POSTGRES_ENABLE_DB_FUNCTIONS`): a function inserts without that
lock, and a reader that goes on after the last number misses events that commit late.
"""

from typing import Any, Final
from uuid import uuid4

from psycopg.conninfo import conninfo_to_dict

from bench.serving import NoPeer

try:
    from eventsourcing.application import Application
    from eventsourcing.domain import Aggregate, event
    from eventsourcing.persistence import InfrastructureFactory, StoredEvent
    from eventsourcing.utils import Environment
except ImportError as missing:
    raise NoPeer(f"eventsourcing is not installed ({missing}): pip install -e '.[bench]'") from None

Batches = list[list[bytes]]

_PAGE: Final = 1000


def environment(url: str, *, safe: bool, pool: int) -> dict[str, str]:
    """Its settings for a database."""
    given = conninfo_to_dict(url)
    return {
        "PERSISTENCE_MODULE": "eventsourcing.postgres",
        "POSTGRES_DBNAME": str(given["dbname"]),
        "POSTGRES_HOST": str(given["host"]),
        "POSTGRES_PORT": str(given.get("port", 5432)),
        "POSTGRES_USER": str(given["user"]),
        "POSTGRES_PASSWORD": str(given.get("password", "none")),
        "POSTGRES_POOL_SIZE": str(pool),
        "POSTGRES_ENABLE_DB_FUNCTIONS": "no" if safe else "yes",
    }


class Recorder:
    """Its recorder of events, below aggregates and their encoding."""

    def __init__(self, url: str, name: str, *, safe: bool, writers: int) -> None:
        settings = Environment(name, environment(url, safe=safe, pool=writers))
        self._factory = InfrastructureFactory.construct(settings)
        self._recorder = self._factory.application_recorder()

    def write(self, batches: Batches) -> None:
        """A new sequence with these appends, one after another."""
        stream, version = uuid4(), 0
        for batch in batches:
            stored = []
            for state in batch:
                version += 1
                stored.append(StoredEvent(stream, version, "bench:Event", state))
            self._recorder.insert_events(stored)

    def after(self, number: int) -> list[int]:
        """The numbers of its next events after one, as a reader that goes on from there gets
        them."""
        found = self._recorder.select_notifications(number + 1, _PAGE)
        return [notification.id for notification in found]

    def numbers(self) -> int:
        """How many events it holds, counted one by one."""
        count, number = 0, 0
        while page := self.after(number):
            count, number = count + len(page), page[-1]
        return count

    def count(self) -> int:
        """How many events it holds."""
        return self._recorder.max_notification_id() or 0

    def close(self) -> None:
        self._factory.close()


class Played(Aggregate):
    """An aggregate with as small an event as a played card."""

    cards: int

    @event("Begun")
    def __init__(self) -> None:
        self.cards = 0

    @event("CardPlayed")
    def play(self, seat: int, card: str) -> None:
        self.cards += 1


class Games(Application[Any]):
    """Aggregates in a database, without a cache and without snapshots."""

    def played(self, events: int) -> Any:
        """The id of a new aggregate of so many events."""
        aggregate: Any = Played()
        for number in range(events - 1):
            aggregate.play(number % 4, "TD")
        self.save(aggregate)
        return aggregate.id

    def read_all(self) -> int:
        """Read every event in the order of their numbers, mapped to what it is; how many."""
        count, number = 0, 0
        while page := self.recorder.select_notifications(number + 1, _PAGE):
            for notification in page:
                self.mapper.to_domain_event(notification)
            count, number = count + len(page), page[-1].id
        return count

    def loaded(self, game: Any) -> int:
        """Load one from its events; how many cards were played."""
        aggregate = self.repository.get(game)
        assert isinstance(aggregate, Played)
        return aggregate.cards
