"""`/health`: whether the process runs, and whether it can serve."""

from typing import Literal

import msgspec
import psycopg
from litestar import Controller, get
from litestar.di import NamedDependency
from psycopg_pool import PoolTimeout

from api.parts import Parts
from api.problems import unavailable
from api.replies import PROBLEMS
from eventstore.migrate import MigrationError, pending


class Health(msgspec.Struct, frozen=True):
    """How the process is."""

    status: Literal["live", "ready"]


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
    async def ready(self, parts: NamedDependency[Parts]) -> Health:
        """Answers 200 when the database answers and has had every migration."""
        try:
            async with parts.store.connection() as connection:
                missing = await pending(connection)
        except MigrationError as error:
            raise unavailable(str(error)) from None
        except (psycopg.Error, PoolTimeout):
            raise unavailable("The database does not answer.") from None
        if missing:
            raise unavailable("The database needs `fairdeal migrate`.")
        return Health("ready")
