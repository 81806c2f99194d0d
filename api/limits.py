"""How much one may ask: by token, and by address for those who have no valid token.

Buckets of one process: a bucket holds some requests, each takes one out, and they come back at a
steady pace. With several processes each has its own. Knows no route.
"""

import time
from collections import OrderedDict
from collections.abc import Callable
from hashlib import sha256
from ipaddress import IPv6Address, IPv6Network, ip_address
from math import ceil
from typing import Any, Final

from litestar.connection import ASGIConnection
from prometheus_client import Counter

from api.identity import Caller, Keyring
from api.problems import Problem
from api.settings import Settings, networks
from eventstore.measures import known

Connection = ASGIConnection[Any, Any, Any, Any]

_TOKEN_BURST_SECONDS: Final = 10
"""A bucket of a token holds what so many seconds bring."""
_GUESS_BURST_SECONDS: Final = 60
_KEYS_KEPT: Final = 20_000
"""Buckets of each kind, and tokens known to be good at an address, that a process remembers."""

_REFUSED: Final = known(
    Counter(
        "fairdeal_rate_limited", "Requests refused with 429, by what they were counted by", ["by"]
    ),
    ("token", "host", "address"),
)


class Buckets:
    """A bucket for each key, for those that were lately used."""

    def __init__(
        self, per_second: float, burst_seconds: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._pace: Final = per_second
        self._size: Final = max(1.0, per_second * burst_seconds)
        self._clock: Final = clock
        # What was left in a bucket, and when. A bucket that is not here is full.
        self._left: Final[OrderedDict[object, tuple[float, float]]] = OrderedDict()

    def take(self, key: object) -> float:
        """Take one out. 0, or, where there is none, in how many seconds there will be one."""
        now = self._clock()
        left = self._now(key, now)
        if left < 1:
            return (1 - left) / self._pace
        self._left[key] = left - 1, now
        self._left.move_to_end(key)
        if len(self._left) > _KEYS_KEPT:
            self._left.popitem(last=False)
        return 0.0

    def wait(self, key: object) -> float:
        """In how many seconds one can be taken; takes none."""
        return max(0.0, (1 - self._now(key, self._clock())) / self._pace)

    def _now(self, key: object, now: float) -> float:
        found = self._left.get(key)
        if found is None:
            return self._size
        left, since = found
        return min(self._size, left + (now - since) * self._pace)


class Limits:
    """The limits of one process. Each is off where its setting is 0."""

    def __init__(self, settings: Settings) -> None:
        pace = {"host": settings.host_rate, "seat": settings.token_rate}
        self._tokens: Final = {
            role: Buckets(per_second, _TOKEN_BURST_SECONDS)
            for role, per_second in (pace | {"spectator": settings.token_rate}).items()
            if per_second
        }
        self._guesses: Final = (
            Buckets(settings.guess_rate / 60, _GUESS_BURST_SECONDS) if settings.guess_rate else None
        )
        self._proxies: Final = networks(settings.proxies)
        # Host keys that were good at an address. By digest: a header may be long, and the same key
        # written in any number of ways.
        self._good: Final[OrderedDict[tuple[str, bytes], None]] = OrderedDict()

    def signed_in(self, connection: Connection, keyring: Keyring) -> Caller:
        """Who asks. Raises `unauthorized`, and `rate-limited` where the token has been used too
        often, or where too many without a valid one came from this address. Then no host key is
        looked at that has not been good there before, else a right guess would show; tokens are,
        for nobody guesses a signature."""
        authorization = connection.headers.get("authorization")
        if self._guesses is None:
            return self._spent(keyring.caller(authorization))
        address = self.address(connection)
        wait = self._guesses.wait(_whole(address))
        if wait > 0 and (address, _token(authorization)) not in self._good:
            holder = keyring.holder(authorization)
            if holder is None:
                _refuse("address", wait)
            else:
                return self._spent(holder)
        try:
            caller = keyring.caller(authorization)
        except Problem:
            self._guesses.take(_whole(address))
            raise
        if caller.role == "host":
            self._remember((address, _token(authorization)))
        return self._spent(caller)

    def reads_figures(self, connection: Connection, keyring: Keyring) -> bool:
        """Whether the key for `/metrics` is presented. Where an address has guessed too much, it is
        looked at no more than host keys are."""
        authorization = connection.headers.get("authorization")
        address = self.address(connection)
        shown = (address, _token(authorization))
        spent = self._guesses is not None and self._guesses.wait(_whole(address)) > 0
        if (spent and shown not in self._good) or not keyring.reads_figures(authorization):
            return False
        self._remember(shown)
        return True

    def _remember(self, good: tuple[str, bytes]) -> None:
        self._good[good] = None
        self._good.move_to_end(good)
        if len(self._good) > _KEYS_KEPT:
            self._good.popitem(last=False)

    def turned_away(self, connection: Connection, problem: Problem) -> None:
        """A token was found to be good for nothing (revoked) after all."""
        if problem.kind == "unauthorized" and self._guesses is not None:
            self._guesses.take(_whole(self.address(connection)))

    def address(self, connection: Connection) -> str:
        """From where a request comes: past the proxies that the settings trust."""
        client = connection.scope.get("client")
        address = client[0] if client else ""
        if self._proxies and self._trusted(address):
            said = ",".join(connection.headers.getall("x-forwarded-for", []))
            for hop in reversed([hop.strip() for hop in said.split(",") if hop.strip()]):
                address = _without_port(hop)
                if not self._trusted(address):
                    break
        return address

    def _trusted(self, address: str) -> bool:
        try:
            found = ip_address(address)
        except ValueError:
            return False
        return any(found in network for network in self._proxies)

    def _spent(self, caller: Caller) -> Caller:
        buckets = self._tokens.get(caller.role)
        if buckets is not None:
            key = (caller.tenant, caller.game, caller.role, caller.seat, caller.generation)
            _refuse("host" if caller.role == "host" else "token", buckets.take(key))
        return caller


def _token(authorization: str | None) -> bytes:
    """What stands for the token of an `Authorization` header, however it is written."""
    token = (authorization or "").partition(" ")[2].strip()
    return sha256(token.encode(errors="surrogateescape")).digest()


def _without_port(hop: str) -> str:
    """An address as some proxies give it, `192.0.2.1:4711` or `[2001:db8::1]:4711`."""
    if hop.startswith("["):
        return hop[1:].partition("]")[0]
    return hop.partition(":")[0] if hop.count(":") == 1 else hop


def _refuse(by: str, seconds: float) -> None:
    """Raises `rate-limited` where one has to wait so long."""
    if seconds <= 0:
        return
    _REFUSED.labels(by).inc()
    wait = str(ceil(seconds))
    raise Problem(
        "rate-limited", f"Too many requests: try again in {wait} s.", headers={"Retry-After": wait}
    )


def _whole(address: str) -> str:
    """What counts as one address: of IPv6 the 64 bits that a network has, which its owner fills as
    they please."""
    if ":" not in address:
        return address
    try:
        found = IPv6Address(address)
    except ValueError:
        return address
    return str(found.ipv4_mapped or IPv6Network((int(found) >> 64 << 64, 64)))
