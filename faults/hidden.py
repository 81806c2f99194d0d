"""Whether an answer holds a card that its reader may not know. The truth is the whole log.

A view may show the cards that the log shows its reader of the hand that is on; an event may hold
the sealed parts that are open to its reader. What lay face up and is covered is hidden again.
"""

import re
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from domain.base64url import decode
from domain.log import Entry
from faults.entitlement import Open, lies_open
from faults.history import Command, History, Reading, Told, told
from faults.truth import GameLog, Truth
from faults.violations import Violation

_CARD: Final = re.compile(r"[2-9TJQKA][CDHS]|[789TUOKA][ALHB]|XX")
_FEW: Final = 5
"""Violations told of one answer."""


class _Audience:
    """What the log of a game shows to whom, when."""

    def __init__(self, log: GameLog) -> None:
        self._log: Final = log
        self._open: Final = lies_open(log.entries)
        self._hand: Final = _hand_starts(log.entries)
        self._bursts: Final = _bursts(log)
        self._cards: Final[dict[int, frozenset[str]]] = {}
        self._known: Final[dict[tuple[int, int, int | None, int], frozenset[str]]] = {}

    @property
    def newest(self) -> int:
        return len(self._log.entries)

    def burst(self, version: int) -> int:
        """The last version of what was appended together with this one, at most."""
        return self._bursts[min(max(version, 1), self.newest)]

    def event(self, version: int) -> Entry | None:
        return self._log.entries[version - 1] if 1 <= version <= self.newest else None

    def open(self, version: int) -> Open:
        return self._open[min(version, self.newest)]

    def known(self, seat: int | None, version: int, now: int, hands: int = 1) -> frozenset[str]:
        """The cards that the events of the last `hands` hands up to a version show to a seat, by
        what lies open at version `now`."""
        first = self._hand[version]
        for _ in range(hands - 1):
            first = self._hand[first - 1]
        key = (first, version, seat, now)
        found = self._known.get(key)
        if found is None:
            cards: set[str] = set()
            for entry in self._log.entries[max(first, 1) - 1 : version]:
                cards |= self._shown(entry, seat, self.open(now))
            found = self._known[key] = frozenset(cards)
        return found

    def _shown(self, entry: Entry, seat: int | None, now: Open) -> set[str]:
        found = set(self._public(entry))
        for part in entry.sealed:
            if part.body is not None and now.to(part.audience, entry.version, seat):
                found |= cards_in(msgspec.json.decode(part.body))
        return found

    def _public(self, entry: Entry) -> frozenset[str]:
        found = self._cards.get(entry.version)
        if found is None:
            found = self._cards[entry.version] = frozenset(
                cards_in(msgspec.json.decode(entry.data))
            )
        return found


def cards_in(value: Any) -> set[str]:
    """Every card anywhere in decoded JSON."""
    match value:
        case str():
            return {value} if _CARD.fullmatch(value) else set()
        case dict():
            return {card for each in value.values() for card in cards_in(each)}
        case list() | tuple():
            return {card for each in value for card in cards_in(each)}
        case _:
            return set()


def check_hidden(history: History, truth: Truth) -> Iterator[Violation]:
    """Every answer of a run against what the log shows its reader."""
    # Of a log with gaps other properties say enough.
    audiences = {game: _Audience(log) for game, log in truth.games.items() if log.dense}
    latest = _Latest(history)
    for command in history.commands:
        for attempt in command.acknowledged:
            answer = told(attempt)
            audience = audiences.get(answer.game)
            if audience is None or command.seat is None or answer.version > audience.newest:
                continue  # said by other properties
            # A repeated answer shows what may be seen now, the first one what was appended with it.
            upto = latest.version(answer.game, attempt.ended) if attempt.replayed else 0
            now = audience.burst(max(answer.version, upto))
            yield from _check_answer(audience, answer, command.seat, now)
        for attempt in command.attempts:
            refusal = msgspec.json.decode(attempt.body)
            audience = audiences.get(command.game or "")
            if attempt.status in (409, 412) and audience is not None:
                yield from _check_refusal(audience, refusal, command)
    for reading in history.readings:
        audience = audiences.get(reading.game)
        if audience is None or reading.attempt.status != 200:
            continue
        body = msgspec.json.decode(reading.attempt.body)
        if reading.what == "view":
            yield from _check_view(audience, body, reading.seat, body["version"])
        else:
            now = audience.burst(latest.version(reading.game, reading.attempt.ended))
            yield from _check_events(audience, body["items"], reading, now)


