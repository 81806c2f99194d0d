"""The feed under hundreds of writers, late commits and roll-backs, while two number it."""

import asyncio
import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from eventstore import wire
from eventstore.feed import FeedEvent
from eventstore.postgres import EventStore
from eventstore.records import Append
from tests.eventstore.feeds import check_against_log, gaps, settle, whole_feed
from tests.eventstore.open_appends import open_transaction
from tests.eventstore.streams import an_append, an_event, an_id

WRITERS = 200
AT_ONCE = 40
STORM_SECONDS = 120

SEQUENCER = """
import asyncio, sys
from eventstore.postgres import EventStore
async def main():
    async with EventStore.open(sys.argv[1]) as store:
        print("ready", flush=True)
        while True:
            await store.feed.sequence(7)
asyncio.run(main())
"""


@contextmanager
def another_sequencer(url: str) -> Iterator[subprocess.Popen[bytes]]:
    """A process that numbers events without pause."""
    process = subprocess.Popen(
        [sys.executable, "-c", SEQUENCER, url],
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": str(Path.cwd())},
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        yield process
    finally:
        process.kill()
        process.communicate()


class Storm:
    """Everything that happens at once, and what followers of the feed got meanwhile."""

    def __init__(self, store: EventStore, url: str) -> None:
        self.store, self.url = store, url
        self.chance = random.Random()
        self.turns = asyncio.Semaphore(AT_ONCE)
        self.over = asyncio.Event()
        self.followed: list[FeedEvent] = []

    async def write(self, stream: str) -> None:
        """A stream of some appends, committed soon or late or never."""
        last: Append | None = None
        for _ in range(self.chance.randint(3, 8)):
            events = [an_event() for _ in range(self.chance.randint(1, 4))]
            request = an_append(stream, *events, after=last)
            async with self.turns, open_transaction(self.url) as transaction:
                await transaction.append(request)
                await asyncio.sleep(self.chance.choice([0, 0, 0.001, 0.03]))
                if self.chance.random() < 0.2:
                    await transaction.rollback()
                else:
                    await transaction.commit()
                    last = request

    async def number(self) -> None:
        """Number events now and then."""
        while not self.over.is_set():
            await self.store.feed.sequence(50)
            await asyncio.sleep(0.002)

    async def stop_and_go(self, process: subprocess.Popen[bytes]) -> None:
        """Stop a process wherever it is, and let it go on."""
        while not self.over.is_set():
            await asyncio.sleep(self.chance.uniform(0.01, 0.1))
            process.send_signal(signal.SIGSTOP)
            await asyncio.sleep(self.chance.uniform(0.01, 0.1))
            process.send_signal(signal.SIGCONT)

    async def follow(self, lane: int) -> None:
        """Read one lane until the storm is over and nothing is left."""
        after = 0
        while True:
            ending = self.over.is_set()
            page = await self.store.feed.page(lane, after, 20)
            self.followed += page
            after = page[-1].seq if page else after
            if ending and not page:
                return
            await asyncio.sleep(0.002)


async def test_a_storm_of_writers_leaves_nothing_out(store: EventStore, database_url: str) -> None:
    """Late commits, roll-backs, a foreign transaction, two sequencers of which one is stopped and
    goes on: followers who read meanwhile get everything once and in order."""
    storm = Storm(store, database_url)
    with another_sequencer(database_url) as process:
        async with asyncio.timeout(STORM_SECONDS), open_transaction(database_url) as foreign:
            await foreign.take_id()
            meanwhile = [
                asyncio.create_task(storm.number()),
                asyncio.create_task(storm.stop_and_go(process)),
                *[asyncio.create_task(storm.follow(lane)) for lane in range(wire.LANES)],
            ]
            await asyncio.gather(*[storm.write(an_id()) for _ in range(WRITERS)])
            await settle(store)
            storm.over.set()
            await asyncio.gather(*meanwhile)

    check_against_log(database_url, storm.followed)
    await settle(store)
    assert gaps(database_url) == 0
    assert by_event(await whole_feed(store)) == by_event(storm.followed)


def by_event(feed: list[FeedEvent]) -> list[FeedEvent]:
    return sorted(feed, key=lambda event: (event.stream, event.version))
