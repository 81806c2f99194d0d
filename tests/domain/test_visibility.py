"""Who is entitled to a sealed part (contract, *The log*; common, *Who sees what*)."""

import pytest

from domain.visibility import Openings, audience_seats, audience_text, entitled

CLOSED = Openings()
OPEN = Openings(ranges=((3, 9),))
FACE_UP = Openings(face_up=frozenset({5}))


@pytest.mark.parametrize(
    ("audience", "seat", "now", "may_see"),
    [
        # The seats listed, always; nobody else until it is opened.
        ("[0]", 0, CLOSED, True),
        ("[0]", 1, CLOSED, False),
        ("[0]", None, CLOSED, False),
        ("[1,3]", 3, CLOSED, True),
        ("[1,3]", 0, CLOSED, False),
        ("[10]", 1, CLOSED, False),
        ("[10]", 0, CLOSED, False),
        ("[0]", 1, OPEN, True),
        ("[0]", None, OPEN, True),
        ("[0]", 1, FACE_UP, False),
        # Nobody until it is opened.
        ("[]", 0, CLOSED, False),
        ("[]", None, CLOSED, False),
        ("[]", 0, FACE_UP, False),
        ("[]", 0, OPEN, True),
        ("[]", None, OPEN, True),
        # On the table while it lies face up, then when it is opened.
        ('"table"', 0, CLOSED, False),
        ('"table"', 0, FACE_UP, True),
        ('"table"', None, FACE_UP, True),
        ('"table"', None, OPEN, True),
        ('"table"', 0, Openings(face_up=frozenset({4})), False),
        # Anyone.
        ('"all"', None, CLOSED, True),
        ('"all"', 7, CLOSED, True),
    ],
)
def test_entitled(audience: str, seat: int | None, now: Openings, may_see: bool) -> None:
    assert entitled(audience, 5, seat, now) is may_see


@pytest.mark.parametrize(("version", "opened"), [(2, False), (3, True), (9, True), (10, False)])
def test_ranges_include_both_ends(version: int, opened: bool) -> None:
    assert OPEN.opened(version) is opened
    assert entitled("[]", version, None, OPEN) is opened


def test_several_ranges() -> None:
    now = Openings(ranges=((1, 2), (5, 5)))
    assert [now.opened(version) for version in range(1, 7)] == [
        True,
        True,
        False,
        False,
        True,
        False,
    ]


def test_a_list_of_seats_as_canonical_text() -> None:
    """contract, The log: ascending, as JCS writes it."""
    assert audience_text([3, 1]) == "[1,3]"
    assert audience_text([]) == "[]"
    assert audience_seats("[1,3]") == {1, 3}
    assert audience_seats('"all"') == audience_seats('"table"') == audience_seats("[]") == set()