def _check_answer(audience: _Audience, answer: Told, seat: int, now: int) -> Iterator[Violation]:
    if answer.view is not None:
        yield from _check_view(audience, answer.view, seat, now)
    for event in answer.events:
        yield from _check_event(audience, answer.game, event, seat, now)


def _check_refusal(
    audience: _Audience, refusal: dict[str, Any], command: Command
) -> Iterator[Violation]:
    """The words of a refusal name no card but those asked for and those that the seat knows."""
    version = refusal["version"]
    if version > audience.newest:
        return
    named = set(re.findall(rf"\b(?:{_CARD.pattern})\b", str(refusal)))
    allowed = audience.known(command.seat, version, version) | cards_in(command.asks)
    for card in sorted(named - allowed)[:_FEW]:
        text = f"the refusal of command {command.number} names {card}"
        yield Violation("hidden", text, command.game, (version,))


def _check_view(
    audience: _Audience, view: dict[str, Any], seat: int | None, now: int
) -> Iterator[Violation]:
    version = view["version"]
    if version > audience.newest:
        return
    if view["viewer"].get("seat") != seat:
        text = f"the view of {view['viewer']} was given to seat {seat}"
        yield Violation("hidden", text, view["id"], (version,))
    parts, table = dict(view), dict(view["table"] or {})
    # What has gone from the table, and Loc's last shown cards, may be those of the hand before.
    before = cards_in([parts.pop("previous", None), table.pop("shown", None)])
    parts["table"] = table
    for cards, hands in ((cards_in(parts), 1), (before, 2)):
        allowed = audience.known(seat, version, version, hands)
        if now != version:
            allowed |= audience.known(seat, version, now, hands)
        for card in sorted(cards - allowed)[:_FEW]:
            text = f"the view of seat {seat} at version {version} shows {card}"
            yield Violation("hidden", text, view["id"], (version,))


def _check_events(
    audience: _Audience, events: list[dict[str, Any]], reading: Reading, now: int
) -> Iterator[Violation]:
    for event in events:
        # A page may be newer than any answer that its reader had by then.
        last = audience.burst(max(now, events[-1]["version"]))
        yield from _check_event(audience, reading.game, event, reading.seat, last)


def _check_event(
    audience: _Audience, game: str, event: dict[str, Any], seat: int | None, now: int
) -> Iterator[Violation]:
    version = event["version"]
    entry = audience.event(version)
    if entry is None or entry.hash.hex() != event["hash"]:
        return  # said as `acknowledged` or `answer`
    moments = (audience.open(audience.burst(version)), audience.open(now))
    for part, given in zip(entry.sealed, event["sealed"], strict=True):
        if "data" not in given and given.get("salt") is None:
            continue
        if not any(each.to(part.audience, version, seat) for each in moments):
            text = f"seat {seat} was given the part for {part.audience} of version {version}"
            yield Violation("hidden", text, game, (version,))
        elif part.salt != decode(given["salt"]):
            yield Violation("hidden", f"version {version} was told with another salt", game)


class _Latest:
    """The highest version of a game that can have been there when an answer came."""

    def __init__(self, history: History) -> None:
        self._by_game: Final[dict[str, list[tuple[float, int]]]] = {}
        for command in history.commands:
            for attempt in command.acknowledged[:1]:
                answer = told(attempt)
                self._by_game.setdefault(answer.game, []).append((command.asked, answer.version))

    def version(self, game: str, ended: float | None) -> int:
        """At most this version, and what was appended together with it."""
        known = self._by_game.get(game, ())
        return max([v for asked, v in known if ended is None or asked <= ended], default=0)


def _hand_starts(entries: list[Entry]) -> list[int]:
    """By version (0 too), the version at which the hand that is on then began."""
    found, first = [0], 0
    for entry in entries:
        if entry.type == "HandStarted":
            first = entry.version
        found.append(first)
    return found


def _bursts(log: GameLog) -> list[int]:
    """By version, the last version before the next command that a caller asked for."""
    found = [0] * (len(log.entries) + 1)
    last = len(log.entries)
    for command in reversed(log.commands()):
        for version in range(command.first, command.last + 1):
            found[version] = last
        if command.own:
            last = command.first - 1
    return found
