"""What a table remembers, and how each event changes it: its own part, then the game's."""

from collections.abc import Callable, Mapping
from typing import Any, Final, Literal

import msgspec

from domain.events import Event, layout
from domain.game import Game, Options, shallow
from domain.hand import HandDealt, HandStarted, PackCut, PlayerResigned, SeedRevealed
from domain.registry import GAMES
from domain.seats import Seat
from domain.table.commands import BotName, Clock
from domain.table.events import (
    BotTimed,
    ClockStarted,
    GameAbandoned,
    GameCreated,
    GameEnded,
    PlayerErased,
    SeatTaken,
    SeatTokenIssued,
    SpectatorTokenIssued,
)
from domain.times import parse_at
from domain.visibility import Openings

Status = Literal["waiting", "playing", "finished", "abandoned"]


class Seated(msgspec.Struct, frozen=True):
    """A seat: whose it is, the generation of its token (0: none issued), whether it is taken."""

    kind: str
    bot: BotName | None
    delay_ms: int = 0
    taken: bool = False
    name: str | None = None
    ref: str | None = None
    generation: int = 0
    resigned: bool = False
    erased: bool = False


class HandRecord(msgspec.Struct, frozen=True):
    """A hand that has not been opened: its seed and its versions (`last` None while it goes on)."""

    hand: int
    server_seed: bytes
    first: int
    last: int | None


class Result(msgspec.Struct, frozen=True):
    """How the game ended."""

    winners: tuple[Seat, ...]
    reason: str


class Table(msgspec.Struct, gc=False):
    """The whole state of one game: one stream."""

    id: str
    game: Game[Any]
    options: Options
    rules: msgspec.Raw
    rules_version: int
    deal_id: str
    seeded_by_host: bool
    clock: Clock | None
    labels: dict[str, str]
    seats: tuple[Seated, ...]
    play: Any
    """The game's own state."""
    version: int = 0
    status: Status = "waiting"
    spectators: int = 0
    openings: Openings = Openings()
    unopened: tuple[HandRecord, ...] = ()
    deadline: int | None = None
    has_pace: bool = False
    """Whether a bot with a pace sits at the table."""
    due: dict[Seat, int] = {}
    """When each bot with a pace acts (or last did) for which the game waits (or did)."""
    result: Result | None = None
    # The hand
    hand: int = 0
    dealer: Seat = 0
    cutter: Seat = 0
    order: tuple[Seat, ...] = ()
    commitment: str = ""
    server_seed: bytes = b""
    nonce: str = ""
    cut_at: int | None = None
    dealt: bool = False
    hand_version: int = 0
    """Version of the last HandStarted."""

    @property
    def stage(self) -> Literal["waiting", "before", "cutting", "dealing", "play", "over"]:
        """What the table is at: before the cut (bets), the cut, the deal, or the play."""
        if self.status != "playing":
            return "waiting" if self.status == "waiting" else "over"
        if self.dealt:
            return "play"
        if self.cut_at is not None:
            return "dealing"
        return "before" if self.game.holds_cut(self.play) else "cutting"

    def bot_at(self, seat: Seat) -> BotName | None:
        """The bot that plays the seat: its own, or a careful one for a player who has resigned."""
        seated = self.seats[seat]
        return "careful" if seated.resigned else seated.bot

    def paced(self, seat: Seat) -> bool:
        """Whether a bot plays the seat that lets time pass before it acts."""
        return self.seats[seat].delay_ms > 0 and not self.seats[seat].resigned

    def hand_opened(self) -> bool:
        """Whether the current (or last) hand is open to all."""
        return self.hand > 0 and self.openings.opened(self.hand_version)


def copied(table: Table) -> Table:
    """A copy that can be evolved without changing the original."""
    new: Table = shallow(table)
    new.play = table.game.copy(table.play)
    return new


def created(game_id: str, event: GameCreated) -> Table:
    """The table after its first event. Raises KeyError where the game is unknown."""
    game = GAMES[event.game]
    options = msgspec.json.decode(event.rules, type=game.options)
    return Table(
        id=game_id,
        game=game,
        options=options,
        rules=event.rules,
        rules_version=event.rules_version,
        deal_id=event.deal_id,
        seeded_by_host=event.seeded_by_host,
        clock=event.clock,
        labels=event.labels,
        seats=tuple([Seated(plan.kind, plan.bot, plan.delay_ms or 0) for plan in event.seats]),
        play=game.initial(options, len(event.seats)),
        has_pace=any([plan.delay_ms for plan in event.seats]),
        version=1,
    )


