"""How each build of each projection stands: counted from the tables, no mark that can freeze."""

from typing import Final, Literal

import msgspec

from eventstore.postgres import EventStore
from projections.statements import statements

_SQL: Final = statements("standing")


class ParkedStream(msgspec.Struct, frozen=True):
    """A stream left out from one version on."""

    stream: str
    version: int
    error: str
    """What kind of error and where in the code; never its message."""
    parked_at: int
    """Microseconds since 1970."""


class Standing(msgspec.Struct, frozen=True):
    """How one build stands."""

    name: str
    build: int
    version: int
    """Of the projection's code."""
    state: Literal["building", "live"]
    lag_events: int
    """Committed events that it has not taken in, whether the feed has numbered them or not."""
    lag_seconds: float
    """Since when that is so, within about a second; 0 where nothing is left."""
    heartbeat_seconds: float
    """How long ago a runner with this version of the code gave a sign of life."""
    parked: tuple[ParkedStream, ...]


class Feed(msgspec.Struct, frozen=True):
    """How the feed and all builds stand at one moment."""

    unstamped: int
    """Committed events that the feed has not numbered."""
    builds: tuple[Standing, ...]

    def live(self) -> dict[str, Standing]:
        """The builds that readers see, by name."""
        return {build.name: build for build in self.builds if build.state == "live"}


async def standing(store: EventStore) -> Feed:
    """How everything stands now. Raises StoreUnavailable; psycopg.errors.UndefinedTable where the
    database has not been migrated."""
    tips = await store.feed.tips()
    # What is numbered from here on is counted with the builds at most twice, and never left out.
    lanes, unstamped = [tip.lane for tip in tips], [tip.unstamped for tip in tips]
    builds = await store.fetch(_SQL["builds"], lanes, unstamped)
    parked: dict[tuple[str, int], list[ParkedStream]] = {}
    for name, build, *rest in await store.fetch(_SQL["parked"]):
        parked.setdefault((name, build), []).append(ParkedStream(*rest))
    stand = [Standing(*(*row, tuple(parked.get(row[:2], ())))) for row in builds]
    return Feed(sum(unstamped), tuple(stand))
