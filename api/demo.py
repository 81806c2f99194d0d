"""`fairdeal demo`: a server of its own, four players over HTTP, a transcript, offline checks.

Everything goes through the API with seat tokens, as any client would; nothing is left behind.
"""

import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from random import Random
from types import FrameType
from typing import Any, Final

import httpx
import msgspec
from rich.console import Console
from rich.markup import escape

from api import settings
from api.checking import check, tell
from api.demo_player import DemoPlayer, Json
from api.proof_answers import KeySet
from api.workers import ServeError
from domain.export import read, read_events
from domain.game import Game
from domain.registry import GAMES

_NAMES: Final = ("Ann", "Bob", "Cleo", "Dan", "Eve", "Finn", "Gail", "Hugo", "Iris", "Jack")
"""As many as a game may want."""
_START_SECONDS: Final = 30.0
_STOP_SECONDS: Final = 20.0


class Wish(msgspec.Struct, frozen=True):
    """The game to be shown: its name, how many players (None: four, or as many as it takes),
    options that override those of a short game, and a number that makes it the same again."""

    game: str
    players: int | None = None
    rules: Json = {}
    seed: int | None = None


def run(wish: Wish) -> bool:
    """Play, print and check one game; whether every check held. Raises ServeError."""
    game_kind = GAMES[wish.game]
    out = Console(highlight=False, soft_wrap=True)
    host_key = secrets.token_urlsafe(32)
    with _server(host_key) as address, httpx.Client(base_url=address, timeout=10) as http:
        host = _Caller(http, host_key)
        created = host.post("/v1/games", _new_game(game_kind, wish))
        game = f"/v1/games/{created['id']}"
        out.print(f"[bold]A game of {game_kind.title}[/bold] at {address}{game}")
        count = _play(http, host, game_kind, created, Random(wish.seed))
        text = host.get(f"{game}/replay", accept="text/plain").text
        log = read(host.get(f"{game}/export", accept="*/*").content.splitlines())
        keys = msgspec.json.decode(host.get("/.well-known/jwks.json").content, type=KeySet).keys
    for line in text.splitlines():
        out.print(f"[bold]{escape(line)}[/bold]" if line.startswith("Hand ") else escape(line))
    out.print(f"\n[bold]{count} actions over HTTP.[/bold] The log, checked offline:")
    checked = check(log, (), keys)
    tell(checked, out)
    return not checked.report.failed


class _Caller:
    """Somebody with a bearer token."""

    def __init__(self, http: httpx.Client, token: str) -> None:
        self._http = http
        self._authorization = {"Authorization": f"Bearer {token}"}

    def get(self, path: str, accept: str = "application/json") -> httpx.Response:
        answer = self._http.get(path, headers=self._authorization | {"Accept": accept})
        return _fine(answer)

    def post(self, path: str, body: Json) -> Json:
        key = {"Idempotency-Key": secrets.token_hex(16)}
        answer = _fine(self._http.post(path, json=body, headers=self._authorization | key))
        found: Json = answer.json()
        return found


def _fine(answer: httpx.Response) -> httpx.Response:
    if answer.is_error:
        raise ServeError(f"the demonstration's server answered {answer.status_code}: {answer.text}")
    return answer


def _new_game(game: Game[Any], wish: Wish) -> Json:
    seats = wish.players or min(max(4, game.min_seats), game.max_seats)
    rules = {**game.short, **wish.rules}
    if wish.seed is not None:
        rules |= {"seed": sha256(str(wish.seed).encode()).hexdigest(), "deal_id": "demo"}
    players = [{"name": name} for name in _NAMES[:seats]]
    return {"game": game.name, "players": players, "rules": rules}


class _Seat:
    """A player at the table: a token, a mind, and the newest version it has been shown."""

    def __init__(self, caller: _Caller, path: str, player: DemoPlayer) -> None:
        self._caller: Final = caller
        self._path: Final = path
        self._player: Final = player
        self._version = 0

    def look(self) -> None:
        """Read the events since the last look, before anything is covered again."""
        events = self._caller.get(
            f"{self._path}/events?after={self._version}", accept="application/x-ndjson"
        )
        if lines := events.content.splitlines():
            entries = read_events(lines)
            self._player.watch(entries)
            self._version = entries[-1].version

    def act(self) -> Json:
        """Make one action; the view after it."""
        own = self._caller.get(self._path).json()
        view: Json = self._caller.post(f"{self._path}/actions", self._player.choose(own))["view"]
        return view


def _play(http: httpx.Client, host: _Caller, game: Game[Any], created: Json, chance: Random) -> int:
    """Let every player act until the game is over; the number of actions."""
    path = f"/v1/games/{created['id']}"
    view = host.get(path).json()
    seats = []
    for seat in created["seats"]:
        player = DemoPlayer(game, seat["seat"], view, Random(chance.random()))
        seats.append(_Seat(_Caller(http, seat["token"]), path, player))
    count = 0
    while view["status"] == "playing":
        if not view["to_act"]:
            # The server was to deal or to play what is forced, and has done it by the next look.
            view = host.get(path).json()
            continue
        waited = seats[view["to_act"][0]]
        waited.look()
        view = waited.act()
        count += 1
    return count


@contextmanager
def _server(host_key: str) -> Iterator[str]:
    """The address of a server with a database of its own, both gone at the end of the block."""
    with tempfile.TemporaryDirectory(prefix="fairdeal-demo-") as folder, _orderly_end():
        if os.geteuid() == 0:
            # The account that Postgres runs as must be able to pass.
            Path(folder).chmod(0o711)
        port = _free_port()
        environment = os.environ | {
            settings.DATA_DIR_ENV: folder,
            settings.HOST_KEYS_ENV: f"demo:{host_key}",
            settings.SECRET_ENV: secrets.token_urlsafe(32),
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        }
        for name in (
            settings.DATABASE_URL_ENV,
            settings.SIGNING_KEYS_ENV,
            settings.SIGNING_KEYS_FILE_ENV,
        ):
            environment.pop(name, None)
        command = [sys.executable, "-m", "api", "serve", "--port", str(port)]
        process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
        try:
            address = f"http://127.0.0.1:{port}"
            _wait_ready(address, process)
            yield address
        finally:
            process.terminate()
            try:
                process.wait(_STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _wait_ready(address: str, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + _START_SECONDS
    while time.monotonic() < end:
        if process.poll() is not None:
            raise ServeError("the demonstration's server did not start")
        try:
            if httpx.get(f"{address}/health/ready").is_success:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.05)
    raise ServeError(f"the demonstration's server was not ready within {_START_SECONDS:g} seconds")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def _orderly_end() -> Iterator[None]:
    """SIGTERM ends the block as SystemExit, so that the server is not left behind."""

    def leave(number: int, frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    before = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
