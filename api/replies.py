"""Responses that every command gives alike, and the problems that any route may answer."""

from collections.abc import Mapping
from typing import Any, Final, TypeVar

import msgspec
from litestar import Litestar, Response
from litestar.openapi.datastructures import ResponseSpec
from litestar.response.base import ASGIResponse
from litestar.types import HTTPResponseStartEvent, Receive, Scope, Send

from api.problems import MEDIA_TYPE, TITLES, ProblemBody

T = TypeVar("T")

_encode: Final = msgspec.json.Encoder().encode

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


class Answer(Response[T]):
    """What a command brought about. Encoded and sent as it is: what the framework does besides for
    any response (cookies, media types, other formats) takes longer than the encoding."""

    def to_asgi_response(self, app: Litestar | None, request: Any, **more: Any) -> ASGIResponse:
        """The answer, encoded."""
        return _Encoded(_encode(self.content), self.status_code or 200, self.headers)


class _Encoded(ASGIResponse):
    def __init__(self, body: bytes, status_code: int, headers: Mapping[str, str]) -> None:
        self.body = body
        self.status_code = status_code
        self._start: Final[HTTPResponseStartEvent] = {
            "type": "http.response.start",
            "status": status_code,
            "headers": [
                (b"content-type", b"application/json"),
                (b"content-length", str(len(body)).encode()),
                *[(name.lower().encode(), value.encode()) for name, value in headers.items()],
            ],
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send(self._start)
        await send({"type": "http.response.body", "body": self.body, "more_body": False})


def created(body: T, replayed: bool, **headers: Any) -> Response[T]:
    """201 with what a command brought about, saying so where it is an answer given again."""
    named = {name.title(): str(value) for name, value in headers.items()}
    if replayed:
        named["Idempotent-Replayed"] = "true"
    return Answer(body, status_code=201, headers=named)
