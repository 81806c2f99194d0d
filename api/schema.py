"""The OpenAPI 3.1 document and its page. Litestar tells paths and parameters; msgspec, which also
decodes the bodies, tells their schemas; the examples are real answers.
"""

from typing import Any, Final

import msgspec
from litestar import Litestar, Request, Response, Router
from litestar.openapi import OpenAPIConfig
from litestar.openapi.plugins import JsonRenderPlugin
from litestar.openapi.spec import Components, SecurityScheme, Tag

from api import examples, hook_examples, page
from api.answers import (
    ActionAnswer,
    CreatedAnswer,
    EventsPage,
    GamesPage,
    JoinedAnswer,
    ScoresAnswer,
    TokenAnswer,
)
from api.bodies import (
    Abandonment,
    NewDispute,
    NewGame,
    NewResolution,
    NewWebhook,
    Nothing,
    Person,
)
from api.hook_sender import EventNotification, TurnNotification
from api.people_answers import LeaderboardPage, PlayerAnswer
from api.problems import MEDIA_TYPE, ProblemBody, not_found
from api.proof_answers import ChallengesPage, DisputesPage, ErasedAnswer, KeySet
from api.routes.health import Health, ProjectionHealth, Readiness
from api.routes.rules import RulesAnswer, RulesPage
from api.webhooks import CreatedWebhook, DeliveriesPage, WebhooksPage
from domain.actions import Action, CutChoice
from domain.codec import ACTION_TYPES
from domain.replay import Replay

VERSION: Final = "0.1.0"

_SAY_NOTHING: Final = ("resign", "issueSeatToken", "issueSpectatorToken", "redeliver")
"""Operations that need no body."""
_TYPES: Final[list[Any]] = [
    NewGame,
    Person,
    Abandonment,
    NewDispute,
    NewResolution,
    NewWebhook,
    Nothing,
    *ACTION_TYPES,
    CutChoice,
    ActionAnswer,
    CreatedAnswer,
    JoinedAnswer,
    TokenAnswer,
    GamesPage,
    EventsPage,
    ScoresAnswer,
    KeySet,
    ChallengesPage,
    DisputesPage,
    ErasedAnswer,
    PlayerAnswer,
    LeaderboardPage,
    CreatedWebhook,
    WebhooksPage,
    DeliveriesPage,
    EventNotification,
    TurnNotification,
    Replay,
    RulesPage,
    RulesAnswer,
    Health,
    Readiness,
    ProjectionHealth,
    ProblemBody,
]
_RETRY_AFTER: Final[dict[str, Any]] = {
    "description": "In how many seconds to try again.",
    "schema": {"type": "integer", "minimum": 1},
}
_REF: Final = "#/components/schemas/{name}"


def document(app: Litestar) -> dict[str, Any]:
    """The OpenAPI document of the application."""
    made: dict[str, Any] = app.openapi_schema.to_schema()
    made["components"]["schemas"] = _schemas()
    answers = examples.answers()
    for item in made["paths"].values():
        for operation in item.values():
            _add_examples(operation, answers.get(operation["operationId"], {}))
            for parameter in operation.get("parameters", ()):
                if parameter["name"] == "ref" and parameter["in"] == "path":
                    parameter["schema"] = {"type": "string", "minLength": 1}
    made["webhooks"] = {kind: _notified(kind, body) for kind, body in examples.notified().items()}
    return made


def _notified(kind: str, body: Any) -> dict[str, Any]:
    """What a webhook is sent, as the document tells it."""
    content = {"schema": {"$ref": _REF.format(name=f"{kind.title()}Notification")}} | _example(body)
    return {
        "post": {
            "operationId": f"{kind}Notified",
            "summary": f"A delivery of the kind `{kind}`",
            "requestBody": {"content": {"application/json": content}},
            "responses": {"2XX": {"description": "It has arrived."}},
        }
    }


