"""The file form of a log: NDJSON, a header line, then one event a line, then perhaps receipts.

Pure: lines in, lines out. Source: contract, *The log*, `GET …/export`.
"""

from base64 import urlsafe_b64decode
from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec

from domain.events import encode_canonical
from domain.log import Entry, EventView, Part
from domain.times import parse_at

FORMAT: Final = "fairdeal-log/1"


class Header(msgspec.Struct, frozen=True):
    """The first line: what the file is, and whose eyes it was made for."""

    format: str
    game: str
    id: str
    rules_version: int
    viewer: dict[str, Any]
    keys: tuple[dict[str, Any], ...] = ()


class Export(msgspec.Struct, frozen=True):
    """A whole file, read."""

    header: Header
    entries: tuple[Entry, ...]
    receipts: tuple[dict[str, Any], ...]


class BadExport(Exception):
    """A line of the file cannot be read. `line` counts from 1."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(f"line {line}: {message}")
        self.line: Final = line
        self.message: Final = message


class _PartLine(msgspec.Struct):
    audience: Any = msgspec.field(name="for")
    digest: str
    salt: str | None = None
    data: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    erased: bool = False


class _EventLine(msgspec.Struct):
    game: str
    version: int
    type: str
    at: str
    actor: int | None
    command: str
    schema: int
    data: msgspec.Raw
    sealed: list[_PartLine]
    prev: str
    hash: str


class _Line(msgspec.Struct, forbid_unknown_fields=True):
    header: Header | None = None
    event: _EventLine | None = None
    receipt: dict[str, Any] | None = None


_read_line: Final = msgspec.json.Decoder(_Line).decode
_read_event: Final = msgspec.json.Decoder(_EventLine).decode
_write: Final = msgspec.json.encode


def lines(
    header: Header, events: Iterable[EventView], receipts: Iterable[dict[str, Any]] = ()
) -> Iterator[bytes]:
    """The file, line by line, each with its newline."""
    yield _write({"header": header}) + b"\n"
    for event in events:
        yield _write({"event": event}) + b"\n"
    for receipt in receipts:
        yield _write({"receipt": receipt}) + b"\n"


def read(file: Iterable[bytes]) -> Export:
    """The file again. Data is brought into canonical form, so a file that was reformatted reads the
    same. Raises BadExport."""
    header: Header | None = None
    entries: list[Entry] = []
    receipts: list[dict[str, Any]] = []
    for number, raw in enumerate(file, 1):
        if not raw.strip():
            continue
        try:
            line = _read_line(raw)
            if line.header is not None:
                header = line.header
            elif header is None:
                raise BadExport(number, "the header is missing")
            elif line.event is not None:
                if line.event.game != header.id:
                    raise BadExport(number, f"event of game {line.event.game} in {header.id}")
                entries.append(_entry(line.event))
            elif line.receipt is not None:
                receipts.append(line.receipt)
        except (msgspec.MsgspecError, ValueError, UnicodeError) as error:
            raise BadExport(number, str(error)) from error
    if header is None:
        raise BadExport(1, "the header is missing")
    if header.format != FORMAT:
        raise BadExport(1, f"format {header.format!r} is not {FORMAT!r}")
    return Export(header, tuple(entries), tuple(receipts))


def read_events(lines: Iterable[bytes]) -> tuple[Entry, ...]:
    """Events alone, one a line, as `GET …/events` streams them. Raises BadExport."""
    entries: list[Entry] = []
    for number, line in enumerate(lines, 1):
        try:
            entries.append(_entry(_read_event(line)))
        except (msgspec.MsgspecError, ValueError, UnicodeError) as error:
            raise BadExport(number, str(error)) from error
    return tuple(entries)


def _entry(line: _EventLine) -> Entry:
    return Entry(
        version=line.version,
        type=line.type,
        schema=line.schema,
        at=parse_at(line.at),
        actor=line.actor,
        command=line.command,
        data=_canonical(line.data),
        prev=bytes.fromhex(line.prev),
        hash=bytes.fromhex(line.hash),
        sealed=tuple([_part(part) for part in line.sealed]),
    )


def _part(line: _PartLine) -> Part:
    body = None if isinstance(line.data, msgspec.UnsetType) else _canonical(line.data)
    salt = None
    if line.salt is not None:
        salt = urlsafe_b64decode(line.salt + "=" * (-len(line.salt) % 4))
    return Part(encode_canonical(line.audience).decode(), bytes.fromhex(line.digest), salt, body)


def _canonical(raw: msgspec.Raw) -> bytes:
    return encode_canonical(msgspec.json.decode(raw))
