"""`/v1/players/{ref}`: a person across a host's games, to look at and to erase."""

from pathlib import Path
from typing import Any
from urllib.parse import unquote

from litestar import Controller, Request
from litestar.di import NamedDependency
from litestar.params import FromPath

from api import freshness
from api.asking import caller_of
from api.erasing import erase_player
from api.freshness import AtLeastPosition
from api.guards import delete, get, only
from api.parts import Parts
from api.people_answers import PlayerAnswer, player_answer
from api.problems import invalid, not_found
from api.proof_answers import ErasedAnswer
from api.replies import FOR_HOST, PROBLEMS, READING
from projections import leaderboards, players
from projections.registry import PROJECTIONS


class PlayersController(Controller):
    """People, as a host refers to them."""

    path = "/v1/players"
    tags = ("players",)

    @get(
        "/{ref:path}",
        guards=[only("host")],
        security=FOR_HOST,
        operation_id="getPlayer",
        summary="See a person's record",
        responses=READING,
    )
    async def look(
        self,
        request: Request[Any, Any, Any],
        parts: NamedDependency[Parts],
        ref: FromPath[Path],
        at_least: AtLeastPosition = None,
    ) -> PlayerAnswer:
        """What came of the person's finished games with the host: in all, by kind of game with the
        rating, and against others. Abandoned games do not count; who has resigned has played. The
        name is the newest. Of two seats in one game the better one counts. A person who has been
        erased is unknown."""
        named, tenant = _named(request), caller_of(request).tenant
        names = (players.NAME, leaderboards.NAME)
        as_of = await freshness.as_of(parts.store, names, at_least)
        person = await players.read(parts.store, tenant, named)
        if person is None:
            raise not_found("Nobody here is called so.")
        ratings = await leaderboards.ratings_of(parts.store, tenant, named)
        return player_answer(person, ratings, as_of)

    @delete(
        "/{ref:path}",
        guards=[only("host")],
        security=FOR_HOST,
        operation_id="erasePlayer",
        summary="Erase a person",
        status_code=200,
        responses={s: PROBLEMS[s] for s in (400, 401, 403, 429, 500, 503)},
    )
    async def erase(
        self, request: Request[Any, Any, Any], parts: NamedDependency[Parts], ref: FromPath[Path]
    ) -> ErasedAnswer:
        """Erase the person's name and reference from every game of the host, and what they wrote
        in disputes. The logs still verify; seats, tokens and scores stay. Asking again finishes
        what was interrupted."""
        games = await erase_player(parts, caller_of(request), _named(request))
        if games:
            # So that no list names them any more once this is answered.
            await freshness.as_of(parts.store, tuple(PROJECTIONS), None)
        return ErasedAnswer(games)


def _named(request: Request[Any, Any, Any]) -> str:
    """The reference that the path ends in, to the letter: a host may call people by anything,
    slashes at either end included. Raises `invalid-request`."""
    raw = request.scope.get("raw_path") or b""  # the path has been tidied up on the way
    _, _, ref = unquote(raw.partition(b"?")[0]).partition("/v1/players/")
    if not ref or "\0" in ref:
        raise invalid("ref", "a reference, and no NUL characters")
    return ref
