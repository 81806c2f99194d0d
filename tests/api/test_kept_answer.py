"""What is kept with a key says the whole receipt, and rows of earlier versions are read too."""

import secrets

import msgspec
import pytest

from api.kept_answer import kept_answer, kept_receipt
from domain.receipts import Receipt, SigningKey, signature_problem
from eventstore.records import Answer

GAME = "018f0000-0000-7000-8000-000000000001"


def a_receipt() -> tuple[Receipt, SigningKey]:
    key = SigningKey(secrets.token_bytes(32))
    return key.sign(GAME, 300, secrets.token_bytes(32), 1_780_000_000_123_456), key


def an_answer(response: bytes) -> Answer:
    return Answer(stream=GAME, first_version=299, last_version=300, response=response)


def test_a_receipt_comes_back_as_it_was_signed() -> None:
    receipt, key = a_receipt()
    kept = kept_answer(receipt)
    assert kept_receipt(an_answer(kept)) == receipt
    assert signature_problem(kept_receipt(an_answer(kept)), [key.public()]) is None
    assert len(kept) < 160


def test_a_row_of_an_earlier_version_is_read() -> None:
    receipt, _ = a_receipt()
    former = msgspec.json.encode({"status": 201, "receipt": receipt})
    assert kept_receipt(an_answer(former)) == receipt


@pytest.mark.parametrize("response", [b"", b"x", b"{}", b"{", b"\x95\x01"])
def test_anything_else_is_refused(response: bytes) -> None:
    with pytest.raises((msgspec.ValidationError, msgspec.DecodeError)):
        kept_receipt(an_answer(response))
