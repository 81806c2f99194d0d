"""Why an event followed from the rules, in words, from a log alone.

Names the command and who made it, what the rules allowed at that moment, what they give for it, and
the sections of the rulebook and the versions that say so. Source: contract, *Disputes*.
"""

from collections.abc import Sequence
from typing import Any

import msgspec

from domain.actions import Action
from domain.codec import EVENT_TYPES, UnreadableEvent
from domain.log import Entry, fold
from domain.rederive import (
    Step,
    StillSealed,
    commands,
    derive,
    differences,
    recorded_command,
)
from domain.table.state import Table
from domain.table.views import playable_actions

_COMMON = {
    "GameCreated": "common 5.1",
    "SeatTaken": "common 5.1",
    "SeatTokenIssued": "common 5.1",
    "SpectatorTokenIssued": "common 3.1",
    "HandStarted": "common 2.1, 2.6",
    "PackCut": "common 2.2",
    "HandDealt": "common 2.3, 2.4",
    "SeedRevealed": "common 2.5, 3.2",
    "PlayerResigned": "common 5.2",
    "ClockStarted": "common 5.4",
    "GameAbandoned": "common 5.3",
    "PlayerErased": "common 5.5",
    "GameEnded": "common 5.3",
}


class Explanation(msgspec.Struct, frozen=True):
    """An event explained. `follows` is None where that cannot be said yet."""

    version: int
    type: str
    follows: bool | None
    cites: tuple[str, ...]
    versions: tuple[int, ...]
    text: str


def explain(game_id: str, entries: Sequence[Entry], version: int) -> Explanation:
    """Explain the event of a version. Raises KeyError where the log has no such version."""
    if not 1 <= version <= len(entries):
        raise KeyError(version)
    entry = entries[version - 1]
    group = next(g for g in commands(entries) if g[0].version <= version <= g[-1].version)
    before: Table | None = None
    try:
        if group[0].version > 1:
            before = fold(game_id, entries[: group[0].version - 1])
        step = derive(game_id, before, group)
    except (StillSealed, AssertionError) as error:
        sealed = str(error) or "the hand is still sealed"
        return _told(entry, group, None, before, f"It cannot be derived yet: {sealed}.")
    except (UnreadableEvent, ValueError, KeyError) as error:
        return _told(entry, group, False, before, f"The log before it cannot be followed: {error}.")
    wrong = [(at, reason) for at, reason in differences(step) if at == version]
    if step.refusal is not None:
        text = f"The rules refuse the action: {step.refusal}."
        return _told(entry, group, False, before, text)
    if wrong:
        return _told(entry, group, False, before, f"It does not follow: {wrong[0][1]}.")
    return _told(entry, group, True, before, _why(step, before, group))


def _why(step: Step, before: Table | None, group: tuple[Entry, ...]) -> str:
    command = recorded_command(step.after.id if step.after else "", group)
    seat, ask = command.seat, command.ask
    if before is None or seat is None or not isinstance(ask, Action):
        return "The rules give exactly this event for the command."
    allowed = [_named(action) for action in playable_actions(before, seat)]
    listed = ", ".join(allowed[:12]) + (" and more" if len(allowed) > 12 else "")
    return (
        f"At version {before.version} seat {seat} might {listed}; for {_named(ask)} the rules give "
        f"exactly this event."
    )


def _told(
    entry: Entry,
    group: tuple[Entry, ...],
    follows: bool | None,
    before: Table | None,
    text: str,
) -> Explanation:
    kind = EVENT_TYPES.get(entry.type)
    cites = _COMMON.get(entry.type) or (
        before.game.cites.get(kind, "") if before is not None and kind is not None else ""
    )
    actor = "the host or the server" if entry.actor is None else f"seat {entry.actor}"
    first, last = group[0].version, group[-1].version
    action: Any = msgspec.json.decode(group[0].data).get("action") or {}
    by = f", made by the {action['by']}" if "by" in action else ""
    forced = ", compelled by the rules" if action.get("forced") else ""
    lead = (
        f"Version {entry.version}, {entry.type}: part of the command of versions {first} to "
        f"{last}, `{action.get('type')}` by {actor}{by}{forced}. "
    )
    sections = tuple([cites] if cites else [])
    rule = f" Rulebook: {cites}." if cites else ""
    return Explanation(
        version=entry.version,
        type=entry.type,
        follows=follows,
        cites=sections,
        versions=(first, last),
        text=lead + text + rule,
    )


def _named(action: Action) -> str:
    values = {k: v for k, v in msgspec.to_builtins(action).items() if v is not None}
    kind = values.pop("type", action.__struct_config__.tag)
    return " ".join([str(kind), *[str(value) for value in values.values()]])
