"""`/v1/disputes` and `/v1/games/{id}/disputes`: what players and hosts hold against the log."""

from typing import Annotated, Any
from uuid import UUID

from litestar import Controller, Request, Response
from litestar.di import NamedDependency
from litestar.params import FromPath, FromQuery, JSONBody, QueryParameter

from api import freshness
from api.asking import IdempotencyKey, access_of, caller_key, caller_of
from api.bodies import NewDispute, NewResolution
from api.disputes import Told
from api.freshness import AtLeastPosition
from api.guards import get, only, post
from api.identity import Caller
from api.parts import Parts
from api.problems import not_found
from api.proof_answers import DisputesPage, DisputeView, dispute_view
from api.replies import FOR_HOST, FOR_PARTIES, PROBLEMS, READING, created
from domain.dispute_stream import DisputeOpened, State, Words
from projections import disputes as listing
from projections.disputes import Place

Limit = Annotated[int, QueryParameter(ge=1, le=200, description="Disputes on a page.")]

InState = Annotated[
    State | None,
    QueryParameter(name="state", description="`pending`, `found` or `resolved`."),
]

_parties = only("seat", "host")


class DisputesController(Controller):
    """Disputes, the findings of the log about them, and how hosts settle them."""

    path = "/v1"
    tags = ("disputes",)

    @post(
        "/games/{game_id:uuid}/disputes",
        guards=[_parties],
        security=FOR_PARTIES,
        operation_id="openDispute",
        summary="Dispute an event",
        responses={s: PROBLEMS[s] for s in (400, 401, 403, 404, 409, 413, 422, 429, 500, 503)},
    )
    async def open(
        self,
        request: Request[Any, Any, Any],
        parts: NamedDependency[Parts],
        data: JSONBody[NewDispute],
        idempotency_key: IdempotencyKey = None,
    ) -> Response[DisputeView]:
        """Dispute an event of the game. The answer holds what the log says of it; where that needs
        what is still sealed the finding is `pending`, and completes itself when the hand is
        opened. Of a player's disputes about a game 100 may wait for the host to settle them: one
        more is refused (`dispute.too-many`). A host's are not counted."""
        access = access_of(request)
        caller, game_id = access.caller, access.known.table.id
        text = data.claim.text
        event = DisputeOpened(
            game=game_id,
            disputed=data.version,
            claim=data.claim.kind,
            by=caller.role,
            seat=caller.seat,
            receipt=data.receipt,
            words=None if text is None else Words(text),
        )
        key = caller_key(request, game_id, data, idempotency_key)
        told = await parts.disputes.open(event, access.known.tenant, key)
        location = f"/v1/disputes/{told.dispute.id}"
        return created(dispute_view(told.dispute), told.replayed, location=location)

    @get(
        "/disputes",
        guards=[_parties],
        security=FOR_PARTIES,
        operation_id="listDisputes",
        summary="Find disputes",
        responses={s: PROBLEMS[s] for s in (400, 401, 403, 429, 500, 503)},
    )
    async def find(
        self,
        request: Request[Any, Any, Any],
        parts: NamedDependency[Parts],
        in_state: InState = None,
        game: FromQuery[UUID | None] = None,
        cursor: FromQuery[str | None] = None,
        limit: Limit = 50,
        at_least: AtLeastPosition = None,
    ) -> DisputesPage:
        """A host's own disputes, or those of the seat's game, newest first."""
        caller = caller_of(request)
        tenant = caller.tenant if caller.role == "host" else access_of(request).known.tenant
        games = [str(of) for of in (game, caller.game) if of]
        reader = f"{tenant}\n{caller.game}"
        before = parts.cursors.read(listing.NAME, reader, cursor, Place)
        as_of = await freshness.as_of(parts.store, (listing.NAME,), at_least)
        found = await listing.find(parts.store, tenant, in_state, games, before, limit + 1)
        page = await parts.disputes.page(found[:limit], in_state)
        return DisputesPage(
            items=tuple([dispute_view(dispute) for dispute in page]),
            next=parts.cursors.following(listing.NAME, reader, found, limit),
            as_of=as_of,
        )

    @get(
        "/disputes/{dispute_id:uuid}",
        guards=[_parties],
        security=FOR_PARTIES,
        operation_id="getDispute",
        summary="Look at a dispute",
        responses=READING,
    )
    async def look(
        self,
        request: Request[Any, Any, Any],
        parts: NamedDependency[Parts],
        dispute_id: FromPath[Any],
    ) -> DisputeView:
        """A dispute with its finding, as far as it goes, and how it was settled."""
        told = await parts.disputes.get(str(dispute_id))
        _admit(caller_of(request), told)
        return dispute_view(told.dispute)

    @post(
        "/disputes/{dispute_id:uuid}/resolution",
        guards=[only("host")],
        security=FOR_HOST,
        operation_id="resolveDispute",
        summary="Settle a dispute",
        responses={s: PROBLEMS[s] for s in (400, 401, 403, 404, 409, 413, 422, 429, 500, 503)},
    )
    async def resolve(
        self,
        request: Request[Any, Any, Any],
        parts: NamedDependency[Parts],
        dispute_id: FromPath[Any],
        data: JSONBody[NewResolution],
        idempotency_key: IdempotencyKey = None,
    ) -> Response[DisputeView]:
        """Settle a dispute, once; the finding stays what it is."""
        stream = str(dispute_id)
        _admit(caller_of(request), await parts.disputes.get(stream))
        key = caller_key(request, stream, data, idempotency_key)
        told = await parts.disputes.resolve(stream, data.outcome, data.note, key)
        return created(dispute_view(told.dispute), told.replayed)


def _admit(caller: Caller, told: Told) -> None:
    """Let a host in to its own disputes, a seat to those of its game. Raises `not-found`."""
    own = (
        told.tenant == caller.tenant
        if caller.role == "host"
        else told.dispute.opened.game == caller.game
    )
    if not own:
        raise not_found()
