"""Receipts: what a signature proves, and what it never proves without a key from elsewhere."""

import json
from base64 import urlsafe_b64decode

import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from domain import export
from domain.export import Export
from domain.receipts import PublicKey, Receipt, SigningKey, thumbprint
from domain.verify import Check, verify
from tests.domain.second_opinion import canonical
from tests.proof.logs import SAMPLES, sample

LOG = sample(SAMPLES[0])
VERSION = 17
KEY = SigningKey(bytes(range(32)))
STRANGER = SigningKey(b"\x07" * 32)
RECEIPT = KEY.receipt(LOG.header.id, LOG.entries[VERSION - 1])


def check(
    receipt: Receipt, anchor: list[PublicKey] | None = None, log: Export = LOG
) -> tuple[str, str]:
    """How one kept receipt comes out, and why."""
    found = [c for c in verify(log, [receipt], anchor).checks if c.check == "receipt (kept)"]
    assert [c.versions for c in found] == [(receipt.version,)]
    return found[0].status, found[0].detail


def with_keys(*keys: PublicKey) -> Export:
    return msgspec.structs.replace(LOG, header=msgspec.structs.replace(LOG.header, keys=keys))


def test_a_receipt_signed_by_a_key_from_elsewhere_passes() -> None:
    assert check(RECEIPT, [KEY.public()]) == (
        "passed",
        "signed by an anchored key and continued by this log",
    )


def test_a_signature_verifies_by_another_way_too() -> None:
    """By hand: canonical bytes of a second implementation, the raw key out of the JWK."""
    fields = {k: v for k, v in msgspec.to_builtins(RECEIPT).items() if k != "signature"}
    key = Ed25519PublicKey.from_public_bytes(urlsafe_b64decode(KEY.public().x + "="))
    key.verify(urlsafe_b64decode(RECEIPT.signature + "=="), canonical(fields))


def test_the_thumbprint_of_rfc_8037() -> None:
    """RFC 8037, appendix A.3."""
    x = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"
    assert thumbprint(x) == "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"


@pytest.mark.parametrize("keys", [(), (KEY.public(),), (KEY.public(), STRANGER.public())])
def test_without_a_key_from_elsewhere_nothing_passes(keys: tuple[PublicKey, ...]) -> None:
    """The keys of the file's own header are the forger's to write."""
    status, detail = check(RECEIPT, None, with_keys(*keys))
    assert status == "not_yet_possible"
    assert "signature not anchored" in detail


def test_an_unknown_key() -> None:
    assert check(RECEIPT, [STRANGER.public()]) == (
        "failed",
        f"version {VERSION}: key {KEY.kid} is not among the keys",
    )
    assert check(RECEIPT, [])[0] == "failed"
    assert check(RECEIPT, None, with_keys(STRANGER.public()))[0] == "failed"


def test_a_stranger_who_claims_the_name_of_the_key() -> None:
    signed = STRANGER.receipt(LOG.header.id, LOG.entries[VERSION - 1])
    forged = msgspec.structs.replace(signed, key=KEY.kid)
    assert check(forged, [KEY.public()])[1].endswith("the signature does not fit the receipt")
    impostor = msgspec.structs.replace(STRANGER.public(), kid=KEY.kid)
    assert check(forged, [impostor])[1].endswith("is not among the keys")
    assert check(RECEIPT, [impostor, KEY.public()])[0] == "passed"


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        ("game", "0190d3a2-7c1e-7b3a-9f00-00000000000d", "the receipt is of game"),
        ("version", VERSION + 1, "history was rewritten"),
        ("version", 0, "its tail was cut"),
        ("version", -1, "its tail was cut"),
        ("hash", "ab" * 32, "history was rewritten"),
        ("at", "2020-01-01T00:00:00.000000Z", "the receipt says that it happened at"),
        ("key", "another", "is not among the keys"),
        ("signature", STRANGER.receipt("x", LOG.entries[0]).signature, "does not fit the receipt"),
        ("signature", RECEIPT.signature[:-1], "does not fit the receipt"),
        ("signature", "", "does not fit the receipt"),
        ("signature", "ű", "does not fit the receipt"),
    ],
)
def test_any_field_of_a_receipt_changed(field: str, value: object, reason: str) -> None:
    forged = msgspec.structs.replace(RECEIPT, **{field: value})
    status, detail = check(forged, [KEY.public()])
    assert status == "failed"
    assert reason in detail
    assert detail.startswith(f"version {forged.version}: ")


def test_spare_bits_of_a_signature_are_not_free() -> None:
    """86 characters carry 4 bits more than 64 bytes: they must be what the signer wrote."""
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    last = alphabet.index(RECEIPT.signature[-1])
    forged = RECEIPT.signature[:-1] + alphabet[last ^ 1]
    assert check(msgspec.structs.replace(RECEIPT, signature=forged), [KEY.public()])[0] == "failed"


def test_keys_that_have_been_replaced_still_prove_what_they_signed() -> None:
    old, new = KEY.public(nbf=0, exp=1_800_000_000), STRANGER.public(nbf=1_800_000_000)
    later = STRANGER.receipt(LOG.header.id, LOG.entries[-1])
    report = verify(LOG, [RECEIPT, later], [new, old])
    receipts = [c for c in report.checks if c.check == "receipt (kept)"]
    assert [c.status for c in receipts] == ["passed", "passed"]


def test_receipts_in_the_file_and_beside_it() -> None:
    """Both are held against the log; each check says where its receipt came from."""
    other = KEY.receipt(LOG.header.id, LOG.entries[0])
    broken = msgspec.structs.replace(other, hash="00" * 32)
    text = list(export.lines(with_keys(KEY.public()).header, (), [RECEIPT, broken]))
    read = export.read(text)
    assert read.receipts == (RECEIPT, broken)
    log = msgspec.structs.replace(LOG, receipts=read.receipts)
    found: list[Check] = list(verify(log, [other], [KEY.public()]).checks)
    came = [(c.check, c.status) for c in found if c.check.startswith("receipt")]
    assert came == [
        ("receipt (file)", "passed"),
        ("receipt (file)", "failed"),
        ("receipt (kept)", "passed"),
    ]


def test_a_receipt_that_is_none_fails_and_is_named_by_its_line() -> None:
    header = next(export.lines(LOG.header, ()))
    line = json.dumps({"receipt": {"game": "g", "version": 1.5}}).encode()
    read = export.read([header, line])
    report = verify(msgspec.structs.replace(LOG, faults=read.faults))
    failed = [c for c in report.checks if c.status == "failed"]
    assert [c.check for c in failed] == ["form"]
    assert failed[0].detail.startswith("a receipt (line 2)")
