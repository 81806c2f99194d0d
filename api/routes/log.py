"""`/v1/games/{id}/events`, `/at`, `/replay`, `/scores`: what has happened, as the caller may see it
now."""

from collections.abc import AsyncIterator
from typing import Annotated, Any, Final

import msgspec
from litestar import Controller, Request, Response
from litestar.di import NamedDependency
from litestar.params import FromPath, HeaderParameter, QueryParameter
from litestar.response import Stream

from api import freshness
from api.access import Access
from api.answers import EventsPage, ScoresAnswer, scores_answer
from api.asking import access_of
from api.freshness import FROM_0, AtLeastVersion
from api.guards import anyone, get
from api.parts import Parts
from api.problems import Problem, invalid, not_found
from api.replies import FOR_ALL, PROBLEMS, READING
from api.streaming import MEDIA_TYPE, LiveResponse
from domain.log import event_view, fold
from domain.replay import Replay, retold, transcript
from domain.table.views import View, view
from projections import replays, scores
from projections.entries import entries

_NDJSON: Final = "application/x-ndjson"
_PAGE: Final = 500
_LINE: Final = msgspec.json.Encoder()

After = Annotated[
    int | None,
    QueryParameter(
        ge=0, le=2**31 - 1, description="Only events of later versions.", schema_extra=FROM_0
    ),
]
LastEventId = Annotated[
    str | None,
    HeaderParameter(
        name="Last-Event-ID",
        description="For `text/event-stream`: the `id` of the last message that the reader has; "
        "it goes before `after`.",
    ),
]
Limit = Annotated[int, QueryParameter(ge=1, le=1000, description="Events on a page.")]


class LogController(Controller):
    """A game's past."""

    path = "/v1/games/{game_id:uuid}"
    tags = ("log",)

    @get(
        "/events",
        guards=[anyone],
        security=FOR_ALL,
        operation_id="listEvents",
        summary="Read the log",
        responses={**READING, 406: PROBLEMS[406]},
    )
    async def events(
        self,
        request: Request[Any, Any, Any],
        parts: NamedDependency[Parts],
        after: After = None,
        limit: Limit = _PAGE,
        last_event_id: LastEventId = None,
    ) -> Response[EventsPage]:
        """The game's events as the caller may see them now: a page of JSON, or, where `Accept` asks
        for `application/x-ndjson`, all of them, one a line.

        As `text/event-stream` they come live. The first message is a `snapshot`, the caller's view;
        then each later event is a message of its own, whose `id` is its version. Who comes back
        with `Last-Event-ID` (or `after`) gets the events after that one, without a snapshot, unless
        the game does not stand there yet. Read an event's `opens` again: those parts are open now.
        When the game is over and everything has been sent, `end` is the last message. `bye` says
        that the stream ends before the game: `shutdown` (come back), `unauthorized` or `not-found`.
        """
        access = access_of(request)
        kind = request.accept.best_match(["application/json", _NDJSON, MEDIA_TYPE])
        match kind:
            case "application/json":
                return Response(await _page(parts, access, after or 0, limit))
            case "application/x-ndjson":
                return Stream(_lines(parts, access, after or 0), media_type=_NDJSON)  # type: ignore[return-value]
            case "text/event-stream":
                seen = after if not last_event_id else _version(last_event_id)
                return LiveResponse(parts.live.follow(access, seen), parts.patience)
        raise Problem(
            "not-acceptable", f"Events come as application/json, {_NDJSON} or {MEDIA_TYPE}."
        )

    @get(
        "/at/{version:int}",
        guards=[anyone],
        security=FOR_ALL,
        operation_id="getGameAt",
        summary="Look at an earlier version",
        responses=READING,
    )
    async def at(
        self,
        request: Request[Any, Any, Any],
        parts: NamedDependency[Parts],
        version: FromPath[int],
    ) -> View:
        """The caller's view as of a version: what they could see then, less what has been covered
        again since; once the hand is opened, everything."""
        access = access_of(request)
        newest = access.known.table
        if not 1 <= version <= newest.version:
            raise not_found(f"The game has the versions 1 to {newest.version}.")
        table = newest
        if version < newest.version:
            table = fold(newest.id, await parts.store.read(newest.id, 0, version))
        return view(table, access.caller.viewer, newest.openings)

    @get(
        "/replay",
        guards=[anyone],
        security=FOR_ALL,
        operation_id="replayGame",
        summary="Tell the game again",
        responses=READING,
    )
    async def replay(
        self, request: Request[Any, Any, Any], parts: NamedDependency[Parts]
    ) -> Response[Replay]:
        """Hands, tricks and plays as the caller may see them now: JSON, or, where `Accept` asks for
        `text/plain`, a transcript in words. Always of the newest version: opened hands have been
        told once and kept, the others are told from the log."""
        access = access_of(request)
        table = access.known.table
        kept = await replays.read(parts.store, table.id, table.version)
        rest = entries(await parts.store.read(table.id, kept.upto, table.version))
        told = retold(table, kept.hands, rest, access.caller.seat, table.openings)
        if request.accept.best_match(["application/json", "text/plain"]) == "text/plain":
            text: Any = transcript(told, table)
            return Response(text, media_type="text/plain")
        return Response(told)

    @get(
        "/scores",
        guards=[anyone],
        security=FOR_ALL,
        operation_id="getScores",
        summary="See the scores",
        responses=READING,
    )
    async def scores(
        self,
        request: Request[Any, Any, Any],
        parts: NamedDependency[Parts],
        at_least: AtLeastVersion = None,
    ) -> ScoresAnswer:
        """Where every seat stands, and what each hand brought, `as_of` a version: the newest,
        unless that takes too long. Where no score is kept yet it is counted at once."""
        table = access_of(request).known.table
        await freshness.of_game(parts.store, scores.NAME, table.id, table.version, at_least)
        found = await scores.read(parts.store, table.id)
        return scores_answer(table, scores.scores_of(table) if found is None else found)


def _version(last_event_id: str) -> int:
    """The version that a `Last-Event-ID` names. Raises `invalid-request`."""
    if not (last_event_id.isascii() and last_event_id.isdigit() and len(last_event_id) <= 10):
        raise invalid("Last-Event-ID", "the id of a message: a version")
    return int(last_event_id)


async def _page(parts: Parts, access: Access, after: int, limit: int) -> EventsPage:
    """Events of the game as it stands in `access`, so that what lies open fits them."""
    table, seat = access.known.table, access.caller.seat
    stored = await parts.store.read(table.id, after, table.version, limit)
    views = [event_view(table.id, e, seat, table.openings) for e in entries(stored)]
    last = views[-1].version if views else table.version
    return EventsPage(
        items=tuple(views),
        next=last if last < table.version else None,
        version=table.version,
    )


async def _lines(parts: Parts, access: Access, after: int) -> AsyncIterator[bytes]:
    """All events up to the version of `access`, each page by what lies open when it is read."""
    upto, seat = access.known.table.version, access.caller.seat
    known = access.known
    while True:
        game_id = known.table.id
        stored = await parts.store.read(game_id, after, upto, _PAGE)
        if not stored:
            return
        now = known.table.openings
        yield _LINE.encode_lines([event_view(game_id, e, seat, now) for e in entries(stored)])
        after = stored[-1].version
        known = await parts.games.fresh(game_id) or known
