"""Errors as `application/problem+json` (RFC 9457): one table of types, one place that answers.

Nothing here says more than the refusal it is given: no stack trace, no SQL, no hidden card.
"""

import logging
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final
from urllib.parse import quote

import msgspec
from litestar import Request, Response
from litestar.exceptions import HTTPException, ValidationException
from litestar.types import ExceptionHandlersMap

from api.logs import request as request_told
from domain.game import OptionError
from eventstore.records import StoreUnavailable

_OF_PATHS: Final = "/%!$&'()*+,;=:@"
"""What may stand in a path besides letters, digits and `-._~` (RFC 3986, 3.3)."""

MEDIA_TYPE: Final = "application/problem+json"

TITLES: Final[Mapping[str, tuple[int, str]]] = MappingProxyType(
    {
        "invalid-request": (400, "The request is not valid"),
        "unauthorized": (401, "The bearer token is missing or not valid"),
        "forbidden": (403, "The caller may not do this"),
        "not-found": (404, "There is no such thing here"),
        "method-not-allowed": (405, "The method is not allowed here"),
        "not-acceptable": (406, "There is no answer of the kind asked for"),
        "illegal-action": (409, "The rules forbid it now"),
        "version-conflict": (412, "The game stands at another version"),
        "too-large": (413, "The request is too large"),
        "idempotency-mismatch": (422, "The idempotency key was used for another request"),
        "rate-limited": (429, "Too many requests"),
        "internal-error": (500, "Something went wrong on our side"),
        "unavailable": (503, "The service cannot answer at the moment"),
    }
)
"""Status and title by type."""

_BY_STATUS: Final = {status: kind for kind, (status, _) in TITLES.items()}

_logger = logging.getLogger("fairdeal.api")


class ProblemField(msgspec.Struct, frozen=True):
    """A place in a request and what is wrong there; `path` is like `$.rules.lives`, or the name of
    a query parameter or header."""

    path: str
    message: str


class ProblemBody(msgspec.Struct, frozen=True, omit_defaults=True):
    """A problem as answered (RFC 9457). `errors` with `invalid-request`, `rule` and `version` with
    `illegal-action`, `version` with `version-conflict`."""

    type: str
    title: str
    status: int
    detail: str
    instance: str
    errors: tuple[ProblemField, ...] | None = None
    rule: str | None = None
    version: int | None = None
    request_id: str | None = None
    """With a status of 500 and above: under which the service's log tells what happened."""


