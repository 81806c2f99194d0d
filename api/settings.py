"""What an operator may set, read from the environment once. Knows no default that needs a file."""

import os
from collections.abc import Mapping
from importlib.util import find_spec
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Literal
from urllib.parse import urlsplit

import msgspec

SECRET_ENV: Final = "FAIRDEAL_SECRET"
HOST_KEYS_ENV: Final = "FAIRDEAL_HOST_KEYS"
DATABASE_URL_ENV: Final = "FAIRDEAL_DATABASE_URL"
DATA_DIR_ENV: Final = "FAIRDEAL_DATA_DIR"
SIGNING_KEYS_ENV: Final = "FAIRDEAL_SIGNING_KEYS"
SIGNING_KEYS_FILE_ENV: Final = "FAIRDEAL_SIGNING_KEYS_FILE"
CHANNEL_ENV: Final = "FAIRDEAL_CHANNEL"
PROJECTIONS_ENV: Final = "FAIRDEAL_PROJECTIONS"
LISTEN_URL_ENV: Final = "FAIRDEAL_LISTEN_URL"
PROXIES_ENV: Final = "FAIRDEAL_PROXIES"
METRICS_KEY_ENV: Final = "FAIRDEAL_METRICS_KEY"
HOST_KEY_FILE: Final = "host.key"
"""The file of the data folder with the host keys, where the environment has none."""


