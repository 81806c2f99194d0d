"""No hidden card in an answer goes unnoticed; nothing that may be seen is complained about."""

import ast
from pathlib import Path
from typing import Any

import msgspec
import pytest

import faults
from domain.base64url import encode
from domain.registry import GAMES
from domain.visibility import entitled
from faults.entitlement import lies_open
from faults.hidden import cards_in, check_hidden
from faults.history import Attempt, Reading
from tests.faults.histories import Made, made, openings_of, respoken


def hidden_from(case: Made, seat: int, version: int) -> str:
    """A card that was dealt to another and that this seat has not seen by then."""
    shown: set[str] = set()
    other: list[str] = []
    for entry in case.log.entries[:version]:
        if entry.type == "HandStarted":
            shown, other = set(), []
        shown |= cards_in(msgspec.json.decode(entry.data))
        for part in entry.sealed:
            cards = cards_in(msgspec.json.decode(part.body)) if part.body else set()
            if part.audience == f"[{seat}]" or part.audience in ('"all"', '"table"'):
                shown |= cards
            elif entry.type == "HandDealt" and part.audience != "[]":
                other += sorted(cards)
    unseen = [card for card in other if card not in shown]
    return unseen[0] if unseen else ""


def views(case: Made) -> list[tuple[Reading, dict[str, Any], str]]:
    """Readings of views in which something is hidden, with a card that is."""
    found = []
    for reading in case.history.readings:
        if reading.what == "view":
            view = msgspec.json.decode(reading.attempt.body)
            assert reading.seat is not None
            card = hidden_from(case, reading.seat, view["version"])
            opened = view["opened"] is not None
            if card and not opened:
                found.append((reading, view, card))
    return found


@pytest.mark.parametrize("game", sorted(GAMES))
@pytest.mark.parametrize("number", [0, 20])
def test_another_s_card_is_found_wherever_it_stands(game: str, number: int) -> None:
    for place in ("private", "table", "actions", "surprise"):
        case = made(game, number)
        reading, view, card = views(case)[0]
        match place:
            case "private":
                spoilt = view["private"] | {"cards": [*view["private"]["cards"], card]}
            case "table":
                spoilt = (view["table"] or {}) | {"slip": {"deep": [{"card": card}]}}
            case "actions":
                spoilt = [*view["actions"], {"type": "play", "card": card}]
            case _:
                spoilt = card
        respoken(reading.attempt, **{place: spoilt})
        [violation] = check_hidden(case.history, case.truth)
        assert violation.property == "hidden"
        assert card in violation.text


@pytest.mark.parametrize("game", sorted(GAMES))
def test_the_answer_to_an_action_is_looked_at_too(game: str) -> None:
    case = made(game, 0)
    for command in case.acted():
        [attempt] = command.attempts
        assert command.seat is not None
        view = msgspec.json.decode(attempt.body)["view"]
        card = hidden_from(case, command.seat, view["version"])
        if card and view["opened"] is None:
            respoken(attempt, view=view | {"surprise": card})
            break
    assert [v.property for v in check_hidden(case.history, case.truth)] == ["hidden"]


@pytest.mark.parametrize("game", sorted(GAMES))
def test_another_s_view_is_found(game: str) -> None:
    case = made(game, 0)
    reading = next(r for r in case.history.readings if r.what == "view")
    assert reading.seat is not None
    reading.seat += 1
    assert "was given to seat" in next(check_hidden(case.history, case.truth)).text


@pytest.mark.parametrize("game", sorted(GAMES))
def test_a_sealed_part_that_is_not_the_reader_s_is_found(game: str) -> None:
    case = made(game, 0)
    reading = next(r for r in case.history.readings if r.what == "events")
    events = msgspec.json.decode(reading.attempt.body)["items"]
    for event in events:
        for index, part in enumerate(event["sealed"]):
            if "salt" not in part:
                kept = case.log.entries[event["version"] - 1].sealed[index]
                assert kept.salt is not None
                part |= {"salt": encode(kept.salt), "data": {}}
                respoken(reading.attempt, items=events)
                [violation] = check_hidden(case.history, case.truth)
                assert violation.versions == (event["version"],)
                return
    raise AssertionError("nothing is sealed")


@pytest.mark.parametrize("game", sorted(GAMES))
def test_a_refusal_names_no_card_of_another_s(game: str) -> None:
    case = made(game, 0)
    reading, view, card = views(case)[0]
    own = view["private"]["cards"][0]
    asked = case.history.command("k", case.log.id, reading.seat, {"type": "play", "card": own})
    refusal = {"type": "/problems/illegal-action", "status": 409, "version": view["version"]}
    for detail, found in ((f"you hold {own}.", []), (f"seat 1 holds {card}.", ["hidden"])):
        body = msgspec.Raw(msgspec.json.encode(refusal | {"detail": detail}))
        asked.attempts = [Attempt("a", 1.0, 2.0, 409, body=body)]
        assert [v.property for v in check_hidden(case.history, case.truth)] == found


@pytest.mark.parametrize("game", sorted(GAMES))
def test_the_rule_of_the_checker_and_that_of_the_answers_are_one(game: str) -> None:
    """They share no code."""
    parts = 0
    for number in range(0, 60, 10):
        log = made(game, number).log
        for open_, openings in zip(lies_open(log.entries), openings_of(log), strict=True):
            for entry in log.entries:
                for part in entry.sealed:
                    for seat in (None, 0, 1, 2):
                        ours = open_.to(part.audience, entry.version, seat)
                        assert ours == entitled(part.audience, entry.version, seat, openings)
                        parts += 1
    assert parts > 1000


@pytest.mark.parametrize("module", ["hidden", "entitlement"])
def test_the_checker_does_not_ask_the_rule_that_it_checks(module: str) -> None:
    tree = ast.parse((Path(faults.__file__).parent / f"{module}.py").read_text(encoding="utf-8"))
    used = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert "domain.visibility" not in used


def test_cards_are_found_at_any_depth_and_nothing_else() -> None:
    value = {"a": ["TH", {"b": ("OA", "XX")}], "TH2": "T", "c": "th", "d": 7, "e": "1H"}
    assert cards_in(value) == {"TH", "OA", "XX"}
