"""Base64url without padding (RFC 4648, section 5), as the log writes salts, keys and signatures."""

from base64 import urlsafe_b64decode, urlsafe_b64encode


def encode(raw: bytes) -> str:
    """The text of some bytes."""
    return urlsafe_b64encode(raw).decode().rstrip("=")


def decode(text: str) -> bytes:
    """The bytes of a text. Raises ValueError for anything but the one text that `encode` gives, so
    that no bit of it goes unread."""
    raw = urlsafe_b64decode(text + "=" * (-len(text) % 4))
    if encode(raw) != text:
        raise ValueError(f"not base64url without padding: {text!r}")
    return raw
