"""The recorded actions of a log, through the rules again: do they yield exactly these events?

Works from the entries alone. Where a part that the rules need is still sealed, re-derivation stops
and says from which version on it is not yet possible. Source: contract, *The log*, `verify`.
"""

from collections.abc import Collection, Iterator, Sequence
from itertools import groupby
from typing import Any, Final

import msgspec

from domain.actions import Action
from domain.codec import ACTION_TYPES, EVENT_TYPES, read_event
from domain.events import layout
from domain.game import Refused
from domain.hand import HandStarted
from domain.log import Entry, Shape, shapes
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
from domain.table.state import Table
from domain.visibility import audience_seats

_ACTIONS: Final = {kind.__struct_config__.tag: kind for kind in ACTION_TYPES}
_COMMANDS: Final[dict[Any, type[TableCommand]]] = {
    kind.__struct_config__.tag: kind
    for kind in (IssueSeatToken, IssueSpectatorToken, Resign, Abandon, ErasePlayer)
}


class StillSealed(Exception):
    """What the rules need is not open in this log."""


class Step(msgspec.Struct, frozen=True):
    """One command of the log, derived again: what the rules give, or why they give nothing."""

    entries: tuple[Entry, ...]
    shapes: tuple[Shape, ...]
    before: Table | None
    after: Table | None
    refusal: str | None = None
    """The rule that forbids the recorded action, or what is wrong with its record."""


class RecordedChance(msgspec.Struct, frozen=True):
    """Chance as it was: the hands' seeds from the log."""

    seeds: dict[int, bytes]

    def server_seed(self, deal_id: str, hand: int) -> bytes:
        """The recorded seed of the hand. Raises StillSealed."""
        try:
            return self.seeds[hand]
        except KeyError:
            raise StillSealed(f"the seed of hand {hand} is still sealed") from None


def steps(game_id: str, entries: Sequence[Entry]) -> Iterator[Step]:
    """Derive the log's commands one after another. Ends after the first step whose record the
    rules refuse. Raises StillSealed where the log does not open what comes next, UnreadableEvent
    where an event cannot be read."""
    table: Table | None = None
    for _, group in groupby(entries, key=lambda entry: entry.command):
        recorded = tuple(group)
        try:
            command = recorded_command(game_id, recorded)
            decision = _decision(table, command)
        except (Refused, ValueError, KeyError, msgspec.ValidationError) as error:
            yield Step(recorded, (), table, None, str(error))
            return
        yield Step(recorded, tuple(shapes(decision, command)), table, decision.table)
        table = decision.table


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
        if (entry.type, entry.schema) != (shape.type, shape.schema):
            yield entry.version, f"the rules give {shape.type}, the log has {entry.type}"
        elif entry.data != shape.data:
            yield (
                entry.version,
                f"the rules give {shape.data.decode()}, the log has {entry.data.decode()}",
            )
        elif [part.audience for part in entry.sealed] != [audience for audience, _ in shape.parts]:
            yield entry.version, "the sealed parts are not those that the rules give"
        else:
            for index, (part, (_, body)) in enumerate(zip(entry.sealed, shape.parts, strict=True)):
                if part.body is not None and part.body != body:
                    yield entry.version, f"sealed part {index} differs from what the rules give"
    last = step.entries[-1].version
    if len(step.entries) < len(step.shapes):
        missing = step.shapes[len(step.entries)].type
        yield last, f"the rules give {missing} after this, the log does not have it"
    for entry in step.entries[len(step.shapes) :]:
        yield entry.version, f"the log has {entry.type} more than the rules give"


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
    secrets = layout(EVENT_TYPES[entries[0].type]).secrets.intersection(kind.__struct_fields__)
    if secrets:
        record |= _secret_parameters(secrets, entries[0])
    return msgspec.convert(record, kind)


def _secret_parameters(names: Collection[str], entry: Entry) -> dict[str, Any]:
    for part in entry.sealed:
        if entry.actor in audience_seats(part.audience):
            if part.body is None:
                break
            body = msgspec.json.decode(part.body)
            return {name: body[name] for name in names}
    raise StillSealed(f"the card of version {entry.version} is still sealed")


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
