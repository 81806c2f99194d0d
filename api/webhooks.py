"""Webhooks as their hosts see them: made, listed, removed, with the deliveries that came of them.

What becomes a delivery is decided in `hook_feed`, sent it is by `hook_sender`.
"""

import secrets
from base64 import b64decode, b64encode
from typing import Any, Final, Literal, TypeAlias
from urllib.parse import urlsplit

import msgspec

from api.bodies import HookKind, NewWebhook
from api.ids import new_id
from api.outbound import is_public, literal
from api.problems import Problem, invalid, key_mismatch, not_found
from domain.registry import GAMES
from domain.times import format_at
from eventstore.postgres import EventStore
from eventstore.records import CallerKey
from projections.statements import statements

_SQL: Final = statements("webhooks", "api")

MOST: Final = 20
"""Webhooks that a host may have."""
_SECRET_BYTES: Final = 32
_PREFIX: Final = "whsec_"
_NUMBERED_AT_ONCE: Final = 1000
_ROUNDS: Final = 1000

DeliveryState: TypeAlias = Literal["pending", "delivered", "failed", "outdated"]


class WebhookView(msgspec.Struct, frozen=True):
    """A webhook; `games` null stands for all kinds of game. It is disabled once its receiver has
    answered 410."""

    id: str
    url: str
    kinds: tuple[HookKind, ...]
    games: tuple[str, ...] | None
    state: Literal["active", "disabled"]
    created_at: str


class CreatedWebhook(WebhookView, frozen=True, kw_only=True):
    """A new webhook with its secret, which is shown this once."""

    secret: str


class WebhooksPage(msgspec.Struct, frozen=True):
    """A host's webhooks, newest first; they are never more than one page."""

    items: tuple[WebhookView, ...]
    next: str | None = None


class DeliveryView(msgspec.Struct, frozen=True):
    """A delivery: `id` is the `webhook-id` that it is sent with, `next_at` when it is tried (or, at
    the latest, looked at) next. `outdated` is a turn notice that was not sent any more."""

    id: str
    kind: HookKind
    game: str
    version: int
    state: DeliveryState
    attempts: int
    last_status: int | None
    last_error: str | None
    next_at: str | None
    created_at: str
    delivered_at: str | None


class DeliveriesPage(msgspec.Struct, frozen=True):
    """Deliveries of a webhook, newest first."""

    items: tuple[DeliveryView, ...]
    next: str | None


