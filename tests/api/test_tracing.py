"""Traces: not there unless asked for; which steps they hold, and nothing secret."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from api import tracing
from api.app import create_app
from api.settings import Settings, SettingsError
from tests.api.processes import create, free_port, run, serving
from tests.api.running import HOST_KEY, SECRET, SIGNING_KEYS, new_game, running
from tests.api.test_live_served import environment


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    """What is traced in this process, kept in memory."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracing.record_with(provider)
    usual = tracing.plugins
    monkeypatch.setattr("api.app.tracing.plugins", lambda: usual(provider))
    try:
        yield exporter
    finally:
        tracing.record_with(None)


def named(exporter: InMemorySpanExporter, name: str) -> list[ReadableSpan]:
    return [span for span in exporter.get_finished_spans() if span.name == name]


async def test_an_action_is_traced_down_to_the_append(
    database_url: str, spans: InMemorySpanExporter
) -> None:
    async with running(database_url) as api:
        game = await new_game(api)
        spans.clear()
        await game.step(Random(1))
        await game.events()
    [acted] = named(spans, "POST /v1/games/{game_id}/actions")
    assert acted.attributes is not None
    assert acted.attributes["fairdeal.game"] == game.id
    assert acted.attributes["fairdeal.tenant"] == "host"
    assert acted.attributes["http.route"] == "/v1/games/{game_id}/actions"
    [append] = [
        span for span in named(spans, "fairdeal.append")
        if span.parent is not None and span.parent.span_id == acted.context.span_id
    ]  # fmt: skip
    assert append.attributes == {"fairdeal.stream": game.id}
    assert named(spans, "fairdeal.load")
    text = "\n".join([span.to_json() for span in spans.get_finished_spans()])
    for never in (HOST_KEY, *map(str, game.tokens), "Player 0", "ref-0", "127.0.0.1", "limit="):
        assert never not in text, never


async def test_projections_are_traced(database_url: str, spans: InMemorySpanExporter) -> None:
    async with running(database_url) as api:
        game = await new_game(api)
        # It answers once the projection has come as far.
        assert (await game.get(path="/scores")).status_code == 200
    found = {span.attributes["fairdeal.projection"] for span in named(spans, "fairdeal.project")
             if span.attributes}  # fmt: skip
    assert "scores" in found


def test_without_the_setting_nothing_of_it_is_imported() -> None:
    """Nothing that makes or sends spans; Litestar itself looks for its plugin's interface."""
    code = (
        "import sys; from api.app import create_app; from api.settings import Settings;"
        f"create_app(Settings(database_url='x', host_keys={{'h': 'k'}}, secret='s' * 32,"
        f" signing_keys={SIGNING_KEYS!r}));"
        "sys.exit(any(name.startswith('opentelemetry.sdk') for name in sys.modules))"
    )
    root = Path(__file__).parents[2]
    assert subprocess.run([sys.executable, "-c", code], cwd=root, check=False).returncode == 0


def test_off_means_no_plugin_and_no_hook() -> None:
    assert tracing.plugins() == []
    assert tracing.marks() == []
    app = create_app(
        Settings(database_url="x", host_keys={"h": "k"}, secret=SECRET, signing_keys=SIGNING_KEYS)
    )
    assert len(app.before_send) == 1


@pytest.mark.parametrize("nothing", [{}, {"FAIRDEAL_OTEL": ""}])
def test_off_is_what_is_not_said(nothing: dict[str, str]) -> None:
    assert tracing.exporter(nothing) == "off"


def test_a_way_of_tracing_that_is_none_is_refused() -> None:
    with pytest.raises(SettingsError, match="FAIRDEAL_OTEL"):
        tracing.exporter({"FAIRDEAL_OTEL": "jaeger"})


def test_traces_without_their_packages_are_refused_clearly(tmp_path: Path) -> None:
    """A folder before the others on the path hides the real packages."""
    (tmp_path / "opentelemetry").mkdir()
    (tmp_path / "opentelemetry" / "__init__.py").write_text("")
    told = run("serve", "--port", str(free_port()), FAIRDEAL_OTEL="otlp", PYTHONPATH=str(tmp_path))
    assert told.returncode == 1
    assert "install fairdeal[otel]" in told.stderr
    assert "Traceback" not in told.stderr


@pytest.mark.postgres
def test_a_server_traces_to_its_console(database_url: str) -> None:
    more = {"FAIRDEAL_OTEL": "console", "FAIRDEAL_LOG": "off", "OTEL_SERVICE_NAME": "cards"}
    with serving(free_port(), **environment(database_url, **more)) as server:
        create(server.address, HOST_KEY)
        code, _, said = server.end()
    assert code == 0
    assert "POST /v1/games" in said
    assert "fairdeal.append" in said
    assert "cards" in said
    assert HOST_KEY not in said
