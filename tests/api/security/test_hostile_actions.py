"""Whatever is sent as an action, at every stage of every game, by any seat.

It is never a server error. What is refused is refused with a place or a rule, and changes nothing;
what is accepted was among the actions that the view listed.
"""

import json
import os
from collections.abc import AsyncIterator
from typing import Any, get_args

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from api import examples
from domain.loc.state import Phase as LocPhase
from domain.lodam.state import Phase as LodamPhase
from tests.api.running import Game, Json, bearer, problem, running
from tests.api.security.stages import PEOPLE, STAGES, Stage, at_stage
from tests.database import Databases

CASES = int(os.environ.get("FAIRDEAL_TEST_CASES", "350"))
EACH = max(20, CASES // len(STAGES))

EXAMPLES: list[Json] = [body for _, body in examples.actions()]
"""An action of every type."""
FIELDS = sorted({name for body in EXAMPLES for name in body} | {"hand", "trick", "offer", "nonce"})
GUARDS = ("hand", "trick", "offer")

_NUMBERS = st.one_of(
    st.integers(-3, 60),
    st.sampled_from([2**31, 2**31 - 1, 2**53, 2**63, 2**64, 10**40, -(2**63), -0.0, 1e308, 1.5]),
    st.floats(),  # NaN and infinities too, which JSON does not have and Python writes
)
_TEXTS = st.one_of(
    st.sampled_from(
        ["", "AS", "as", "XX", "\0", "\ud800", "\u202e", "\uff21\uff33", "A" * 70_000, "null"]
    ),
    st.text(max_size=20),
)
_CARDS = st.sampled_from([r + s for r in "23456789TJQKA" for s in "CDHS"] + ["7A", "OB", "UL"])
_VALUES = st.one_of(
    _NUMBERS,
    _TEXTS,
    _CARDS,
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=3),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
        max_leaves=6,
    ),
)


def dumped(pairs: list[tuple[str, Any]]) -> bytes:
    """An object with these members in this order, names repeated as they are."""
    members = ", ".join(f"{json.dumps(name)}: {json.dumps(value)}" for name, value in pairs)
    return f"{{{members}}}".encode()


@st.composite
def near(draw: st.DrawFn, listed: list[Json]) -> bytes:
    """An action that is listed or well-formed, with some of its members changed, lost, added or
    repeated."""
    body = draw(st.sampled_from([*listed, *EXAMPLES] if listed else EXAMPLES))
    pairs = [(n, v["min"] if isinstance(v, dict) else v) for n, v in body.items()]
    for _ in range(draw(st.integers(0, 2))):
        what = draw(st.sampled_from(["change", "lose", "add", "repeat", "guard"]))
        at = draw(st.integers(0, max(0, len(pairs) - 1)))
        if what == "add" or not pairs:
            pairs.append((draw(st.sampled_from(FIELDS) | st.text(max_size=5)), draw(_VALUES)))
        elif what == "guard":
            pairs.append((draw(st.sampled_from(GUARDS)), draw(st.integers(0, 3))))
        elif what == "change":
            pairs[at] = (pairs[at][0], draw(_VALUES))
        elif what == "lose":
            del pairs[at]
        else:
            pairs.append((pairs[at][0], draw(_VALUES)))
    return dumped(pairs)


HOSTILE = st.one_of(
    st.binary(max_size=50),
    _VALUES.map(lambda value: json.dumps(value).encode()),
    st.sampled_from(
        [
            b"",
            b"null",
            b"[" * 30_000,
            b'{"type":' * 5_000,
            b'{"type": "pass"',
            b'{"type": "pass"} {"type": "pass"}',
            b'\xef\xbb\xbf{"type": "pass"}',
            '{"type": "pass"}'.encode("utf-16"),
            b'{"type": "pass", "hand": ' + b"9" * 5_000 + b"}",
            b'{"type": "pass", "hand": 1e999}',
            b'{"type": "pass", "hand": -0}',
            b'{"type": "p\\u0061ss"}',
            b"type=pass",
            b'{"type": "pass", "x": "' + b"y" * 70_000 + b'"}',
        ]
    ),
)


