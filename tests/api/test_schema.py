"""The OpenAPI document: complete, with examples that are true, and a page that loads nothing."""

import re
from typing import Any

import httpx
import msgspec
import pytest

from api.bodies import (
    Abandonment,
    AskedAction,
    NewDispute,
    NewGame,
    NewResolution,
    NewWebhook,
    Nothing,
    Person,
)
from domain.codec import ACTION_TYPES
from domain.registry import GAMES
from tests.api.running import HOST

METHODS = {"get", "post", "put", "delete", "patch"}


@pytest.fixture(scope="module")
async def document(shared_api: httpx.AsyncClient) -> dict[str, Any]:
    answer = await shared_api.get("/schema/openapi.json")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    found: dict[str, Any] = answer.json()
    return found


def operations(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """By operation id."""
    return {
        operation["operationId"]: operation | {"path": path, "method": method}
        for path, item in document["paths"].items()
        for method, operation in item.items()
        if method in METHODS
    }


def contents(operation: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Every body of an operation: what it is, and its schema with examples."""
    found = [("request", c) for c in operation.get("requestBody", {}).get("content", {}).values()]
    for status, response in operation["responses"].items():
        found += [(status, content) for content in response.get("content", {}).values()]
    return found


async def test_it_is_openapi_3_1(document: dict[str, Any]) -> None:
    assert document["openapi"].startswith("3.1")
    assert document["info"]["title"] == "Fairdeal"


async def test_schema_itself_is_the_document_or_the_page(
    shared_api: httpx.AsyncClient, document: dict[str, Any]
) -> None:
    assert (await shared_api.get("/schema")).json() == document
    page = await shared_api.get("/schema", headers={"Accept": "text/html,*/*;q=0.8"})
    assert page.headers["content-type"].startswith("text/html")
    for operation in operations(document).values():
        assert operation["path"] in page.text
    assert not re.findall(r"""(?:src|href)=["']?(?:https?:)?//""", page.text)
    assert "<script" not in page.text
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert (await shared_api.get("/schema/redoc")).status_code == 404


async def test_every_operation_is_named_summed_up_and_says_for_whom(
    document: dict[str, Any],
) -> None:
    found = operations(document)
    assert len(found) == sum(
        1 for item in document["paths"].values() for method in item if method in METHODS
    )
    for name, operation in found.items():
        assert operation["summary"], name
        assert operation["description"], name
        private = tuple(
            [f"/v1/{of}" for of in ("games", "disputes", "players", "leaderboards", "webhooks")]
        )
        public = not operation["path"].startswith(private)
        assert bool(operation.get("security")) != public, name
        if not public:
            assert {"401", "403"} <= operation["responses"].keys(), name
    schemes = document["components"]["securitySchemes"]
    used = {s for o in found.values() for wanted in o.get("security", ()) for s in wanted}
    assert used == schemes.keys()


async def test_every_body_has_an_example(document: dict[str, Any]) -> None:
    for name, operation in operations(document).items():
        for what, content in contents(operation):
            assert content.get("examples"), (name, what)


async def test_every_action_type_has_an_example_that_is_valid(document: dict[str, Any]) -> None:
    [(_, content)] = [c for c in contents(operations(document)["act"]) if c[0] == "request"]
    examples = [example["value"] for example in content["examples"].values()]
    tags = {kind.__struct_config__.tag for kind in ACTION_TYPES}
    assert {example["type"] for example in examples} == tags
    for example in examples:
        msgspec.convert(example, AskedAction)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("createGame", NewGame),
        ("takeSeat", Person),
        ("abandonGame", Abandonment),
        ("openDispute", NewDispute),
        ("resolveDispute", NewResolution),
        ("createWebhook", NewWebhook),
        ("resign", Nothing),
        ("redeliver", Nothing),
    ],
)
async def test_example_requests_are_valid(
    document: dict[str, Any], name: str, kind: type[Any]
) -> None:
    [(_, content)] = [c for c in contents(operations(document)[name]) if c[0] == "request"]
    for example in content["examples"].values():
        msgspec.convert(example["value"], kind)


async def test_every_reference_leads_somewhere(document: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"]
    found: set[str] = set()

    def walk(value: Any) -> None:
        if isinstance(value, dict):
            reference = value.get("$ref")
            if isinstance(reference, str):
                found.add(reference.removeprefix("#/components/schemas/"))
            for inner in value.values():
                walk(inner)
        elif isinstance(value, list):
            for inner in value:
                walk(inner)

    walk(document)
    assert found <= schemas.keys()
    assert {"View", "EventView", "ProblemBody", "NewGame"} <= found


async def test_problems_are_declared_as_what_they_are(document: dict[str, Any]) -> None:
    for name, operation in operations(document).items():
        for status, response in operation["responses"].items():
            if int(status) >= 400:
                [(media, content)] = response["content"].items()
                assert media == "application/problem+json", name
                [example] = content["examples"].values()
                assert example["value"]["status"] == int(status)


async def test_whoever_may_be_told_to_wait_is_told_how_long(document: dict[str, Any]) -> None:
    for name, operation in operations(document).items():
        responses = operation["responses"]
        # Who needs a token may come too often with it, or with none that is valid.
        assert ("429" in responses) == ("401" in responses), name
        for status in {"429", "503"} & responses.keys():
            assert responses[status]["headers"]["Retry-After"]["schema"]["type"] == "integer"


async def test_what_webhooks_are_sent_is_told(document: dict[str, Any]) -> None:
    assert document["webhooks"].keys() == {"event", "turn"}
    for kind, item in document["webhooks"].items():
        content = item["post"]["requestBody"]["content"]["application/json"]
        assert content["examples"]["example"]["value"]["type"] == kind


async def test_strictness_is_declared(document: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"]
    for name in ("NewGame", "NewPlayer", "Person", "Clock", "Play"):
        assert schemas[name]["additionalProperties"] is False, name


async def test_each_games_example_can_be_set_up(
    shared_api: httpx.AsyncClient, document: dict[str, Any]
) -> None:
    [(_, content)] = [c for c in contents(operations(document)["createGame"]) if c[0] == "request"]
    for example in content["examples"].values():
        assert example["value"]["game"] in GAMES
        answer = await shared_api.post("/v1/games", json=example["value"], headers=HOST)
        assert answer.status_code == 201, answer.text
