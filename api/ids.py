"""New ids: UUIDs of version 7 (RFC 9562), so that newer games sort after older ones."""

import secrets
import time
from uuid import UUID


def new_id(at: int | None = None) -> str:
    """A fresh UUIDv7 as text: 48 bits of Unix milliseconds, 74 random bits.

    `at`, in microseconds since 1970 UTC, is the time that the id is to tell (default: now).
    """
    milliseconds = (time.time_ns() // 1000 if at is None else at) // 1000
    random = secrets.randbits(74)
    high = (milliseconds << 16) | 0x7000 | (random >> 62)
    low = (0b10 << 62) | (random & ((1 << 62) - 1))
    return str(UUID(int=(high << 64) | low))
