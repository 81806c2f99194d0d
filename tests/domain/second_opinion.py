"""The fair deal and the log's hashes once more, from the rules and the contract alone.

Shares no code with the domain: standard library only, written the plain way round. What both agree
on is the specification; where they differ one of them is wrong.
"""

import base64
import hashlib
import hmac
import json
from typing import Any

FRENCH = [rank + suit for suit in "CDHS" for rank in "23456789TJQKA"]
FRENCH_JOKER = [*FRENCH, "XX"]
GERMAN = [rank + suit for suit in "ALHB" for rank in "789TUOKA"]
PACKS = {"french52": FRENCH, "french53": FRENCH_JOKER, "german32": GERMAN}


class Stream:
    """32-bit words of HMAC-SHA256(key, "{prefix}:{counter}")."""

    def __init__(self, key: bytes, prefix: str) -> None:
        self.key, self.prefix, self.counter, self.buffer = key, prefix, 0, b""

    def word(self) -> int:
        if not self.buffer:
            message = (self.prefix + ":" + str(self.counter)).encode("utf-8")
            self.buffer = hmac.new(self.key, message, hashlib.sha256).digest()
            self.counter += 1
        word, self.buffer = self.buffer[:4], self.buffer[4:]
        return word[0] << 24 | word[1] << 16 | word[2] << 8 | word[3]

    def below(self, m: int) -> int:
        word = self.word()
        while word >= 2**32 - (2**32 % m):
            word = self.word()
        return word % m


def shuffled(seed: bytes, deal_id: str, hand: int, nonce: str, pack: list[str]) -> list[str]:
    """common, The deal, step 3."""
    cards = list(pack)
    stream = Stream(seed, deal_id + ":" + str(hand) + ":" + nonce)
    i = len(cards) - 1
    while i > 0:
        j = stream.below(i + 1)
        moved = cards[i]
        cards[i] = cards[j]
        cards[j] = moved
        i -= 1
    return cards


def cut(cards: list[str], at: int) -> list[str]:
    """common, The deal, step 4: the top `at` cards to the bottom, one after another."""
    turned = list(cards)
    for _ in range(at):
        turned.append(turned.pop(0))
    return turned


def dealt(cards: list[str], order: list[int], each: int) -> tuple[dict[int, list[str]], list[str]]:
    """common, The deal, step 5."""
    stock = list(cards)
    hands: dict[int, list[str]] = {seat: [] for seat in order}
    for _ in range(each):
        for seat in order:
            hands[seat].append(stock.pop(0))
    return hands, stock


def auto_cut(seed: bytes, deal_id: str, hand: int, cards: int) -> int:
    """common, The deal, step 2."""
    return 1 + Stream(seed, f"{deal_id}:{hand}:cut").below(cards - 1)


def lot(seed: bytes, deal_id: str, seats: int) -> int:
    """common, The deal: the first dealer by lot."""
    return Stream(seed, f"{deal_id}:0:dealer").below(seats)


def canonical(value: Any) -> bytes:
    """RFC 8785 of JSON values without floats: keys by UTF-16 code units, shortest escapes."""
    if value is None or isinstance(value, bool):
        return {None: b"null", True: b"true", False: b"false"}[value]
    if isinstance(value, int):
        return str(value).encode()
    if isinstance(value, str):
        return b'"' + value.translate(_ESCAPED).encode("utf-8") + b'"'
    if isinstance(value, list):
        return b"[" + b",".join(map(canonical, value)) + b"]"
    if isinstance(value, dict):
        keys = sorted(value, key=lambda key: key.encode("utf-16-be"))
        return b"{" + b",".join(canonical(k) + b":" + canonical(value[k]) for k in keys) + b"}"
    raise TypeError(f"no JSON without floats: {value!r}")


_SHORT = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}
_ESCAPED = str.maketrans({chr(code): f"\\u{code:04x}" for code in range(0x20)} | _SHORT)


def check_chain(events: list[dict[str, Any]]) -> None:
    """contract, The log: every hash, every `prev`, every digest of a part that is shown."""
    prev = "0" * 64
    for number, event in enumerate(events, 1):
        assert event["version"] == number
        assert event["prev"] == prev
        hashed = {
            name: event[name]
            for name in (
                "game",
                "version",
                "type",
                "at",
                "actor",
                "command",
                "schema",
                "data",
                "prev",
            )
        }
        hashed["sealed"] = [{"for": p["for"], "digest": p["digest"]} for p in event["sealed"]]
        assert hashlib.sha256(canonical(hashed)).hexdigest() == event["hash"], event
        for part in event["sealed"]:
            if "salt" in part:
                raw = base64.urlsafe_b64decode(part["salt"] + "==")
                assert len(raw) == 16
                body = canonical(part["data"])
                assert hashlib.sha256(raw + body).hexdigest() == part["digest"], event
        prev = event["hash"]


def decoded(text: bytes | str) -> Any:
    """JSON read by the standard library, refusing floats and repeated keys."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        assert len({key for key, _ in pairs}) == len(pairs), f"a key twice: {pairs}"
        return dict(pairs)

    def no_float(number: str) -> None:
        raise AssertionError(f"a float in the log: {number}")

    return json.loads(text, object_pairs_hook=unique, parse_float=no_float)
