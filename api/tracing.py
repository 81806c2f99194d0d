"""Traces for OpenTelemetry: off, and not even imported, unless the environment asks for them.

Spans say which route, status, game, projection and how long; never a path, a query, a header or an
address, which may name a person or hold a token.
"""

import os
from collections.abc import Awaitable, Callable, Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

from api import logs
from api.settings import SettingsError
from eventstore import spans

if TYPE_CHECKING:
    from litestar.plugins import InitPlugin
    from litestar.types import Message, Scope
    from opentelemetry.trace import Span

OTEL_ENV: Final = "FAIRDEAL_OTEL"
_NEEDED: Final = ("opentelemetry.sdk", "opentelemetry.instrumentation.asgi")
_EXPORTER: Final = "opentelemetry.exporter.otlp.proto.http"
_NAMING: Final = ("http.url", "http.target", "url.full", "url.path", "url.query")
_PERSONAL: Final = (
    *("net.peer.ip", "net.peer.name", "net.peer.port", "client.address", "client.port"),
    *("http.client_ip", "http.user_agent", "user_agent.original", "http.host", "http.server_name"),
)


def exporter(environment: Mapping[str, str] = os.environ) -> str:
    """`FAIRDEAL_OTEL`: where traces go, `otlp` (as the variables `OTEL_EXPORTER_OTLP_…` say),
    `console` (stderr), or `off`, the default. Raises SettingsError, also where the packages for it
    are missing."""
    chosen = environment.get(OTEL_ENV) or "off"
    if chosen not in ("off", "otlp", "console"):
        raise SettingsError(f"{OTEL_ENV} is {chosen!r}: otlp, console or off")
    if chosen != "off" and not all(map(_there, (*_NEEDED, _EXPORTER))):
        raise SettingsError(f"{OTEL_ENV} asks for traces: install fairdeal[otel]")
    return chosen


def _there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def begin(environment: Mapping[str, str] = os.environ) -> None:
    """Have the steps of this process traced, if the environment asks for it. Raises
    SettingsError."""
    chosen = exporter(environment)
    if chosen == "off":
        return
    import sys

    from opentelemetry import trace
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import (
        BatchSpanProcessor,
        ConsoleSpanExporter,
        SimpleSpanProcessor,
    )

    named = environment.get("OTEL_SERVICE_NAME") or "fairdeal"
    provider = TracerProvider(resource=Resource.create({"service.name": named}))
    if chosen == "console":
        to_stderr = ConsoleSpanExporter(
            out=sys.stderr, formatter=lambda span: str(span.to_json(None)) + "\n"
        )
        provider.add_span_processor(SimpleSpanProcessor(to_stderr))
    else:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

        provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
    record_with(provider)


def record_with(provider: Any) -> None:
    """Have the steps of this process recorded by a tracer provider (None: no more)."""
    if provider is None:
        spans.record_with(None)
        return
    tracer = provider.get_tracer("fairdeal")

    def record(name: str, attributes: dict[str, str]) -> Any:
        return tracer.start_as_current_span(
            f"fairdeal.{name}",
            attributes={f"fairdeal.{key}": value for key, value in attributes.items()},
            # An error's message may quote what an event holds.
            record_exception=False,
            set_status_on_exception=False,
        )

    spans.record_with(record)


def plugins(provider: Any = None) -> "list[InitPlugin]":
    """What makes a span of each request: nothing unless traces are on. `provider` instead of the
    global tracer provider."""
    if not spans.recorded():
        return []
    from litestar.plugins.opentelemetry import OpenTelemetryConfig, OpenTelemetryPlugin

    return [
        OpenTelemetryPlugin(
            OpenTelemetryConfig(
                scope_span_details_extractor=lambda scope: (str(scope.get("method", "HTTP")), {}),
                server_request_hook_handler=_cleaned,
                exclude_spans=["receive", "send"],
                tracer_provider=provider,
            )
        )
    ]


def marks() -> "list[Callable[[Message, Scope], Awaitable[None]]]":
    """What says at the begin of an answer which route and game the span is about."""
    return [_mark] if spans.recorded() else []


def _cleaned(span: "Span", scope: dict[str, Any]) -> None:
    """Take from a span what the library noted of the request's address and of its caller."""
    noted = getattr(span, "attributes", None) or {}
    for name in (*_NAMING, *_PERSONAL):
        if name in noted:
            span.set_attribute(name, "")


async def _mark(message: "Message", scope: "Scope") -> None:
    if message["type"] != "http.response.start":
        return
    from opentelemetry import trace

    span = trace.get_current_span()
    route = scope.get("path_template") or "(none)"
    span.update_name(f"{scope.get('method', 'HTTP')} {route}")
    span.set_attribute("http.route", route)
    access = scope.get("state", {}).get("access")
    if access is not None:
        span.set_attribute("fairdeal.game", access.known.table.id)
        span.set_attribute("fairdeal.tenant", access.known.tenant)
    told = logs.request.get()
    if told is not None:
        span.set_attribute("fairdeal.request", told.request)
