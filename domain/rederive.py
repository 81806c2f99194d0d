"""The recorded actions of a log, through the rules again: do they yield exactly these events?

Works from the entries alone. Where a part that the rules need is still sealed, re-derivation stops
and says from which version on it is not yet possible. Source: contract, *The log*, `verify`.
"""

from collections.abc import Collection, Iterator, Sequence
from itertools import groupby
from typing import Any, Final

import msgspec

from domain.actions import Action
from domain.codec import ACTION_TYPES, EVENT_TYPES, in_schema, read_event
from domain.events import layout
from domain.game import Refused
from domain.hand import HandStarted
from domain.log import Entry, Shape, fold, shapes
from domain.registry import GAMES
from domain.seats import Seat
from domain.table.commands import (
    Abandon,
    By,
    Command,
    Create,
    ErasePlayer,
    IssueSeatToken,
    IssueSpectatorToken,
    Join,
    Player,
    Resign,
    TableCommand,
)
from domain.table.decide import Decision, create, decide, server_command, to_act
from domain.table.events import BotTimed, ClockStarted, GameCreated, PlayerName, SeatTaken
from domain.table.options import resolve
from domain.table.state import Table, copied
from domain.visibility import audience_seats

_ACTIONS: Final = {kind.__struct_config__.tag: kind for kind in ACTION_TYPES}
_COMMANDS: Final[dict[Any, type[TableCommand]]] = {
    kind.__struct_config__.tag: kind
    for kind in (IssueSeatToken, IssueSpectatorToken, Resign, Abandon, ErasePlayer)
}


_TIMES: Final = frozenset((ClockStarted.__name__, BotTimed.__name__))


class StillSealed(Exception):
    """What the rules need is not open in this log, from `version` on."""

    def __init__(self, version: int, message: str) -> None:
        super().__init__(f"from version {version} on: {message}")
        self.version: Final = version
        self.message: Final = message


class Unfollowable(Exception):
    """The recorded events from `version` on lead to no state that the rules know."""

    def __init__(self, version: int, error: Exception) -> None:
        super().__init__(
            f"the log cannot be followed from version {version} on "
            f"({type(error).__name__}: {error})"
        )
        self.version: Final = version


class Step(msgspec.Struct, frozen=True):
    """One command of the log, derived again from the state that the log had reached before it.

    `refusal` is the rule that forbids the recorded action, or what is wrong with its record; then
    there are no shapes.
    """

    entries: tuple[Entry, ...]
    shapes: tuple[Shape, ...]
    before: Table | None
    after: Table | None
    refusal: str | None = None


class RecordedChance(msgspec.Struct, frozen=True):
    """Chance as it was: the hands' seeds from the log, zeros for one that is still sealed."""

    seeds: dict[int, bytes]

    def server_seed(self, deal_id: str, hand: int) -> bytes:
        """The recorded seed of the hand."""
        return self.seeds.get(hand, bytes(32))


def steps(game_id: str, entries: Sequence[Entry]) -> Iterator[Step]:
    """Derive the log's commands one after another, each from the state that the recorded events
    before it give, so that one wrong event does not hide the next.

    Raises StillSealed where the log does not open what comes next, and Unfollowable where the
    events cannot be folded any further.
    """
    table: Table | None = None
    for group in commands(entries):
        step = derive(game_id, table, group)
        yield step
        if any(map(_seed_is_sealed, group)):
            raise StillSealed(group[-1].version + 1, "the hand is still sealed")
        if any(True for _ in differences(step)):
            table = _folded(game_id, group, table)
        else:
            table = step.after


def derived(game_id: str, entries: Sequence[Entry], version: int) -> Step:
    """The command that an event belongs to, derived from the state that the recorded events before
    it give. Raises KeyError where the log has no such version, StillSealed and Unfollowable."""
    group = command_at(entries, version)
    start = next(index for index, entry in enumerate(entries) if entry is group[0])
    before = state_after(game_id, entries[:start]) if start else None
    return derive(game_id, before, group)


def state_after(game_id: str, entries: Sequence[Entry]) -> Table:
    """The table that the recorded events give. Raises StillSealed and Unfollowable."""
    for entry in entries:
        if _seed_is_sealed(entry):
            raise StillSealed(entry.version, "the hand is still sealed")
    return _folded(game_id, entries, None)


def command_at(entries: Sequence[Entry], version: int) -> tuple[Entry, ...]:
    """The entries of the command that an event belongs to. Raises KeyError where the log has no
    such version."""
    for group in commands(entries):
        if any(entry.version == version for entry in group):
            return group
    raise KeyError(version)


def _folded(game_id: str, entries: Sequence[Entry], table: Table | None) -> Table:
    try:
        return fold(game_id, entries, None if table is None else copied(table))
    except Exception as error:
        # A forged event may break anything that a game takes for granted.
        raise Unfollowable(entries[0].version, error) from error


