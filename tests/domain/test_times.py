"""Times of the log, against the standard library's calendar."""

import random
from datetime import UTC, datetime, timedelta

import pytest

from domain.times import format_at, parse_at

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

EDGES = [
    datetime(1970, 1, 1, tzinfo=UTC),
    datetime(1999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
    datetime(2000, 2, 28, tzinfo=UTC),
    datetime(2000, 2, 29, 12, tzinfo=UTC),
    datetime(2000, 3, 1, tzinfo=UTC),
    datetime(2023, 2, 28, 23, 59, 59, 1, tzinfo=UTC),
    datetime(2024, 2, 29, tzinfo=UTC),
    datetime(2100, 2, 28, 23, 59, 59, tzinfo=UTC),
    datetime(2100, 3, 1, tzinfo=UTC),
    datetime(2400, 2, 29, tzinfo=UTC),
    datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
    datetime(1, 1, 1, tzinfo=UTC),
    datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
]


def micros(moment: datetime) -> int:
    return (moment - EPOCH) // timedelta(microseconds=1)


def text(moment: datetime) -> str:
    return moment.strftime("%m-%dT%H:%M:%S.%fZ").join([f"{moment.year:04}-", ""])


def moments() -> list[datetime]:
    chance = random.Random(7)
    span = micros(datetime(9999, 12, 31, tzinfo=UTC))
    return EDGES + [EPOCH + timedelta(microseconds=chance.randrange(span)) for _ in range(2000)]


def test_against_the_standard_library() -> None:
    """contract, The log: `YYYY-MM-DDTHH:MM:SS.ffffffZ`."""
    for moment in moments():
        assert format_at(micros(moment)) == text(moment)
        assert parse_at(text(moment)) == micros(moment)


def test_every_day_of_the_century() -> None:
    day = datetime(1999, 12, 31, tzinfo=UTC)
    for _ in range(36_900):
        assert format_at(micros(day))[:10] == day.date().isoformat()
        day += timedelta(days=1)


@pytest.mark.parametrize(
    "wrong",
    [
        "2026-11-30T09:15:02Z",
        "2026-11-30T09:15:02.123Z",
        "2026-11-30 09:15:02.123456Z",
        "2026-11-30T09:15:02.123456+00:00",
        "2026-13-01T00:00:00.000000Z",
        "2026-02-29T00:00:00.000000Z",
        "2026-00-10T00:00:00.000000Z",
        "2026-01-01T24:00:00.000000Z",
        "2026-01-01T00:60:00.000000Z",
        "2026-01-01T00:00:60.000000Z",
        " 026-01-01T00:00:00.000000Z",
        "2026-01-01T00:00:00.00000 Z",
        "2026-1 -01T00:00:00.000000Z",
        "+026-01-01T00:00:00.000000Z",
        "yyyy-01-01T00:00:00.000000Z",
        "",
    ],
)
def test_only_the_exact_form_is_read(wrong: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_at(wrong)
