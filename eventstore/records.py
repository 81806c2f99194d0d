"""What goes into a stream and comes out of it. Knows bytes, no card and no rule.

Times are microseconds since 1970-01-01T00:00:00Z (`int`), hashes are 32 raw bytes, ids are UUID
text.
"""

from typing import Final

import msgspec

GENESIS: Final = bytes(32)
"""`prev` of a stream's first event."""


class SealedPart(msgspec.Struct, frozen=True, gc=False):
    """One sealed part of an event. `salt` and `body` are both None once it has been erased."""

    audience: str
    """Canonical JSON text of whom it is for, e.g. `[0]`, `"all"`; opaque to the store."""
    digest: bytes
    salt: bytes | None
    body: bytes | None


class NewEvent(msgspec.Struct, frozen=True, gc=False):
    """An event to append. Its version is its place in the append."""

    type: str
    schema: int
    at: int
    actor: int | None
    command: str
    data: bytes
    hash: bytes
    sealed: tuple[SealedPart, ...] = ()


class StoredEvent(msgspec.Struct, frozen=True, gc=False):
    """An event as the stream holds it; `data` and the parts' bodies are the hashed bytes."""

    version: int
    type: str
    schema: int
    at: int
    actor: int | None
    command: str
    data: bytes
    prev: bytes
    hash: bytes
    sealed: tuple[SealedPart, ...] = ()


class Head(msgspec.Struct, frozen=True):
    """Where a stream stands."""

    stream: str
    tenant: str
    category: str
    version: int
    hash: bytes
    tags: tuple[str, ...]
    wake_at: int | None
    secret: bytes | None
    created_at: int


class Range(msgspec.Struct, frozen=True, gc=False):
    """Events of a stream: `after` < version <= `upto`."""

    stream: str
    after: int
    upto: int


class Due(msgspec.Struct, frozen=True):
    """A stream that wants attention."""

    stream: str
    category: str


class CallerKey(msgspec.Struct, frozen=True):
    """A caller's idempotency key: unique within `scope` (the stream itself, or any other text).

    `key` and `fingerprint` are 32-byte digests made by the caller of the store.
    """

    scope: str
    key: bytes
    fingerprint: bytes


class Answer(msgspec.Struct, frozen=True):
    """What a keyed command did: kept with its key, given back when the key comes again."""

    stream: str
    first_version: int
    last_version: int
    response: bytes
    """Opaque to the store; at most a few hundred bytes."""


class Append(msgspec.Struct, frozen=True):
    """One append: a whole batch of events or nothing.

    - `expected`: the version that the stream must have (0: it must not exist yet).
    - `prev`: the hash of that version's event (GENESIS for a new stream), checked against the head.
    - `tenant`, `category`, `secret`: kept when the stream is new, ignored afterwards.
    - `tags`: the stream's tags from now on; None leaves them as they are.
    - `wake_at`: when the stream next wants attention; None: never (always written).
    - `command`: the id under which the append is known if its outcome gets lost (a fresh UUID).
    - `key`: the caller's idempotency key, if it gave one.
    - `answer`: what to keep with the command (its `stream` is this one).
    - `erase`: sealed parts, as version and part, that are erased in the same transaction.
    """

    stream: str
    expected: int
    prev: bytes
    events: tuple[NewEvent, ...]
    command: str
    answer: Answer
    key: CallerKey | None = None
    wake_at: int | None = None
    tags: tuple[str, ...] | None = None
    tenant: str = ""
    category: str = ""
    secret: bytes | None = None
    erase: tuple[tuple[int, int], ...] = ()


class Appended(msgspec.Struct, frozen=True):
    """The events are durable; the stream stands at `version`."""

    version: int


class Replayed(msgspec.Struct, frozen=True):
    """The caller's key was used before, with the same fingerprint: nothing was written."""

    answer: Answer


class KeyMismatch(msgspec.Struct, frozen=True):
    """The caller's key was used before with another fingerprint: nothing was written."""


class WrongVersion(msgspec.Struct, frozen=True):
    """The stream stands elsewhere than expected (0: it does not exist): nothing was written."""

    version: int


Outcome = Appended | Replayed | KeyMismatch | WrongVersion


class StoreUnavailable(Exception):
    """Postgres could not be reached, or did not answer, within the store's deadline."""
