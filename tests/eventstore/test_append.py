"""What an append does: each outcome, and that nothing else is left behind."""

import asyncio
import os

import msgspec
import psycopg
import pytest

from eventstore import pool
from eventstore.postgres import EventStore
from eventstore.records import (
    Answer,
    Append,
    Appended,
    KeyMismatch,
    Replayed,
    WrongVersion,
)
from tests.eventstore.streams import a_key, a_part, an_append, an_event, an_id, stored


async def test_a_stream_begins_and_goes_on(store: EventStore) -> None:
    first = an_append(an_id(), an_event(), an_event())
    second = an_append(first.stream, after=first)

    assert await store.append(first) == Appended(2)
    assert await store.append(second) == Appended(3)
    assert await store.read(first.stream) == stored(first, second)


async def test_what_was_appended_comes_back_byte_for_byte(store: EventStore) -> None:
    every_byte = bytes(range(256)) * 300
    parts = (a_part("[0]"), a_part('"all"'), msgspec.structs.replace(a_part("[]"), body=b""))
    odd = an_event(every_byte, parts)
    odd = msgspec.structs.replace(odd, actor=None, type="Größe", at=-1, schema=32767)
    first = an_append(an_id(), an_event(b""), odd, an_event(b"\x00"), secret=b"\x00\xff")

    await store.append(first)

    assert await store.read(first.stream) == stored(first)
    head = await store.head(first.stream)
    assert head is not None
    assert head.secret == b"\x00\xff"
    assert head.hash == first.events[-1].hash


async def test_another_version_is_refused_with_the_true_one(store: EventStore) -> None:
    first = an_append(an_id(), an_event(), an_event())
    await store.append(first)

    for expected in (0, 1, 3):
        wrong = msgspec.structs.replace(
            an_append(first.stream),
            expected=expected,
            answer=Answer(first.stream, expected + 1, expected + 1, b""),
        )
        assert await store.append(wrong) == WrongVersion(2)
    assert await store.read(first.stream) == stored(first)


async def test_a_stream_that_does_not_exist_stands_at_0(store: EventStore) -> None:
    stream = an_id()
    wrong = msgspec.structs.replace(an_append(stream), expected=3, answer=Answer(stream, 4, 4, b""))

    assert await store.append(wrong) == WrongVersion(0)
    assert await store.load(stream) is None


async def test_the_first_event_must_follow_the_head(store: EventStore) -> None:
    first = an_append(an_id())
    await store.append(first)
    astray = msgspec.structs.replace(an_append(first.stream, after=first), prev=os.urandom(32))
    rootless = msgspec.structs.replace(an_append(an_id()), prev=os.urandom(32))

    assert await store.append(astray) == WrongVersion(1)
    assert await store.append(rootless) == WrongVersion(0)
    assert await store.read(first.stream) == stored(first)


async def test_a_key_that_comes_again_gets_the_first_answer(store: EventStore) -> None:
    stream = an_id()
    key = a_key(stream)
    first = an_append(stream, an_event(), an_event(), key=key, response=b"\x00first")
    await store.append(first)
    again = an_append(stream, after=first, key=key, response=b"second")

    expected = Replayed(Answer(stream, 1, 2, b"\x00first"))
    assert await store.append(again) == expected
    assert await store.answer(key) == expected
    assert await store.read(stream) == stored(first)


async def test_a_key_beats_the_version(store: EventStore) -> None:
    stream = an_id()
    key = a_key(stream)
    first = an_append(stream, key=key)
    await store.append(first)

    assert await store.append(an_append(stream, key=key)) == Replayed(first.answer)


async def test_a_key_for_another_request_is_a_mismatch(store: EventStore) -> None:
    stream = an_id()
    key = a_key(stream)
    first = an_append(stream, key=key)
    await store.append(first)
    other = msgspec.structs.replace(key, fingerprint=os.urandom(32))

    assert await store.append(an_append(stream, after=first, key=other)) == KeyMismatch()
    assert await store.answer(other) == KeyMismatch()
    assert await store.answer(a_key(stream)) is None
    assert await store.read(stream) == stored(first)


async def test_a_refused_append_does_not_use_up_its_key(store: EventStore) -> None:
    stream = an_id()
    key = a_key(stream)
    first = an_append(stream)
    await store.append(first)

    assert await store.append(an_append(stream, key=key)) == WrongVersion(1)
    assert await store.answer(key) is None
    assert await store.append(an_append(stream, after=first, key=key)) == Appended(2)


@pytest.mark.parametrize(
    "scope", ["host", "", "create:größe\x00", "0b6f7a1e-5f0c-7d3a-9c1b-2f6a54c1d001"]
)
async def test_a_key_of_a_wider_scope_names_the_stream_it_made(
    store: EventStore, scope: str
) -> None:
    key = a_key(scope)
    first = an_append(an_id(), key=key)
    await store.append(first)
    second = an_append(an_id(), key=key)

    assert await store.append(second) == Replayed(first.answer)
    assert await store.answer(key) == Replayed(first.answer)
    assert await store.head(second.stream) is None
    assert await store.answer(msgspec.structs.replace(key, scope="another")) is None


