"""How a live stream travels: sent as far as its reader takes it, and no further.

The server's `send` waits while the buffers towards a reader are full, so nothing piles up here. A
reader who takes nothing for too long is dropped; one who leaves ends the stream at once.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any, Final

from litestar import Request, Response
from litestar.response.streaming import ASGIStreamingResponse
from litestar.types import HTTPResponseBodyEvent, Receive, Scope, Send
from prometheus_client import Counter, Gauge

from api import connections

MEDIA_TYPE: Final = "text/event-stream"

_LAST_WORDS_SECONDS: Final = 1.0
"""How long a reader may take for what is sent when the process ends."""
_OPEN: Final = Gauge("fairdeal_live_streams", "Live streams open now", multiprocess_mode="livesum")
_STALLED: Final = Counter("fairdeal_live_streams_stalled", "Live streams nobody took anything from")

_logger = logging.getLogger("fairdeal.api")


class StalledReader(Exception):
    """A reader took nothing for too long."""


class Patience:
    """How long the readers of a process may take for what is sent to them."""

    def __init__(self, stall_seconds: float) -> None:
        self._seconds = stall_seconds
        self._sending: Final[set[asyncio.Timeout]] = set()

    async def send(self, send: Send, body: bytes, *, more: bool = True) -> None:
        """Send a piece of a body within the time. Raises StalledReader."""
        event: HTTPResponseBodyEvent = {
            "type": "http.response.body",
            "body": body,
            "more_body": more,
        }
        try:
            async with asyncio.timeout(self._seconds) as limit:
                self._sending.add(limit)
                try:
                    await send(event)
                finally:
                    self._sending.discard(limit)
        except TimeoutError:
            raise StalledReader from None

    def end(self) -> None:
        """The process is about to end: what is sent from now on is taken at once or never."""
        self._seconds = min(self._seconds, _LAST_WORDS_SECONDS)
        soon = asyncio.get_running_loop().time() + self._seconds
        for limit in self._sending:
            limit.reschedule(soon)


class LiveResponse(Response[Any]):
    """A live stream as the answer to a request."""

    def __init__(self, messages: AsyncGenerator[bytes, None], patience: Patience) -> None:
        super().__init__(None, media_type=MEDIA_TYPE, headers={"X-Accel-Buffering": "no"})
        self._messages: Final = messages
        self._patience: Final = patience

    def to_asgi_response(
        self, app: Any, request: Request[Any, Any, Any], **more: Any
    ) -> "_StreamedResponse":
        """The response as it is sent."""
        return _StreamedResponse(
            self._messages,
            self._patience,
            request.scope,
            headers=dict(more.get("headers") or {}) | dict(self.headers),
        )


class _StreamedResponse(ASGIStreamingResponse):
    def __init__(
        self,
        messages: AsyncGenerator[bytes, None],
        patience: Patience,
        scope: Scope,
        headers: dict[str, str],
    ) -> None:
        super().__init__(iterator=messages, media_type=MEDIA_TYPE, headers=headers)
        self._messages: Final = messages
        self._patience: Final = patience
        self._scope: Final = scope

    async def send_body(self, send: Send, receive: Receive) -> None:
        """Send all there is, until the reader leaves or stalls."""
        sending = asyncio.create_task(self._send_all(send))
        leaving = asyncio.create_task(_left(receive))
        with _OPEN.track_inprogress():
            try:
                await asyncio.wait([sending, leaving], return_when=asyncio.FIRST_COMPLETED)
            finally:
                for task in (sending, leaving):
                    task.cancel()
                await asyncio.wait([sending, leaving])
        if not sending.cancelled():
            sending.result()

    async def _send_all(self, send: Send) -> None:
        async with aclosing(self._messages) as messages:
            try:
                async for message in messages:
                    await self._patience.send(send, message)
                await self._patience.send(send, b"", more=False)
            except StalledReader:
                _STALLED.inc()
                _logger.info("a live stream was dropped: its reader took nothing")
                connections.cut(self._scope)


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