class SettingsError(Exception):
    """The environment does not hold what is needed; the message says which variable and why."""


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Everything one process of the API needs to know."""

    database_url: str
    """`FAIRDEAL_DATABASE_URL`: where Postgres is (`fairdeal serve` starts its own without one)."""
    host_keys: Mapping[str, str]
    """`FAIRDEAL_HOST_KEYS`, `name:key,…`: tenant by name; a key is what a host presents."""
    secret: str
    """`FAIRDEAL_SECRET`: signs seat and spectator tokens; at least 32 random bytes."""
    metrics_key: str = ""
    """`FAIRDEAL_METRICS_KEY`: reads `/metrics`, from anywhere, and nothing else; empty: there is
    none."""
    signing_keys: str = ""
    """`FAIRDEAL_SIGNING_KEYS`: they sign receipts (see `api.signing`)."""
    signing_keys_file: str = ""
    """`FAIRDEAL_SIGNING_KEYS_FILE`: the file that holds them instead; read again as it changes."""
    database_connections: int = 8
    """`FAIRDEAL_DATABASE_CONNECTIONS`: at most, for each process."""
    database_prepare: bool = True
    """`FAIRDEAL_DATABASE_PREPARE`: false behind a pooler in transaction mode."""
    database_deadline_seconds: float = 5.0
    """`FAIRDEAL_DATABASE_DEADLINE_SECONDS`: then a request is answered with 503."""
    token_seconds: int = 30 * 86_400
    """`FAIRDEAL_TOKEN_SECONDS`: how long seat and spectator tokens are good for."""
    projections: Literal["serve", "elsewhere"] = "serve"
    """`FAIRDEAL_PROJECTIONS`: whether the service keeps projections up, or only others do
    (`fairdeal project`)."""
    projection_lag_seconds: float = 60.0
    """`FAIRDEAL_PROJECTION_LAG_SECONDS`: a projection that has been behind for longer is said to
    be."""
    body_bytes: int = 65_536
    """`FAIRDEAL_BODY_BYTES`: the longest request body taken."""
    games_cached: int = 2_000
    """`FAIRDEAL_GAMES_CACHED`: games whose newest state each process keeps in memory."""
    batch_commands: int = 200
    """Commands of bots and the server that go with one append; the rest follows at once."""
    tries: int = 20
    """How often an action that lost a race is judged again before 503."""
    turn_seconds: float = 10.0
    """How long a command may wait in its process for those before it on the same game."""
    wake_seconds: float = 0.5
    """How often each process looks for games that want attention and that nobody attends to."""
    channel: str = "postgres"
    """`FAIRDEAL_CHANNEL`: how processes tell one another that a game has moved on: `postgres`, the
    URL of a Redis, or `memory` for a process that is alone."""
    listen_url: str = ""
    """`FAIRDEAL_LISTEN_URL`: a way to Postgres past a pooler, on which one can LISTEN."""
    poll_seconds: float = 0.3
    """How often waiting readers look into the store while the channel is down."""
    look_seconds: float = 3.0
    """How often they do while it is up, for what it may have lost."""
    heartbeat_seconds: float = 10.0
    """How long a live stream is silent at most."""
    stall_seconds: float = 30.0
    """`FAIRDEAL_STALL_SECONDS`: a reader of a live stream who takes nothing for so long is dropped.
    """
    body_seconds: float = 30.0
    """`FAIRDEAL_BODY_SECONDS`: how long the body of a request may take to come."""
    drain_seconds: float = 0.0
    """`FAIRDEAL_DRAIN_SECONDS`: how long a process that is told to stop goes on, no longer ready,
    so that what sends it requests can notice."""
    stop_seconds: int = 4
    """`FAIRDEAL_STOP_SECONDS`: how long workers may take to end after that, before they are killed.
    """
    log_slow_seconds: float = 1.0
    """`FAIRDEAL_LOG_SLOW_SECONDS`: an answer that begins later has a line in the log."""
    token_rate: float = 0
    """`FAIRDEAL_TOKEN_RATE`: requests a second for each seat or spectator token; 0: any number."""
    host_rate: float = 0
    """`FAIRDEAL_HOST_RATE`: requests a second for each host key; 0: any number."""
    guess_rate: float = 3_000
    """`FAIRDEAL_GUESS_RATE`: requests a minute without a valid token from one address; 0: any
    number."""
    proxies: str = ""
    """`FAIRDEAL_PROXIES`: addresses or networks, separated by commas, whose `X-Forwarded-For` is
    believed."""
    webhooks_private: bool = False
    """`FAIRDEAL_WEBHOOKS_PRIVATE`: whether webhooks may lead into private networks and go without
    TLS."""
    webhooks_seconds: float = 10.0
    """`FAIRDEAL_WEBHOOKS_SECONDS`: how long a receiver may take to answer."""
    webhooks_keep_days: int = 7
    """`FAIRDEAL_WEBHOOKS_KEEP_DAYS`: how long deliveries that are over stay listed."""
    webhooks_pauses: tuple[float, ...] = (5, 30, 120, 600, 1800, 3600, 7200, 14_400, 21_600, 28_800)
    """Seconds before each repetition of a delivery that has failed: about a day in all."""


_CONVERTED: Final = (
    "database_connections",
    "database_prepare",
    "database_deadline_seconds",
    "token_seconds",
    "projections",
    "projection_lag_seconds",
    "body_bytes",
    "games_cached",
    "stall_seconds",
    "body_seconds",
    "drain_seconds",
    "stop_seconds",
    "log_slow_seconds",
    "token_rate",
    "host_rate",
    "guess_rate",
    "webhooks_private",
    "webhooks_seconds",
    "webhooks_keep_days",
)
FROM_ENVIRONMENT: Final = frozenset(
    {
        "database_url",
        "host_keys",
        "secret",
        "metrics_key",
        "signing_keys",
        "signing_keys_file",
        "channel",
        "listen_url",
        "proxies",
        *_CONVERTED,
    }
)
"""The fields that have a variable; the others are for tests."""


def from_environment(environment: Mapping[str, str] = os.environ) -> Settings:
    """The settings of this environment. Raises SettingsError naming the variable at fault."""
    values: dict[str, Any] = {
        "database_url": _needed(environment, DATABASE_URL_ENV),
        "host_keys": host_keys(_needed(environment, HOST_KEYS_ENV)),
        "secret": _needed(environment, SECRET_ENV),
        "metrics_key": environment.get(METRICS_KEY_ENV, "").strip(),
        "signing_keys": environment.get(SIGNING_KEYS_ENV, ""),
        "signing_keys_file": environment.get(SIGNING_KEYS_FILE_ENV, ""),
        "channel": environment.get(CHANNEL_ENV) or "postgres",
        "listen_url": environment.get(LISTEN_URL_ENV, ""),
        "proxies": environment.get(PROXIES_ENV, ""),
    }
    for name in _CONVERTED:
        if environment.get(f"FAIRDEAL_{name.upper()}"):
            values[name] = _converted(environment, name)
    if values["metrics_key"] in values["host_keys"].values():
        raise SettingsError(f"{METRICS_KEY_ENV} is a host key: it is to read figures and no more")
    _check_channel(values["channel"])
    _check_listen_url(values["listen_url"])
    _check_proxies(values["proxies"])
    return Settings(**values)


def database_prepare(environment: Mapping[str, str] = os.environ) -> bool:
    """`FAIRDEAL_DATABASE_PREPARE` alone, for who needs no other setting. Raises SettingsError."""
    if not environment.get("FAIRDEAL_DATABASE_PREPARE"):
        return True
    return bool(_converted(environment, "database_prepare"))


def is_redis(channel: str) -> bool:
    """Whether this names a Redis."""
    return channel.partition("://")[0] in ("redis", "rediss", "unix")


def _check_channel(channel: str) -> None:
    if channel in ("postgres", "memory"):
        return
    if not is_redis(channel):
        raise SettingsError(f"{CHANNEL_ENV} is postgres, memory or the URL of a Redis")
    try:
        _ = urlsplit(channel).port
    except ValueError:
        raise SettingsError(f"{CHANNEL_ENV} is no URL of a Redis") from None
    if find_spec("redis") is None:
        raise SettingsError(f"{CHANNEL_ENV} names a Redis: install fairdeal[redis]")


def _check_listen_url(url: str) -> None:
    from psycopg import ProgrammingError
    from psycopg.conninfo import conninfo_to_dict

    try:
        conninfo_to_dict(url)
    except ProgrammingError:  # whose words quote it, the password included
        raise SettingsError(f"{LISTEN_URL_ENV} is no address of a Postgres") from None


def networks(text: str) -> tuple[IPv4Network | IPv6Network, ...]:
    """Addresses and networks, separated by commas. Raises ValueError."""
    return tuple(map(ip_network, filter(None, map(str.strip, text.split(",")))))


def _check_proxies(text: str) -> None:
    try:
        networks(text)
    except ValueError as error:
        raise SettingsError(f"{PROXIES_ENV} is {text!r}: {error}") from None


def host_keys(text: str) -> Mapping[str, str]:
    """Host keys by name from `name:key,name:key`. Raises SettingsError, never quoting a key."""
    found: dict[str, str] = {}
    for number, item in enumerate(filter(None, map(str.strip, text.split(","))), 1):
        name, colon, key = item.partition(":")
        if not (name and colon and key):
            raise SettingsError(f"{HOST_KEYS_ENV}: entry {number} is not name:key")
        if name in found or key in found.values():
            raise SettingsError(f"{HOST_KEYS_ENV}: entry {number} repeats a name or a key")
        found[name] = key
    if not found:
        raise SettingsError(f"{HOST_KEYS_ENV} holds no key")
    return MappingProxyType(found)


def data_dir(environment: Mapping[str, str] = os.environ) -> Path:
    """`FAIRDEAL_DATA_DIR`, else the XDG data folder, or /var/lib/fairdeal as root."""
    if given := environment.get(DATA_DIR_ENV):
        return Path(given).expanduser().absolute()
    if os.geteuid() == 0:
        return Path("/var/lib/fairdeal")
    home = environment.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(home) / "fairdeal"


def host_names(environment: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """The names of the host keys, set or kept in the data folder. Raises SettingsError."""
    text = environment.get(HOST_KEYS_ENV)
    if not text:
        try:
            text = (data_dir(environment) / HOST_KEY_FILE).read_text()
        except OSError:
            raise SettingsError(f"{HOST_KEYS_ENV} is not set: say which host") from None
    return tuple(host_keys(text))


def _converted(environment: Mapping[str, str], name: str) -> Any:
    """A setting that the environment has, as its type. Raises SettingsError."""
    text = environment[f"FAIRDEAL_{name.upper()}"]
    kind = Settings.__annotations__[name]
    try:
        value = msgspec.convert(text, kind, strict=False)
    except msgspec.ValidationError as error:
        raise SettingsError(f"FAIRDEAL_{name.upper()} is {text!r}: {error}") from None
    if name.endswith("_rate") or name == "drain_seconds":
        if not 0 <= value < float("inf"):
            raise SettingsError(f"FAIRDEAL_{name.upper()} is {text!r}: it must be 0 or above")
    elif kind in (int, float) and value <= 0:
        raise SettingsError(f"FAIRDEAL_{name.upper()} is {text!r}: it must be above 0")
    return value


def _needed(environment: Mapping[str, str], name: str) -> str:
    value = environment.get(name, "")
    if not value:
        raise SettingsError(f"{name} is not set")
    return value