@pytest.fixture(scope="module")
async def api(databases: Databases) -> AsyncIterator[httpx.AsyncClient]:
    with databases.fresh() as url:
        async with running(url) as client:
            yield client


_standing: dict[str, Game] = {}
"""A game at each stage that nobody has moved on."""


async def standing(api: httpx.AsyncClient, stage: Stage) -> Game:
    if stage.name not in _standing:
        _standing[stage.name] = await at_stage(api, stage)
    return _standing[stage.name]


def is_listed(sent: Json, listed: list[Json]) -> bool:
    """Whether an action is one of those that a view lists: with guards, with any cut in range."""
    plain = {name: value for name, value in sent.items() if name not in GUARDS}
    for action in listed:
        at = action.get("at")
        if isinstance(at, dict) and isinstance(plain.get("at"), int):
            wanted = {"type": "cut", "at": plain["at"], "nonce": plain.get("nonce", "")}
            if (
                at["min"] <= plain["at"] <= at["max"]
                and plain | {"nonce": wanted["nonce"]} == wanted
            ):
                return True
        elif plain == {name: value for name, value in action.items() if name not in GUARDS}:
            return True
    return False


def test_every_phase_has_a_stage() -> None:
    of: dict[str, set[str]] = {}
    for stage in STAGES:
        of.setdefault(stage.game, set()).add(stage.phase)
    assert of["lodam"] >= {*get_args(LodamPhase), "cutting", "finished"} - {"over"}
    assert of["loc"] >= {*get_args(LocPhase), "cutting", "finished"} - {"over"}
    assert of["lorum"] >= {"cutting", "dealing", "playing", "finished"}


@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.name)
@settings(max_examples=EACH, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
async def test_an_action_is_listed_or_refused_and_then_changes_nothing(
    api: httpx.AsyncClient, stage: Stage, data: st.DataObject
) -> None:
    game = await standing(api, stage)
    seat = data.draw(st.integers(0, len([token for token in game.tokens if token]) - 1))
    before, all_before = await game.view(seat), await game.view()
    body = data.draw(near(before["actions"]) | HOSTILE)
    answer = await api.post(f"{game.path}/actions", content=body, headers=bearer(game.token(seat)))
    if answer.status_code == 201:
        del _standing[stage.name]
        # A name that is repeated counts as it comes last, as in most parsers.
        assert is_listed(json.loads(body), before["actions"]), body
        done = answer.json()
        assert done["version"] > before["version"]
        assert {event["actor"] for event in done["events"][:1]} == {seat}
        return
    match answer.status_code:
        case 400:
            for error in problem(answer, 400, "invalid-request")["errors"]:
                assert error["path"].startswith("$")
                assert error["message"]
        case 409:
            found = problem(answer, 409, "illegal-action")
            assert found["rule"].partition(".")[0] in ("common", stage.game)
            assert found["version"] == before["version"]
        case _:
            problem(answer, 413, "too-large")
    assert await game.view(seat) == before
    assert await game.view() == all_before


@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.name)
async def test_what_is_listed_is_accepted(api: httpx.AsyncClient, stage: Stage) -> None:
    """The other half: at each stage, for each seat, one of the listed actions of each type."""
    kinds = {
        (seat, action["type"]): action
        for seat in range(PEOPLE[stage.game])
        for action in (await (await standing(api, stage)).view(seat))["actions"]
    }
    assert bool(kinds) == (stage.phase not in ("waiting", "finished", "abandoned"))
    for (seat, _), action in kinds.items():
        game = _standing.pop(stage.name, None) or await at_stage(api, stage)
        at = action.get("at")
        sent = action | {"at": at["max"]} if isinstance(at, dict) else action
        answer = await game.act(seat, sent)
        assert answer.status_code == 201, answer.text
