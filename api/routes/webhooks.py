"""`/v1/webhooks`: what a host's own servers are told, and what came of telling them."""

from typing import Annotated, Any

from litestar import Controller, Request, Response
from litestar.di import NamedDependency
from litestar.params import FromPath, FromQuery, JSONBody, QueryParameter

from api.asking import IdempotencyKey, caller_key, caller_of
from api.bodies import NewWebhook, Nothing
from api.guards import delete, get, only, post
from api.parts import Parts
from api.replies import FOR_HOST, PROBLEMS, READING, created
from api.webhooks import (
    CreatedWebhook,
    DeliveriesPage,
    DeliveryState,
    DeliveryView,
    WebhooksPage,
    WebhookView,
)

Limit = Annotated[int, QueryParameter(ge=1, le=200, description="Deliveries on a page.")]

InState = Annotated[
    DeliveryState | None,
    QueryParameter(name="state", description="`pending`, `delivered`, `failed` or `outdated`."),
]

_LIST = "deliveries"


class WebhooksController(Controller):
    """Webhooks of a host."""

    path = "/v1/webhooks"
    tags = ("webhooks",)

    @post(
        "/",
        guards=[only("host")],
        security=FOR_HOST,
        operation_id="createWebhook",
        summary="Be told what happens",
        responses={s: PROBLEMS[s] for s in (400, 401, 403, 413, 422, 429, 500, 503)},
    )
    async def create(
        self,
        request: Request[Any, Any, Any],
        parts: NamedDependency[Parts],
        data: JSONBody[NewWebhook],
        idempotency_key: IdempotencyKey = None,
    ) -> Response[CreatedWebhook]:
        """From now on, POST to the URL what happens in the host's games: each `event` as a
        spectator may see it when it is sent, and each `turn` that begins for a person. Deliveries
        are signed with the secret, which is shown this once, as Standard Webhooks describe:
        `webhook-signature` is `v1,` and the Base64 of HMAC-SHA256 over
        `webhook-id.webhook-timestamp.body`. They come at least once, each time under the same
        `webhook-id`, and those of a game in its order. Answer 2xx; anything else is tried again for
        about a day, and 410 ends it all."""
        tenant = caller_of(request).tenant
        key = caller_key(request, tenant, data, idempotency_key)
        made, replayed = await parts.webhooks.create(tenant, data, key)
        return created(made, replayed, location=f"{self.path}/{made.id}")

    @get(
        "/",
        guards=[only("host")],
        security=FOR_HOST,
        operation_id="listWebhooks",
        summary="See one's webhooks",
        responses={s: PROBLEMS[s] for s in (401, 403, 429, 500, 503)},
    )
    async def all(
        self, request: Request[Any, Any, Any], parts: NamedDependency[Parts]
    ) -> WebhooksPage:
        """All webhooks of the host, newest first, without their secrets."""
        return await parts.webhooks.all(caller_of(request).tenant)

    @get(
        "/{webhook_id:uuid}",
        guards=[only("host")],
        security=FOR_HOST,
        operation_id="getWebhook",
        summary="Look at a webhook",
        responses=READING,
    )
    async def look(
        self,
        request: Request[Any, Any, Any],
        parts: NamedDependency[Parts],
        webhook_id: FromPath[Any],
    ) -> WebhookView:
        """A webhook of the host, without its secret."""
        return await parts.webhooks.get(caller_of(request).tenant, str(webhook_id))

    @delete(
        "/{webhook_id:uuid}",
        guards=[only("host")],
        security=FOR_HOST,
        operation_id="removeWebhook",
        summary="Be told nothing more",
        responses=READING,
    )
    async def remove(
        self,
        request: Request[Any, Any, Any],
        parts: NamedDependency[Parts],
        webhook_id: FromPath[Any],
    ) -> None:
        """Remove a webhook with its list of deliveries. What is being sent at this moment may still
        arrive."""
        await parts.webhooks.remove(caller_of(request).tenant, str(webhook_id))

    @get(
        "/{webhook_id:uuid}/deliveries",
        guards=[only("host")],
        security=FOR_HOST,
        operation_id="listDeliveries",
        summary="See what was sent",
        responses=READING,
    )
    async def deliveries(
        self,
        request: Request[Any, Any, Any],
        parts: NamedDependency[Parts],
        webhook_id: FromPath[Any],
        in_state: InState = None,
        cursor: FromQuery[str | None] = None,
        limit: Limit = 50,
    ) -> DeliveriesPage:
        """Deliveries of the last days, newest first, with what came of the last attempt."""
        tenant, hook = caller_of(request).tenant, str(webhook_id)
        await parts.webhooks.get(tenant, hook)
        reader = f"{tenant}\n{hook}"
        below = parts.cursors.read(_LIST, reader, cursor, int)
        found = await parts.webhooks.deliveries(hook, in_state, below, limit + 1)
        numbers = [number for number, _ in found]
        return DeliveriesPage(
            items=tuple([view for _, view in found[:limit]]),
            next=parts.cursors.following(_LIST, reader, numbers, limit),
        )

    @post(
        "/{webhook_id:uuid}/deliveries/{delivery_id:uuid}/redeliver",
        guards=[only("host")],
        security=FOR_HOST,
        operation_id="redeliver",
        summary="Send a delivery again",
        status_code=202,
        responses=READING,
    )
    async def redeliver(
        self,
        request: Request[Any, Any, Any],
        parts: NamedDependency[Parts],
        webhook_id: FromPath[Any],
        delivery_id: FromPath[Any],
        data: JSONBody[Nothing | None] = None,
    ) -> DeliveryView:
        """Send a delivery once more under its id, whatever came of it, with what may be seen by
        now. A turn notice whose turn is over is outdated again."""
        tenant = caller_of(request).tenant
        return await parts.webhooks.redeliver(tenant, str(webhook_id), str(delivery_id))
