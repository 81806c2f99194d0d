"""The recorded actions of a log, through the rules again: do they yield exactly these events?

Works from the entries alone. Where a part that the rules need is still sealed, re-derivation stops
and says from which version on it is not yet possible. Source: contract, *The log*, `verify`.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, Final

import msgspec

from domain.actions import Action
from domain.codec import ACTION_TYPES, read_event
from domain.game import Refused
from domain.hand import HandStarted
from domain.log import Entry, Shape, fold, shapes
from domain.registry import GAMES
from domain.seats import Seat
from domain.table.commands import (
    Abandon,
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
from domain.table.decide import Decision, create, decide
from domain.table.events import GameCreated, PlayerName, SeatTaken
from domain.table.state import Table, copied
from domain.visibility import audience_seats

_ACTIONS: Final = {kind.__struct_config__.tag: kind for kind in ACTION_TYPES}
_COMMANDS: Final[dict[Any, type[TableCommand]]] = {
    kind.__struct_config__.tag: kind
    for kind in (IssueSeatToken, IssueSpectatorToken, Resign, Abandon, ErasePlayer)
}


class StillSealed(Exception):
    """What the rules need is not open in this log, from `version` on."""

    def __init__(self, version: int, message: str) -> None:
        super().__init__(f"from version {version} on: {message}")
        self.version: Final = version
        self.message: Final = message


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

    Raises StillSealed where the log does not open what comes next, UnreadableEvent where an event
    cannot be read, and ends early where the log cannot be folded any further.
    """
    table: Table | None = None
    for group in commands(entries):
        step = derive(game_id, table, group)
        yield step
        if step.refusal is not None and table is None:
            return
        for entry in group:
            if entry.type == HandStarted.__name__ and entry.sealed[0].body is None:
                raise StillSealed(group[-1].version + 1, "the hand is still sealed")
        if any(True for _ in differences(step)):
            table = fold(game_id, group, None if table is None else copied(table))
        else:
            table = step.after


def derive(game_id: str, before: Table | None, group: tuple[Entry, ...]) -> Step:
    """Derive one command from the table before it (None: the first one). Raises StillSealed where
    the record does not open the action's secret parameters."""
    try:
        command = recorded_command(game_id, group)
        decision = _decision(before, command)
    except (Refused, ValueError, KeyError, msgspec.ValidationError) as error:
        return Step(group, (), before, None, str(error))
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
    return decide(table, command)


def differences(step: Step) -> Iterator[tuple[int, str]]:
    """Where the record departs from what the rules give: version and reason."""
    if step.refusal is not None:
        yield step.entries[0].version, f"the rules refuse the recorded action: {step.refusal}"
        return
    for entry, shape in zip(step.entries, step.shapes, strict=False):
        reason = _difference(entry, shape)
        if reason is not None:
            yield entry.version, reason
    last = step.entries[-1].version
    if len(step.entries) < len(step.shapes):
        missing = step.shapes[len(step.entries)].type
        yield last, f"the rules give {missing} after this, the log does not have it"
    for entry in step.entries[len(step.shapes) :]:
        yield entry.version, f"the log has {entry.type} more than the rules give"


def _difference(entry: Entry, shape: Shape) -> str | None:
    if (entry.type, entry.schema) != (shape.type, shape.schema):
        return f"the rules give {shape.type}, the log has {entry.type}"
    if [part.audience for part in entry.sealed] != [audience for audience, _ in shape.parts]:
        return "the sealed parts are not those that the rules give"
    if entry.type == HandStarted.__name__ and entry.sealed[0].body is None:
        # The seed is still sealed, and with it the commitment's other side and a lot.
        ours, theirs = msgspec.json.decode(shape.data), msgspec.json.decode(entry.data)
        public = (
            ["hand"] if theirs.get("by_lot") else ["hand", "by_lot", "dealer", "seats", "cutter"]
        )
        same = all(ours[name] == theirs.get(name) for name in public)
    else:
        same = entry.data == shape.data
    if not same:
        return f"the rules give {shape.data.decode()}, the log has {entry.data.decode()}"
    for index, (part, (_, body)) in enumerate(zip(entry.sealed, shape.parts, strict=True)):
        if part.body is not None and part.body != body:
            return f"sealed part {index} is {part.body.decode()}, the rules give {body.decode()}"
    return None


def recorded_command(game_id: str, entries: Sequence[Entry]) -> Command:
    """The command that a group of entries records. Raises StillSealed, ValueError, KeyError or
    msgspec.ValidationError where the record is not of a command."""
    first = entries[0]
    record = msgspec.json.decode(first.data).get("action")
    if not isinstance(record, dict):
        raise ValueError(f"version {first.version} begins a command and records no action")
    forced = bool(record.pop("forced", False))
    by = record.pop("by", None)
    return Command(
        ask=_ask(game_id, record, entries),
        seat=first.actor,
        at=first.at,
        chance=RecordedChance(dict(_seeds(entries))),
        by=by,
        forced=forced,
    )


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
    if kind.secret:
        record |= _secret_parameters(kind, entries[0])
    return msgspec.convert(record, kind)


def _secret_parameters(kind: type[Action], entry: Entry) -> dict[str, Any]:
    for part in entry.sealed:
        if entry.actor in audience_seats(part.audience):
            if part.body is None:
                break
            body = msgspec.json.decode(part.body)
            return {name: body[name] for name in kind.secret}
    raise StillSealed(entry.version, "the card is still sealed")


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
    game = GAMES[event.game]
    if event.rules_version != game.rules_version:
        raise ValueError(f"rules version {event.rules_version} of {game.name} is not known here")
    players = tuple(
        [
            msgspec.structs.replace(player, bot=event.seats[seat].bot)
            for seat, player in _players(entries)
        ]
    )
    return Create(
        id=game_id,
        game=event.game,
        options=msgspec.json.decode(event.rules, type=game.options),
        deal_id=event.deal_id,
        seeded_by_host=event.seeded_by_host,
        players=players,
        open_seats=len(event.seats) - len(players),
        clock=event.clock,
        labels=event.labels,
    )
