"""`fairdeal import`: opened logs of games that are over, loaded into a store byte for byte.

An import trusts nothing: a file is checked as `fairdeal verify` checks it, and must be a log that
this service could have written. The game stays as it is for ever; importing it again changes
nothing, so what has been erased here stays erased.
"""

from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final, Literal
from uuid import UUID

import msgspec

from api.batch import new_event, tags_of
from domain.export import Export
from domain.log import fold
from domain.table.state import Table
from domain.verify import Report
from eventstore.postgres import EventStore
from eventstore.records import GENESIS, Answer, Append, Appended

_LONGEST_TEXT: Final = 512
"""Bytes of what a game can be found by; longer ones do not fit an index."""
_OPENS: Final = frozenset({"digests", "deals", "rederivation"})
"""The checks that are possible only where everything is open."""


class Imported(msgspec.Struct, frozen=True):
    """What became of a file: whether its game is here now, was before, or why it is not."""

    game: str
    outcome: Literal["imported", "already here", "refused"]
    reason: str | None = None


async def import_log(store: EventStore, log: Export, report: Report, tenant: str) -> Imported:
    """Load a log, with its `report`, for a tenant."""
    game_id = log.header.id
    reason = _unfit(log, report)
    if reason is None:
        table = fold(game_id, log.entries)
        reason = _not_over(table)
        if reason is None:
            return await _load(store, log, table, tenant)
    return Imported(game_id, "refused", reason)


def samples() -> Iterator[Traversable]:
    """The recorded games that come with Fairdeal."""
    for folder in sorted(files("seeds").iterdir(), key=lambda path: path.name):
        recorded = folder.joinpath("samples")
        if recorded.is_dir():
            yield from sorted(recorded.iterdir(), key=lambda path: path.name)


def _unfit(log: Export, report: Report) -> str | None:
    """Why the log cannot be taken as it is."""
    for check in report.checks:
        if check.status == "failed":
            return f"it does not hold: {check.check}: {check.detail}"
    for check in report.checks:
        if check.status == "not_yet_possible" and check.check in _OPENS:
            return f"it is not an opened log: {check.check}: {check.detail}"
    ids = [log.header.id, *{entry.command for entry in log.entries}]
    for text in ids:
        try:
            plain = str(UUID(text)) == text
        except ValueError:
            plain = False
        if not plain:
            return f"{text!r} is no UUID in lower case"
    return None


def _not_over(table: Table) -> str | None:
    """Why the game cannot be taken, although its log is right."""
    if table.status not in ("finished", "abandoned"):
        return f"the game is not over: it is {table.status}"
    texts = (*tags_of(table), *[text for label in table.labels.items() for text in label])
    for text in texts:
        if "\0" in text or len(text.encode()) > _LONGEST_TEXT:
            return "a reference or label is too long, or holds a NUL character"
    return None


async def _load(store: EventStore, log: Export, table: Table, tenant: str) -> Imported:
    game_id, entries = table.id, log.entries
    last = entries[-1].version
    request = Append(
        stream=game_id,
        expected=0,
        prev=GENESIS,
        events=tuple([new_event(entry) for entry in entries]),
        command=entries[-1].command,
        answer=Answer(game_id, 1, last, b""),
        tags=tags_of(table, imported=True),
        tenant=tenant,
        category=table.game.name,
    )
    loaded = await store.load(game_id)
    if loaded is None:
        if isinstance(await store.append(request), Appended):
            return Imported(game_id, "imported")
        loaded = await store.load(game_id)
        assert loaded is not None, "an append found a stream that is not there"
    head, events = loaded
    if head.tenant != tenant:
        return Imported(game_id, "refused", "another host has a game of this id")
    if head.version < last or events[last - 1].hash != entries[-1].hash:
        return Imported(game_id, "refused", "the store holds another history of this game")
    return Imported(game_id, "already here")
