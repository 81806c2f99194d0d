"""Responses that every command gives alike, and the problems that any route may answer."""

from typing import Any, Final, TypeVar

from litestar import Response
from litestar.openapi.datastructures import ResponseSpec

from api.problems import MEDIA_TYPE, TITLES, ProblemBody

T = TypeVar("T")

PROBLEMS: Final[dict[int, ResponseSpec]] = {
    status: ResponseSpec(
        ProblemBody,
        generate_examples=False,
        description=title,
        media_type=MEDIA_TYPE,
    )
    for status, title in TITLES.values()
    if status != 405
}
READING: Final = {status: PROBLEMS[status] for status in (400, 401, 403, 404, 429, 500, 503)}
"""What one who looks at a game may be told."""
COMMANDING: Final = PROBLEMS
"""What one who wants something done in a game may be told."""
FOR_HOST: Final[list[dict[str, list[str]]]] = [{"hostKey": []}]
FOR_SEAT: Final[list[dict[str, list[str]]]] = [{"seatToken": []}]
FOR_PARTIES: Final[list[dict[str, list[str]]]] = [{"seatToken": []}, {"hostKey": []}]
FOR_ALL: Final[list[dict[str, list[str]]]] = [
    {"seatToken": []},
    {"spectatorToken": []},
    {"hostKey": []},
]


def created(body: T, replayed: bool, **headers: Any) -> Response[T]:
    """201 with what a command brought about, saying so where it is an answer given again."""
    named = {name.title(): str(value) for name, value in headers.items()}
    if replayed:
        named["Idempotent-Replayed"] = "true"
    return Response(body, status_code=201, headers=named)
