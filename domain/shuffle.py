"""The provably fair deal: commitment, shuffle, cut and lot. Pure arithmetic over HMAC-SHA256.

Source: rules, *The deal is provably fair* (steps numbered there); HMAC is RFC 2104, the shuffle
Fisher-Yates (Knuth, TAOCP vol. 2, algorithm P), each draw uniform by rejection.
"""

import hashlib
import hmac
from collections.abc import Iterator, Sequence
from struct import Struct
from typing import Final

from domain.cards import Card, Pack
from domain.seats import Seat

SEED_BYTES: Final = 32
"""Length of a hand's `server_seed`."""

_WORDS: Final = Struct(">8I").unpack


def commitment(server_seed: bytes) -> bytes:
    """SHA-256 of the hand's 32-byte seed, published before anyone cuts (step 1)."""
    return hashlib.sha256(server_seed).digest()


def hand_seed(key: bytes, deal_id: str, hand: int) -> bytes:
    """The 32-byte `server_seed` of hand `hand` (from 1), derived from a game's or command's key.

    With the option `seed` the key is its 32 decoded bytes; without it, 32 fresh random bytes.
    """
    return hmac.digest(key, f"{deal_id}:{hand}".encode(), "sha256")


def words(key: bytes, prefix: str) -> Iterator[int]:
    """Successive big-endian 32-bit words of HMAC(key, "{prefix}:{counter}"), counter = 0, 1, …"""
    counter = 0
    while True:
        block = hmac.digest(key, f"{prefix}:{counter}".encode(), "sha256")
        yield from _WORDS(block)
        counter += 1


def draw(stream: Iterator[int], choices: int) -> int:
    """A uniform number from 0 … choices-1, skipping words past the last whole multiple (step 3)."""
    limit = 2**32 - 2**32 % choices
    for word in stream:
        if word < limit:
            return word % choices
    raise ValueError("the stream of words has ended")


def shuffled(pack: Pack, server_seed: bytes, deal_id: str, hand: int, nonce: str) -> list[Card]:
    """The whole pack in shuffled order, before the cut; index 0 is the top (step 3)."""
    cards = list(pack.index.values())
    stream = words(server_seed, f"{deal_id}:{hand}:{nonce}")
    for i in range(len(cards) - 1, 0, -1):
        j = draw(stream, i + 1)
        cards[i], cards[j] = cards[j], cards[i]
    return cards


def cut(cards: Sequence[Card], at: int) -> list[Card]:
    """The pack with its top `at` cards moved to the bottom (step 4)."""
    return [*cards[at:], *cards[:at]]


def auto_cut(pack: Pack, server_seed: bytes, deal_id: str, hand: int) -> int:
    """Where the server cuts under `cut: "auto"`: 1 … cards-1 (step 2)."""
    return 1 + draw(words(server_seed, f"{deal_id}:{hand}:cut"), len(pack) - 1)


def dealer_lot(server_seed: bytes, deal_id: str, seats: int) -> Seat:
    """The first dealer by lot, keyed by the first hand's seed."""
    return draw(words(server_seed, f"{deal_id}:0:dealer"), seats)


def deal(
    cards: Sequence[Card], order: Sequence[Seat], each: int
) -> tuple[dict[Seat, tuple[Card, ...]], tuple[Card, ...]]:
    """Deal `each` cards one at a time from the top in `order`: hands and stock (step 5)."""
    players = len(order)
    dealt = players * each
    hands = {seat: tuple(cards[i:dealt:players]) for i, seat in enumerate(order)}
    return hands, tuple(cards[dealt:])