def _seed_is_sealed(entry: Entry) -> bool:
    return entry.type == HandStarted.__name__ and any(part.body is None for part in entry.sealed)


def _lot_is_sealed(entry: Entry) -> bool:
    return _seed_is_sealed(entry) and bool(msgspec.json.decode(entry.data).get("by_lot"))


def derive(game_id: str, before: Table | None, group: tuple[Entry, ...]) -> Step:
    """Derive one command from the table before it (None: the first one). Raises StillSealed where
    the record does not open the action's secret parameters."""
    try:
        command = recorded_command(game_id, group)
        decision = _decision(before, command)
    except StillSealed:
        raise
    except Refused as refused:
        return Step(group, (), before, None, str(refused))
    except Exception as error:
        # A forged record may break anything that a game takes for granted of a command.
        reason = f"it is no command of this game ({type(error).__name__}: {error})"
        return Step(group, (), before, None, reason)
    return Step(group, tuple(shapes(decision, command)), before, decision.table)


def commands(entries: Sequence[Entry]) -> Iterator[tuple[Entry, ...]]:
    """The entries of each command, in order."""
    for _, group in groupby(entries, key=lambda entry: entry.command):
        yield tuple(group)


def _decision(table: Table | None, command: Command) -> Decision:
    if isinstance(command.ask, Create):
        if table is not None:
            raise ValueError("a second create")
        return create(command)
    if table is None:
        raise ValueError("the log does not begin with create")
    _check_who_acts(table, command)
    return decide(table, command)


def _check_who_acts(table: Table, command: Command) -> None:
    """Raise ValueError where it could not be this seat that acted, or not in this way."""
    seat, ask, by = command.seat, command.ask, command.by
    for number in (seat, getattr(ask, "seat", None)):
        if number is not None and not 0 <= number < len(table.seats):
            raise ValueError(f"there is no seat {number}")
    if by == "clock":
        _check_overdue(table, command)
    early = seat is not None and table.paced(seat) and command.at < table.due.get(seat, 0)
    if early and by == "bot":
        raise ValueError("the bot acts before its time")
    if isinstance(ask, Action):
        own = server_command(table)
        if by == "server" and own != (seat, ask, command.forced):
            raise ValueError("the server does nothing like this by itself here")
        if by != "server" and (seat is None or command.forced):
            raise ValueError("only the server acts for nobody, or by compulsion")
        if by == "bot" and (seat is None or table.bot_at(seat) is None):
            raise ValueError(f"no bot plays for seat {seat}")
        if by is None and seat is not None and table.seats[seat].bot is not None:
            raise ValueError(f"no person sits at seat {seat}")
    elif isinstance(ask, Resign):
        if by not in (None, "clock"):
            raise ValueError("nobody but the player resigns")
    elif seat is not None or by is not None:
        raise ValueError("only the host does this")


def _check_overdue(table: Table, command: Command) -> None:
    """Raise ValueError where no clock had run out for the seat."""
    clock, deadline = table.clock, table.deadline
    if clock is None or deadline is None or command.seat not in to_act(table):
        raise ValueError("no clock runs for this seat")
    # Acting for one of several who are late starts the clock anew for the others, at that moment.
    just_started = command.at == deadline - clock.turn_seconds * 1_000_000
    if command.at < deadline and not just_started:
        raise ValueError("the clock has not run out")
    if (clock.on_timeout == "forfeit") != isinstance(command.ask, Resign):
        raise ValueError(f"at a timeout this table's clock has another way: {clock.on_timeout}")


def differences(step: Step) -> Iterator[tuple[int, str]]:
    """Where the record departs from what the rules give: version and reason."""
    if step.refusal is not None:
        yield step.entries[0].version, f"the recorded action is refused: {step.refusal}"
        return
    entries, derived_shapes = step.entries, step.shapes
    if any(map(_lot_is_sealed, entries)):
        # Who is to act hangs on the lot, and so who is timed.
        entries = tuple([entry for entry in entries if entry.type not in _TIMES])
        derived_shapes = tuple([shape for shape in derived_shapes if shape.type not in _TIMES])
    for entry, shape in zip(entries, derived_shapes, strict=False):
        reason = _difference(entry, shape)
        if reason is not None:
            yield entry.version, reason
    last = step.entries[-1].version
    if len(entries) < len(derived_shapes):
        missing = derived_shapes[len(entries)].type
        yield last, f"the rules give {missing} after this, the log does not have it"
    for entry in entries[len(derived_shapes) :]:
        yield entry.version, f"the log has {entry.type} more than the rules give"


