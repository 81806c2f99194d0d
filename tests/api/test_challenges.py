"""Challenges with their evidence, from the log of a recorded game."""

from typing import Any

import httpx
import pytest

from eventstore.postgres import EventStore
from tests.api.running import HOST, Game, Json, problem
from tests.api.samples import CHALLENGES, events_of, imported, log_of

LOADERS = {"A": 11, "T": 10, "K": 3, "Q": 2, "J": 1}


@pytest.fixture
async def path(api: httpx.AsyncClient, store: EventStore) -> str:
    """A recorded game with challenges, on the API."""
    log = log_of(CHALLENGES)
    assert (await imported(store, log)).outcome == "imported"
    return f"/v1/games/{log.header.id}/challenges"


async def test_every_challenge_is_listed_with_who_whom_and_the_verdict(
    api: httpx.AsyncClient, path: str
) -> None:
    found = (await api.get(path, headers=HOST)).json()
    decided: Any = [e for e in events_of(CHALLENGES) if e["type"] == "ChallengeDecided"]
    assert found["next"] is None
    assert [(c["version"], c["seat"], c["challenged"], c["upheld"]) for c in found["items"]] == [
        (e["version"], e["data"]["seat"], e["data"]["challenged"], e["data"]["upheld"])
        for e in decided
    ]
    assert [c["number"] for c in found["items"]] == list(range(1, len(decided) + 1))
    assert {c["verdict"] for c in found["items"]} == {"upheld", "rejected"}
    for challenge in found["items"]:
        assert challenge["upheld"] == (challenge["verdict"] == "upheld")
        answer = await api.get(f"{path}/{challenge['number']}", headers=HOST)
        assert answer.json() == challenge


async def test_the_evidence_adds_up_card_by_card_to_the_verdict(
    api: httpx.AsyncClient, path: str
) -> None:
    log: Any = events_of(CHALLENGES)
    for challenge in (await api.get(path, headers=HOST)).json()["items"]:
        before = [e for e in log if e["version"] < challenge["version"]]
        start = max(e["version"] for e in before if e["type"] == "HandStarted")
        for side, seat in (
            (challenge["evidence"]["challenger"], challenge["seat"]),
            (challenge["evidence"]["challenged"], challenge["challenged"]),
        ):
            assert side["seat"] == seat
            assert side["tricks"] == by_hand(before, start, seat)
            assert side["total"] == sum(counted(t) for t in side["tricks"])
            reached = [t for t in side["tricks"] if t["total"] >= 31]
            assert side["reached"] == (reached[0] if reached else None)
        mine, theirs = [
            challenge["evidence"][side]["reached"] for side in ("challenger", "challenged")
        ]
        assert mine is not None
        earlier = theirs is not None and theirs["version"] < mine["version"]
        assert challenge["upheld"] == earlier


def counted(trick: Json) -> int:
    return sum(loader["points"] for loader in trick["loaders"])


def by_hand(log: list[Json], start: int, seat: int) -> list[Json]:
    """The tricks that a seat took in the hand, counted here once more."""
    table: list[str] = []
    total = 0
    found = []
    for event in log:
        if event["version"] <= start:
            continue
        if event["type"] == "CardPlayed":
            table.append(event["data"]["card"])
        elif event["type"] == "TrickTaken":
            if event["data"]["seat"] == seat:
                loaders = [
                    {"card": card, "points": LOADERS[card[0]]}
                    for card in table
                    if card[0] in LOADERS
                ]
                total += sum(LOADERS[card[0]] for card in table if card[0] in LOADERS)
                found.append(
                    {
                        "trick": event["data"]["trick"],
                        "version": event["version"],
                        "cards": table,
                        "loaders": loaders,
                        "total": total,
                    }
                )
            table = []
    return found


@pytest.mark.parametrize("number", ["0", "-1", "99999", "one", "99999999999999999999"])
async def test_a_challenge_that_never_was_is_not_found(
    api: httpx.AsyncClient, path: str, number: str
) -> None:
    problem(await api.get(f"{path}/{number}", headers=HOST), 404, "not-found")


async def test_a_game_without_challenges_has_none(shared_game: Game) -> None:
    assert (await shared_game.get(path="/challenges")).json() == {"items": [], "next": None}
    problem(await shared_game.get(path="/challenges/1"), 404, "not-found")
