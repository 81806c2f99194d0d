"""The list of disputes by state, from their own streams."""

import random

from api.batch import new_event
from domain.dispute_stream import (
    Dispute,
    DisputeEvent,
    DisputeFound,
    DisputeOpened,
    DisputeResolved,
    State,
    Words,
    fold_dispute,
    record_dispute,
)
from domain.disputes import Finding
from domain.log import Circumstances, Entry
from eventstore.postgres import EventStore
from eventstore.records import Answer, Append, Appended
from projections import disputes
from projections.disputes import CATEGORY, Place
from tests.domain.random_games import uuid
from tests.projections.driver import check_rebuilt, driving

AT = 1_790_000_000_000_000
GAMES = ("game-a", "game-b")


def next_event(before: Dispute | None, game: str, chance: random.Random) -> DisputeEvent:
    """What may happen to a dispute next."""
    if before is None:
        return DisputeOpened(game, 3, "trick", "seat", 1, None, Words("Not so."))
    if before.resolution is None and chance.random() < 0.4:
        return DisputeResolved(chance.choice(["upheld", "rejected"]), Words("Seen."))
    verdict = chance.choice(["pending", "consistent", "contradicted"])
    return DisputeFound(Finding(verdict, 3, ()))


async def test_each_is_listed_in_its_state_for_its_tenant(
    store: EventStore, database_url: str
) -> None:
    chance = random.Random(4)
    known: dict[str, tuple[str, Dispute]] = {}
    async with driving(store, database_url, [disputes.PROJECTION]) as driver:
        for step in range(120):
            old = chance.choice([None, *known]) if chance.random() < 0.6 else None
            stream = old or uuid(chance)
            tenant, before = known.get(stream, (chance.choice(["host", "other"]), None))
            event = next_event(before, chance.choice(GAMES), chance)
            made = record_dispute(
                stream,
                before,
                [event],
                Circumstances(AT + step // 3, None, uuid(chance)),
                chance.randbytes(32),
            )
            known[stream] = (tenant, fold_dispute(stream, made, before))
            await append(store, stream, made, tenant)
            if step % 7 and step < 119:
                continue
            await driver.drain([disputes.PROJECTION], chance=chance)
            for who in ("host", "other"):
                for state in (None, "pending", "found", "resolved"):
                    for games in ((), GAMES[:1], GAMES):
                        expected = places(known, who, state, games)
                        found = await disputes.find(store, who, state, games, None, 200)
                        assert found == expected
        everything = places(known, "host", None, ())
        paged: list[Place] = []
        while page := await disputes.find(store, "host", None, (), paged[-1] if paged else None, 7):
            paged += page
        assert paged == everything
        assert len(everything) > 14
        await check_rebuilt(driver, disputes.PROJECTION, chance)


def places(
    known: dict[str, tuple[str, Dispute]], tenant: str, state: State | None, games: tuple[str, ...]
) -> list[Place]:
    fitting = [
        Place(dispute.opened_at, dispute.id)
        for whose, dispute in known.values()
        if whose == tenant
        and state in (None, dispute.state)
        and all(dispute.opened.game == game for game in games)
    ]
    return sorted(fitting, key=lambda place: (place.opened_at, place.dispute), reverse=True)


async def append(store: EventStore, stream: str, made: list[Entry], tenant: str) -> None:
    outcome = await store.append(
        Append(
            stream=stream,
            expected=made[0].version - 1,
            prev=made[0].prev,
            events=tuple([new_event(entry) for entry in made]),
            command=made[0].command,
            answer=Answer(stream, made[0].version, made[-1].version, b""),
            tenant=tenant,
            category=CATEGORY,
        )
    )
    assert isinstance(outcome, Appended)
