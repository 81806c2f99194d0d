"""Which keys have signed the receipts that a database keeps, as a look at some of them tells.

A service whose keys have been made anew on a database that has played games cannot check what
players hold in their hands any more; nothing else would say so until a player comes with a receipt.
"""

import asyncio
import logging
from collections.abc import Collection
from typing import Any, Final

import msgspec
import psycopg

from api import signing
from api.kept_answer import kept_receipt
from api.settings import SettingsError
from eventstore.records import Answer

_PAGES: Final = 64
"""Pages of the table that are looked at, drawn at random: some thousand receipts."""
_NAMED: Final = 5
_CONNECT_SECONDS: Final = 10
_NOBODY: Final = "00000000-0000-0000-0000-000000000000"

_SIZE: Final = "SELECT pg_relation_size('fairdeal.commands') / current_setting('block_size')::int"
_SOME: Final = "SELECT response FROM fairdeal.commands TABLESAMPLE SYSTEM ($1) WHERE response <> ''"


async def strangers(conn: psycopg.AsyncConnection[Any], known: Collection[str]) -> list[str]:
    """Keys that have signed receipts of this database and are not among the known ones, by their
    `kid`. Those that have signed little may be overlooked, and so are all whose receipts nobody
    asked for with an idempotency key. Raises psycopg.Error."""
    cursor = psycopg.AsyncRawCursor(conn)
    await cursor.execute(_SIZE)
    [(pages,)] = await cursor.fetchall()
    await cursor.execute(_SOME, [min(100.0, 100.0 * _PAGES / max(pages, 1))])
    found = [_key(response) for (response,) in await cursor.fetchall()]
    return sorted({kid for kid in found if kid is not None and kid not in known})


def _key(response: bytes) -> str | None:
    try:
        return kept_receipt(Answer(_NOBODY, 0, 0, response)).key
    except (msgspec.MsgspecError, ValueError):
        # What is no receipt is for the audit to tell.
        return None


def named(kids: list[str]) -> str:
    """Some of the keys, and how many more there are."""
    more = f" and {len(kids) - _NAMED} more" if len(kids) > _NAMED else ""
    return f"{', '.join(kids[:_NAMED])}{more}"


def warn_of_strangers(url: str) -> None:
    """Say once, at the start, that this environment's keys are not those of the database. What
    cannot be asked, and keys that cannot be read, are told of by others."""

    async def found() -> list[str]:
        async with await psycopg.AsyncConnection.connect(
            url, autocommit=True, connect_timeout=_CONNECT_SECONDS
        ) as conn:
            return await strangers(conn, known)

    try:
        known = signing.known_kids()
        kids = asyncio.run(found())
    except (psycopg.Error, SettingsError):
        return
    if kids:
        logging.getLogger("fairdeal").warning(
            "receipts in this database were signed with keys that are not among the signing keys "
            "(%s): players' receipts can no longer be checked. Put the keys back",
            named(kids),
        )
