"""`/health`: whether the process runs, and whether it can serve."""

from typing import Literal

import msgspec
import psycopg
from litestar import Controller
from litestar.di import NamedDependency
from psycopg_pool import PoolTimeout

from api.guards import get
from api.parts import Parts
from api.problems import unavailable
from api.replies import PROBLEMS
from eventstore.migrate import MigrationError, later, pending
from eventstore.records import StoreUnavailable
from projections.standing import Standing, standing


class Health(msgspec.Struct, frozen=True):
    """That the process runs."""

    status: Literal["live"]


class ProjectionHealth(msgspec.Struct, frozen=True):
    """How the live build of a projection stands (see docs/operations.md)."""

    state: Literal["current", "behind"]
    """`behind`: for longer than the setting allows. What it answers is old, and says `as_of`."""
    lag_events: int
    lag_seconds: float
    parked: int
    heartbeat_seconds: float


class Readiness(msgspec.Struct, frozen=True):
    """That the service can serve, and how far its projections have come."""

    status: Literal["ready"]
    database: Literal["ok"]
    migrations: Literal["ok", "ahead"]
    """`ahead`: a later version has migrated the database, and is about to take over."""
    projections: dict[str, ProjectionHealth]


def projection_health(build: Standing, lag_seconds: float) -> ProjectionHealth:
    """How a build stands, where being behind for more than `lag_seconds` is too long."""
    return ProjectionHealth(
        "behind" if build.lag_seconds > lag_seconds else "current",
        build.lag_events,
        round(build.lag_seconds, 3),
        len(build.parked),
        round(build.heartbeat_seconds, 3),
    )


class HealthController(Controller):
    """For whoever runs the service; open to all, says nothing about games."""

    path = "/health"
    tags = ("operation",)

    @get("/live", operation_id="isLive", summary="Whether the process runs")
    async def live(self) -> Health:
        """Answers as long as the process runs."""
        return Health("live")

    @get(
        "/ready",
        operation_id="isReady",
        summary="Whether the service can serve",
        responses={503: PROBLEMS[503]},
    )
    async def ready(self, parts: NamedDependency[Parts]) -> Readiness:
        """Answers 200 when the database answers and has had every migration. Projections that are
        behind are told, and do not make it unready: games need none. A process that is about to
        stop is not ready."""
        if parts.leaving.begun:
            raise unavailable("The process is about to stop.")
        try:
            async with parts.store.connection() as connection:
                missing, ahead = await pending(connection), await later(connection)
            if missing:
                raise unavailable("The database needs `fairdeal migrate`.")
            found = await standing(parts.store)
        except MigrationError as error:
            raise unavailable(str(error)) from None
        except (psycopg.Error, PoolTimeout, StoreUnavailable):
            raise unavailable("The database does not answer.") from None
        longest = parts.settings.projection_lag_seconds
        stand = {name: projection_health(build, longest) for name, build in found.live().items()}
        return Readiness("ready", "ok", "ahead" if ahead else "ok", stand)
