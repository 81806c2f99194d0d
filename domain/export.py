"""The file form of a log: NDJSON, a header line, then one event a line, then perhaps receipts.

Pure: lines in, lines out. Reading is strict, so that a file says one thing only: whatever a reader
in another language might read differently is a fault. Source: contract, *The log*, `GET …/export`.
"""

import json
from collections.abc import Iterable, Iterator
from typing import Annotated, Any, Final, Literal

import msgspec

from domain import base64url
from domain.events import encode_canonical
from domain.log import Entry, EventView, Part
from domain.receipts import PublicKey, Receipt
from domain.seats import Seat
from domain.times import parse_at

FORMAT: Final = "fairdeal-log/1"


class Header(msgspec.Struct, frozen=True):
    """The first line: what the file is, and whose eyes it was made for."""

    format: str
    game: str
    id: str
    rules_version: int
    viewer: dict[str, Any]
    keys: tuple[PublicKey, ...] = ()


class Fault(msgspec.Struct, frozen=True):
    """An event or receipt that is not in the log's form, and so was left out: the line, for an
    event the version that was expected there, and why."""

    line: int
    version: int | None
    reason: str


class Export(msgspec.Struct, frozen=True):
    """A whole file, read. Nothing may be built on one with `faults`; `verify` reports them."""

    header: Header
    entries: tuple[Entry, ...]
    receipts: tuple[Receipt, ...]
    faults: tuple[Fault, ...] = ()


class BadExport(Exception):
    """The file is not a log at all. `line` counts from 1."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(f"line {line}: {message}")
        self.line: Final = line
        self.message: Final = message


class _PartLine(msgspec.Struct):
    audience: Literal["table", "all"] | list[Seat] = msgspec.field(name="for")
    digest: str
    salt: str | None = None
    data: Any = msgspec.UNSET
    erased: bool = False


class _EventLine(msgspec.Struct):
    game: str
    version: Annotated[int, msgspec.Meta(ge=1)]
    type: str
    at: str
    actor: Annotated[int, msgspec.Meta(ge=0)] | None
    command: str
    schema: Annotated[int, msgspec.Meta(ge=1)]
    data: dict[str, Any]
    sealed: list[_PartLine]
    prev: str
    hash: str


class _Line(msgspec.Struct, forbid_unknown_fields=True):
    header: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    event: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    receipt: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET

    def only(self) -> tuple[str, bytes]:
        """The name and JSON of the one field that is there. Raises ValueError."""
        found = [(n, r) for n in ("header", "event", "receipt") if (r := getattr(self, n))]
        if len(found) != 1:
            raise ValueError("a line holds one of header, event and receipt")
        return found[0]


_read_line: Final = msgspec.json.Decoder(_Line).decode
_write: Final = msgspec.json.encode

_UNREADABLE: Final = (msgspec.MsgspecError, ValueError, RecursionError)


def lines(
    header: Header, events: Iterable[EventView], receipts: Iterable[Receipt] = ()
) -> Iterator[bytes]:
    """The file, line by line, each with its newline."""
    yield _write({"header": header}) + b"\n"
    for event in events:
        yield _write({"event": event}) + b"\n"
    for receipt in receipts:
        yield _write({"receipt": receipt}) + b"\n"


def read(file: Iterable[bytes]) -> Export:
    """The file again. Data is brought into canonical form, so a file that was reformatted reads the
    same. Raises BadExport where a line is no JSON of this format; an event or receipt that departs
    from the log's form becomes a fault."""
    header: Header | None = None
    entries: list[Entry] = []
    receipts: list[Receipt] = []
    faults: list[Fault] = []
    for number, raw in enumerate(file, 1):
        if not raw.strip():
            continue
        try:
            kind, text = _read_line(raw).only()
            if (kind == "header") != (header is None):
                raise ValueError("the header is missing" if header is None else "a second header")
            if header is None:
                header = msgspec.convert(_strict(text), Header)
                if header.format != FORMAT:
                    raise ValueError(f"format {header.format!r} is not {FORMAT!r}")
                _plain(header.id)
                continue
        except _UNREADABLE as error:
            raise BadExport(number, str(error)) from error
        position = len(entries) + sum(fault.version is not None for fault in faults) + 1
        try:
            if kind == "event":
                entries.append(_entry(header.id, _strict(text)))
            else:
                receipts.append(msgspec.convert(_strict(text), Receipt))
        except _UNREADABLE as error:
            version = position if kind == "event" else None
            faults.append(Fault(number, version, str(error)))
    if header is None:
        raise BadExport(1, "the header is missing")
    return Export(header, tuple(entries), tuple(receipts), tuple(faults))


def read_events(lines: Iterable[bytes]) -> tuple[Entry, ...]:
    """Events of one game alone, one a line, as `GET …/events` streams them. Raises BadExport."""
    entries: list[Entry] = []
    game: str | None = None
    for number, line in enumerate(lines, 1):
        try:
            value = _strict(line)
            game = _plain(str(value["game"])) if game is None else game
            entries.append(_entry(game, value))
        except (*_UNREADABLE, KeyError, TypeError) as error:
            raise BadExport(number, str(error)) from error
    return tuple(entries)


def _entry(game: str, value: Any) -> Entry:
    line = msgspec.convert(value, _EventLine)
    if line.game != game:
        raise ValueError(f"an event of game {line.game!r} in the log of {game}")
    return Entry(
        version=line.version,
        type=_plain(line.type),
        schema=line.schema,
        at=parse_at(line.at),
        actor=line.actor,
        command=_plain(line.command),
        data=encode_canonical(line.data),
        prev=_hash(line.prev),
        hash=_hash(line.hash),
        sealed=tuple([_part(part) for part in line.sealed]),
    )


def _part(line: _PartLine) -> Part:
    seats = line.audience
    if isinstance(seats, list) and seats != sorted(set(seats)):
        raise ValueError(f"seats of a sealed part are not ascending: {seats}")
    return Part(
        audience=encode_canonical(seats).decode(),
        digest=_hash(line.digest),
        salt=None if line.salt is None else base64url.decode(line.salt),
        body=None if line.data is msgspec.UNSET else encode_canonical(line.data),
    )


def _hash(text: str) -> bytes:
    raw = bytes.fromhex(text)
    if len(raw) != 32 or raw.hex() != text:
        raise ValueError(f"not 64 lower-case hex digits: {text!r}")
    return raw


def _plain(text: str) -> str:
    """A name that JSON writes as it is: hashes are made of such names without looking."""
    if encode_canonical(text) != f'"{text}"'.encode():
        raise ValueError(f"not a plain name: {text!r}")
    return text


def _strict(text: bytes) -> Any:
    """JSON that reads the same everywhere: no member twice or outside ASCII, whole numbers that a
    double can hold. Raises ValueError."""
    return json.loads(
        bytes(text).decode(),
        object_pairs_hook=_members,
        parse_int=_whole,
        parse_float=_no_float,
        parse_constant=_no_float,
    )


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs) or not all(map(str.isascii, found)):
        raise ValueError(f"a member name twice, or outside ASCII: {list(found)}")
    return found


def _whole(digits: str) -> int:
    number = int(digits) if len(digits) < 18 else 2**64
    if abs(number) >= 2**53:
        raise ValueError(f"a number that not everyone reads alike: {digits[:20]}")
    return number


def _no_float(digits: str) -> None:
    raise ValueError(f"a number that is not whole: {digits[:20]}")
