"""The sockets of a process that serves: those it listens on, and the connections of its callers.

What the server's own code has no way to do: cut one connection, cut all, or accept no more while
whoever else listens on the same socket goes on.
"""

import os
import socket
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Final, TypeVar

Address = tuple[str, int]
T = TypeVar("T")


def cut(reader: Address) -> None:
    """Cut the connection to a peer. The server would wait until the peer has taken what it has
    buffered, which may be never."""
    _cut(lambda connection: connection.getpeername()[:2] == reader)


class Doors:
    """The listening sockets that this process has when it is asked."""

    def __init__(self) -> None:
        self._found: Final = [number for number, _ in _open(_listens)]
        self._ports: Final = {port for _, port in _open(_listens)}

    def close(self) -> None:
        """Accept no more. Whoever else has the sockets open (the process that made them, and a
        successor of this one) is not touched, so nobody who connects is turned away."""
        with socket.socket() as silent:
            # Nobody connects here: it is known to nobody, and closed to all but this machine.
            silent.bind(("127.0.0.1", 0))
            silent.listen(1)
            silent.setblocking(False)
            for number in self._found:
                # The server goes on to wait on the old socket, and finds nothing at the new one.
                os.dup2(silent.fileno(), number)

    def cut_all(self) -> None:
        """Cut every connection that came in through them."""
        _cut(lambda connection: connection.getsockname()[1] in self._ports)


def _listens(found: socket.socket) -> int | None:
    if found.family not in (socket.AF_INET, socket.AF_INET6):
        return None
    if not found.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
        return None
    port: int = found.getsockname()[1]
    return port


def _cut(meant: Callable[[socket.socket], bool]) -> None:
    def try_to(connection: socket.socket) -> bool:
        peer = connection.family in (socket.AF_INET, socket.AF_INET6) and connection.getpeername()
        if peer and meant(connection):
            connection.shutdown(socket.SHUT_RDWR)
            return True
        return False

    for _ in _open(try_to):
        pass


def _open(look: Callable[[socket.socket], T | None]) -> Iterator[tuple[int, T]]:
    """What a look at each of this process's sockets gives, where it gives something."""
    for name in os.listdir("/dev/fd"):
        try:
            # A duplicate stays what it is, whatever becomes of the number meanwhile.
            number = os.dup(int(name))
        except OSError:
            continue
        try:
            found = socket.socket(fileno=number)
        except OSError:
            os.close(number)
            continue
        with found, suppress(OSError):
            seen = look(found)
            if seen:
                yield int(name), seen
