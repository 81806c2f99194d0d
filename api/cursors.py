"""Cursors of lists: where the next page begins, told so that only this service can read it.

A cursor is sealed (AES-SIV, RFC 5297) for one list of one reader under a key made from the token
secret: it tells no time and no id, is good in every process, and cannot be made up.
"""

import hmac
from collections.abc import Sequence
from typing import Any, Final, TypeVar

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV

from api.problems import invalid
from domain import base64url

T = TypeVar("T")


class Cursors:
    """The cursors of one service."""

    def __init__(self, secret: str) -> None:
        """`secret` is the one that signs tokens."""
        self._cipher: Final = AESSIV(hmac.digest(secret.encode(), b"cursors", "sha512"))

    def write(self, name: str, reader: str, place: Any) -> str:
        """The cursor for a place of the list of this name, as this reader has it."""
        sealed = self._cipher.encrypt(msgspec.json.encode(place), _bound(name, reader))
        return base64url.encode(sealed)

    def following(self, name: str, reader: str, places: Sequence[Any], limit: int) -> str | None:
        """The cursor of the page after one of `limit` items, None where there is none. `places` are
        those of the items, of one more than fit on the page if there are as many."""
        return self.write(name, reader, places[limit - 1]) if len(places) > limit else None

    def read(self, name: str, reader: str, cursor: str | None, place: type[T]) -> T | None:
        """The place that a cursor stands for, None for none. Raises `invalid-request`."""
        if cursor is None:
            return None
        try:
            opened = self._cipher.decrypt(base64url.decode(cursor), _bound(name, reader))
            return msgspec.json.decode(opened, type=place)
        except (InvalidTag, ValueError, msgspec.MsgspecError):
            raise invalid("cursor", "not a cursor of this list") from None


def _bound(name: str, reader: str) -> list[bytes]:
    return [name.encode(), reader.encode()]