class Problem(Exception):
    """An error to be answered: its type and the fields of that type."""

    def __init__(
        self,
        kind: str,
        detail: str,
        *,
        errors: tuple[ProblemField, ...] | None = None,
        rule: str | None = None,
        version: int | None = None,
        headers: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        super().__init__(f"{kind}: {detail}")
        self.kind: Final = kind
        self.detail: Final = detail
        self.errors: Final = errors
        self.rule: Final = rule
        self.version: Final = version
        self.headers: Final = headers


def unauthorized(detail: str) -> Problem:
    """401, saying how to sign in."""
    return Problem("unauthorized", detail, headers={"WWW-Authenticate": "Bearer"})


def not_found(detail: str = "There is no such game, or it is not yours to see.") -> Problem:
    """404, the same whether a game does not exist or is another's."""
    return Problem("not-found", detail)


def unavailable(detail: str) -> Problem:
    """503, to be tried again soon."""
    return Problem("unavailable", detail, headers={"Retry-After": "1"})


def key_mismatch() -> Problem:
    """422: the idempotency key stands for another request."""
    return Problem(
        "idempotency-mismatch", "The idempotency key was used before with another request."
    )


def invalid(path: str, message: str) -> Problem:
    """400 for one place of the request."""
    return Problem("invalid-request", f"{path}: {message}", errors=(ProblemField(path, message),))


def invalid_body(error: msgspec.MsgspecError | RecursionError) -> Problem:
    """400 for a body that is no JSON, or not of the shape asked for."""
    if not isinstance(error, msgspec.ValidationError):
        return invalid("$", "the body is not valid JSON")
    message, _, where = str(error).partition(" - at `")
    # A bad key is told as "`key` in `$.labels`".
    path = where.rpartition("`")[0].rpartition("`")[2] or "$"
    if "unknown field `" in message or "required field `" in message:
        path = f"{path}.{message.split('`')[1]}"
    return invalid(path, message)


def problem_body(problem: Problem, path: str) -> ProblemBody:
    """What is told of a problem of a request with this path."""
    status, title = TITLES[problem.kind]
    told = request_told.get()
    return ProblemBody(
        type=f"/problems/{problem.kind}",
        title=title,
        status=status,
        detail=problem.detail,
        instance=path,
        errors=problem.errors,
        rule=problem.rule,
        version=problem.version,
        request_id=told.request if status >= 500 and told is not None else None,
    )


def answer(request: Request[Any, Any, Any], problem: Problem) -> Response[ProblemBody]:
    """The response for a problem."""
    # As it was sent: RFC 9457 has a URI reference here, and the framework's path is decoded.
    sent = request.scope.get("raw_path") or quote(request.scope["path"]).encode()
    body = problem_body(problem, quote(sent.partition(b"?")[0], safe=_OF_PATHS))
    headers = dict(problem.headers)
    if body.status == 413:
        # The rest of the body is not read, so nothing more can come over this connection.
        headers["Connection"] = "close"
    return Response(body, status_code=body.status, media_type=MEDIA_TYPE, headers=headers)


def _invalid_option(request: Request[Any, Any, Any], error: OptionError) -> Response[ProblemBody]:
    return answer(request, invalid(error.path, error.message))


def _unavailable(request: Request[Any, Any, Any], error: StoreUnavailable) -> Response[ProblemBody]:
    _logger.warning("%s", error)
    return answer(request, unavailable("The database does not answer; try again."))


def _invalid_parameters(
    request: Request[Any, Any, Any], error: ValidationException
) -> Response[ProblemBody]:
    extra = error.extra if isinstance(error.extra, list) else []
    # The framework adds every path parameter that the handler does not name.
    found = [
        e
        for e in extra
        if e.get("key") not in request.path_params or e.get("message") != repr(e.get("key"))
    ]
    if any(item.get("key") == "data" for item in found):
        return answer(request, invalid("$", "the body is missing"))
    # `state` is a word of the framework's: the parameter goes by another name in the code.
    errors = tuple(
        [
            ProblemField(str(e.get("key", "$")).removeprefix("in_"), str(e.get("message", "")))
            for e in found
        ]
    )
    names = ", ".join(field.path for field in errors)
    detail = f"Not valid: {names}" if names else "A parameter is not valid."
    return answer(request, Problem("invalid-request", detail, errors=errors))


def _http(request: Request[Any, Any, Any], error: HTTPException) -> Response[ProblemBody]:
    status = error.status_code
    if status >= 500:
        _logger.error("a request failed", exc_info=error)
    headers = dict(error.headers or {})
    if "GET" in headers.get("allow", ""):
        headers["allow"] += ", HEAD"
    kind = _BY_STATUS.get(status) or ("invalid-request" if status < 500 else "internal-error")
    detail = TITLES[kind][1] + "." if status >= 500 else str(error.detail)
    return answer(request, Problem(kind, detail, headers=headers))


def _unexpected(request: Request[Any, Any, Any], error: Exception) -> Response[ProblemBody]:
    _logger.error("a request failed", exc_info=error)
    return answer(request, Problem("internal-error", "The request could not be carried out."))


HANDLERS: Final[ExceptionHandlersMap] = {
    Problem: answer,
    OptionError: _invalid_option,
    StoreUnavailable: _unavailable,
    ValidationException: _invalid_parameters,
    HTTPException: _http,
    Exception: _unexpected,
}
