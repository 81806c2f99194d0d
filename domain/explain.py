"""Why an event followed from the rules, in words, from a log alone.

Names the command and who made it, what the rules allowed at that moment, what they give for it, and
the sections of the rulebook and the versions that say so. Source: contract, *Disputes*.
"""

from collections.abc import Sequence

import msgspec

from domain.actions import Action
from domain.codec import EVENT_TYPES
from domain.log import Entry
from domain.rederive import (
    Step,
    StillSealed,
    Unfollowable,
    command_at,
    derived,
    differences,
    recorded_action,
    recorded_command,
)
from domain.registry import GAMES
from domain.table.events import CITES
from domain.table.views import playable_actions

_LISTED = 12
"""How many of the actions allowed are named."""


class Explanation(msgspec.Struct, frozen=True):
    """An event explained. `follows` is None where that cannot be said yet; `cites` are sections of
    rulebooks, such as `lodam 4.1`; `versions` are the first and last of the event's command."""

    version: int
    type: str
    follows: bool | None
    cites: tuple[str, ...]
    versions: tuple[int, int]
    text: str


def explain(game_id: str, entries: Sequence[Entry], version: int) -> Explanation:
    """Explain the event of a version. Raises KeyError where the log has no such version."""
    group = command_at(entries, version)
    entry = next(entry for entry in group if entry.version == version)
    try:
        follows, why = _judged(derived(game_id, entries, version), version)
    except StillSealed as sealed:
        follows, why = None, f"It cannot be derived yet: {sealed.message}."
    except Unfollowable as error:
        follows, why = False, f"It cannot be derived: {error}."
    cites = _sections(entries, entry.type)
    rulebook = f" Rulebook: {', '.join(cites)}." if cites else ""
    return Explanation(
        version=version,
        type=entry.type,
        follows=follows,
        cites=cites,
        versions=(group[0].version, group[-1].version),
        text=f"Version {version}, {entry.type}: {_command(group)}. {why}{rulebook}",
    )


def _judged(step: Step, version: int) -> tuple[bool, str]:
    wrong = [reason for at, reason in differences(step) if at == version]
    if wrong:
        return False, f"It does not follow: {'; '.join(wrong)}."
    if step.refusal is not None:
        return False, f"It does not follow: the recorded action is refused: {step.refusal}."
    before, after = step.before, step.after
    if before is not None and after is not None:
        command = recorded_command(after.id, step.entries)
        seat, ask = command.seat, command.ask
        if seat is not None and isinstance(ask, Action):
            allowed = [_named(action) for action in playable_actions(before, seat)]
            more = " and more" if len(allowed) > _LISTED else ""
            return True, (
                f"At version {before.version} seat {seat} might "
                f"{', '.join(allowed[:_LISTED])}{more}; for {_named(ask)} the rules give exactly "
                f"this event."
            )
    return True, "The rules give exactly this event for the command."


def _command(group: tuple[Entry, ...]) -> str:
    """The command of an event, who made it, and its versions."""
    first, last = group[0].version, group[-1].version
    actor = "the host or the server" if group[0].actor is None else f"seat {group[0].actor}"
    action = recorded_action(group[0]) or {}
    by = f", made by the {action['by']}" if "by" in action else ""
    forced = ", compelled by the rules" if action.get("forced") else ""
    told = f"`{action['type']}`" if "type" in action else "an unrecorded action"
    return f"part of the command of versions {first} to {last}, {told} by {actor}{by}{forced}"


def _sections(entries: Sequence[Entry], event_type: str) -> tuple[str, ...]:
    """`"lodam 4.3, 5.2"` as `("lodam 4.3", "lodam 5.2")`."""
    kind = EVENT_TYPES.get(event_type)
    game = GAMES.get(str(msgspec.json.decode(entries[0].data).get("game")))
    if kind is None or game is None or kind not in (cited := {**CITES, **game.cites}):
        return ()
    book, _, sections = cited[kind].partition(" ")
    return tuple([f"{book} {section}" for section in sections.split(", ")])


def _named(action: Action) -> str:
    values = {k: v for k, v in msgspec.to_builtins(action).items() if v is not None}
    kind = values.pop("type", action.__struct_config__.tag)
    return " ".join([str(kind), *[str(value) for value in values.values()]])