async def test_a_command_is_done_once_however_often_it_is_sent(store: EventStore) -> None:
    plain = an_append(an_id(), an_event(), an_event())
    keyed = an_append(an_id(), key=a_key("host"))

    for request in (plain, keyed, plain, keyed):
        assert await store.append(request) == Appended(len(request.events))
    assert await store.read(plain.stream) == stored(plain)
    assert await store.read(keyed.stream) == stored(keyed)


async def test_a_command_sent_again_later_is_still_the_same(store: EventStore) -> None:
    first = an_append(an_id())
    second = an_append(first.stream, after=first)
    await store.append(first)
    await store.append(second)

    assert await store.append(first) == Appended(1)
    assert await store.read(first.stream) == stored(first, second)


async def test_tags_stay_until_given_and_the_wake_time_is_always_written(
    store: EventStore,
) -> None:
    first = an_append(an_id(), tags=("a", "b"), wake_at=10, secret=b"kept")
    second = an_append(first.stream, after=first, wake_at=20, tenant="ignored", secret=b"ignored")
    third = an_append(first.stream, after=second, tags=())
    seen = []
    for request in (first, second, third):
        await store.append(request)
        head = await store.head(first.stream)
        assert head is not None
        assert (head.tenant, head.category, head.secret) == ("host", "game", b"kept")
        seen.append((head.version, head.tags, head.wake_at))

    assert seen == [(1, ("a", "b"), 10), (2, ("a", "b"), 20), (3, (), None)]


async def test_an_append_that_contradicts_itself_is_refused_here(store: EventStore) -> None:
    good = an_append(an_id())
    bad: list[Append] = [
        msgspec.structs.replace(good, events=()),
        msgspec.structs.replace(good, answer=Answer(an_id(), 1, 1, b"")),
        msgspec.structs.replace(good, answer=Answer(good.stream, 1, 2, b"")),
        msgspec.structs.replace(good, answer=Answer(good.stream, 0, 1, b"")),
        msgspec.structs.replace(good, command="no id"),
    ]
    for request in bad:
        with pytest.raises(ValueError, match=r"append|hex|UUID"):
            await store.append(request)
    assert await store.head(good.stream) is None


async def test_of_50_appends_to_one_version_one_wins(store: EventStore) -> None:
    first = an_append(an_id())
    await store.append(first)
    rivals = [an_append(first.stream, after=first) for _ in range(50)]

    outcomes = await asyncio.gather(*map(store.append, rivals))

    [winner] = [rival for rival, it in zip(rivals, outcomes, strict=True) if it == Appended(2)]
    assert outcomes.count(WrongVersion(2)) == 49
    assert await store.read(first.stream) == stored(first, winner)


async def test_of_50_beginnings_of_one_stream_one_wins(store: EventStore) -> None:
    stream = an_id()
    rivals = [an_append(stream) for _ in range(50)]

    outcomes = await asyncio.gather(*map(store.append, rivals))

    assert outcomes.count(Appended(1)) == 1
    assert outcomes.count(WrongVersion(1)) == 49
    assert len(await store.read(stream)) == 1


@pytest.mark.parametrize("one_stream", [True, False])
async def test_of_50_appends_with_one_key_one_acts_and_all_get_its_answer(
    store: EventStore, one_stream: bool
) -> None:
    stream = an_id()
    key = a_key(stream if one_stream else "host")
    rivals = [
        an_append(stream if one_stream else an_id(), key=key, response=os.urandom(8))
        for _ in range(50)
    ]

    outcomes = await asyncio.gather(*map(store.append, rivals))

    [winner] = [rival for rival, it in zip(rivals, outcomes, strict=True) if it == Appended(1)]
    assert outcomes.count(Replayed(winner.answer)) == 49
    assert [stream async for stream in store.streams()] == [winner.stream]


@pytest.mark.parametrize("turned", [False, True])
async def test_appends_whose_scopes_are_each_others_streams_never_deadlock(
    store: EventStore, database_url: str, monkeypatch: pytest.MonkeyPatch, turned: bool
) -> None:
    monkeypatch.setattr(pool, "_PASSING", frozenset())  # A deadlock is not to be hidden by a retry.
    one, other = an_id(), an_id()
    pairs = [(one, other), (other, one)]

    with psycopg.connect(database_url) as holder:
        holder.execute("SELECT pg_advisory_xact_lock(uuid_hash_extended(%s::uuid, 0))", [one])
        appends = []
        # Both queue up for what is held; locked in the order of their roles they would cross.
        for number, (stream, scope) in enumerate(pairs[::-1] if turned else pairs, start=1):
            request = an_append(stream, key=a_key(scope))
            appends.append(asyncio.create_task(store.append(request)))
            await until_waiting(holder, number)
        holder.rollback()

    assert await asyncio.gather(*appends) == [Appended(1), Appended(1)]


async def until_waiting(conn: psycopg.Connection, number: int) -> None:
    async with asyncio.timeout(60):
        while True:
            row = conn.execute(
                "SELECT count(*) FROM pg_locks"
                " WHERE locktype = 'advisory' AND NOT granted AND database ="
                " (SELECT oid FROM pg_database WHERE datname = current_database())"
            ).fetchone()
            if row == (number,):
                return
            await asyncio.sleep(0.01)
