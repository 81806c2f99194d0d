"""The provably fair deal: published vectors, and a second implementation that shares no code."""

import hashlib
import hmac
import json
import random
from pathlib import Path
from typing import Any

import pytest

from domain import shuffle
from domain.cards import FRENCH_52, FRENCH_53, GERMAN_32, Pack
from tests.domain import second_opinion

PACKS = {pack.name: pack for pack in (FRENCH_52, FRENCH_53, GERMAN_32)}

VECTORS = json.loads(
    (Path(__file__).parents[1] / "vectors" / "deal.json").read_text(encoding="utf-8")
)["vectors"]


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["why"][:40])
def test_vectors(vector: dict[str, Any]) -> None:
    """common, The deal: every step of every published vector."""
    pack = PACKS[vector["pack"]]
    seed = bytes.fromhex(vector["server_seed"])
    game, hand = vector["game_id"], vector["hand"]
    assert shuffle.commitment(seed).hex() == vector["commitment"]
    shuffled = shuffle.shuffled(pack, seed, game, hand, vector["nonce"])
    assert list(pack.texts(shuffle.cut(shuffled, vector["at"]))) == vector["order"]
    assert shuffle.dealer_lot(seed, game, vector["players"]) == vector["dealer_lot"]
    assert shuffle.auto_cut(pack, seed, game, hand) == vector["auto_cut"]
    assert shuffle.hand_seed(seed, game, hand).hex() == vector["hand_seed"]


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["why"][:40])
def test_the_second_opinion_reads_the_vectors_alike(vector: dict[str, Any]) -> None:
    """The other implementation is right too: else agreeing with it would prove nothing."""
    seed = bytes.fromhex(vector["server_seed"])
    game, hand, pack = vector["game_id"], vector["hand"], second_opinion.PACKS[vector["pack"]]
    shuffled = second_opinion.shuffled(seed, game, hand, vector["nonce"], pack)
    assert second_opinion.cut(shuffled, vector["at"]) == vector["order"]
    assert second_opinion.lot(seed, game, vector["players"]) == vector["dealer_lot"]
    assert second_opinion.auto_cut(seed, game, hand, len(pack)) == vector["auto_cut"]


@pytest.mark.parametrize("pack", PACKS.values(), ids=list(PACKS))
def test_both_implementations_agree(pack: Pack) -> None:
    """common, The deal, steps 2 to 5, on random seeds, ids, nonces, cuts and players."""
    chance = random.Random(pack.name)
    texts = second_opinion.PACKS[pack.name]
    for _ in range(60):
        seed, game = chance.randbytes(32), chance.choice(["g", "0190-é", "a:b"])
        hand, nonce = chance.randint(1, 40), chance.choice(["", "x", "1:2", "🂡" * 64])
        mine = shuffle.shuffled(pack, seed, game, hand, nonce)
        theirs = second_opinion.shuffled(seed, game, hand, nonce, texts)
        assert list(pack.texts(mine)) == theirs
        at = chance.randint(1, len(pack) - 1)
        order = chance.sample(range(10), chance.randint(2, 10))
        each = len(pack) // len(order)
        hands, stock = shuffle.deal(shuffle.cut(mine, at), order, each)
        their_hands, their_stock = second_opinion.dealt(second_opinion.cut(theirs, at), order, each)
        assert {seat: list(pack.texts(cards)) for seat, cards in hands.items()} == their_hands
        assert list(pack.texts(stock)) == their_stock
        assert shuffle.auto_cut(pack, seed, game, hand) == second_opinion.auto_cut(
            seed, game, hand, len(pack)
        )
        seats = chance.randint(2, 10)
        assert shuffle.dealer_lot(seed, game, seats) == second_opinion.lot(seed, game, seats)


def test_words_are_big_endian_and_counted_on() -> None:
    """common, The deal, step 3: counter = 0, 1, 2, … in decimal."""
    stream = shuffle.words(b"k" * 32, "g:1:n")
    blocks = [
        hmac.new(b"k" * 32, f"g:1:n:{counter}".encode(), hashlib.sha256).digest()
        for counter in range(12)
    ]
    expected = [
        int.from_bytes(block[i : i + 4], "big") for block in blocks for i in range(0, 32, 4)
    ]
    assert [next(stream) for _ in range(96)] == expected


@pytest.mark.parametrize("choices", [1, 2, 3, 49, 51, 52, 2**31, 2**31 + 1, 2**32])
def test_words_past_the_last_whole_multiple_are_skipped(choices: int) -> None:
    """common, The deal, step 3: if w >= 2^32 - (2^32 mod m) skip it, else w mod m."""
    limit = 2**32 - 2**32 % choices
    assert shuffle.draw(iter([limit - 1]), choices) == choices - 1
    if limit < 2**32:
        assert shuffle.draw(iter([limit, 2**32 - 1, 7]), choices) == 7 % choices
    with pytest.raises(ValueError, match="ended"):
        shuffle.draw(iter([]), choices)


def test_the_cut_moves_the_top_to_the_bottom() -> None:
    """common, The deal, step 4: `pack[at:] + pack[:at]`, index 0 the top."""
    cards = [FRENCH_52.index[text] for text in ("2C", "3C", "4C", "5C")]
    assert FRENCH_52.texts(shuffle.cut(cards, 1)) == ("3C", "4C", "5C", "2C")
    assert FRENCH_52.texts(shuffle.cut(cards, 3)) == ("5C", "2C", "3C", "4C")


def test_one_at_a_time_from_the_top() -> None:
    """common, The deal, step 5: what is left is the stock, its top card the next one."""
    cards = FRENCH_52.read(["2C", "3C", "4C", "5C", "6C", "7C", "8C", "9C"])
    hands, stock = shuffle.deal(cards, [2, 0, 1], 2)
    assert FRENCH_52.texts(hands[2]) == ("2C", "5C")
    assert FRENCH_52.texts(hands[0]) == ("3C", "6C")
    assert FRENCH_52.texts(hands[1]) == ("4C", "7C")
    assert FRENCH_52.texts(stock) == ("8C", "9C")


def test_a_shuffle_is_a_permutation_and_every_card_reaches_the_top() -> None:
    tops = set()
    for number in range(600):
        cards = shuffle.shuffled(FRENCH_52, number.to_bytes(32, "big"), "g", 1, "")
        assert sorted(cards) == list(range(52))
        tops.add(cards[0])
    assert tops == set(range(52))


def test_nonce_hand_and_id_each_change_the_deal() -> None:
    seed = bytes(32)
    base = shuffle.shuffled(FRENCH_52, seed, "g", 1, "")
    for game, hand, nonce in (("h", 1, ""), ("g", 2, ""), ("g", 1, "x")):
        assert shuffle.shuffled(FRENCH_52, seed, game, hand, nonce) != base
