"""`/v1/games/{id}/…`: what players, and their host, do in a game."""

from typing import Any

from litestar import Controller, Request, Response
from litestar.di import NamedDependency
from litestar.params import FromPath, JSONBody

from api.answers import (
    ActionAnswer,
    JoinedAnswer,
    TokenAnswer,
    action_answer,
    joined_answer,
    seat_token_answer,
    spectator_token_answer,
)
from api.asking import IdempotencyKey, IfMatch, access_of, asked
from api.bodies import Abandonment, AskedAction, Nothing, Person
from api.execute import Done
from api.guards import only, post
from api.parts import Parts
from api.problems import not_found
from api.replies import COMMANDING, FOR_HOST, FOR_SEAT, created
from domain.actions import Action
from domain.table.commands import (
    Abandon,
    IssueSeatToken,
    IssueSpectatorToken,
    Join,
    Player,
    Resign,
    TableCommand,
)


class PlayController(Controller):
    """Commands about one game; each answers 201 with what it brought about."""

    path = "/v1/games/{game_id:uuid}"
    tags = ("play",)

    @post(
        "/actions",
        guards=[only("seat")],
        security=FOR_SEAT,
        operation_id="act",
        summary="Make an action",
        responses=COMMANDING,
    )
    async def act(
        self,
        request: Request[Any, Any, Any],
        parts: NamedDependency[Parts],
        data: JSONBody[AskedAction],
        if_match: IfMatch = None,
        idempotency_key: IdempotencyKey = None,
    ) -> Response[ActionAnswer]:
        """Make one of the actions that the caller's view lists, or any other that is legal."""
        return await _acted(request, parts, data, if_match, idempotency_key)

    @post(
        "/resign",
        guards=[only("seat")],
        security=FOR_SEAT,
        operation_id="resign",
        summary="Leave the game",
        responses=COMMANDING,
    )
    async def resign(
        self,
        request: Request[Any, Any, Any],
        parts: NamedDependency[Parts],
        data: JSONBody[Nothing | None] = None,
        if_match: IfMatch = None,
        idempotency_key: IdempotencyKey = None,
    ) -> Response[ActionAnswer]:
        """Leave the game; a careful bot plays the cards from then on."""
        return await _acted(request, parts, Resign(), if_match, idempotency_key)

    @post(
        "/abandon",
        guards=[only("host")],
        security=FOR_HOST,
        operation_id="abandonGame",
        summary="End a game without winners",
        responses=COMMANDING,
    )
    async def abandon(
        self,
        request: Request[Any, Any, Any],
        parts: NamedDependency[Parts],
        data: JSONBody[Abandonment | None] = None,
        if_match: IfMatch = None,
        idempotency_key: IdempotencyKey = None,
    ) -> Response[ActionAnswer]:
        """End the game without winners; its hands and seeds are opened."""
        ask = Abandon((data or Abandonment()).reason)
        return await _acted(request, parts, ask, if_match, idempotency_key)

    @post(
        "/seats",
        guards=[only("host")],
        security=FOR_HOST,
        operation_id="takeSeat",
        summary="Fill the next open seat",
        responses=COMMANDING,
    )
    async def join(
        self,
        request: Request[Any, Any, Any],
        parts: NamedDependency[Parts],
        data: JSONBody[Person],
        if_match: IfMatch = None,
        idempotency_key: IdempotencyKey = None,
    ) -> Response[JoinedAnswer]:
        """Seat a player at the next open seat; the game starts when all are taken."""
        ask = Join(Player(data.name, data.ref))
        done = await _done(request, parts, ask, if_match, idempotency_key)
        return created(joined_answer(parts.keyring, done), done.replayed)

    @post(
        "/seats/{seat:int}/token",
        guards=[only("host")],
        security=FOR_HOST,
        operation_id="issueSeatToken",
        summary="Issue a seat's token anew",
        responses=COMMANDING,
    )
    async def seat_token(
        self,
        request: Request[Any, Any, Any],
        parts: NamedDependency[Parts],
        seat: FromPath[int],
        data: JSONBody[Nothing | None] = None,
        if_match: IfMatch = None,
        idempotency_key: IdempotencyKey = None,
    ) -> Response[TokenAnswer]:
        """Issue a seat's token anew and revoke the earlier ones; everyone can see that it was."""
        if not 0 <= seat < len(access_of(request).known.table.seats):
            raise not_found("The game has no such seat.")
        done = await _done(request, parts, IssueSeatToken(seat), if_match, idempotency_key)
        return created(seat_token_answer(parts.keyring, done), done.replayed)

    @post(
        "/spectators",
        guards=[only("host")],
        security=FOR_HOST,
        operation_id="issueSpectatorToken",
        summary="Issue a token for a spectator",
        responses=COMMANDING,
    )
    async def spectator_token(
        self,
        request: Request[Any, Any, Any],
        parts: NamedDependency[Parts],
        data: JSONBody[Nothing | None] = None,
        if_match: IfMatch = None,
        idempotency_key: IdempotencyKey = None,
    ) -> Response[TokenAnswer]:
        """Issue a token with which one can watch what is public."""
        done = await _done(request, parts, IssueSpectatorToken(), if_match, idempotency_key)
        return created(spectator_token_answer(parts.keyring, done), done.replayed)


async def _done(
    request: Request[Any, Any, Any],
    parts: Parts,
    ask: Action | TableCommand,
    if_match: str | None,
    key: str | None,
) -> Done:
    game_id = access_of(request).known.table.id
    return await parts.executor.act(game_id, asked(request, ask, if_match, key))


async def _acted(
    request: Request[Any, Any, Any],
    parts: Parts,
    ask: Action | TableCommand,
    if_match: str | None,
    key: str | None,
) -> Response[ActionAnswer]:
    done = await _done(request, parts, ask, if_match, key)
    return created(action_answer(access_of(request).caller, done), done.replayed)
