"""`/v1/rules`: the games on offer, open to all."""

from functools import cache
from importlib.resources import files
from typing import Any

import msgspec
from litestar import Controller
from litestar.params import FromPath

from api.guards import get
from api.problems import not_found
from api.replies import PROBLEMS
from domain.game import Game
from domain.registry import GAMES
from domain.table.options import Seeding


class RulesItem(msgspec.Struct, frozen=True):
    """A game on offer."""

    game: str
    title: str
    summary: str
    rules_version: int
    min_players: int
    max_players: int
    url: str


class RulesPage(msgspec.Struct, frozen=True):
    """The games on offer."""

    items: tuple[RulesItem, ...]
    next: None


class RulesAnswer(msgspec.Struct, frozen=True):
    """A game's rules: `options` is the JSON Schema of `rules` with the defaults, `profiles` the
    options that each profile sets, `rulebook` the rules in Markdown."""

    game: str
    title: str
    summary: str
    rules_version: int
    min_players: int
    max_players: int
    options: dict[str, Any]
    profiles: dict[str, dict[str, Any]]
    actions: tuple[str, ...]
    rulebook: str


class RulesController(Controller):
    """What can be played and how."""

    path = "/v1/rules"
    tags = ("rules",)

    @get(operation_id="listRules", summary="List the games on offer")
    async def offered(self) -> RulesPage:
        """The games on offer."""
        return rules_page()

    @get(
        "/{game:str}",
        operation_id="getRules",
        summary="Read a game's rules and options",
        responses={404: PROBLEMS[404]},
    )
    async def rules(self, game: FromPath[str]) -> RulesAnswer:
        """A game's options and its rulebook."""
        found = GAMES.get(game)
        if found is None:
            raise not_found("There is no such game on offer.")
        return rules_answer(found)


def rules_page() -> RulesPage:
    """All games on offer, on one page."""
    return RulesPage(
        items=tuple(
            [
                RulesItem(
                    game=game.name,
                    title=game.title,
                    summary=game.summary,
                    rules_version=game.rules_version,
                    min_players=game.min_seats,
                    max_players=game.max_seats,
                    url=f"/v1/rules/{game.name}",
                )
                for game in GAMES.values()
            ]
        ),
        next=None,
    )


def rules_answer(found: Game[Any]) -> RulesAnswer:
    """Everything that one can read about a game before playing it."""
    return RulesAnswer(
        game=found.name,
        title=found.title,
        summary=found.summary,
        rules_version=found.rules_version,
        min_players=found.min_seats,
        max_players=found.max_seats,
        options=options_schema(found),
        profiles={name: dict(values) for name, values in found.profiles.items()},
        actions=tuple([str(kind.__struct_config__.tag) for kind in found.actions]),
        rulebook=rulebook(found.name),
    )


def options_schema(game: Game[Any]) -> dict[str, Any]:
    """JSON Schema of a game's `rules` at creation, the seeding included."""
    _, schemas = msgspec.json.schema_components([game.options, Seeding])
    schema: dict[str, Any] = dict(schemas[game.options.__name__])
    schema["properties"] = schema["properties"] | schemas[Seeding.__name__]["properties"]
    return schema


@cache
def rulebook(game: str) -> str:
    """The rulebook of a game, Markdown."""
    return files("seeds").joinpath(game).joinpath("rulebook.md").read_text(encoding="utf-8")
