"""POST to addresses that others have named, without being sent into our own network.

A name is resolved once, every address that it has is judged, and the connection is made to one of
those very addresses: a name that means something else a moment later (DNS rebinding) leads nowhere.
Redirects are not followed, proxies of the environment not used, and little of an answer is read.
"""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from types import TracebackType
from typing import Any, Final, Self, TypeAlias

import httpcore

Address: TypeAlias = IPv4Address | IPv6Address
Resolve: TypeAlias = Callable[[str, int], Awaitable[Sequence[str]]]
"""From a host name and a port to addresses. Raises OSError where the name means nothing."""

_NAT64: Final = IPv6Network("64:ff9b::/96")
_MOST_READ: Final = 16_384
"""Bytes of an answer that are read at most."""
_CONNECTIONS: Final = 64
_KEPT_SECONDS: Final = 5.0


class Unreached(Exception):
    """No answer came; the message says why, and quotes nothing of what was sent."""


def is_public(address: Address) -> bool:
    """Whether an address is one of the public Internet's: neither private, of this machine or this
    link, multicast, reserved, nor such a one in IPv6 clothes (mapped, 6to4, Teredo, NAT64)."""
    if isinstance(address, IPv6Address):
        if address in _NAT64:
            return is_public(IPv4Address(int(address) & 0xFFFF_FFFF))
        inner = address.ipv4_mapped or address.sixtofour
        if inner is not None:
            return is_public(inner)
        if address.is_site_local or address.teredo is not None:
            return False
    return address.is_global and not (
        address.is_private
        or address.is_multicast
        or address.is_reserved
        or address.is_unspecified
        or address.is_loopback
        or address.is_link_local
    )


def literal(host: str) -> Address | None:
    """The address that a host of a URL is, None for a name."""
    try:
        return ip_address(host)
    except ValueError:
        return None


async def resolved(host: str, port: int) -> list[str]:
    """All addresses of a name, as the system resolves it. Raises OSError."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys([str(address[0]) for *_, address in found]))


class GuardedBackend(httpcore.AsyncNetworkBackend):
    """Connections to public addresses alone (or to any, with `private`)."""

    def __init__(self, *, private: bool, resolve: Resolve = resolved) -> None:
        self._private: Final = private
        self._resolve: Final = resolve
        self._plain: Final = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """A connection to the host. Raises Unreached where it has an address that is not allowed,
        httpcore's errors where it cannot be reached."""
        try:
            addresses = await self._resolve(host, port)
        except (OSError, UnicodeError):
            raise Unreached("the host's name is not known") from None
        if not self._private and not all([is_public(ip_address(a)) for a in addresses]):
            raise Unreached("the host has a private address, to which nothing is sent")
        trouble: Exception = Unreached("the host has no address")
        for address in addresses:
            try:
                return await self._plain.connect_tcp(
                    address, port, timeout, local_address, socket_options
                )
            except httpcore.ConnectError as error:
                trouble = error
        raise trouble

    async def sleep(self, seconds: float) -> None:
        """Wait between attempts of httpcore's own."""
        await asyncio.sleep(seconds)


class Outbound:
    """What POSTs: `async with Outbound(…) as outbound`."""

    def __init__(self, *, private: bool, seconds: float, resolve: Resolve = resolved) -> None:
        """`seconds` is how long a request may take in all."""
        self._seconds: Final = seconds
        self._pool: Final = httpcore.AsyncConnectionPool(
            max_connections=_CONNECTIONS,
            keepalive_expiry=_KEPT_SECONDS,
            network_backend=GuardedBackend(private=private, resolve=resolve),
        )

    async def __aenter__(self) -> Self:
        await self._pool.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._pool.__aexit__(kind, error, trace)

    async def post(self, url: str, headers: Mapping[bytes | str, bytes | str], body: bytes) -> int:
        """The status of the answer. Raises Unreached."""
        try:
            async with (
                asyncio.timeout(self._seconds),
                self._pool.stream("POST", url, headers=headers, content=body) as answer,
            ):
                read = 0
                async for piece in answer.aiter_stream():
                    read += len(piece)
                    if read > _MOST_READ:
                        break
                return int(answer.status)
        except (TimeoutError, httpcore.TimeoutException):
            raise Unreached(f"no answer within {self._seconds:g} seconds") from None
        except httpcore.ConnectError as error:
            raise Unreached(f"no connection: {error}"[:200]) from None
        except (httpcore.NetworkError, httpcore.ProtocolError):
            raise Unreached("the connection ended without an answer") from None
