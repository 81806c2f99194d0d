"""HEAD: whatever GET would answer, without the body (RFC 9110, 9.3.2). No route knows of it."""

from typing import Final

from litestar.types import (
    ASGIApp,
    HTTPDisconnectEvent,
    HTTPResponseBodyEvent,
    Message,
    Receive,
    Scope,
    Send,
)

_NO_BODY: Final[HTTPResponseBodyEvent] = {
    "type": "http.response.body",
    "body": b"",
    "more_body": False,
}


class HeadAsGet:
    """An application that takes HEAD for GET and keeps the body back. What would be streamed ends
    with its head: to the application the reader has left."""

    def __init__(self, app: ASGIApp) -> None:
        self._app: Final = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope.get("method") != "HEAD":
            await self._app(scope, receive, send)
            return
        scope["method"] = "GET"  # type: ignore[typeddict-unknown-key]

        async def send_head(message: Message) -> None:
            if message["type"] == "http.response.start":
                # The server must know, to let a body be missing.
                scope["method"] = "HEAD"  # type: ignore[typeddict-unknown-key]
                await send(message)
                await send(_NO_BODY)

        await self._app(scope, _left, send_head)


async def _left() -> HTTPDisconnectEvent:
    return {"type": "http.disconnect"}
