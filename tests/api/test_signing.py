"""The keys that sign receipts: read, rotated, and taken up by what is running."""

import os
import stat
from pathlib import Path

import pytest

from api import signing
from api.settings import SettingsError
from api.signing import KeptKey, Signer, key_file, of_environment, parse, rotate, rotated
from domain.receipts import signature_problem

FIRST = KeptKey(bytes(32), 100, 200)
LAST = KeptKey(bytes([1]) * 32, 200)
HASH = bytes(range(32))
AT = 1_750_000_000_000_000


def test_keys_are_read_as_they_are_written() -> None:
    for separator in ("\n", ",", " , \n"):
        assert parse(separator.join([FIRST.text, LAST.text]), "here") == (FIRST, LAST)
    bare = parse(LAST.text.partition(":")[0], "here")
    assert bare == (KeptKey(LAST.secret, 0),)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no key"),
        ("x", "key 1 is not"),
        (f"{LAST.text}:x", "key 1 is not"),
        (f"{FIRST.text}:300,{LAST.text}", "key 1 is not"),
        (LAST.text[5:], "key 1 is not"),
        (FIRST.text, "without an end"),
        (f"{LAST.text},{KeptKey(bytes(32), 1).text}", "without an end"),
        (f"{FIRST.text},{KeptKey(bytes(32), 200).text}", "twice"),
    ],
)
def test_keys_that_make_no_sense_are_refused_without_being_quoted(text: str, reason: str) -> None:
    with pytest.raises(SettingsError, match=reason) as caught:
        parse(text, "HERE")
    assert str(caught.value).startswith("HERE")
    assert LAST.text.partition(":")[0] not in str(caught.value)


def test_rotation_ends_one_key_and_begins_another_at_the_same_moment() -> None:
    old, new = rotated((LAST,))
    assert old == KeptKey(LAST.secret, 200, new.since)
    assert new.until is None
    assert len(new.secret) == 32
    assert new.secret != LAST.secret


def test_a_key_file_is_made_once_for_its_owner_alone(tmp_path: Path) -> None:
    environment = {"FAIRDEAL_DATA_DIR": str(tmp_path / "data")}
    assert of_environment(environment) is None
    path = key_file(environment)
    assert path.parent == tmp_path / "data"
    made = path.read_text()
    assert key_file(environment) == path
    assert path.read_text() == made
    rotate(path)
    for found in (path, *path.parent.iterdir()):
        assert found == path
        assert stat.S_IMODE(found.stat().st_mode) == 0o600
    first, second = parse(path.read_text(), "file")
    assert first.secret == parse(made, "file")[0].secret
    assert first.until == second.since


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_a_key_file_stays_with_its_account_when_root_rotates(tmp_path: Path) -> None:
    path = key_file({"FAIRDEAL_DATA_DIR": str(tmp_path)})
    os.chown(path, 10001, 10001)
    rotate(path)
    found = path.stat()
    assert (found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode)) == (10001, 10001, 0o600)


def test_what_runs_takes_up_a_new_key_and_knows_the_old_one(tmp_path: Path) -> None:
    environment = {"FAIRDEAL_SIGNING_KEYS_FILE": str(tmp_path / "keys")}
    path = key_file(environment)
    signer, other = Signer("", str(path)), of_environment(environment)
    assert other is not None
    before = signer.receipt("g", 1, HASH, AT)
    key = rotate(path)
    after = signer.receipt("g", 1, HASH, AT)
    assert after.key == key.public.kid != before.key
    assert other.receipt("g", 1, HASH, AT) == after
    assert [known.kid for known in signer.keys] == [before.key, after.key]
    for receipt in (before, after):
        assert signature_problem(receipt, other.keys) is None


def test_a_key_file_that_breaks_changes_nothing_for_what_runs(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = key_file({"FAIRDEAL_DATA_DIR": str(tmp_path)})
    signer = Signer("", str(path))
    before = signer.receipt("g", 1, HASH, AT)
    path.write_text("nonsense\n")
    assert signer.receipt("g", 1, HASH, AT) == before
    assert "stay as they were" in caplog.text
    path.unlink()
    assert signer.receipt("g", 1, HASH, AT) == before
    with pytest.raises(SettingsError):
        Signer("", str(path))


def test_without_keys_nothing_signs() -> None:
    with pytest.raises(SettingsError, match=r"FAIRDEAL_SIGNING_KEYS .*is not set"):
        Signer("")
    assert signing.Signer(LAST.text).keys == (LAST.public,)
