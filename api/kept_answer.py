"""What is kept with a caller's key: the receipt that its answer bore, in as few bytes as say it.
All else of an answer is drawn again from the log.

Rows of earlier versions hold it as JSON, `{"status": 201, "receipt": {…}}`, and are read as well.
"""

from typing import Any, Final

import msgspec

from domain import base64url
from domain.receipts import Receipt
from domain.times import format_at, parse_at
from eventstore.records import Answer


class _Kept(msgspec.Struct, frozen=True, array_like=True):
    """A receipt without its game, which is the answer's stream."""

    version: int
    hash: bytes
    at: int
    key: bytes
    signature: bytes


class _Former(msgspec.Struct, frozen=True):
    receipt: Receipt


_write: Final = msgspec.msgpack.Encoder().encode
_read: Final = msgspec.msgpack.Decoder(_Kept).decode
_read_former: Final[Any] = msgspec.json.Decoder(_Former).decode


def kept_answer(receipt: Receipt) -> bytes:
    """The bytes that the store keeps with a key."""
    return _write(
        _Kept(
            receipt.version,
            bytes.fromhex(receipt.hash),
            parse_at(receipt.at),
            base64url.decode(receipt.key),
            base64url.decode(receipt.signature),
        )
    )


def kept_receipt(answer: Answer) -> Receipt:
    """The receipt that was kept. Raises msgspec.ValidationError or DecodeError where the bytes are
    none of `kept_answer`."""
    if answer.response.startswith(b"{"):
        former: _Former = _read_former(answer.response)
        return former.receipt
    kept = _read(answer.response)
    return Receipt(
        game=answer.stream,
        version=kept.version,
        hash=kept.hash.hex(),
        at=format_at(kept.at),
        key=base64url.encode(kept.key),
        signature=base64url.encode(kept.signature),
    )
