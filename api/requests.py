"""Around every request: its id, its line in the log, and what Prometheus counts of it.

All three when the answer begins: what a stream takes until its end is nobody's trouble.
"""

import logging
import os
import re
import time
from collections.abc import Iterable
from typing import Any, Final

from litestar.enums import ScopeType
from litestar.routes import BaseRoute
from litestar.types import ASGIApp, HTTPScope, Message, Receive, Scope, Send
from prometheus_client import Counter, Gauge, Histogram

from api import logs
from api.identity import Keyring
from api.parts import Leaving

HEADER: Final = "X-Request-Id"
NO_ROUTE: Final = "(none)"

_HEADER: Final = HEADER.lower().encode()
_WELL_FORMED: Final = re.compile(rb"[A-Za-z0-9._-]{1,128}")
_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_CLOSED: Final = 499
"""The status under which a request is counted whose caller left before it was answered."""
_LABELS: Final = ("method", "path", "status_code")
_BY: Final = Counter("fairdeal_requests", "Requests by route and status", _LABELS)
_SECONDS: Final = Histogram(
    "fairdeal_request_duration_seconds",
    "Until the answer begins; requests that ask to wait are left out",
    _LABELS,
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
)
_NOW: Final = Gauge(
    "fairdeal_requests_in_progress", "Requests being answered now", multiprocess_mode="livesum"
)

_ALARMING: Final = ("500", "503")
"""Statuses that alerts are about: each route has its count of them from the start."""

_logger = logging.getLogger("fairdeal.request")


def foresee(routes: Iterable[BaseRoute]) -> None:
    """Let what alerts are about be there before it is first counted: what appears with its first
    count shows no increase by it."""
    for route in routes:
        for method in getattr(route, "methods", ()):
            if method != "OPTIONS":
                for status in _ALARMING:
                    _BY.labels(method, route.path_format, status)


class Watched:
    """An application whose requests are told of."""

    def __init__(
        self, app: ASGIApp, slow_seconds: float, leaving: Leaving, keyring: Keyring
    ) -> None:
        """`slow_seconds`: an answer that begins later is told of at the level `info`. A process
        that leaves keeps no connection alive. What is a key of the `keyring` is told to its sender
        alone: no line holds it, and no answer tells that it is one."""
        self._leaving: Final = leaving
        self._app: Final = app
        self._slow_seconds: Final = slow_seconds
        self._keyring: Final = keyring
        self._kept: Final[dict[tuple[str, str, int], tuple[Any, Any]]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, as ASGI asks for it."""
        if scope["type"] != ScopeType.HTTP:
            await self._app(scope, receive, send)
            return
        begun = time.perf_counter()
        own = _id(scope["headers"])
        told = logs.Told(_fresh() if own is None or self._keyring.has(own) else own)
        answered_with = (own or told.request).encode()
        began = False

        async def answered(message: Message) -> None:
            nonlocal began
            if message["type"] == "http.response.start" and not began:
                began = True
                headers = [*message["headers"], (_HEADER, answered_with)]
                if self._leaving.begun:
                    headers.append((b"connection", b"close"))
                message["headers"] = headers
                self._tell(scope, told, message["status"], time.perf_counter() - begun)
            await send(message)

        _NOW.inc()
        token = logs.request.set(told)
        try:
            await self._app(scope, receive, answered)
        finally:
            if not began:
                self._tell(scope, told, _CLOSED, time.perf_counter() - begun)
            logs.request.reset(token)
            _NOW.dec()

    def _tell(self, scope: HTTPScope, told: logs.Told, status: int, seconds: float) -> None:
        method = scope["method"] if scope["method"] in _METHODS else "other"
        route = scope.get("path_template") or NO_ROUTE
        key = (method, route, status)
        found = self._kept.get(key)
        if found is None:
            labels = (method, route, str(status))
            found = self._kept[key] = (_BY.labels(*labels), _SECONDS.labels(*labels))
        found[0].inc()
        waits = _waits(scope)
        if not waits:
            found[1].observe(seconds)
        level = logging.DEBUG
        if status >= 500:
            level = logging.WARNING
        elif status >= 400 or (seconds >= self._slow_seconds and not waits):
            level = logging.INFO
        if _logger.isEnabledFor(level):
            _who(scope, told)
            fields = {
                "method": method,
                "route": route,
                "status": status,
                "milliseconds": round(seconds * 1000, 2),
            }
            _logger.log(level, "%s %s %d", method, route, status, extra={"fields": fields})


def _id(headers: Iterable[tuple[bytes, bytes]]) -> str | None:
    """The caller's own id for the request, where it is well formed."""
    for name, value in headers:
        if name == _HEADER:
            return value.decode() if _WELL_FORMED.fullmatch(value) else None
    return None


def _fresh() -> str:
    # Random, not counted: a number would tell each caller how much the others ask.
    return os.urandom(8).hex()


def _waits(scope: HTTPScope) -> bool:
    """Whether the answer may have been late because it was asked to be."""
    query = scope["query_string"]
    return bool(query) and (b"wait=" in query or b"at_least=" in query)


def _who(scope: HTTPScope, told: logs.Told) -> None:
    """What the guards have found out."""
    state = scope.get("state", {})
    access = state.get("access")
    if access is not None:
        told.game, told.tenant = access.known.table.id, access.known.tenant
        return
    game_id = (scope.get("path_params") or {}).get("game_id")
    told.game = None if game_id is None else str(game_id)
    if state.get("caller") is not None:
        told.tenant = state["caller"].tenant or None
