"""What can be read of streams: by version, by tag, by wake time, and all of them."""

import msgspec
import pytest

from eventstore import postgres
from eventstore.postgres import EventStore
from eventstore.records import Append, Appended, WrongVersion
from tests.eventstore.streams import a_key, a_part, an_append, an_event, an_id, stored


async def begun(store: EventStore, request: Append) -> str:
    await store.append(request)
    return request.stream


async def test_load_gives_the_head_and_what_came_after_a_version(store: EventStore) -> None:
    first = an_append(an_id(), *(an_event(sealed=(a_part(), a_part())) for _ in range(3)))
    second = an_append(first.stream, an_event(), an_event(sealed=(a_part(),)), after=first)
    await store.append(first)
    await store.append(second)
    events = stored(first, second)

    for after in range(7):
        loaded = await store.load(first.stream, after)
        assert loaded is not None
        head, found = loaded
        assert head == await store.head(first.stream)
        assert (head.version, head.hash) == (5, events[-1].hash)
        assert found == events[after:]


async def test_read_stops_where_it_is_told(store: EventStore) -> None:
    first = an_append(an_id(), *(an_event(sealed=(a_part(),)) for _ in range(6)))
    await store.append(first)
    events = stored(first)

    assert await store.read(first.stream, upto=4) == events[:4]
    assert await store.read(first.stream, after=1, upto=4) == events[1:4]
    assert await store.read(first.stream, after=1, limit=2) == events[1:3]
    assert await store.read(first.stream, after=4, upto=2) == []
    assert await store.read(first.stream, limit=0) == []


async def test_an_unknown_stream_is_no_stream(store: EventStore) -> None:
    assert await store.head(an_id()) is None
    assert await store.load(an_id()) is None
    assert await store.read(an_id()) == []
    with pytest.raises(ValueError, match="hex"):
        await store.head("x")


async def test_ids_are_the_same_in_any_spelling(store: EventStore) -> None:
    first = an_append(an_id())
    await store.append(first)

    head = await store.head(first.stream.upper())
    assert head is not None
    assert head.stream == first.stream


async def test_find_wants_all_the_tags_and_the_tenant(store: EventStore) -> None:
    both = await begun(store, an_append(an_id(), tags=("a", "b")))
    only_a = await begun(store, an_append(an_id(), tags=("a",)))
    none = await begun(store, an_append(an_id()))
    await begun(store, an_append(an_id(), tags=("a", "b"), tenant="other"))

    async def found(*tags: str) -> set[str]:
        return {head.stream for head in await store.find("host", tags, None, 10)}

    assert await found() == {both, only_a, none}
    assert await found("a") == {both, only_a}
    assert await found("b", "a") == {both}
    assert await found("c") == set()
    assert await store.find("nobody", ()) == []


async def test_find_turns_pages_newest_first(store: EventStore) -> None:
    streams = sorted([await begun(store, an_append(an_id(), tags=("t",))) for _ in range(25)])

    pages = []
    before = None
    while page := await store.find("host", ("t",), before, 10):
        pages.append([head.stream for head in page])
        before = page[-1].stream

    assert [len(page) for page in pages] == [10, 10, 5]
    assert [stream for page in pages for stream in page] == streams[::-1]


async def test_find_sees_tags_as_they_are_now(store: EventStore) -> None:
    first = an_append(an_id(), tags=("waiting",))
    await store.append(first)
    await store.append(an_append(first.stream, after=first, tags=("over",)))

    assert await store.find("host", ("waiting",)) == []
    [head] = await store.find("host", ("over",))
    assert head == await store.head(first.stream)


async def test_due_gives_the_longest_waiting_first(store: EventStore) -> None:
    late = await begun(store, an_append(an_id(), wake_at=300))
    early = await begun(store, an_append(an_id(), wake_at=100))
    middle = await begun(store, an_append(an_id(), wake_at=200))
    await begun(store, an_append(an_id()))

    assert await store.due(99, 10) == []
    assert await due(store, 200, 10) == [early, middle]
    assert await due(store, 1000, 10) == [early, middle, late]
    assert await due(store, 1000, 1) == [early]

    head = await store.head(early)
    await store.append(an_append(early, after=head))
    assert await due(store, 1000, 10) == [middle, late]


async def test_all_streams_are_walked_page_by_page(
    store: EventStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres, "_PAGE", 4)
    made = {await begun(store, an_append(an_id())) for _ in range(12)}

    walked = [stream async for stream in store.streams()]

    assert len(walked) == 12
    assert set(walked) == made


