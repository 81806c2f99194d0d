"""`/v1/games/{id}/receipt`, `/export` and `/challenges`, and the public keys: what one needs to
check the service."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from itertools import islice
from typing import Any, Final

from litestar import Controller, Request
from litestar.di import NamedDependency
from litestar.params import FromPath
from litestar.response import Stream

from api.asking import access_of
from api.exporting import export_lines, file_name
from api.guards import anyone, get
from api.parts import Parts
from api.problems import not_found
from api.proof_answers import ChallengesPage, ChallengeView, KeySet, challenge_view
from api.replies import FOR_ALL, READING
from domain.codec import read_event
from domain.receipts import Receipt

_NDJSON: Final = "application/x-ndjson"
_LINES_AT_ONCE: Final = 100


class KeysController(Controller):
    """The keys that receipts are signed with; open to all."""

    path = "/.well-known"
    tags = ("proof",)

    @get("/jwks.json", operation_id="getKeys", summary="Read the public keys")
    async def keys(self, parts: NamedDependency[Parts]) -> KeySet:
        """Every key that signs receipts or has signed them (RFC 7517), with its period."""
        return KeySet(parts.signer.keys)


class ProofController(Controller):
    """What lets a player hold a game against its log."""

    path = "/v1/games/{game_id:uuid}"
    tags = ("proof",)

    @get(
        "/receipt",
        guards=[anyone],
        security=FOR_ALL,
        operation_id="getReceipt",
        summary="Get a receipt",
        responses=READING,
    )
    async def receipt(
        self, request: Request[Any, Any, Any], parts: NamedDependency[Parts]
    ) -> Receipt:
        """A signed receipt for the newest version: keep it, and nobody can rewrite what came
        before unnoticed."""
        return parts.signer.newest(access_of(request).known)

    @get(
        "/export",
        guards=[anyone],
        security=FOR_ALL,
        operation_id="exportGame",
        summary="Take the whole log along",
        responses=READING,
        media_type=_NDJSON,
    )
    async def export(
        self, request: Request[Any, Any, Any], parts: NamedDependency[Parts]
    ) -> Stream:
        """The log as one file that `fairdeal verify` checks offline: a header with the public
        keys, every event as the caller may see it now, a receipt."""
        access = access_of(request)
        history = await parts.games.history(access.known.table.id)
        lines = export_lines(history, access.caller.viewer, parts.signer)
        name = file_name(history)
        return Stream(
            _in_pieces(lines),
            media_type=_NDJSON,
            headers={"Content-Disposition": f'attachment; filename="{name}"'},
        )

    @get(
        "/challenges",
        guards=[anyone],
        security=FOR_ALL,
        operation_id="listChallenges",
        summary="List the challenges",
        responses=READING,
    )
    async def challenges(
        self, request: Request[Any, Any, Any], parts: NamedDependency[Parts]
    ) -> ChallengesPage:
        """Every challenge of the game with its verdict and the evidence for both players, drawn
        from the public events of the log."""
        return ChallengesPage(await _challenges(request, parts), None)

    @get(
        "/challenges/{number:int}",
        guards=[anyone],
        security=FOR_ALL,
        operation_id="getChallenge",
        summary="Look at a challenge",
        responses=READING,
    )
    async def challenge(
        self,
        request: Request[Any, Any, Any],
        parts: NamedDependency[Parts],
        number: FromPath[int],
    ) -> ChallengeView:
        """One challenge, counted from 1 in the game."""
        found = await _challenges(request, parts)
        if not 1 <= number <= len(found):
            raise not_found()
        return found[number - 1]


async def _challenges(request: Request[Any, Any, Any], parts: Parts) -> tuple[ChallengeView, ...]:
    table = access_of(request).known.table
    history = await parts.games.history(table.id)
    events = ((entry.version, read_event(entry)) for entry in history.entries)
    return tuple([challenge_view(found) for found in table.game.challenges(events)])


async def _in_pieces(lines: Iterator[bytes]) -> AsyncIterator[bytes]:
    """Some lines at a time, letting others have their turn in between."""
    while piece := b"".join(islice(lines, _LINES_AT_ONCE)):
        yield piece
        await asyncio.sleep(0)