class Webhooks:
    """The webhooks of one store's tenants."""

    def __init__(self, store: EventStore, *, private: bool) -> None:
        """With `private`, they may lead to addresses of the own network, and without TLS."""
        self._store: Final = store
        self._private: Final = private

    async def create(
        self, tenant: str, asked: NewWebhook, key: CallerKey | None
    ) -> tuple[CreatedWebhook, bool]:
        """Make a webhook, or give the one again that the key has made (then True).

        It is told what is committed once this has returned. Raises Problem, StoreUnavailable.
        """
        _check_url(asked.url, private=self._private)
        for place, game in enumerate(asked.games or ()):
            if game not in GAMES:
                raise invalid(f"$.games[{place}]", f"one of {', '.join(GAMES)}")
        secret = _secret(asked.secret)
        # What was committed before is given its numbers, so that the webhook begins behind it.
        for _ in range(_ROUNDS):
            if (await self._store.feed.sequence(_NUMBERED_AT_ONCE, wait=True) or 0) == 0:
                break
        hook = new_id()
        games = None if asked.games is None else list(dict.fromkeys(asked.games))
        kinds = list(dict.fromkeys(asked.kinds))
        digests = (None, None) if key is None else (key.key, key.fingerprint)
        await self._store.fetch(
            _SQL["create"], hook, tenant, asked.url, kinds, games, secret, *digests, MOST
        )
        if key is None:
            found = await self._rows(tenant, hook)
        else:
            found = await self._store.fetch(_SQL["find"], tenant, None, key.key)
        if not found:
            raise Problem("forbidden", f"A host has at most {MOST} webhooks: remove one first.")
        [row] = found
        if key is not None and row[7] != key.fingerprint:
            raise key_mismatch()
        view = msgspec.structs.asdict(_view(row))
        return CreatedWebhook(**view, secret=_PREFIX + b64encode(row[6]).decode()), row[0] != hook

    async def all(self, tenant: str) -> WebhooksPage:
        """A tenant's webhooks. Raises StoreUnavailable."""
        return WebhooksPage(tuple([_view(row) for row in await self._rows(tenant, None)]))

    async def get(self, tenant: str, hook: str) -> WebhookView:
        """A tenant's webhook. Raises `not-found`, StoreUnavailable."""
        rows = await self._rows(tenant, hook)
        if not rows:
            raise not_found("There is no such webhook.")
        return _view(rows[0])

    async def remove(self, tenant: str, hook: str) -> None:
        """Remove a webhook with its deliveries: nothing more is sent. Raises `not-found`,
        StoreUnavailable."""
        if not await self._store.fetch(_SQL["remove"], tenant, hook):
            raise not_found("There is no such webhook.")

    async def deliveries(
        self, hook: str, state: DeliveryState | None, below: int | None, limit: int
    ) -> list[tuple[int, DeliveryView]]:
        """Deliveries of a webhook in a state (None: any) with their numbers, newest first, below a
        number. Raises StoreUnavailable."""
        parameters = (hook, state, below, None, limit)
        rows = await self._store.fetch(_SQL["deliveries"], *parameters, prepare=False)
        return [(row[0], _delivery(row)) for row in rows]

    async def redeliver(self, tenant: str, hook: str, delivery: str) -> DeliveryView:
        """Send a delivery once more, whatever came of it. Raises `not-found`, `forbidden` where the
        webhook is disabled, StoreUnavailable."""
        if (await self.get(tenant, hook)).state == "disabled":
            raise Problem("forbidden", "The webhook is disabled: its receiver has answered 410.")
        asked = await self._store.fetch(_SQL["redeliver"], hook, delivery)
        found = await self._store.fetch(_SQL["deliveries"], hook, None, None, delivery, 1)
        if not asked or not found:
            raise not_found("The webhook has no such delivery.")
        return _delivery(found[0])

    async def _rows(self, tenant: str, hook: str | None) -> list[tuple[Any, ...]]:
        return await self._store.fetch(_SQL["find"], tenant, hook, None)


def _check_url(url: str, *, private: bool) -> None:
    """Raise `invalid-request` for a URL to which nothing could, or should, be sent."""
    where = "$.url"
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise invalid(where, "not a URL") from None
    if parts.scheme not in ("http", "https") or not host or port == 0:
        raise invalid(where, "a URL of a host by http or https")
    if "@" in parts.netloc:
        raise invalid(where, "no user name or password: deliveries are signed instead")
    if "#" in url:
        raise invalid(where, "no fragment")
    if private:
        return
    if parts.scheme != "https":
        raise invalid(where, "https: the service sends nothing in the clear")
    address = literal(host)
    if address is not None and not is_public(address):
        raise invalid(where, "the address is private: the service sends nothing there")


def _secret(given: str | None) -> bytes:
    """The bytes of the secret that a host has chosen, or new ones. Raises `invalid-request`, never
    quoting it."""
    if given is None:
        return secrets.token_bytes(_SECRET_BYTES)
    try:
        raw = b64decode(given.removeprefix(_PREFIX), validate=True)
    except ValueError:
        raw = b""
    if not 24 <= len(raw) <= 64:
        raise invalid("$.secret", f"{_PREFIX} and the Base64 of 24 to 64 bytes")
    return raw


def _view(row: tuple[Any, ...]) -> WebhookView:
    hook, url, kinds, games, created_at, active = row[:6]
    return WebhookView(
        id=hook,
        url=url,
        kinds=tuple(kinds),
        games=None if games is None else tuple(games),
        state="active" if active else "disabled",
        created_at=format_at(created_at),
    )


def _delivery(row: tuple[Any, ...]) -> DeliveryView:
    times = [None if at is None else format_at(at) for at in row[9:12]]
    return DeliveryView(*row[1:9], *times)