def _difference(entry: Entry, shape: Shape) -> str | None:
    # A log of earlier keeps the schema that it was written in.
    data = in_schema(shape.type, entry.schema, shape.data)
    if entry.type != shape.type or data is None:
        return (
            f"the rules give {shape.type} of schema {shape.schema}, "
            f"the log has {entry.type} of schema {entry.schema}"
        )
    if [part.audience for part in entry.sealed] != [audience for audience, _ in shape.parts]:
        return "the sealed parts are not those that the rules give"
    if _seed_is_sealed(entry):
        # With the seed its commitment is unseen, and a lot with all that hangs on it.
        ours, theirs = msgspec.json.decode(data), msgspec.json.decode(entry.data)
        lot = ("dealer", "seats", "cutter") if ours["by_lot"] else ()
        unseen = dict.fromkeys(("commitment", *lot))
        same = ours | unseen == theirs | unseen
    else:
        same = entry.data == data
    if not same:
        return f"the rules give {data.decode()}, the log has {entry.data.decode()}"
    for index, (part, (_, body)) in enumerate(zip(entry.sealed, shape.parts, strict=True)):
        if part.body is not None and part.body != body:
            return f"sealed part {index} is {part.body.decode()}, the rules give {body.decode()}"
    return None


def recorded_command(game_id: str, entries: Sequence[Entry]) -> Command:
    """The command that a group of entries records. Raises StillSealed, and ValueError, KeyError,
    TypeError, OptionError or UnreadableEvent where the record is of none."""
    first = entries[0]
    record = recorded_action(first)
    if record is None:
        raise ValueError(f"version {first.version} begins a command and records no action")
    forced = bool(record.pop("forced", False))
    by = msgspec.convert(record.pop("by", None), By | None)
    return Command(
        ask=_ask(game_id, record, entries),
        seat=first.actor,
        at=first.at,
        chance=RecordedChance(dict(_seeds(entries))),
        by=by,
        forced=forced,
    )


def recorded_action(first: Entry) -> dict[str, Any] | None:
    """What the first event of a command says of the action, as it stands there."""
    record = msgspec.json.decode(first.data).get("action")
    return record if isinstance(record, dict) else None


def _seeds(entries: Sequence[Entry]) -> Iterator[tuple[int, bytes]]:
    for entry in entries:
        if entry.type == HandStarted.__name__:
            event = read_event(entry)
            assert isinstance(event, HandStarted)
            if event.seed is not None:
                yield event.hand, bytes.fromhex(event.seed.server_seed)


def _ask(game_id: str, record: dict[str, Any], entries: Sequence[Entry]) -> Action | TableCommand:
    tag = record["type"]
    if tag == "create":
        return _create(game_id, entries)
    if tag == "join":
        return Join(_players(entries)[0][1])
    if tag in _COMMANDS:
        return msgspec.convert(record, _COMMANDS[tag])
    kind = _ACTIONS[tag]
    secrets = layout(EVENT_TYPES[entries[0].type]).secrets.intersection(kind.__struct_fields__)
    if secrets:
        record |= _secret_parameters(secrets, entries[0])
    return msgspec.convert(record, kind)


def _secret_parameters(names: Collection[str], entry: Entry) -> dict[str, Any]:
    for part in entry.sealed:
        if entry.actor in audience_seats(part.audience):
            if part.body is None:
                raise StillSealed(entry.version, "the card is still sealed")
            body = msgspec.json.decode(part.body)
            return {name: body[name] for name in names}
    raise ValueError(f"no part says what seat {entry.actor} did")


def _players(entries: Sequence[Entry]) -> list[tuple[Seat, Player]]:
    found: list[tuple[Seat, Player]] = []
    for entry in entries:
        if entry.type == SeatTaken.__name__:
            event = read_event(entry)
            assert isinstance(event, SeatTaken)
            # An erased name derives as an empty one: the part is not compared then.
            player = event.player or PlayerName("", None)
            found.append((event.seat, Player(player.name, player.ref)))
    return found


def _create(game_id: str, entries: Sequence[Entry]) -> Create:
    event = read_event(entries[0])
    if not isinstance(event, GameCreated):
        raise ValueError("the log does not begin with GameCreated")
    game = GAMES.get(event.game)
    if game is None or event.rules_version != game.rules_version:
        raise ValueError(
            f"this Fairdeal does not know {event.game} by rules version {event.rules_version}"
        )
    options, _ = resolve(game, msgspec.json.decode(event.rules), len(event.seats))
    players = tuple(
        [
            msgspec.structs.replace(
                player, bot=event.seats[seat].bot, delay_ms=event.seats[seat].delay_ms or 0
            )
            for seat, player in _players(entries)
        ]
    )
    return Create(
        id=game_id,
        game=event.game,
        options=options,
        deal_id=event.deal_id,
        seeded_by_host=event.seeded_by_host,
        players=players,
        open_seats=len(event.seats) - len(players),
        clock=event.clock,
        labels=event.labels,
    )
