"""New ids: UUIDs of version 7 (RFC 9562), so that newer games sort after older ones."""

import time
from secrets import token_bytes
from typing import Final

_VERSION: Final = 0x7 << 76 | 0b10 << 62
_RANDOM: Final = ~(0xF << 76 | 0b11 << 62)
"""All but the places of version and variant."""


def new_id(at: int | None = None) -> str:
    """A fresh UUIDv7 as text: 48 bits of Unix milliseconds, 74 random bits.

    `at`, in microseconds since 1970 UTC, is the time that the id is to tell (default: now).
    """
    milliseconds = (time.time_ns() // 1000 if at is None else at) // 1000
    value = (milliseconds << 80) | int.from_bytes(token_bytes(10))
    digits = f"{value & _RANDOM | _VERSION:032x}"
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"
