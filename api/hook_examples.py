"""Examples of webhooks for the OpenAPI document; the bodies sent are drawn from its game."""

from typing import Any, Final

import msgspec

from api.webhooks import (
    CreatedWebhook,
    DeliveriesPage,
    DeliveryView,
    WebhooksPage,
    WebhookView,
)
from domain.times import format_at

WEBHOOK: Final[dict[str, Any]] = {
    "url": "https://app.example/fairdeal",
    "kinds": ["event", "turn"],
    "games": ["lodam", "loc"],
}
_ID: Final = "01970000-0000-7000-8000-000000000003"
_DELIVERY: Final = "6f1c6c1e-4d8b-4d0e-9a43-5f3f8f0f2a10"
_SECRET: Final = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="


def answers(game: str, at: int) -> dict[str, Any]:
    """Answers by operation, about a game at a time (microseconds since 1970 UTC)."""
    made = format_at(at)
    hook = WebhookView(
        id=_ID,
        url=WEBHOOK["url"],
        kinds=tuple(WEBHOOK["kinds"]),
        games=tuple(WEBHOOK["games"]),
        state="active",
        created_at=made,
    )
    delivery = DeliveryView(
        id=_DELIVERY,
        kind="event",
        game=game,
        version=12,
        state="pending",
        attempts=1,
        last_status=503,
        last_error="answered 503",
        next_at=format_at(at + 5_000_000),
        created_at=made,
        delivered_at=None,
    )
    return {
        "createWebhook": CreatedWebhook(**msgspec.structs.asdict(hook), secret=_SECRET),
        "listWebhooks": WebhooksPage((hook,)),
        "getWebhook": hook,
        "listDeliveries": DeliveriesPage((delivery,), None),
        "redeliver": delivery,
    }
