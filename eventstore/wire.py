"""Parameters in Postgres' binary form, and the numbers that keys hold. Opens no connection.

Every statement of the store is typed by the function or the casts it calls, so parameters go out
as plain bytes without a type of their own. One prepared statement then serves every mix of values
and NULLs, and an array of events costs one `join`.
"""

from collections.abc import Iterable, Sequence
from hashlib import sha256
from struct import Struct
from typing import Final

from psycopg.adapt import AdaptersMap, Buffer, Dumper
from psycopg.postgres import adapters
from psycopg.pq import Format

LANES: Final = 16

_INT2: Final = Struct("!h").pack
_INT4: Final = Struct("!i").pack
_INT8: Final = Struct("!q").pack
_ARRAY: Final = Struct("!iiIii").pack
_LENGTHS: Final = tuple(_INT4(length) for length in range(1024))
_NULL: Final = _INT4(-1)

_OID_BYTEA, _OID_INT8, _OID_INT2, _OID_INT4, _OID_TEXT, _OID_UUID = 17, 20, 21, 23, 25, 2950


class _AsIs(Dumper):
    """Bytes that are already what the server is to read; the statement says of which type."""

    format = Format.BINARY
    oid = 0

    def dump(self, obj: bytes) -> Buffer | None:
        return obj


def untyped_adapters() -> AdaptersMap:
    """What connections of the store adapt by: `bytes` go out as they are, results come as usual."""
    own = AdaptersMap(adapters)
    own.register_dumper(bytes, _AsIs)
    return own


def uuid(text: str) -> bytes:
    """The 16 bytes of a UUID in text; ValueError where it is none."""
    raw = bytes.fromhex(text.replace("-", ""))
    if len(raw) != 16:
        raise ValueError(f"not a UUID: {text!r}")
    return raw


def lane(raw: bytes) -> int:
    """The lane of a stream or a scope: 4 bits of a hash, as the tables' checks compute it."""
    return sha256(raw).digest()[0] & 15


def scope(text: str) -> bytes:
    """A scope as 16 bytes: a stream's own id as it is, any other text by its digest."""
    try:
        return uuid(text)
    except ValueError:
        return sha256(text.encode()).digest()[:16]


def half_digest(digest: bytes) -> bytes:
    """The first half of a 32-byte digest, which is enough to tell one caller's requests apart."""
    if len(digest) != 32:
        raise ValueError("keys and fingerprints are digests of 32 bytes")
    return digest[:16]


def int2(value: int) -> bytes:
    return _INT2(value)


def int4(value: int) -> bytes:
    return _INT4(value)


def int8(value: int | None) -> bytes | None:
    return None if value is None else _INT8(value)


def int2s(values: Iterable[int | None]) -> bytes:
    return _array(_OID_INT2, [None if v is None else _INT2(v) for v in values])


def int4s(values: Iterable[int]) -> bytes:
    return _array(_OID_INT4, [_INT4(v) for v in values])


def int8s(values: Iterable[int]) -> bytes:
    return _array(_OID_INT8, [_INT8(v) for v in values])


def texts(values: Iterable[str]) -> bytes:
    return _array(_OID_TEXT, [v.encode() for v in values])


def uuids(values: Iterable[str]) -> bytes:
    return _array(_OID_UUID, [uuid(v) for v in values])


def raw_uuids(values: Iterable[bytes]) -> bytes:
    return _array(_OID_UUID, list(values))


def byteas(values: Iterable[bytes | None]) -> bytes:
    return _array(_OID_BYTEA, list(values))


def _array(oid: int, elements: Sequence[bytes | None]) -> bytes:
    """A one-dimensional array: its header, then each element after its length."""
    if not elements:
        return _INT4(0) + _INT4(0) + _INT4(oid)
    pieces = [_ARRAY(1, 1, oid, len(elements), 1)]
    for element in elements:
        if element is None:
            pieces.append(_NULL)
        else:
            size = len(element)
            pieces.append(_LENGTHS[size] if size < 1024 else _INT4(size))
            pieces.append(element)
    return b"".join(pieces)
