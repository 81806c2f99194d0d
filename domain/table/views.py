"""What a viewer is shown of a table. The view of a moment is built from that moment's table and
from what the log has opened or covered by *now* (common, *Who sees what*)."""

from collections.abc import Iterable
from typing import Any

import msgspec

from domain.actions import Action, CutChoice, CutRange, Deal
from domain.game import HandScore, Opened, Previous, Private, Score
from domain.seats import Seat
from domain.table.commands import Clock
from domain.table.decide import server_command, to_act
from domain.table.state import Status, Table
from domain.times import format_at
from domain.visibility import Openings, Viewer


class SeatView(msgspec.Struct, frozen=True):
    """A seat and who sits there. The name is null while the seat is open or once it is erased;
    `ref` is shown to the host alone."""

    seat: Seat
    name: str | None
    kind: str
    still_in: bool = msgspec.field(name="in")
    bot: str | None
    resigned: bool
    ref: str | None = None


class HandView(msgspec.Struct, frozen=True):
    """The hand that is on, or the last one."""

    number: int
    dealer: Seat
    cutter: Seat
    phase: str
    commitment: str
    seats: tuple[Seat, ...]


class ScoreView(msgspec.Struct, frozen=True):
    """Where a seat stands."""

    seat: Seat
    name: str | None
    lives: int | None
    chips: int
    points: int | None


class ResultView(msgspec.Struct, frozen=True, omit_defaults=True):
    """How the game ended: winners, and lives or balances by seat."""

    winners: tuple[Seat, ...]
    reason: str
    balances: tuple[int, ...]
    resigned: tuple[Seat, ...]
    pot: int
    lives: tuple[int, ...] | None = None


class View(msgspec.Struct, frozen=True):
    """Everything that a viewer may know of a game at a version."""

    id: str
    game: str
    version: int
    status: Status
    rules: msgspec.Raw
    rules_version: int
    seeded_by_host: bool
    deal_id: str
    clock: Clock | None
    labels: dict[str, str]
    viewer: Viewer
    seats: tuple[SeatView, ...]
    hand: HandView | None
    to_act: tuple[Seat, ...]
    deadline: str | None
    actions: tuple[Action, ...]
    table: Any
    previous: Previous | None
    private: Private | None
    scores: tuple[ScoreView, ...]
    result: ResultView | None
    opened: Opened | None


def legal(table: Table, seat: Seat) -> list[Action]:
    """Every legal action of a seat, complete and exact; `cut` as the range it may take."""
    if table.seats[seat].resigned:
        return []
    return playable_actions(table, seat)


def playable_actions(table: Table, seat: Seat) -> list[Action]:
    """The legal actions of a seat whoever plays it (a bot plays for who has resigned)."""
    match table.stage:
        case "play" | "before":
            return table.game.legal(table.play, seat)
        case "cutting" if table.options.cut == "manual" and seat == table.cutter:
            return [CutChoice(at=CutRange(1, len(table.game.pack) - 1))]
        case "dealing" if table.options.deal == "manual" and seat == table.dealer:
            return [Deal()]
        case _:
            return []


def view(table: Table, viewer: Viewer, now: Openings) -> View:
    """What `viewer` may see of the table, given what lies open `now` (the openings of the newest
    version; an earlier table is shown with what has been covered since hidden again)."""
    game, play = table.game, table.play
    still_in = game.still_in(play)
    opened = table.hand > 0 and now.opened(table.hand_version)
    return View(
        id=table.id,
        game=game.name,
        version=table.version,
        status=table.status,
        rules=table.rules,
        rules_version=table.rules_version,
        seeded_by_host=table.seeded_by_host,
        deal_id=table.deal_id,
        clock=table.clock,
        labels=table.labels,
        viewer=viewer,
        seats=tuple(
            [
                SeatView(
                    seat=seat,
                    name=seated.name,
                    kind=seated.kind,
                    still_in=still_in[seat] and seated.taken,
                    bot=seated.bot,
                    resigned=seated.resigned,
                    ref=seated.ref if viewer.role == "host" else None,
                )
                for seat, seated in enumerate(table.seats)
            ]
        ),
        hand=_hand_view(table),
        to_act=to_act(table),
        deadline=None if table.deadline is None else format_at(table.deadline),
        actions=()
        # What the server is about to do is nobody's to do any more.
        if viewer.seat is None or server_command(table) is not None
        else tuple(legal(table, viewer.seat)),
        table=game.table_view(play, _still_face_up(table, now)),
        previous=game.previous(play),
        private=None if viewer.seat is None else game.private_view(play, viewer.seat),
        scores=score_views(table),
        result=result_view(table),
        opened=game.opened_view(play) if opened else None,
    )


def _still_face_up(table: Table, now: Openings) -> bool:
    """Whether what lay face up at this table's moment may still be shown."""
    return all(version in now.face_up or now.opened(version) for version in table.openings.face_up)


def _hand_view(table: Table) -> HandView | None:
    if table.hand == 0:
        return None
    phases = {"cutting": "cutting", "dealing": "dealing", "over": "over"}
    return HandView(
        number=table.hand,
        dealer=table.dealer,
        cutter=table.cutter,
        phase=phases.get(table.stage) or table.game.phase(table.play),
        commitment=table.commitment,
        seats=table.order,
    )


def score_views(table: Table, scores: Iterable[Score] | None = None) -> tuple[ScoreView, ...]:
    """Where each seat stands (or stood, by these scores), with the names of now."""
    return tuple(
        [
            ScoreView(s.seat, table.seats[s.seat].name, s.lives, s.chips, s.points)
            for s in (table.game.scores(table.play) if scores is None else scores)
        ]
    )


def hand_score_views(table: Table) -> tuple[HandScore, ...]:
    """What each finished hand brought, as everyone may know it: swallowed tricks are counted once
    the hand is opened."""
    closed = {record.hand for record in table.unopened}
    return tuple(
        [
            msgspec.structs.replace(hand, swallowed=None) if hand.hand in closed else hand
            for hand in table.game.hand_scores(table.play)
        ]
    )


def result_view(table: Table) -> ResultView | None:
    """How the game ended, or None while it has not."""
    result = table.result
    if result is None:
        return None
    scores = table.game.scores(table.play)
    lives = tuple([s.lives for s in scores if s.lives is not None])
    return ResultView(
        winners=result.winners,
        reason=result.reason,
        balances=tuple([s.chips for s in scores]),
        resigned=tuple([i for i, seated in enumerate(table.seats) if seated.resigned]),
        pot=table.game.pot(table.play),
        lives=lives or None,
    )