async def test_erasure_takes_salt_and_body_and_nothing_else(store: EventStore) -> None:
    first = an_append(
        an_id(), an_event(sealed=(a_part(), a_part("[1]"))), an_event(sealed=(a_part(),))
    )
    neighbour = an_append(an_id(), an_event(sealed=(a_part(),)))
    await store.append(first)
    await store.append(neighbour)

    assert await store.erase(first.stream, [(1, 1), (2, 0), (2, 7), (9, 0)]) == 2
    assert await store.erase(first.stream, [(1, 1), (2, 0)]) == 0
    assert await store.erase(first.stream, []) == 0

    one, two = stored(first)
    gone_one = msgspec.structs.replace(one.sealed[1], salt=None, body=None)
    gone_two = msgspec.structs.replace(two.sealed[0], salt=None, body=None)
    assert await store.read(first.stream) == [
        msgspec.structs.replace(one, sealed=(one.sealed[0], gone_one)),
        msgspec.structs.replace(two, sealed=(gone_two,)),
    ]
    assert await store.read(neighbour.stream) == stored(neighbour)


async def test_a_part_may_arrive_erased(store: EventStore) -> None:
    gone = msgspec.structs.replace(a_part(), salt=None, body=None)
    first = an_append(an_id(), an_event(sealed=(gone, a_part())))
    await store.append(first)

    assert await store.read(first.stream) == stored(first)


async def test_ping_is_answered(store: EventStore) -> None:
    await store.ping()


async def test_everything_works_without_prepared_statements(database_url: str) -> None:
    async with EventStore.open(database_url, prepare=False) as store:
        first = an_append(an_id(), an_event(sealed=(a_part(),)), tags=("t",), wake_at=1)
        await store.append(first)
        assert await store.read(first.stream) == stored(first)
        assert [head.stream for head in await store.find("host", ("t",))] == [first.stream]
        assert await due(store, 1, 1) == [first.stream]
        async with store.connection() as conn:
            cursor = await conn.execute("SELECT count(*) FROM pg_prepared_statements")
            assert await cursor.fetchone() == (0,)


async def due(store: EventStore, now: int, limit: int) -> list[str]:
    found = await store.due(now, limit)
    assert {stream.category for stream in found} == {"game"}
    return [stream.stream for stream in found]


async def test_a_stream_is_woken_later_unless_it_has_moved_on(store: EventStore) -> None:
    stream = await begun(store, an_append(an_id(), wake_at=100))
    assert await store.wake(stream, 1, 500)
    assert await store.due(499, 10) == []
    assert await due(store, 500, 10) == [stream]
    await store.append(an_append(stream, after=await store.head(stream), wake_at=300))
    assert not await store.wake(stream, 1, 900)
    assert await due(store, 300, 10) == [stream]
    assert await store.wake(stream, 2, None)
    assert await store.due(10_000, 10) == []
    assert not await store.wake(an_id(), 1, 5)


async def test_streams_are_found_by_category_too(store: EventStore) -> None:
    first = await begun(store, an_append(an_id(), tags=("t",)))
    assert [head.stream for head in await store.find("host", ("t",), categories=["game"])] == [
        first
    ]
    assert await store.find("host", ("t",), categories=["other"]) == []
    assert await store.find("host", ("t",), categories=[]) == []
    assert await store.count() == 1


async def test_what_keys_did_is_listed_by_their_scope(store: EventStore) -> None:
    stream = an_id()
    first = an_append(stream, key=a_key(stream), response=b"one")
    await store.append(first)
    second = an_append(stream, after=first, key=a_key(stream), response=b"two")
    await store.append(second)
    await store.append(an_append(an_id(), key=a_key("elsewhere"), response=b"three"))
    assert await store.answers(stream) == [first.answer, second.answer]


async def test_an_append_erases_in_the_same_transaction(store: EventStore) -> None:
    first = an_append(an_id(), an_event(sealed=(a_part(), a_part('"all"'))))
    await store.append(first)
    lost = msgspec.structs.replace(
        an_append(first.stream, after=first), prev=bytes(32), erase=((1, 1),)
    )
    assert await store.append(lost) == WrongVersion(1)
    assert (await store.read(first.stream))[0].sealed[1].body is not None
    then = msgspec.structs.replace(an_append(first.stream, after=first), erase=((1, 1),))
    for _ in range(2):
        assert await store.append(then) == Appended(2)
    [kept, erased] = (await store.read(first.stream))[0].sealed
    assert kept == first.events[0].sealed[0]
    assert (erased.salt, erased.body) == (None, None)
    assert erased.digest == first.events[0].sealed[1].digest
