"""What the service says in its log, and what it never says."""

import asyncio
import json
import logging
import re
from collections.abc import Iterator
from typing import Any

import httpx
import psycopg
import pytest

from api import logs
from api.settings import SettingsError
from tests.api.processes import create, free_port, serving
from tests.api.running import HOST, HOST_KEY, SECRET, SIGNING_KEYS, Json, bearer, new_game, running
from tests.api.test_live_served import environment
from tests.database import Databases


class Heard(logging.Handler):
    """Keeps the lines as they would be written."""

    def __init__(self) -> None:
        super().__init__()
        self.setFormatter(logs.JsonLines())
        self.lines: list[Json] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(json.loads(self.format(record)))

    def of_requests(self) -> list[Json]:
        return [line for line in self.lines if line["logger"] == "fairdeal.request"]


@pytest.fixture
def heard() -> Iterator[Heard]:
    handler, root = Heard(), logging.getLogger("fairdeal")
    before = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        yield handler
    finally:
        root.removeHandler(handler)
        root.setLevel(before)


async def test_a_request_has_one_line_with_who_what_and_how(
    api: httpx.AsyncClient, heard: Heard
) -> None:
    game = await new_game(api)
    answer = await game.act(0, {"type": "pass"}, X_Request_Id="one.of-ours_1")
    assert answer.headers["x-request-id"] == "one.of-ours_1"
    line = heard.of_requests()[-1]
    [command] = {event["command"] for event in answer.json()["events"]}
    assert isinstance(line.pop("milliseconds"), float)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", line.pop("time"))
    assert isinstance(line.pop("process"), int)
    assert line == {
        "level": "debug",
        "logger": "fairdeal.request",
        "message": "POST /v1/games/{game_id}/actions 201",
        "request": "one.of-ours_1",
        "method": "POST",
        "route": "/v1/games/{game_id}/actions",
        "status": 201,
        "game": game.id,
        "tenant": "host",
        "command": command,
    }


@pytest.mark.parametrize("sent", ["", "a b", "x" * 129, "ä", "a\x01"])
async def test_an_id_that_is_not_well_formed_is_replaced(
    shared_api: httpx.AsyncClient, sent: str
) -> None:
    headers = [(b"x-request-id", sent.encode())]
    first, second = [
        (await shared_api.get("/health/live", headers=headers)).headers["x-request-id"]
        for _ in range(2)
    ]
    assert first != second
    assert re.fullmatch("[0-9a-f]{16}", first)


@pytest.mark.parametrize(
    ("path", "level", "route"),
    [
        ("/health/live", "debug", "/health/live"),
        ("/v1/games", "info", "/v1/games"),
        ("/nowhere/else", "info", "(none)"),
    ],
)
async def test_what_goes_wrong_is_told_louder(
    shared_api: httpx.AsyncClient, heard: Heard, path: str, level: str, route: str
) -> None:
    await shared_api.get(path)
    [line] = heard.of_requests()
    assert (line["level"], line["route"]) == (level, route)


async def test_a_slow_answer_is_told_unless_it_was_asked_to_wait(
    database_url: str, heard: Heard
) -> None:
    async with running(database_url, log_slow_seconds=0.000001) as api:
        game = await new_game(api)
        heard.lines.clear()
        await game.get(0)
        await game.get(0, "?wait=0.01&after=100")
        first, second = heard.of_requests()
        assert (first["level"], second["level"]) == ("info", "debug")


async def test_lines_of_requests_at_once_do_not_mix(api: httpx.AsyncClient, heard: Heard) -> None:
    games = [await new_game(api) for _ in range(8)]
    heard.lines.clear()
    sent = {f"r-{number}": game.id for number, game in enumerate(games)}
    await asyncio.gather(
        *[game.act(0, {"type": "pass"}, X_Request_Id=f"r-{n}") for n, game in enumerate(games)]
    )
    told = {line["request"]: line["game"] for line in heard.of_requests()}
    assert told == sent
    assert len({line["command"] for line in heard.of_requests()}) == 8


async def test_a_mistake_of_ours_is_told_by_kind_and_place_alone(
    databases: Databases, heard: Heard
) -> None:
    with databases.fresh(migrated=False) as url:
        async with running(url) as api:
            answer = await api.get("/v1/games", headers=HOST)
    assert answer.status_code == 500
    request = answer.headers["x-request-id"]
    [line] = [m for m in heard.lines if m.get("request") == request and "error" in m]
    assert line["level"] == "error"
    assert line["error"][0]["kind"].startswith("psycopg.errors.")
    assert any(place.startswith("eventstore.pool.") for place in line["error"][0]["places"])
    assert "does not exist" not in json.dumps(heard.lines)


