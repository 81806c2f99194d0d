"""Signed receipts: what a player keeps to prove, later, what the log once said.

A receipt is `{game, version, hash, at, key, signature}`, the signature Ed25519 (RFC 8032) over the
canonical JSON (RFC 8785) of the other fields; keys are JWKs (RFC 8037), named by their thumbprint
(RFC 7638). Source: contract, *The log*, Receipt.
"""

import hashlib
from collections.abc import Iterable
from typing import Final

import msgspec
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from domain import base64url
from domain.events import encode_canonical
from domain.log import Entry
from domain.times import format_at


class Receipt(msgspec.Struct, frozen=True):
    """That version `version` of a game had this hash; `at` is the time of that event."""

    game: str
    version: int
    hash: str
    at: str
    key: str
    signature: str


class PublicKey(msgspec.Struct, frozen=True):
    """A public key as a JWK. `nbf` and `exp` are the seconds since 1970 between which it signs: for
    people to read. A receipt's `at` is its event's time, not that of signing, so no check can rest
    on them, and receipts stay valid after the key has been replaced."""

    kid: str
    x: str
    kty: str = "OKP"
    crv: str = "Ed25519"
    use: str = "sig"
    alg: str = "EdDSA"
    nbf: int | msgspec.UnsetType = msgspec.UNSET
    exp: int | msgspec.UnsetType = msgspec.UNSET


class SigningKey:
    """An Ed25519 key that signs receipts."""

    def __init__(self, secret: bytes) -> None:
        """From the 32 secret bytes. Raises ValueError for another length."""
        self._private: Final = Ed25519PrivateKey.from_private_bytes(secret)
        public = self._private.public_key().public_bytes_raw()
        self.x: Final = base64url.encode(public)
        self.kid: Final = thumbprint(self.x)

    def receipt(self, game: str, entry: Entry) -> Receipt:
        """The receipt for an event of a game."""
        return self.sign(game, entry.version, entry.hash, entry.at)

    def sign(self, game: str, version: int, hash_: bytes, at: int) -> Receipt:
        """The receipt for a version of a game: its event's hash and time (microseconds)."""
        hexed, time = hash_.hex(), format_at(at)
        unsigned = {"game": game, "version": version, "hash": hexed, "at": time, "key": self.kid}
        signature = base64url.encode(self._private.sign(encode_canonical(unsigned)))
        return Receipt(game, version, hexed, time, self.kid, signature)

    def public(self, nbf: int | None = None, exp: int | None = None) -> PublicKey:
        """The public half."""
        unset = msgspec.UNSET
        return PublicKey(
            self.kid,
            self.x,
            nbf=unset if nbf is None else nbf,
            exp=unset if exp is None else exp,
        )


def thumbprint(x: str) -> str:
    """RFC 7638 thumbprint of an Ed25519 JWK, in base64url."""
    members = {"crv": "Ed25519", "kty": "OKP", "x": x}
    return base64url.encode(hashlib.sha256(encode_canonical(members)).digest())


def signature_problem(receipt: Receipt, keys: Iterable[PublicKey]) -> str | None:
    """Why the signature does not hold, or None where it does. A key is known by the thumbprint of
    what it is, never by the `kid` that it claims."""
    key = next((key for key in keys if thumbprint(key.x) == receipt.key), None)
    if key is None:
        return f"key {receipt.key} is not among the keys"
    fields = msgspec.structs.asdict(receipt)
    signature = fields.pop("signature")
    try:
        Ed25519PublicKey.from_public_bytes(base64url.decode(key.x)).verify(
            base64url.decode(signature), encode_canonical(fields)
        )
    except (InvalidSignature, ValueError):
        return "the signature does not fit the receipt"
    return None
