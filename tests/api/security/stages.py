"""A game of each kind at each stage where it may wait, for tests that send it anything."""

from dataclasses import dataclass, field
from random import Random
from typing import Any

import httpx

from tests.api.running import HOST, HOST_KEY, Game, Json

PEOPLE = {"lodam": 3, "lorum": 4, "loc": 3}
_BY_HAND = {"cut": "manual", "deal": "manual"}
_STEPS = 1_000
"""A stage that has not come by then does not come."""


@dataclass(frozen=True)
class Stage:
    """Where a game is to stand: the phase of its hand, or its status."""

    game: str
    phase: str
    rules: Json = field(default_factory=dict)

    @property
    def name(self) -> str:
        """What tests call it."""
        contract = self.rules.get("first_contract")
        return f"{self.game}-{self.phase}" + (f"-{contract}" if contract else "")


STAGES = (
    Stage("lodam", "waiting"),
    Stage("lodam", "cutting", _BY_HAND),
    Stage("lodam", "dealing", _BY_HAND),
    Stage("lodam", "trading", {"trading": "before_play"}),
    Stage("lodam", "playing", {"trading": "any_time"}),
    Stage("lodam", "trump_shown", {"trading": "any_time"}),
    Stage("lodam", "taking", {"trading": "any_time"}),
    Stage("lodam", "reckoning"),
    Stage("lodam", "finished", {"lives": 1}),
    Stage("lodam", "abandoned"),
    Stage("lorum", "cutting", _BY_HAND),
    Stage("lorum", "dealing", _BY_HAND),
    *[Stage("lorum", "playing", {"first_contract": number}) for number in range(1, 8)],
    Stage("lorum", "finished", {"rounds": 1}),
    Stage("lorum", "abandoned"),
    Stage("loc", "betting", {"bets": "manual"}),
    Stage("loc", "cutting", _BY_HAND),
    Stage("loc", "dealing", _BY_HAND),
    Stage("loc", "discarding"),
    Stage("loc", "playing"),
    Stage("loc", "finished", {"hands": 1}),
    Stage("loc", "abandoned"),
)


async def at_stage(api: httpx.AsyncClient, stage: Stage) -> Game:
    """A new game of people alone that stands there; the same one each time."""
    people = PEOPLE[stage.game]
    body: dict[str, Any] = {
        "game": stage.game,
        "players": [{"name": f"Player {seat}"} for seat in range(people)],
        "rules": {"seed": "5e" * 32, "deal_id": "stage", "auto_forced": False, **stage.rules},
        "open_seats": int(stage.phase == "waiting" and stage.game == "lodam"),
    }
    answer = await api.post("/v1/games", json=body, headers=HOST)
    assert answer.status_code == 201, answer.text
    game = Game(api, answer.json())
    if stage.phase == "abandoned":
        assert (await game.post(HOST_KEY, "/abandon", {})).status_code == 201
    chance = Random(5)
    for _ in range(_STEPS):
        view = await game.view()
        if stage.phase in (view["status"], (view["hand"] or {}).get("phase")):
            return game
        await game.step(chance)
    raise AssertionError(f"{stage.name} was not reached")
