"""Signed receipts: what a player keeps to prove, later, what the log once said.

A receipt is `{game, version, hash, at, key, signature}`, the signature Ed25519 (RFC 8032) over the
canonical JSON (RFC 8785) of the other fields; keys are JWKs (RFC 8037), named by their thumbprint
(RFC 7638). Source: contract, *The log*, Receipt.
"""

import hashlib
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterable
from typing import Final

import msgspec
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

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


class PublicKey(msgspec.Struct, frozen=True, omit_defaults=True):
    """A public key as a JWK. `nbf` and `exp` are the seconds since 1970 between which it signs;
    receipts of that time stay valid afterwards."""

    kid: str
    x: str
    kty: str = "OKP"
    crv: str = "Ed25519"
    use: str = "sig"
    alg: str = "EdDSA"
    nbf: int | None = None
    exp: int | None = None


class SigningKey:
    """An Ed25519 key that signs receipts."""

    def __init__(self, secret: bytes) -> None:
        """From the 32 secret bytes. Raises ValueError for another length."""
        self._private: Final = Ed25519PrivateKey.from_private_bytes(secret)
        public = self._private.public_key().public_bytes_raw()
        self.x: Final = _base64url(public)
        self.kid: Final = thumbprint(self.x)

    def receipt(self, game: str, entry: Entry) -> Receipt:
        """The receipt for an event of a game."""
        unsigned = {
            "game": game,
            "version": entry.version,
            "hash": entry.hash.hex(),
            "at": format_at(entry.at),
            "key": self.kid,
        }
        signature = _base64url(self._private.sign(encode_canonical(unsigned)))
        return msgspec.convert({**unsigned, "signature": signature}, Receipt)

    def public(self, nbf: int | None = None, exp: int | None = None) -> PublicKey:
        """The public half."""
        return PublicKey(self.kid, self.x, nbf=nbf, exp=exp)


def thumbprint(x: str) -> str:
    """RFC 7638 thumbprint of an Ed25519 JWK, in base64url."""
    members = {"crv": "Ed25519", "kty": "OKP", "x": x}
    return _base64url(hashlib.sha256(encode_canonical(members)).digest())


def signature_problem(receipt: Receipt, keys: Iterable[PublicKey]) -> str | None:
    """Why the signature does not hold, or None where it does."""
    key = next((key for key in keys if key.kid == receipt.key), None)
    if key is None:
        return f"key {receipt.key} is not among the keys"
    if thumbprint(key.x) != key.kid:
        return f"key {key.kid} is not named by its thumbprint"
    fields = msgspec.structs.asdict(receipt)
    signature = fields.pop("signature")
    try:
        Ed25519PublicKey.from_public_bytes(_bytes(key.x)).verify(
            _bytes(signature), encode_canonical(fields)
        )
    except (InvalidSignature, ValueError):
        return "the signature does not fit the receipt"
    return None


def _base64url(raw: bytes) -> str:
    return urlsafe_b64encode(raw).decode().rstrip("=")


def _bytes(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))
