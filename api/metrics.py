"""`/metrics`: what Prometheus scrapes. How feed, projections and webhooks stand is counted from the
tables when somebody asks, so it is right whichever process answers and whoever runs them; how a
process does, each notes for itself every second."""

import asyncio
import math
import os
import platform
import time
from collections.abc import MutableMapping
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final, Literal
from weakref import WeakKeyDictionary

import psycopg
from litestar import Request, Response
from prometheus_client import (
    CONTENT_TYPE_LATEST,
    REGISTRY,
    CollectorRegistry,
    Gauge,
    disable_created_metrics,
    generate_latest,
)

from api import figure_files, hook_sender
from api.figure_files import METRICS_FOLDER_ENV
from api.guards import get, on_this_machine_or_keyed
from api.notices import Notices
from api.parts import Parts
from api.problems import unavailable
from eventstore.postgres import EventStore
from eventstore.records import StoreUnavailable
from projections.registry import PROJECTIONS
from projections.standing import Feed, standing

_SAMPLE_SECONDS: Final = 1.0
_PATIENCE_SECONDS: Final = 1.0
"""How long an answer waits for the database, which may take its whole deadline."""
_TURN_SECONDS: Final = 0.005
"""Between looks whether the files of ended workers are folded."""

_Mode = Literal["mostrecent", "livesum", "livemin", "livemax"]

# When a counter was made says nothing that its values do not.
disable_created_metrics()  # type: ignore[no-untyped-call]


def _gauge(name: str, words: str, *labels: str, mode: _Mode = "mostrecent") -> Gauge:
    # Of several workers the one that was asked last knows best about the tables.
    return Gauge(f"fairdeal_{name}", words, labels, multiprocess_mode=mode)


_UNSTAMPED: Final = _gauge("feed_unstamped", "Committed events that the feed has not numbered")
_LAG_EVENTS: Final = _gauge(
    "projection_lag_events", "Committed events not taken in by the live build", "projection"
)
_LAG_SECONDS: Final = _gauge(
    "projection_lag_seconds", "Since when the live build has not been current", "projection"
)
_PARKED: Final = _gauge("projection_parked", "Streams left out by the live build", "projection")
_HEARTBEAT: Final = _gauge(
    "projection_heartbeat_seconds", "Since when nobody has run the live build", "projection"
)
_HOOKS_PENDING: Final = _gauge("webhook_pending", "Deliveries of webhooks that are not over")
_HOOKS_SECONDS: Final = _gauge(
    "webhook_pending_seconds", "Since when the oldest delivery has been pending"
)
_UP: Final = _gauge("database_up", "Whether the database answered the scrape")
_BUILD: Final = _gauge("build_info", "What runs: always 1", "version", "python")
_SIZE: Final = _gauge("pool_size", "Connections to the database", mode="livesum")
_USED: Final = _gauge("pool_in_use", "Connections to the database in use", mode="livesum")
_WAITING: Final = _gauge("pool_waiting", "Who waits for a connection", mode="livesum")
_LOOP: Final = _gauge(
    "event_loop_lag_seconds", "How late the slowest worker came to its last sample", mode="livemax"
)
_CHANNEL: Final = _gauge(
    "channel_connected", "Whether every worker hears the others (0: one polls)", mode="livemin"
)
_WORKERS: Final = _gauge("workers", "Worker processes of this service", mode="livesum")
_OF_PROJECTIONS: Final = (_LAG_EVENTS, _LAG_SECONDS, _PARKED, _HEARTBEAT)
_seen: Final[set[str]] = set(PROJECTIONS)
"""Projections that this process tells of."""


class _Look:
    """A look at the tables, which goes on when nobody waits for it any more."""

    def __init__(self, store: EventStore) -> None:
        self.up = False
        """Whether the database has answered at all."""
        self.found: tuple[Feed, tuple[int, float]] | None = None
        """How feed, projections and webhooks stand, once that is known."""
        self.given_up = time.monotonic() + _PATIENCE_SECONDS
        self.task: Final = asyncio.create_task(self._run(store))

    async def _run(self, store: EventStore) -> None:
        try:
            await store.ping()
            self.up = True
            self.found = await standing(store), await hook_sender.pending(store)
        except (StoreUnavailable, psycopg.Error):
            self.up = False


_looks: Final[MutableMapping[EventStore, _Look]] = WeakKeyDictionary()
"""The newest look of each store of this process."""


async def observe(store: EventStore) -> None:
    """Set the gauges to how things stand; to NaN where that is not to be known at once. Whoever
    asks while a look is under way shares it, and waits for it no longer than who began it."""
    _BUILD.labels(version("fairdeal"), platform.python_version()).set(1)
    look = _looks.get(store)
    if look is None or look.task.done():
        look = _looks[store] = _Look(store)
    await asyncio.wait([look.task], timeout=max(0.0, look.given_up - time.monotonic()))
    _UP.set(look.up)
    if look.found is None:
        for whole in (_UNSTAMPED, _HOOKS_PENDING, _HOOKS_SECONDS):
            whole.set(math.nan)
        for name in _seen:
            for gauge in _OF_PROJECTIONS:
                gauge.labels(name).set(math.nan)
        return
    found, hooks = look.found
    _UNSTAMPED.set(found.unstamped)
    _HOOKS_PENDING.set(hooks[0])
    _HOOKS_SECONDS.set(hooks[1])
    for name, build in found.live().items():
        _seen.add(name)
        _LAG_EVENTS.labels(name).set(build.lag_events)
        _LAG_SECONDS.labels(name).set(build.lag_seconds)
        _PARKED.labels(name).set(len(build.parked))
        _HEARTBEAT.labels(name).set(build.heartbeat_seconds)


async def sample(store: EventStore, notices: Notices) -> None:
    """Note every second how this process does, for ever."""
    _WORKERS.set(1)
    due = time.monotonic()
    try:
        while True:
            state = store.pool_state()
            _SIZE.set(state.size)
            _USED.set(state.in_use)
            _WAITING.set(state.waiting)
            _CHANNEL.set(notices.connected)
            _LOOP.set(max(0.0, time.monotonic() - due))
            due = time.monotonic() + _SAMPLE_SECONDS
            await asyncio.sleep(_SAMPLE_SECONDS)
    finally:
        look = _looks.pop(store, None)
        if look is not None:
            look.task.cancel()


@get("/metrics", include_in_schema=False, guards=[on_this_machine_or_keyed])
async def scrape(request: Request[Any, Any, Any]) -> Response[bytes]:
    """All figures, in Prometheus' text format: for this machine, and with a host key or the key for
    figures."""
    parts: Parts = request.app.state.parts
    await observe(parts.store)
    return Response(await _text(), headers={"Content-Type": CONTENT_TYPE_LATEST})


async def _text() -> bytes:
    """The figures of this process, or of all workers of the service. Raises Problem."""
    folder = os.environ.get(METRICS_FOLDER_ENV)
    if not folder:
        return generate_latest(REGISTRY)
    registry = CollectorRegistry()
    registry.register(figure_files.WholeFiles(Path(folder)))
    end = time.monotonic() + _PATIENCE_SECONDS
    while time.monotonic() < end:
        with figure_files.unchanged(Path(folder)) as still:
            if still:
                return generate_latest(registry)
        await asyncio.sleep(_TURN_SECONDS)
    raise unavailable("The figures are being put in order; try again.")
