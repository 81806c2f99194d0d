"""What the API answers, drawn from the log: never more than its reader may see now."""

from collections.abc import Iterator
from typing import Any

import msgspec

from api.execute import Done
from api.identity import Caller, Keyring
from domain.game import HandScore
from domain.log import Entry, EventView, event_view
from domain.receipts import Receipt
from domain.seats import Seat
from domain.table.commands import Clock
from domain.table.state import Table
from domain.table.views import ScoreView, View, score_views, view
from domain.times import format_at
from projections.games import Listed
from projections.scores import Scores


class ActionAnswer(msgspec.Struct, frozen=True):
    """What an action brought about: its own events, and the view at the last of them."""

    version: int
    events: tuple[EventView, ...]
    view: View
    receipt: Receipt


class SeatAnswer(msgspec.Struct, frozen=True):
    """A seat of a new game; `token` is null for bots and while the seat is open."""

    seat: Seat
    name: str | None
    kind: str
    bot: str | None
    ref: str | None
    token: str | None


class CreatedAnswer(msgspec.Struct, frozen=True):
    """A new game and the tokens of its seats."""

    id: str
    game: str
    version: int
    status: str
    at: str
    rules: msgspec.Raw
    deal_id: str
    seeded_by_host: bool
    clock: Clock | None
    labels: dict[str, str]
    seats: tuple[SeatAnswer, ...]
    receipt: Receipt


class JoinedAnswer(msgspec.Struct, frozen=True):
    """A seat that has been taken, and its token."""

    id: str
    version: int
    status: str
    seat: Seat
    name: str | None
    ref: str | None
    token: str
    receipt: Receipt


class TokenAnswer(msgspec.Struct, frozen=True):
    """A token; `seat` is null for a spectator's."""

    id: str
    version: int
    seat: Seat | None
    generation: int
    token: str
    receipt: Receipt


class GameItem(msgspec.Struct, frozen=True):
    """A game in a list. `names` are by seat, null while a seat is open or once it is erased."""

    id: str
    game: str
    version: int
    status: str
    created_at: str
    ended_at: str | None
    names: tuple[str | None, ...]
    refs: tuple[str, ...]
    labels: dict[str, str]


class GamesPage(msgspec.Struct, frozen=True):
    """A page of games, newest first; `next` is the cursor of the next page, null at the end.
    `as_of` is the log position that the list holds at the least."""

    items: tuple[GameItem, ...]
    next: str | None
    as_of: int


class EventsPage(msgspec.Struct, frozen=True):
    """A page of events; `next` is what to give as `after` for the next page, null at the end.
    `version` is where the game stands."""

    items: tuple[EventView, ...]
    next: int | None
    version: int


class ScoresAnswer(msgspec.Struct, frozen=True):
    """Scores by seat and by hand; `as_of` is the version that they are from."""

    seats: tuple[ScoreView, ...]
    hands: tuple[HandScore, ...]
    as_of: int


def action_answer(caller: Caller, done: Done) -> ActionAnswer:
    """The answer to an action, for its maker."""
    table, seat = done.table, caller.seat
    return ActionAnswer(
        version=table.version,
        events=tuple([event_view(table.id, entry, seat, done.now) for entry in done.entries]),
        view=view(table, caller.viewer, done.now),
        receipt=done.receipt,
    )


def created_answer(keyring: Keyring, done: Done) -> CreatedAnswer:
    """The answer to the host that set up a game."""
    table = done.table
    tokens = {data["seat"]: _seat_token(keyring, table, e, data) for e, data in _issued(done)}
    return CreatedAnswer(
        id=table.id,
        game=table.game.name,
        version=table.version,
        status=table.status,
        at=format_at(done.entries[0].at),
        rules=table.rules,
        deal_id=table.deal_id,
        seeded_by_host=table.seeded_by_host,
        clock=table.clock,
        labels=table.labels,
        seats=tuple(
            [
                SeatAnswer(
                    seat=number,
                    name=seated.name,
                    kind=seated.kind,
                    bot=seated.bot,
                    ref=seated.ref,
                    token=tokens.get(number),
                )
                for number, seated in enumerate(table.seats)
            ]
        ),
        receipt=done.receipt,
    )


def joined_answer(keyring: Keyring, done: Done) -> JoinedAnswer:
    """The answer to the host that seated a player."""
    table = done.table
    [(entry, data)] = _issued(done)
    seated = table.seats[data["seat"]]
    return JoinedAnswer(
        id=table.id,
        version=table.version,
        status=table.status,
        seat=data["seat"],
        name=seated.name,
        ref=seated.ref,
        token=_seat_token(keyring, table, entry, data),
        receipt=done.receipt,
    )


def seat_token_answer(keyring: Keyring, done: Done) -> TokenAnswer:
    """The answer to the host that had a seat's token issued."""
    table = done.table
    [(entry, data)] = _issued(done)
    token = _seat_token(keyring, table, entry, data)
    return TokenAnswer(
        table.id, table.version, data["seat"], data["generation"], token, done.receipt
    )


def spectator_token_answer(keyring: Keyring, done: Done) -> TokenAnswer:
    """The answer to the host that had a spectator's token issued."""
    table = done.table
    [entry] = done.entries
    generation = table.spectators
    token = keyring.spectator_token(table.id, generation, entry.at)
    return TokenAnswer(table.id, table.version, None, generation, token, done.receipt)


def scores_answer(table: Table, scores: Scores) -> ScoresAnswer:
    """Where every seat of the table stood, and what each hand brought."""
    return ScoresAnswer(score_views(table, scores.seats), scores.hands, scores.version)


def game_item(listed: Listed) -> GameItem:
    """A game of a list."""
    return GameItem(
        id=listed.id,
        game=listed.game,
        version=listed.version,
        status=listed.status,
        created_at=format_at(listed.created_at),
        ended_at=None if listed.ended_at is None else format_at(listed.ended_at),
        names=listed.names,
        refs=listed.refs,
        labels=listed.labels,
    )


def _issued(done: Done) -> Iterator[tuple[Entry, dict[str, Any]]]:
    for entry in done.entries:
        if entry.type == "SeatTokenIssued":
            yield entry, msgspec.json.decode(entry.data)


def _seat_token(keyring: Keyring, table: Table, entry: Entry, data: dict[str, Any]) -> str:
    return keyring.seat_token(table.id, data["seat"], data["generation"], entry.at)