async def test_games_go_on_once_a_database_is_migrated_under_a_running_process(
    databases: Databases,
) -> None:
    """The waker used to end at the first look into a database without tables."""
    from eventstore.migrate import migrate

    with databases.fresh(migrated=False) as url:
        async with running(url, wake_seconds=0.05, batch_commands=1) as api:
            await asyncio.sleep(0.3)
            await migrate(url)
            bots = [{"bot": "random"}] * 3
            body = {"game": "lodam", "players": bots}
            created = await api.post("/v1/games", json=body, headers=HOST)
            assert created.status_code == 201
            path = f"/v1/games/{created.json()['id']}"
            async with asyncio.timeout(60):
                while (await api.get(path, headers=HOST)).json()["version"] < 30:
                    await asyncio.sleep(0.05)


SECRET_CARD = "the ace of spades"


def failing() -> None:
    try:
        raise KeyError(SECRET_CARD)
    except KeyError as error:
        raise ValueError(f"not {SECRET_CARD}") from error


@pytest.mark.parametrize("lines", [logs.JsonLines(), logs.TextLines()])
def test_an_error_is_told_without_its_message(lines: logging.Formatter) -> None:
    try:
        failing()
    except ValueError as error:
        info: Any = (type(error), error, error.__traceback__)
    record = logging.LogRecord("fairdeal.x", logging.ERROR, "", 1, "it failed", None, info)
    text = lines.format(record)
    assert SECRET_CARD not in text
    assert "ValueError" in text
    assert "KeyError" in text
    assert "tests.api.test_logs.failing:" in text


def test_what_is_said_of_a_lost_task_ends_with_its_first_line() -> None:
    message = f"Task exception was never retrieved\nfuture: <Task KeyError('{SECRET_CARD}')>"
    record = logging.LogRecord("asyncio", logging.ERROR, "", 1, message, None, None)
    assert SECRET_CARD not in logs.JsonLines().format(record)


def test_text_keeps_a_message_on_one_line() -> None:
    record = logging.LogRecord("fairdeal", logging.INFO, "", 1, "a\nforged line", None, None)
    assert "\n" not in logs.TextLines().format(record)


@pytest.mark.parametrize(
    "wrong", [{"FAIRDEAL_LOG": "xml"}, {"FAIRDEAL_LOG_LEVEL": "chatty"}, {"FAIRDEAL_LOG": "JSON"}]
)
def test_a_way_of_logging_that_is_none_is_refused(wrong: dict[str, str]) -> None:
    with pytest.raises(SettingsError, match=next(iter(wrong))):
        logs.configuration(wrong)


@pytest.mark.postgres
@pytest.mark.parametrize("how", ["json", "text", "off"])
def test_a_server_says_nothing_secret_however_much_it_says(database_url: str, how: str) -> None:
    """Everything at the level `debug`: a game is set up, played, refused, watched, and the database
    is taken away."""
    more = {"FAIRDEAL_LOG": how, "FAIRDEAL_LOG_LEVEL": "debug"}
    with serving(free_port(), "--workers", "2", **environment(database_url, **more)) as server:
        players = [{"name": "Wilhelmina", "ref": "reference-of-hers"}, {"name": "B"}, {"name": "C"}]
        game = create(server.address, HOST_KEY, players=players)
        path = f"{server.address}/v1/games/{game['id']}"
        tokens = [seat["token"] for seat in game["seats"]]
        secret = "a-key-that-nobody-else-knows"
        with httpx.Client(timeout=60) as http:
            for _ in range(12):
                for token in tokens:
                    view = http.get(path, headers=bearer(token)).json()
                    if view["actions"]:
                        action = view["actions"][0]
                        headers = bearer(token, Idempotency_Key=secret)
                        http.post(f"{path}/actions", json=action, headers=headers)
            cards = {card for card in view["private"]["cards"]}
            http.get(path, headers=bearer("no-such-token"))
            http.get(f"{path}?token=in-the-query&wait=oh", headers=bearer(tokens[0]))
            http.get(f"{server.address}/v1/players/reference-of-hers", headers=bearer(HOST_KEY))
            with psycopg.connect(database_url, autocommit=True) as conn:
                conn.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    " WHERE datname = current_database() AND pid <> pg_backend_pid()"
                )
            assert http.get(path, headers=bearer(tokens[0])).status_code == 200
        code, _, said = server.end()
    assert code == 0
    if how == "off":
        assert said == ""
        return
    assert "/v1/games/{game_id}/actions" in said
    if how == "json":
        assert all(json.loads(line)["time"] for line in said.splitlines())
    assert len(cards) > 3
    for never in (
        *(*tokens, HOST_KEY, SECRET, SIGNING_KEYS, secret, "no-such-token", "in-the-query"),
        *("Wilhelmina", "reference-of-hers", *[f'"{card}"' for card in cards]),
    ):
        assert never not in said, never
