"""Who is asking: bearer tokens in and out. Knows no game's state (see `access`).

Host keys are compared in constant time; seat and spectator tokens are JWTs (RFC 7519) signed with
HS256. A token's times come from the event that issued it, so that issuing again what a repeated
request issued gives the same token.
"""

import hmac
import time
from collections.abc import Mapping
from functools import lru_cache
from hashlib import sha256
from typing import Annotated, Any, Final

import jwt
import msgspec

from api.problems import Problem, unauthorized
from domain.seats import Seat
from domain.visibility import HOST, SPECTATOR, Role, Viewer

_ALGORITHM: Final = "HS256"
_TOKENS_KEPT: Final = 10_000
"""Tokens whose signature a process need not check again."""


class Caller(msgspec.Struct, frozen=True):
    """Who asks: a host with its tenant, or the holder of a token for a seat (or for a spectator) of
    one game, with the token's generation and the end of its time (seconds since 1970 UTC)."""

    role: Role
    tenant: str = ""
    game: str = ""
    seat: Seat | None = None
    generation: int = 0
    expires: int | None = None

    @property
    def viewer(self) -> Viewer:
        """As whom the caller looks at a game."""
        match self.role:
            case "host":
                return HOST
            case "spectator":
                return SPECTATOR
            case "seat":
                return Viewer("seat", self.seat)

    @property
    def name(self) -> str:
        """The caller as one and the same across tokens, for idempotency keys."""
        return f"host:{self.tenant}" if self.role == "host" else f"{self.role}:{self.seat}"


class _Claims(msgspec.Struct, frozen=True):
    game: Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z")]
    gen: int
    exp: int
    seat: Seat | None = None
    spectator: bool = False


class Keyring:
    """The keys that tokens are checked and signed with."""

    def __init__(
        self,
        host_keys: Mapping[str, str],
        secret: str,
        token_seconds: int,
        metrics_key: str = "",
    ) -> None:
        """`metrics_key` empty: there is none."""
        self._figures: Final = _digest(metrics_key) if metrics_key else None
        self._hosts: Final = [(name, _digest(key)) for name, key in host_keys.items()]
        # HMAC pads a short key with zeros (RFC 2104): these change no signature, and PyJWT, which
        # warns about short keys at every use, need not; `fairdeal serve` warns once.
        self._secret: Final = secret.encode().ljust(32, b"\0")
        self._token_seconds: Final = token_seconds
        # A signature holds for ever; what ends a token (time, generation) is looked at anew.
        self._claims: Final = lru_cache(_TOKENS_KEPT)(self._verified)

    def caller(self, authorization: str | None) -> Caller:
        """Who presents this `Authorization` header. Raises the problem `unauthorized`."""
        token = _presented(authorization)
        presented = _digest(token)
        tenant = None
        for name, known in self._hosts:
            if hmac.compare_digest(presented, known):
                tenant = name
        return self._bearer(token) if tenant is None else Caller("host", tenant)

    def reads_figures(self, authorization: str | None) -> bool:
        """Whether this `Authorization` header presents the key for `/metrics`, which opens nothing
        else."""
        if self._figures is None:
            return False
        try:
            return hmac.compare_digest(_digest(_presented(authorization)), self._figures)
        except Problem:
            return False

    def has(self, text: str) -> bool:
        """Whether this is one of the keys itself, a host's or that for `/metrics`."""
        digest = _digest(text)
        known = [key for _, key in self._hosts] + ([self._figures] if self._figures else [])
        return any([hmac.compare_digest(digest, key) for key in known])

    def holder(self, authorization: str | None) -> Caller | None:
        """Who holds the token that this header presents, where it is one that was signed here and
        has not expired; None for host keys and everything else."""
        try:
            return self._bearer(_presented(authorization))
        except Problem:
            return None

    def seat_token(self, game_id: str, seat: Seat, generation: int, at: int) -> str:
        """The token of a seat, issued at `at` (microseconds since 1970 UTC)."""
        return self._sign({"game": game_id, "seat": seat, "gen": generation}, at)

    def spectator_token(self, game_id: str, generation: int, at: int) -> str:
        """A token for a spectator, issued at `at`."""
        return self._sign({"game": game_id, "spectator": True, "gen": generation}, at)

    def _sign(self, claims: dict[str, Any], at: int) -> str:
        issued = at // 1_000_000
        claims |= {"iat": issued, "exp": issued + self._token_seconds}
        return jwt.encode(claims, self._secret, _ALGORITHM)

    def _bearer(self, token: str) -> Caller:
        try:
            claims = self._claims(token)
        except (jwt.InvalidTokenError, msgspec.ValidationError, ValueError):
            raise unauthorized("The token or host key is not valid.") from None
        if (claims.seat is None) != claims.spectator:
            raise unauthorized("The token or host key is not valid.")
        if claims.exp <= time.time():
            raise unauthorized("The token has expired.")
        role: Role = "spectator" if claims.spectator else "seat"
        return Caller(role, "", claims.game, claims.seat, claims.gen, claims.exp)

    def _verified(self, token: str) -> _Claims:
        """The claims of a token that is signed with our secret, whether or not it has expired."""
        # Nor is `iat` checked: it is the issuing process's clock, which may be ahead of this one.
        options: Any = {"verify_exp": False, "verify_iat": False}
        return msgspec.convert(jwt.decode(token, self._secret, [_ALGORITHM], options), _Claims)


def _presented(authorization: str | None) -> str:
    scheme, _, token = (authorization or "").partition(" ")
    token = token.strip()
    if scheme.lower() != "bearer" or not token:
        raise unauthorized("Send `Authorization: Bearer` with a host key or a token.")
    return token


def _digest(text: str) -> bytes:
    return sha256(text.encode(errors="surrogateescape")).digest()
