"""The workers of one service tell one another what they have appended, so that a game may move from
one to another, as its players' connections do, without being read again, and whoever waits for it
is woken at once.

A hint, as all that is said here may get lost: whoever misses something reads it from the store, and
every append checks on which state it was decided. Datagrams between Unix sockets in the service's
run folder, which nobody else may enter; what they carry includes hidden cards.
"""

import asyncio
import os
import secrets
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, TypeAlias

import msgspec

from api.children import RUN_FOLDER_ENV

_PREFIX: Final = "sibling-"
_LOOK_SECONDS: Final = 0.5
"""How long a new worker may be overlooked."""
_MOST_BYTES: Final = 48_000
"""Of a datagram. What is longer is left to be read."""

_encode: Final = msgspec.msgpack.Encoder().encode
_decode: Final = msgspec.msgpack.Decoder(list[tuple[str, int, bytes]]).decode

Heard: TypeAlias = Callable[[str, int, bytes], None]
"""Called with what another worker tells: a game's id, its version by now, and news of it."""


class Siblings:
    """This worker's socket, and the way to those of the others."""

    def __init__(self, folder: Path, heard: Heard) -> None:
        """Raises OSError where no socket can be bound in the folder."""
        self._folder: Final = folder
        self._heard: Final = heard
        self._own: Final = folder / f"{_PREFIX}{os.getpid()}-{secrets.token_hex(4)}"
        self._others: set[str] = set()
        self._untold: list[tuple[str, int, bytes]] = []
        self._socket: Final = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.setblocking(False)
        try:
            self._socket.bind(str(self._own))
        except OSError:
            self._socket.close()
            raise
        self._loop: Final = asyncio.get_running_loop()
        self._loop.add_reader(self._socket, self._readable)
        self._look()

    @property
    def alone(self) -> bool:
        """Whether there is nobody to tell."""
        return not self._others

    def tell(self, game_id: str, version: int, news: bytes) -> None:
        """Tell the others at the end of this turn of the loop, with whatever else it brings."""
        if not self._untold:
            self._loop.call_soon(self._send)
        self._untold.append((game_id, version, news))

    async def run(self) -> None:
        """Look for other workers, for ever."""
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            self._look()

    def close(self) -> None:
        """Be told nothing more."""
        self._loop.remove_reader(self._socket)
        self._socket.close()
        self._own.unlink(missing_ok=True)

    def _look(self) -> None:
        with suppress(OSError):
            names = [name for name in os.listdir(self._folder) if name.startswith(_PREFIX)]
            self._others = {str(self._folder / name) for name in names if name != self._own.name}

    def _send(self) -> None:
        untold, self._untold = self._untold, []
        for datagram in _datagrams(untold):
            for other in list(self._others):
                try:
                    self._socket.sendto(datagram, other)
                except (ConnectionRefusedError, FileNotFoundError):
                    # It ended without a word.
                    self._others.discard(other)
                    Path(other).unlink(missing_ok=True)
                except OSError:
                    # It is busy, or this has closed: it reads what it misses.
                    continue

    def _readable(self) -> None:
        with suppress(OSError):
            while True:
                datagram = self._socket.recv(2 * _MOST_BYTES)
                # What a worker of another version means by it nobody knows.
                with suppress(msgspec.MsgspecError):
                    for told in _decode(datagram):
                        self._heard(*told)


def _datagrams(untold: list[tuple[str, int, bytes]]) -> Iterator[bytes]:
    together: list[tuple[str, int, bytes]] = []
    size = 0
    for item in untold:
        more = len(item[0]) + len(item[2])
        if more > _MOST_BYTES:
            continue
        if size + more > _MOST_BYTES:
            yield _encode(together)
            together, size = [], 0
        together.append(item)
        size += more
    if together:
        yield _encode(together)


@contextmanager
def siblings(heard: Heard) -> Iterator[Siblings | None]:
    """The way to the other workers of this process' service; None for a process that is no worker
    of one, or where no socket can be made."""
    folder = os.environ.get(RUN_FOLDER_ENV)
    found: Siblings | None = None
    if folder:
        # A path may be too long for a socket: then games are read again.
        with suppress(OSError):
            found = Siblings(Path(folder), heard)
    try:
        yield found
    finally:
        if found is not None:
            found.close()
