"""Responses that every command gives alike, and the problems that any route may answer."""

from typing import Any, Final, TypeVar

from litestar import Response
from litestar.openapi.datastructures import ResponseSpec

from api.execute import Done
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
    if status not in (405, 429)
}
"""Declared for every route; which of them it can give follows from what it takes."""


def created(body: T, done: Done, **headers: Any) -> Response[T]:
    """201 with what a command brought about, saying so where it is an answer given again."""
    named = {name.title(): str(value) for name, value in headers.items()}
    if done.replayed:
        named["Idempotent-Replayed"] = "true"
    return Response(body, status_code=201, headers=named)
