"""`/v1/players/{ref}`: what a host can do about a person across its games."""

from pathlib import Path
from typing import Any
from urllib.parse import unquote

from litestar import Controller, Request, delete
from litestar.di import NamedDependency
from litestar.params import FromPath

from api.asking import caller_of
from api.erasing import erase_player
from api.guards import only
from api.parts import Parts
from api.problems import invalid
from api.proof_answers import ErasedAnswer
from api.replies import FOR_HOST, PROBLEMS


class PlayersController(Controller):
    """People, as a host refers to them."""

    path = "/v1/players"
    tags = ("players",)

    @delete(
        "/{ref:path}",
        guards=[only("host")],
        security=FOR_HOST,
        operation_id="erasePlayer",
        summary="Erase a person",
        status_code=200,
        responses={s: PROBLEMS[s] for s in (400, 401, 403, 500, 503)},
    )
    async def erase(
        self, request: Request[Any, Any, Any], parts: NamedDependency[Parts], ref: FromPath[Path]
    ) -> ErasedAnswer:
        """Erase the person's name and reference from every game of the host, and what they wrote
        in disputes. The logs still verify; seats, tokens and scores stay. Asking again finishes
        what was interrupted."""
        named = _named(request)
        return ErasedAnswer(await erase_player(parts, caller_of(request), named))


def _named(request: Request[Any, Any, Any]) -> str:
    """The reference that the path ends in, to the letter: a host may call people by anything,
    slashes at either end included. Raises `invalid-request`."""
    raw = request.scope.get("raw_path") or b""  # the path has been tidied up on the way
    _, _, ref = unquote(raw.partition(b"?")[0]).partition("/v1/players/")
    if not ref or "\0" in ref:
        raise invalid("ref", "a reference, and no NUL characters")
    return ref
