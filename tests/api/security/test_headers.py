"""What browsers are told with every answer that needs no token, found in the OpenAPI document, with
the pages beside it, and with errors."""

import httpx
import pytest

from tests.api.running import HOST, Game, running

PAGES = ("/", "/table/src/main.js", "/table/none", "/schema", "/schema/openapi.json", "/metrics")
"""What is no operation of the document, and open (`/metrics` to this machine)."""

ALWAYS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "private, no-cache",
}


def held(answer: httpx.Response) -> None:
    """An answer is safe with a browser: it is what it says, in nobody's frame, runs nothing that is
    not ours, and no cache gives it to another."""
    for name, value in ALWAYS.items():
        assert answer.headers.get_list(name) == [value], answer.request.url
    [policy] = answer.headers.get_list("content-security-policy")
    rules = {rule.split()[0]: rule.split()[1:] for rule in policy.split(";")}
    assert rules["frame-ancestors"] == ["'none'"]
    assert rules["default-src"] in (["'none'"], ["'self'"])
    assert "unsafe-eval" not in policy
    scripts = rules.get("script-src", rules["default-src"])
    assert set(scripts) <= {"'none'", "'self'"}
    assert "authorization" in answer.headers["vary"].lower()
    assert "set-cookie" not in answer.headers
    assert "access-control-allow-origin" not in answer.headers
    if answer.content:
        assert answer.headers["content-type"]


async def test_every_answer_to_everybody(shared_api: httpx.AsyncClient) -> None:
    """Every operation without a token: those open to all answer, the others refuse."""
    document = (await shared_api.get("/schema/openapi.json")).json()
    open_to_all = set()
    for path, item in document["paths"].items():
        for method, operation in item.items():
            named = path.replace("{game}", "lodam").replace("{", "").replace("}", "")
            answer = await shared_api.request(method, named)
            held(answer)
            if not operation.get("security"):
                assert answer.status_code == 200
                open_to_all.add(operation["operationId"])
            head = await shared_api.request("HEAD", named)
            held(head)
    assert open_to_all == {"listRules", "getRules", "getKeys", "isLive", "isReady"}


@pytest.mark.parametrize("path", PAGES)
@pytest.mark.parametrize("accept", ["text/html", "application/json"])
async def test_every_page(shared_api: httpx.AsyncClient, path: str, accept: str) -> None:
    held(await shared_api.get(path, headers={"Accept": accept}))


async def test_every_kind_of_error(shared_game: Game) -> None:
    api = shared_game.api
    answers = {
        400: await api.post("/v1/games", content=b"{", headers=HOST),
        401: await api.get("/v1/games"),
        403: await shared_game.get(0, "/../../games"),
        404: await api.get("/nothing"),
        405: await api.put("/v1/games"),
        406: await shared_game.get(0, "/events", Accept="image/png"),
        409: await shared_game.act(0, {"type": "announce"}),
        412: await shared_game.post(0, "/resign", If_Match='"99"'),
        413: await api.post("/v1/games", content=b"y" * 70_000, headers=HOST),
    }
    for status, answer in answers.items():
        assert answer.status_code == status
        held(answer)
        assert answer.headers["content-type"] == "application/problem+json"


async def test_answers_without_a_body(shared_game: Game) -> None:
    view = await shared_game.get(0)
    same = await shared_game.get(0, If_None_Match=view.headers["etag"])
    assert same.status_code == 304
    held(same)
    held(await shared_game.api.options("/v1/games"))


async def test_an_error_of_ours_and_a_database_that_is_away() -> None:
    nowhere = "postgresql://nobody@127.0.0.1:1/none"
    async with running(nowhere, database_deadline_seconds=0.2) as api:
        answer = await api.get("/health/ready")
        assert answer.status_code == 503
        held(answer)


async def test_a_page_of_another_origin_is_given_nothing(shared_game: Game) -> None:
    """No CORS: a browser gives no answer of ours to a page from elsewhere."""
    origin = {"Origin": "https://evil.example"}
    preflight = origin | {
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization",
    }
    held(await shared_game.api.get(shared_game.path, headers=HOST | origin))
    held(await shared_game.api.options(f"{shared_game.path}/actions", headers=preflight))