def _schemas() -> dict[str, Any]:
    _, schemas = msgspec.json.schema_components(_TYPES, ref_template=_REF)
    # The view lists legal actions as they may be sent back, but `cut` with the range it may take.
    listed: list[type[Action]] = [
        CutChoice,
        *[kind for kind in ACTION_TYPES if kind.__struct_config__.tag != "cut"],
    ]
    schemas["Action"] = {
        "title": "Action",
        "description": "A legal action, complete with its parameters.",
        "oneOf": [{"$ref": _REF.format(name=kind.__name__)} for kind in listed],
    }
    return dict(schemas)


def _add_examples(operation: dict[str, Any], answers: dict[str, Any]) -> None:
    bodies: dict[str, dict[str, Any]] = {
        "createGame": examples.NEW_GAMES,
        "act": dict(examples.actions()),
        "takeSeat": {"a player": examples.PERSON},
        "abandonGame": {"with a reason": examples.ABANDONMENT},
        "openDispute": examples.DISPUTES,
        "resolveDispute": {"rejected": examples.RESOLUTION},
        "createWebhook": {"events of two games": hook_examples.WEBHOOK},
        **{name: {"nothing": {}} for name in _SAY_NOTHING},
    }
    for content in operation.get("requestBody", {}).get("content", {}).values():
        named = bodies[operation["operationId"]]
        content["examples"] = {name: {"value": value} for name, value in named.items()}
    for status, response in operation["responses"].items():
        if int(status) >= 400:
            body = msgspec.to_builtins(examples.problem(int(status)))
            content = {"schema": {"$ref": _REF.format(name="ProblemBody")}}
            response["content"] = {MEDIA_TYPE: content | _example(body)}
            if status in ("429", "503"):
                response["headers"] = {"Retry-After": _RETRY_AFTER}
        elif int(status) < 300:
            for media, value in answers.items():
                content = response.setdefault("content", {}).setdefault(media, {})
                content |= _example(value)


def _example(value: Any) -> dict[str, Any]:
    return {"examples": {"example": {"value": value}}}


async def _answer(request: Request[Any, Any, Any]) -> Response[Any]:
    """`/schema` is the page for who asks for HTML, else the document, as is `openapi.json`."""
    app = request.app
    made = app.state.get("openapi")
    if made is None:
        # Made once: everybody may ask, and it takes its time.
        told = document(app)
        made = app.state["openapi"] = msgspec.json.encode(told), page.render(told)
    text, shown = made
    path = request.scope["path"].rstrip("/")
    if path == "/schema":
        wanted = request.accept.best_match(["application/json", "text/html"])
        if wanted == "text/html":
            return Response(shown, media_type="text/html", headers=page.HEADERS)
    elif path != "/schema/openapi.json":
        raise not_found()
    return Response(text, media_type="application/json")


def config() -> OpenAPIConfig:
    """How Litestar makes and serves the document."""
    return OpenAPIConfig(
        title="Fairdeal",
        version=VERSION,
        description="A card-game backend: provably fair deals, hidden cards that do not leak, and "
        "a log that every player can verify. Send a host key or a token as a bearer token; errors "
        "are problem documents (RFC 9457).",
        openapi_router=Router(
            "/schema", route_handlers=[], include_in_schema=False, before_request=_answer
        ),
        render_plugins=[JsonRenderPlugin()],
        use_handler_docstrings=True,
        tags=[
            Tag(name="rules", description="What can be played, and how."),
            Tag(name="games", description="Set games up, find them, look at one."),
            Tag(name="play", description="What players and their host do in a game."),
            Tag(name="log", description="What has happened, as one may see it now."),
            Tag(name="proof", description="What lets anyone check the service."),
            Tag(name="disputes", description="What players hold against the log, and its answer."),
            Tag(name="players", description="People, as a host refers to them."),
            Tag(name="webhooks", description="What a host's own servers are told, and how."),
            Tag(name="operation", description="For whoever runs the service."),
        ],
        components=Components(
            security_schemes={
                "hostKey": _bearer("The key of a host: the application that sets games up."),
                "seatToken": _bearer("The token of a seat of one game."),
                "spectatorToken": _bearer("A token to watch one game."),
            }
        ),
    )


def _bearer(description: str) -> SecurityScheme:
    return SecurityScheme(type="http", scheme="bearer", description=description)
