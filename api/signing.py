"""The keys that sign receipts: how they are kept, how one follows another, and signing itself.

Keys are text, one a line or separated by commas: `secret:from:until`, the secret 32 bytes in
base64url, the times in seconds since 1970. The last one has no `until` and signs; the others stay,
so that what they signed can be checked for ever.
"""

import logging
import os
import secrets
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec

from api.games import Known
from api.kept import changing, kept, read, replace
from api.settings import SIGNING_KEYS_ENV, SIGNING_KEYS_FILE_ENV, SettingsError, data_dir
from domain import base64url
from domain.receipts import PublicKey, Receipt, SigningKey

_FILE: Final = "signing.keys"

_logger = logging.getLogger("fairdeal.api")


class KeptKey(msgspec.Struct, frozen=True):
    """A key with its secret, and the seconds since 1970 between which it signs (`until` None: it
    signs today)."""

    secret: bytes
    since: int
    until: int | None = None

    @property
    def public(self) -> PublicKey:
        """What anybody may know of it."""
        return SigningKey(self.secret).public(self.since, self.until)

    @property
    def text(self) -> str:
        """As `parse` reads it."""
        until = "" if self.until is None else f":{self.until}"
        return f"{base64url.encode(self.secret)}:{self.since}{until}"


def parse(text: str, source: str) -> tuple[KeptKey, ...]:
    """The keys in a text. Raises SettingsError naming the source, never quoting a key."""
    found = []
    for number, item in enumerate(filter(None, map(str.strip, text.replace(",", "\n").split())), 1):
        secret, *times = item.split(":")
        try:
            since, until = [*map(int, times), *[-1] * (2 - len(times))]
            key = KeptKey(base64url.decode(secret), max(since, 0), until if until >= 0 else None)
            SigningKey(key.secret)
        except ValueError:
            raise SettingsError(f"{source}: key {number} is not secret:from:until") from None
        found.append(key)
    if not found:
        raise SettingsError(f"{source} holds no key")
    if found[-1].until is not None or any(key.until is None for key in found[:-1]):
        raise SettingsError(f"{source}: the last key, and no other, is without an end")
    if len({key.secret for key in found}) < len(found):
        raise SettingsError(f"{source} holds a key twice")
    return tuple(found)


def rotated(keys: Sequence[KeptKey]) -> tuple[KeptKey, ...]:
    """The keys with a new one after them, which signs from now on."""
    now = int(time.time())
    ended = [msgspec.structs.replace(key, until=now) if key.until is None else key for key in keys]
    return (*ended, KeptKey(secrets.token_bytes(32), now))


def key_file(environment: Mapping[str, str] = os.environ) -> Path:
    """The file with the keys, made with a first key if there is none. Raises SettingsError."""
    path = _path(environment)
    [first] = rotated(())
    kept(path, first.text, SIGNING_KEYS_ENV)
    return path


def check_named_file(environment: Mapping[str, str] = os.environ) -> None:
    """Refuse to go without a file that the environment names: who makes a new one in its place
    knows the receipts of before no more. Raises SettingsError."""
    named = environment.get(SIGNING_KEYS_FILE_ENV)
    if named:
        try:
            read(Path(named))
        except SettingsError as error:
            raise SettingsError(
                f"{SIGNING_KEYS_FILE_ENV}: {error} Put the file back, or make a first key there "
                "with `fairdeal keys rotate` if nothing was signed before."
            ) from None


def rotate(path: Path) -> KeptKey:
    """Let a new key sign from now on, in a file that is there. Raises SettingsError."""
    with changing(path):
        keys = rotated(parse(read(path), str(path)))
        replace(path, "\n".join([key.text for key in keys]))
    return keys[-1]


def of_environment(environment: Mapping[str, str] = os.environ) -> "Signer | None":
    """What signs in this environment; None where no key has been made yet. Raises SettingsError."""
    text = environment.get(SIGNING_KEYS_ENV, "")
    path = _path(environment)
    if not text and not environment.get(SIGNING_KEYS_FILE_ENV) and not path.exists():
        return None
    return Signer(text, "" if text else str(path))


def known_kids(environment: Mapping[str, str] = os.environ) -> frozenset[str]:
    """Every key that has signed or signs in this environment, by its `kid`; none where none has
    been made yet. Raises SettingsError."""
    signer = of_environment(environment)
    return frozenset() if signer is None else frozenset([key.kid for key in signer.keys])


def _path(environment: Mapping[str, str]) -> Path:
    """The file that is set, or that of the data folder."""
    given = environment.get(SIGNING_KEYS_FILE_ENV)
    return Path(given) if given else data_dir(environment) / _FILE


class Signer:
    """Signs receipts in one process."""

    def __init__(self, keys: str, file: str = "") -> None:
        """With keys in text, or in a file that is read again when it changes. Raises SettingsError
        where there are none."""
        if not (keys or file):
            raise SettingsError(f"{SIGNING_KEYS_ENV} or {SIGNING_KEYS_FILE_ENV} is not set")
        self._file: Final = None if keys else Path(file)
        self._seen: tuple[int, int] | None = None
        if self._file is None:
            self._use(keys, SIGNING_KEYS_ENV)
        else:
            self._look()

    @property
    def keys(self) -> tuple[PublicKey, ...]:
        """Every key that has signed or signs."""
        self._look()
        return self._public

    def receipt(self, game: str, version: int, hash_: bytes, at: int) -> Receipt:
        """A receipt for a version of a game, its event's hash and time."""
        self._look()
        return self._key.sign(game, version, hash_, at)

    def newest(self, known: Known) -> Receipt:
        """The receipt for a game's newest version."""
        return self.receipt(known.table.id, known.table.version, known.hash, known.at)

    def _use(self, text: str, source: str) -> None:
        keys = parse(text, source)
        self._key = SigningKey(keys[-1].secret)
        self._public = tuple([key.public for key in keys])

    def _look(self) -> None:
        """Read the file if it is new; one that cannot be read any more changes nothing."""
        if self._file is None:
            return
        first = self._seen is None
        try:
            stat = os.stat(self._file)
            seen = (stat.st_ino, stat.st_mtime_ns)
            if seen == self._seen:
                return
            self._seen = seen
            self._use(read(self._file), str(self._file))
        except OSError as error:
            if first:
                raise SettingsError(f"{self._file} cannot be read ({error.strerror}).") from None
        except SettingsError as error:
            if first:
                raise
            _logger.error("the signing keys stay as they were: %s", error)
