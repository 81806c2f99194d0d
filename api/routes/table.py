"""`/` and `/table/…`: the table in the browser, files that anyone may read.

The page is a client like any other: what it can do it does by the public contract, from its own
origin alone. Nothing here looks at a game.
"""

from functools import cache
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Annotated, Final

import msgspec
from litestar import Controller, Response
from litestar.params import FromPath, HeaderParameter

from api.guards import get
from api.problems import not_found

_HEADERS: Final = MappingProxyType(
    {
        "Content-Security-Policy": "default-src 'self'; object-src 'none'; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    }
)
"""What a browser is told with every file: to load nothing from elsewhere, run no script but our
own files, and be shown in nobody's frame."""

_MEDIA_TYPES: Final = MappingProxyType(
    {
        ".css": "text/css",
        ".html": "text/html",
        ".js": "text/javascript",
        ".svg": "image/svg+xml",
    }
)
"""By the ends of names; a file of another kind is not served."""

IfNoneMatch = Annotated[str | None, HeaderParameter(name="If-None-Match")]


class StaticFile(msgspec.Struct, frozen=True):
    """A file as it is served."""

    body: bytes
    media_type: str
    etag: str


class TableController(Controller):
    """The page and its parts. No part of the API: clients need none of it."""

    include_in_schema = False

    @get("/")
    async def page(self, if_none_match: IfNoneMatch = None) -> Response[bytes]:
        """The page."""
        return _answer("index.html", if_none_match)

    @get("/table/{path:path}")
    async def part(
        self, path: FromPath[PurePosixPath], if_none_match: IfNoneMatch = None
    ) -> Response[bytes]:
        """A module, a style sheet or a picture of the page."""
        return _answer(str(path).lstrip("/"), if_none_match)


@cache
def static_files() -> dict[str, StaticFile]:
    """The files of the page by path, read once: what is not among them does not exist."""
    return dict(_below(files("api").joinpath("table"), PurePosixPath()))


def _below(folder: Traversable, path: PurePosixPath) -> list[tuple[str, StaticFile]]:
    found: list[tuple[str, StaticFile]] = []
    for item in folder.iterdir():
        inner = path / item.name
        if item.is_dir():
            found.extend(_below(item, inner))
        elif inner.suffix in _MEDIA_TYPES:
            body = item.read_bytes()
            etag = f'"{sha256(body).hexdigest()[:32]}"'
            found.append((str(inner), StaticFile(body, _MEDIA_TYPES[inner.suffix], etag)))
    return found


def _answer(path: str, if_none_match: str | None) -> Response[bytes]:
    file = static_files().get(path)
    if file is None:
        raise not_found("There is no such page.")
    headers = {**_HEADERS, "ETag": file.etag}
    if if_none_match is not None and file.etag in if_none_match:
        return Response(b"", status_code=304, headers=headers, media_type=file.media_type)
    return Response(file.body, headers=headers, media_type=file.media_type)
