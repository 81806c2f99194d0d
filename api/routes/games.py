"""`/v1/games`: set games up, find them, look at one."""

from typing import Annotated, Any, Literal

from litestar import Controller, Request, Response
from litestar.di import NamedDependency
from litestar.openapi.datastructures import ResponseSpec
from litestar.openapi.spec import Example
from litestar.params import FromQuery, HeaderParameter, JSONBody, QueryParameter

from api import freshness
from api.answers import CreatedAnswer, GamesPage, created_answer, game_item
from api.asking import IdempotencyKey, access_of, caller_key, caller_of, versions
from api.bodies import MOST_LABELS, NewGame, NewPlayer
from api.freshness import FROM_0, AtLeastPosition
from api.guards import anyone, get, only, post
from api.ids import new_id
from api.parts import Parts
from api.problems import invalid
from api.replies import FOR_ALL, FOR_HOST, PROBLEMS, READING, created
from domain.registry import GAMES
from domain.table.commands import Create, Player
from domain.table.options import resolve
from domain.table.views import View, view
from projections import games as listing
from projections.games import Place, Wanted

Status = Literal["waiting", "playing", "finished", "abandoned"]
Limit = Annotated[int, QueryParameter(ge=1, le=200, description="Games on a page.")]
Wait = Annotated[
    float,
    QueryParameter(
        ge=0,
        le=30,
        description="Seconds to wait for a version above `after`.",
        schema_extra=FROM_0,
    ),
]
After = Annotated[
    int | None,
    QueryParameter(
        ge=0,
        le=2**31 - 1,
        description="The version that the caller has seen.",
        schema_extra=FROM_0,
    ),
]
IfNoneMatch = Annotated[
    str | None,
    HeaderParameter(name="If-None-Match", description='An ETag that the caller has: `"41"`.'),
]
LabelFilter = Annotated[
    list[str] | None,
    QueryParameter(
        name="label",
        max_items=MOST_LABELS,
        description="`name=value` or `name:value`; given more than once, all must fit.",
        examples=[Example(summary="One label", value=["room=blue"])],
    ),
]


class GamesController(Controller):
    """Games as a host sets them up and everyone sees them."""

    path = "/v1/games"
    tags = ("games",)

    @post(
        guards=[only("host")],
        security=FOR_HOST,
        operation_id="createGame",
        summary="Set up a game",
        status_code=201,
        responses={s: PROBLEMS[s] for s in (400, 401, 403, 413, 422, 429, 500, 503)},
    )
    async def create(
        self,
        request: Request[Any, Any, Any],
        parts: NamedDependency[Parts],
        data: JSONBody[NewGame],
        idempotency_key: IdempotencyKey = None,
    ) -> Response[CreatedAnswer]:
        """Set up a game; it starts at once, or when its open seats have been filled."""
        game = GAMES.get(data.game)
        if game is None:
            raise invalid("$.game", f"the games are {', '.join(sorted(GAMES))}")
        seats = len(data.players) + data.open_seats
        options, seeding = resolve(game, data.rules, seats)
        game_id = new_id()
        ask = Create(
            id=game_id,
            game=game.name,
            options=options,
            deal_id=seeding.deal_id or game_id,
            seeded_by_host=seeding.seed is not None,
            players=_players(data.players),
            open_seats=data.open_seats,
            clock=data.clock,
            labels=data.labels,
        )
        tenant = caller_of(request).tenant
        key = caller_key(request, f"tenant:{tenant}", data, idempotency_key)
        seed = None if seeding.seed is None else bytes.fromhex(seeding.seed)
        done = await parts.executor.create(tenant, ask, seed, key)
        body = created_answer(parts.keyring, done)
        return created(body, done.replayed, location=f"/v1/games/{body.id}")

    @get(
        guards=[only("host")],
        security=FOR_HOST,
        operation_id="listGames",
        summary="Find games",
        responses={s: PROBLEMS[s] for s in (400, 401, 403, 429, 500, 503)},
    )
    async def find(
        self,
        request: Request[Any, Any, Any],
        parts: NamedDependency[Parts],
        status: FromQuery[Status | None] = None,
        game: FromQuery[str | None] = None,
        ref: FromQuery[str | None] = None,
        label: LabelFilter = None,
        cursor: FromQuery[str | None] = None,
        limit: Limit = 50,
        at_least: AtLeastPosition = None,
    ) -> GamesPage:
        """The host's own games that fit all the filters, newest first."""
        if any("\0" in text for text in (game or "", ref or "", *(label or ()))):
            raise invalid("query", "no NUL characters")
        if game is not None and game not in GAMES:
            raise invalid("game", f"the games are {', '.join(sorted(GAMES))}")
        if ref == "":
            raise invalid("ref", "a reference is not empty")
        pairs = tuple([_label(text) for text in label or ()])
        wanted = Wanted(status, game, ref, pairs)
        tenant = caller_of(request).tenant
        before = parts.cursors.read(listing.NAME, tenant, cursor, Place)
        as_of = await freshness.as_of(parts.store, (listing.NAME,), at_least)
        found = await listing.find(parts.store, tenant, wanted, before, limit + 1)
        places = [listed.place for listed in found]
        return GamesPage(
            items=tuple([game_item(listed) for listed in found[:limit]]),
            next=parts.cursors.following(listing.NAME, tenant, places, limit),
            as_of=as_of,
        )

    @get(
        "/{game_id:uuid}",
        guards=[anyone],
        security=FOR_ALL,
        operation_id="getGame",
        summary="Look at a game",
        responses={
            **READING,
            304: ResponseSpec(None, description="Nothing new since `If-None-Match`"),
        },
    )
    async def look(
        self,
        request: Request[Any, Any, Any],
        parts: NamedDependency[Parts],
        wait: Wait = 0,
        after: After = None,
        if_none_match: IfNoneMatch = None,
    ) -> Response[View]:
        """The caller's view of the game. With `wait` the answer comes when the game has passed the
        version `after` (or that of `If-None-Match`, or where it stands), or when the time is up."""
        access = access_of(request)
        known = access.known
        seen = versions(if_none_match) if if_none_match is not None else frozenset[int]()
        if wait > 0:
            beyond = after if after is not None else max(seen or (known.table.version,))
            if known.table.version <= beyond:
                known = await parts.live.beyond(access, beyond, wait)
        table = known.table
        headers = {"ETag": f'"{table.version}"'}
        if seen is None or table.version in seen:
            return Response(None, status_code=304, headers=headers)  # type: ignore[arg-type]
        return Response(view(table, access.caller.viewer, table.openings), headers=headers)


def _players(asked: list[NewPlayer]) -> tuple[Player, ...]:
    """The players with names for all: a bot without one is called after its kind and seat."""
    return tuple(
        [
            Player(p.name or f"{(p.bot or '').title()} {seat + 1}", p.ref, p.bot, p.delay_ms)
            for seat, p in enumerate(asked)
        ]
    )


def _label(text: str) -> tuple[str, str]:
    """Name and value of a label. Raises `invalid-request`."""
    cuts = [at for at in (text.find("="), text.find(":")) if at > 0]
    if not cuts:
        raise invalid("label", "give name=value")
    return text[: min(cuts)], text[min(cuts) + 1 :]
