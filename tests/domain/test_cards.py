"""Packs, their notation and order (common, *Seats, turn order, cards*; *The deal*, step 3)."""

import msgspec
import pytest

from domain.cards import FRENCH_52, FRENCH_53, GERMAN_32, CardText, Pack, by_card, mask
from tests.domain import second_opinion

PACKS = [FRENCH_52, FRENCH_53, GERMAN_32]


@pytest.mark.parametrize("pack", PACKS, ids=lambda pack: pack.name)
def test_canonical_order(pack: Pack) -> None:
    """common, The deal, step 3: suits as listed, each from low to high, the joker last."""
    assert list(pack.cards) == second_opinion.PACKS[pack.name]


def test_sizes() -> None:
    assert [len(pack) for pack in PACKS] == [52, 53, 32]


@pytest.mark.parametrize("pack", PACKS, ids=lambda pack: pack.name)
def test_suits_ranks_and_masks_fit_the_notation(pack: Pack) -> None:
    for text in pack.cards:
        card = pack.index[text]
        if text == "XX":
            assert card == pack.joker
            assert pack.suit_of[card] == len(pack.suits)
            assert all(not suit >> card & 1 for suit in pack.suit_masks)
            continue
        assert pack.ranks[pack.rank(card)] + pack.suits[pack.suit_of[card]] == text
        assert [bool(suit >> card & 1) for suit in pack.suit_masks] == [
            suit == text[1] for suit in pack.suits
        ]


@pytest.mark.parametrize("pack", PACKS, ids=lambda pack: pack.name)
def test_reading_and_writing(pack: Pack) -> None:
    assert pack.texts(pack.read(pack.cards)) == pack.cards


@pytest.mark.parametrize(
    ("pack", "text"),
    [
        (FRENCH_52, "XX"),
        (FRENCH_52, "OA"),
        (FRENCH_53, "1S"),
        (GERMAN_32, "QH"),
        (GERMAN_32, "2H"),
        (FRENCH_52, "sA"),
        (FRENCH_52, ""),
    ],
)
def test_a_card_of_another_pack(pack: Pack, text: str) -> None:
    with pytest.raises(KeyError):
        pack.read([text])


def test_the_wire_takes_exactly_the_cards_of_the_packs() -> None:
    """common, Cards: two characters, rank then suit; the joker is XX."""
    known = {text for pack in PACKS for text in pack.cards}
    for first in "0123456789TJQKAUOXtjqka ":
        for second in "CDHSALBXcdhs ":
            text = first + second
            if text in known:
                assert msgspec.convert(text, CardText) == text
            else:
                with pytest.raises(msgspec.ValidationError):
                    msgspec.convert(text, CardText)
    for text in ("AS\n", "AS ", " AS", "A", "ASS", "A\u0405"):
        with pytest.raises(msgspec.ValidationError):
            msgspec.convert(text, CardText)


def test_sets_of_cards() -> None:
    cards = FRENCH_53.read(["XX", "2C", "AS", "TH"])
    assert by_card(FRENCH_53.cards, mask(cards)) == ["2C", "TH", "AS", "XX"]
    assert mask(()) == 0
    assert by_card(FRENCH_53.cards, 0) == []


def test_spoken() -> None:
    assert FRENCH_53.spoken("TH") == "10♥"
    assert FRENCH_53.spoken("XX") == "the joker"
    assert GERMAN_32.spoken("OA") == "Ober of acorns"
    assert GERMAN_32.spoken("7B") == "7 of bells"
