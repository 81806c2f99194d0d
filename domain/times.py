"""Times as the log writes them. Reads no clock: a time is a number of microseconds that came in.

`YYYY-MM-DDTHH:MM:SS.ffffffZ` (RFC 3339, UTC) stands for microseconds since 1970-01-01T00:00:00Z;
the calendar is the proleptic Gregorian one, by Howard Hinnant's published day-count algorithms.
"""

from functools import lru_cache
from typing import Final

_DAY: Final = 86_400_000_000
_MINUTE: Final = 60_000_000

_SECONDS: Final = tuple([f":{second:02}." for second in range(60)])
_DIGITS: Final = tuple([f"{number:03}" for number in range(1000)])


def format_at(at: int) -> str:
    """The text of a time in microseconds since 1970 UTC."""
    minutes, rest = divmod(at, _MINUTE)
    second, micros = divmod(rest, 1_000_000)
    fraction = f"{_DIGITS[micros // 1000]}{_DIGITS[micros % 1000]}"
    return f"{_to_the_minute(minutes)}{_SECONDS[second]}{fraction}Z"


def parse_at(text: str) -> int:
    """Microseconds since 1970 UTC of a time in exactly the log's form. Raises ValueError."""
    if len(text) != 27 or text[10] != "T" or text[19] != "." or text[26] != "Z":
        raise ValueError(f"not a time of the log: {text!r}")
    day = _day(int(text[:4]), int(text[5:7]), int(text[8:10]))
    clock = (int(text[11:13]) * 60 + int(text[14:16])) * 60 + int(text[17:19])
    at = day * _DAY + clock * 1_000_000 + int(text[20:26])
    if format_at(at) != text:
        raise ValueError(f"not a time of the log: {text!r}")
    return at


@lru_cache(maxsize=1024)
def _to_the_minute(minutes: int) -> str:
    day, minute = divmod(minutes, 1440)
    return f"{_date(day)}T{minute // 60:02}:{minute % 60:02}"


def _date(day: int) -> str:
    era, of_era = divmod(day + 719_468, 146_097)
    year = (of_era - of_era // 1460 + of_era // 36_524 - of_era // 146_096) // 365
    of_year = of_era - (365 * year + year // 4 - year // 100)
    shifted = (5 * of_year + 2) // 153
    month = shifted + 3 if shifted < 10 else shifted - 9
    of_month = of_year - (153 * shifted + 2) // 5 + 1
    return f"{year + era * 400 + (month <= 2):04}-{month:02}-{of_month:02}"


def _day(year: int, month: int, of_month: int) -> int:
    year -= month <= 2
    era, of_era = divmod(year, 400)
    of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + of_month - 1
    return era * 146_097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719_468
