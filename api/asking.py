"""From a request to a command: conditional and idempotency headers, the same for every command."""

import re
from hashlib import sha256
from typing import Annotated, Any, Final

import msgspec
from litestar import Request
from litestar.params import HeaderParameter

from api.access import Access
from api.execute import Asked
from api.identity import Caller
from api.problems import invalid
from domain.actions import Action
from domain.table.commands import TableCommand
from eventstore.records import CallerKey

IfMatch = Annotated[
    str | None,
    HeaderParameter(
        name="If-Match",
        description='The version that the game must stand at, as an ETag: `"41"`.',
    ),
]
IdempotencyKey = Annotated[
    str | None,
    HeaderParameter(
        name="Idempotency-Key",
        description="The same key and request again gives the first answer again "
        "(at most 255 characters).",
    ),
]

_LONGEST_KEY: Final = 255
_ETAG: Final = re.compile(r'(?:W/)?"?(\d{1,10})"?')


def caller_of(request: Request[Any, Any, Any]) -> Caller:
    """Who asks, as the guard has found."""
    caller: Caller = request.scope["state"]["caller"]
    return caller


def access_of(request: Request[Any, Any, Any]) -> Access:
    """The caller and the game, as the guard has found."""
    access: Access = request.scope["state"]["access"]
    return access


def versions(etags: str | None) -> frozenset[int] | None:
    """The versions that an `If-Match` or `If-None-Match` header names; None for any (`*`, or no
    header). An ETag that is none of ours names no version."""
    if etags is None or etags.strip() == "*":
        return None
    found = [_ETAG.fullmatch(tag.strip()) for tag in etags.split(",")]
    return frozenset([int(match[1]) for match in found if match])


def caller_key(
    request: Request[Any, Any, Any],
    scope: str,
    data: Any,
    key: str | None,
    if_match: str | None = None,
) -> CallerKey | None:
    """The caller's idempotency key with what it was used for. Raises `invalid-request`."""
    if key is None:
        return None
    if not 1 <= len(key) <= _LONGEST_KEY:
        raise invalid("Idempotency-Key", f"1 to {_LONGEST_KEY} characters")
    named = f"{caller_of(request).name}\n{key}".encode()
    used_for = msgspec.json.encode(
        [request.method, request.scope["path"], if_match, data], order="sorted"
    )
    return CallerKey(scope, sha256(named).digest(), sha256(named + b"\n" + used_for).digest())


def asked(
    request: Request[Any, Any, Any],
    ask: Action | TableCommand,
    if_match: str | None,
    key: str | None,
) -> Asked:
    """A command about the game of the path."""
    access = access_of(request)
    return Asked(
        caller=access.caller,
        ask=ask,
        key=caller_key(request, access.known.table.id, ask, key, if_match),
        if_match=versions(if_match),
    )
