"""`/metrics`: what Prometheus scrapes. How feed, projections and webhooks stand is counted from the
tables when somebody asks, so it is right whichever process answers and whoever runs them."""

import math
from typing import Any, Final

import psycopg
from litestar import Request
from litestar.plugins.prometheus import PrometheusController
from prometheus_client import Gauge

from api import hook_sender
from api.guards import on_this_machine_or_host
from api.parts import Parts
from eventstore.postgres import EventStore
from eventstore.records import StoreUnavailable
from projections.standing import standing


def _gauge(name: str, words: str, *labels: str) -> Gauge:
    # Of several workers the one that was asked last knows best.
    return Gauge(f"fairdeal_{name}", words, labels, multiprocess_mode="mostrecent")


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
_OF_PROJECTIONS: Final = (_LAG_EVENTS, _LAG_SECONDS, _PARKED, _HEARTBEAT)
_seen: Final[set[str]] = set()
"""Projections that this process has told of."""


async def observe(store: EventStore) -> None:
    """Set the gauges to how things stand; to NaN where that cannot be known."""
    try:
        found = await standing(store)
        hooks = await hook_sender.pending(store)
    except (StoreUnavailable, psycopg.Error):
        for whole in (_UNSTAMPED, _HOOKS_PENDING, _HOOKS_SECONDS):
            whole.set(math.nan)
        for name in _seen:
            for gauge in _OF_PROJECTIONS:
                gauge.labels(name).set(math.nan)
        return
    _UNSTAMPED.set(found.unstamped)
    _HOOKS_PENDING.set(hooks[0])
    _HOOKS_SECONDS.set(hooks[1])
    for name, build in found.live().items():
        _seen.add(name)
        _LAG_EVENTS.labels(name).set(build.lag_events)
        _LAG_SECONDS.labels(name).set(build.lag_seconds)
        _PARKED.labels(name).set(len(build.parked))
        _HEARTBEAT.labels(name).set(build.heartbeat_seconds)


async def _observe(request: Request[Any, Any, Any]) -> None:
    parts: Parts = request.app.state.parts
    await observe(parts.store)


class MetricsController(PrometheusController):
    """`/metrics`, in Prometheus' text format: for this machine, and for hosts with their key."""

    include_in_schema = False
    guards = (on_this_machine_or_host,)
    before_request = staticmethod(_observe)