def evolve(table: Table, event: Event) -> None:
    """Apply the event that follows: to the table, to the game, or to both."""
    version = table.version = table.version + 1
    kind = type(event)
    change = table.game.evolve.get(kind)
    if change is not None:
        change(table.play, event, version)
    own = EVOLVE.get(kind)
    if own is not None:
        own(table, event, version)


def _seat(table: Table, seat: Seat, **changes: Any) -> None:
    seats = list(table.seats)
    seats[seat] = msgspec.structs.replace(seats[seat], **changes)
    table.seats = tuple(seats)


def _seat_taken(table: Table, event: SeatTaken, _: int) -> None:
    player = event.player
    _seat(
        table,
        event.seat,
        taken=True,
        name=player.name if player else None,
        ref=player.ref if player else None,
    )


def _seat_token_issued(table: Table, event: SeatTokenIssued, _: int) -> None:
    _seat(table, event.seat, generation=event.generation)


def _spectator_token_issued(table: Table, event: SpectatorTokenIssued, _: int) -> None:
    table.spectators = event.generation


def _hand_started(table: Table, event: HandStarted, version: int) -> None:
    assert event.seed is not None
    table.status = "playing"
    table.hand, table.dealer, table.cutter = event.hand, event.dealer, event.cutter
    table.order, table.commitment = event.seats, event.commitment
    table.server_seed = bytes.fromhex(event.seed.server_seed)
    table.nonce, table.cut_at, table.dealt = "", None, False
    table.hand_version = version
    table.openings = Openings(table.openings.ranges)
    table.unopened = (
        *[
            record if record.last is not None else msgspec.structs.replace(record, last=version - 1)
            for record in table.unopened
        ],
        HandRecord(event.hand, table.server_seed, version, None),
    )


def _pack_cut(table: Table, event: PackCut, _: int) -> None:
    table.cut_at, table.nonce = event.at, event.nonce


def _hand_dealt(table: Table, _event: HandDealt, _: int) -> None:
    table.dealt = True


def _seed_revealed(table: Table, event: SeedRevealed, version: int) -> None:
    _opened(table, event, version)
    table.unopened = tuple([r for r in table.unopened if r.hand != event.hand])


def _player_resigned(table: Table, event: PlayerResigned, _: int) -> None:
    _seat(table, event.seat, resigned=True)


def _clock_started(table: Table, event: ClockStarted, _: int) -> None:
    table.deadline = None if event.deadline is None else parse_at(event.deadline)


def _bot_timed(table: Table, event: BotTimed, _: int) -> None:
    table.due = {**table.due, event.seat: parse_at(event.due)}


def _game_abandoned(table: Table, _event: GameAbandoned, _: int) -> None:
    table.status = "abandoned"


def _player_erased(table: Table, event: PlayerErased, _: int) -> None:
    _seat(table, event.seat, name=None, ref=None, erased=True)


def _game_ended(table: Table, event: GameEnded, _: int) -> None:
    if table.status == "playing":
        table.status = "finished"
    table.result = Result(event.winners, event.reason)
    table.deadline = None


def _laid_face_up(table: Table, _event: Event, version: int) -> None:
    openings = table.openings
    table.openings = Openings(openings.ranges, openings.face_up | {version})


def _covered(table: Table, _event: Event, _: int) -> None:
    table.openings = Openings(table.openings.ranges)


def _opened(table: Table, event: Any, _: int) -> None:
    table.openings = table.openings.opening(*event.opens)


def _of_game_events() -> dict[type[Event], Callable[[Table, Any, int], None]]:
    """What any game's event does to what lies open: parts for the table are laid face up, a
    covering event turns them down, an opening one shows earlier parts to all."""
    found: dict[type[Event], Callable[[Table, Any, int], None]] = {}
    for game in GAMES.values():
        for kind in game.events:
            if kind.covers:
                found[kind] = _covered
            elif any(field.audience.kind == "table" for field in layout(kind).sealed):
                found[kind] = _laid_face_up
            elif "opens" in kind.__struct_fields__:
                found[kind] = _opened
    return found


EVOLVE: Final[Mapping[type[Event], Callable[[Table, Any, int], None]]] = {
    **_of_game_events(),
    SeatTaken: _seat_taken,
    SeatTokenIssued: _seat_token_issued,
    SpectatorTokenIssued: _spectator_token_issued,
    HandStarted: _hand_started,
    PackCut: _pack_cut,
    HandDealt: _hand_dealt,
    SeedRevealed: _seed_revealed,
    PlayerResigned: _player_resigned,
    ClockStarted: _clock_started,
    BotTimed: _bot_timed,
    GameAbandoned: _game_abandoned,
    PlayerErased: _player_erased,
    GameEnded: _game_ended,
}
