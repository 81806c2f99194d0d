"""Live streams of events: what they say, in one process and across several."""

import asyncio
from random import Random
from typing import Any

import httpx
import pytest

from api.live import _Shared
from tests.api.live import Reader, parts, reading
from tests.api.running import HOST_KEY, OTHER_KEY, Game, Json, new_game, running

NEVER = {"poll_seconds": 3600, "look_seconds": 3600}
"""Settings under which nobody looks into the store for what has not been told."""


async def play_some(game: Game, steps: int = 12, seed: int = 1) -> int:
    """Play so many steps; the version then."""
    version: int = (await game.play(Random(seed), steps))["version"]
    return version


def follows(found: list[Json], after: int) -> None:
    """Fail unless these are all events after a version, each once and in order."""
    assert [event["version"] for event in found] == list(range(after + 1, after + 1 + len(found)))


async def spectator(game: Game) -> str:
    answer = await game.post(HOST_KEY, "/spectators")
    token: str = answer.json()["token"]
    return token


async def test_a_stream_begins_with_the_callers_view(game: Game) -> None:
    for who in (game.token(0), HOST_KEY, await spectator(game)):
        async with reading(game.api, f"{game.path}/events", who) as reader:
            first = await reader.event()
            view = (await game.get(who)).json()
            assert (first.event, first.id) == ("snapshot", str(view["version"]))
            assert first.json == view
            assert reader.status == 200
            assert reader.headers["content-type"].startswith("text/event-stream")
            assert "no-cache" in reader.headers["cache-control"]
            assert reader.headers["x-accel-buffering"] == "no"


async def test_every_event_comes_once_in_order_as_its_viewer_may_see_it(game: Game) -> None:
    viewers: dict[str, int | str] = {
        "first": 0,
        "second": 1,
        "host": HOST_KEY,
        "spectator": await spectator(game),
    }
    found: dict[str, list[Json]] = {}
    async with asyncio.TaskGroup() as tasks:
        begun = asyncio.Barrier(len(viewers) + 1)

        async def read(name: str, who: int | str) -> None:
            token = game.token(who) if isinstance(who, int) else who
            async with reading(game.api, f"{game.path}/events", token) as reader:
                start = int((await reader.event()).id or 0)
                await begun.wait()
                while (message := await reader.event()).event == "message":
                    assert message.id == str(message.json["version"])
                    found.setdefault(name, []).append(message.json)
                assert (message.event, await reader.next()) == ("end", None)
                follows(found[name], start)

        for name, who in viewers.items():
            tasks.create_task(read(name, who))
        await begun.wait()
        await game.play(Random(5))
    for name, who in viewers.items():
        now = {event["version"]: event for event in await game.events(who)}
        for event in found[name]:
            later = now[event["version"]]
            assert event["hash"] == later["hash"]
            for part, opened in zip(event["sealed"], later["sealed"], strict=True):
                assert part.items() <= opened.items()
    assert found["host"] == found["spectator"]
    assert found["first"] != found["second"]


async def test_a_dealt_hand_is_streamed_to_its_own_seat(api: httpx.AsyncClient) -> None:
    game = await new_game(api, rules={"cut": "manual"})
    cutter = (await game.view())["to_act"][0]
    async with (
        reading(api, f"{game.path}/events", game.token(0)) as own,
        reading(api, f"{game.path}/events", await spectator(game)) as other,
    ):
        await own.event()
        await other.event()
        await game.act(cutter, {"type": "cut", "at": 5})

        async def deal(reader: Reader) -> Json:
            while (event := (await reader.event()).json)["type"] != "HandDealt":
                pass
            return event

        seen = {str(part["for"]): "data" in part for part in (await deal(own))["sealed"]}
        assert seen == {"[0]": True, "[1]": False, "[2]": False, "[]": False}
        assert not any("data" in part for part in (await deal(other))["sealed"])


@pytest.mark.parametrize("way", ["header", "query", "both"])
async def test_resuming_loses_and_repeats_nothing(game: Game, way: str) -> None:
    version = await play_some(game)
    half = version // 2
    headers = {} if way == "query" else {"Last_Event_ID": str(half)}
    query = {"header": "", "query": f"?after={half}", "both": "?after=1"}[way]
    async with reading(game.api, f"{game.path}/events{query}", game.token(1), **headers) as reader:
        early = [message.json for message in await reader.until(version)]
        assert early == (await game.events(1))[half:version]
        later = await play_some(game, 5, seed=2)
        follows([*early, *[m.json for m in await reader.until(later)]], half)


async def test_from_zero_the_whole_log_is_streamed(game: Game) -> None:
    version = await play_some(game, 60)
    assert version > 50, "more than one page of the stream's own"
    async with reading(game.api, f"{game.path}/events?after=0", HOST_KEY) as reader:
        assert [m.json for m in await reader.until(version)] == await game.events()


async def test_who_is_ahead_of_the_game_gets_a_snapshot(game: Game) -> None:
    for query, headers in (("?after=999999", {}), ("", {"Last_Event_ID": "999999"})):
        path = f"{game.path}/events{query}"
        async with reading(game.api, path, HOST_KEY, **headers) as reader:
            assert (await reader.event()).event == "snapshot"


async def test_a_finished_game_is_replayed_and_ends(api: httpx.AsyncClient) -> None:
    game = await new_game(api, rules={"lives": 1})
    view = await game.play(Random(3))
    log = await game.events()
    async with reading(api, f"{game.path}/events?after=0", HOST_KEY) as reader:
        *events, end = await reader.rest()
        assert [event.json for event in events] == log
        assert (end.event, end.id) == ("end", str(view["version"]))
        assert end.json == {
            "version": view["version"],
            "status": "finished",
            "result": view["result"],
        }
    async with reading(api, f"{game.path}/events", HOST_KEY) as reader:
        assert [message.event for message in await reader.rest()] == ["snapshot", "end"]


async def test_an_abandoned_game_ends_the_stream(game: Game) -> None:
    async with reading(game.api, f"{game.path}/events", game.token(2)) as reader:
        await reader.event()
        await game.post(HOST_KEY, "/abandon", {"reason": "closing time"})
        *events, end = await reader.rest()
        assert events[-1].json["type"] == "GameEnded"
        assert end.json["status"] == "abandoned"


async def test_a_silent_stream_has_a_heartbeat(database_url: str) -> None:
    async with running(database_url, heartbeat_seconds=0.02) as api:
        game = await new_game(api)
        async with reading(api, f"{game.path}/events", game.token(0)) as reader:
            await reader.event()
            waiting = asyncio.create_task(reader.event())
            async with asyncio.timeout(30):
                while reader.comments < 3:
                    await asyncio.sleep(0.01)
            await game.step(Random(1))
            assert (await waiting).event == "message"


async def test_a_token_issued_anew_ends_the_streams_of_the_old_one(game: Game) -> None:
    async with (
        reading(game.api, f"{game.path}/events", game.token(0)) as old,
        reading(game.api, f"{game.path}/events", game.token(1)) as other,
    ):
        await old.event()
        await other.event()
        issued = (await game.post(HOST_KEY, "/seats/0/token")).json()
        [bye] = await old.rest()
        assert (bye.event, bye.json) == ("bye", {"reason": "unauthorized"})
        assert (await other.event()).json["type"] == "SeatTokenIssued"
        path = f"{game.path}/events?after={issued['version'] - 1}"
        async with reading(game.api, path, issued["token"]) as new:
            assert (await new.event()).json["type"] == "SeatTokenIssued"


async def test_a_token_that_expires_ends_its_stream(database_url: str) -> None:
    async with running(database_url, token_seconds=2) as api:
        game = await new_game(api)
        async with reading(api, f"{game.path}/events", game.token(0)) as reader:
            snapshot, bye = await reader.rest()
            assert (snapshot.event, bye.json) == ("snapshot", {"reason": "unauthorized"})


async def test_errors_before_a_stream_begins_are_problems(game: Game) -> None:
    path = f"{game.path}/events"
    other = await new_game(game.api)
    for address, token, headers, status in (
        (path, "nonsense", {}, 401),
        (path, OTHER_KEY, {}, 404),
        (path, other.token(0), {}, 404),
        (path, HOST_KEY, {"Last_Event_ID": "seven"}, 400),
        (f"{path}?after=-1", HOST_KEY, {}, 400),
    ):
        async with reading(game.api, address, token, **headers) as reader:
            assert await reader.next() is None
            assert reader.status == status
            assert reader.problem is not None
            assert reader.problem["status"] == status


async def test_an_empty_last_event_id_is_none(game: Game) -> None:
    async with reading(game.api, f"{game.path}/events", HOST_KEY, Last_Event_ID="") as reader:
        assert (await reader.event()).event == "snapshot"


async def test_a_process_that_ends_says_goodbye(database_url: str) -> None:
    async with running(database_url) as api:
        game = await new_game(api)
        async with (
            reading(api, f"{game.path}/events", game.token(0)) as reader,
            reading(api, f"{game.path}/events", game.token(1)) as stalled,
            reading(api, f"{game.path}/events", game.token(2)) as asleep,
        ):
            for one in (reader, stalled, asleep):
                await one.event()
            stalled.taking.clear()
            await game.step(Random(1))
            await reader.event()
            await asleep.event()
            asleep.taking.clear()
            while stalled.offered < reader.offered:
                await asyncio.sleep(0)
            parts(api).release()
            *_, bye = await reader.rest()
            assert (bye.event, bye.json) == ("bye", {"reason": "shutdown"})
            async with asyncio.timeout(20):
                for one in (stalled, asleep):
                    assert one.task is not None
                    await one.task


async def test_a_reader_who_left_leaves_nothing_behind(database_url: str) -> None:
    async with running(database_url, projections="elsewhere") as api:
        game = await new_game(api)
        before = own_tasks()
        for _ in range(5):
            async with reading(api, f"{game.path}/events", game.token(0)) as reader:
                await reader.event()
                assert parts(api).notices.watched == 1
                assert "fairdeal_live_streams 1.0" in (await api.get("/metrics")).text
            assert reader.task is not None
            assert reader.task.done()
        assert parts(api).notices.watched == 0
        assert "fairdeal_live_streams 0.0" in (await api.get("/metrics")).text
        assert own_tasks() == before


def own_tasks() -> set[asyncio.Task[Any]]:
    """What runs but for the connection pool, which has more or fewer tasks as it likes."""
    return {task for task in asyncio.all_tasks() if not task.get_name().startswith("eventstore")}


async def test_a_reader_who_takes_nothing_is_dropped_and_holds_nothing(database_url: str) -> None:
    async with running(database_url, stall_seconds=0.3) as api:
        game = await new_game(api)
        async with (
            reading(api, f"{game.path}/events", game.token(0)) as stalled,
            reading(api, f"{game.path}/events", game.token(1)) as reader,
        ):
            await stalled.event()
            start = int((await reader.event()).id or 0)
            stalled.taking.clear()
            offered = stalled.offered
            version = await play_some(game)
            follows([m.json for m in await reader.until(version)], start)
            # Whatever has happened since, one message is on its way to who takes none.
            assert stalled.offered == offered + 1
            assert stalled.task is not None
            async with asyncio.timeout(30):
                await stalled.task
            assert "fairdeal_live_streams 1.0" in (await api.get("/metrics")).text


async def test_at_the_end_of_a_process_a_reader_who_takes_nothing_is_not_waited_for(
    database_url: str,
) -> None:
    async with running(database_url, stall_seconds=3600) as api:
        game = await new_game(api)
        async with reading(api, f"{game.path}/events", game.token(0)) as stalled:
            await stalled.event()
            stalled.taking.clear()
            await play_some(game)
            async with asyncio.timeout(30):
                while not stalled.offered:
                    await asyncio.sleep(0.01)
            parts(api).release()
            assert stalled.task is not None
            async with asyncio.timeout(60):
                await stalled.task


async def test_a_look_that_is_over_is_not_handed_out_again() -> None:
    """What is heard in the very turn in which a look ends needs another look, not that one."""
    looks: _Shared[str, int] = _Shared(10, keeps=False)
    over, heard = asyncio.Event(), asyncio.Event()
    numbers = iter((1, 2))

    async def look() -> int:
        await over.wait()
        return next(numbers)

    async def another() -> int:
        await heard.wait()
        return await looks.get("game", look)

    first = asyncio.create_task(looks.get("game", look))
    second = asyncio.create_task(another())
    await asyncio.sleep(0.01)
    over.set()
    heard.set()
    assert await asyncio.gather(first, second) == [1, 2]


async def test_many_readers_of_a_game_cost_one_look_at_the_log(
    game: Game, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = await spectator(game)
    reads: list[Any] = []
    store = parts(game.api).store
    whole = store.read

    async def counted(*arguments: Any) -> Any:
        reads.append(arguments)
        return await whole(*arguments)

    monkeypatch.setattr(store, "read", counted)
    async with asyncio.TaskGroup() as tasks:
        begun = asyncio.Barrier(51)

        async def read() -> None:
            async with reading(game.api, f"{game.path}/events", token) as reader:
                await reader.event()
                await begun.wait()
                follows([m.json for m in await reader.until(acted["version"])], start)

        for _ in range(50):
            tasks.create_task(read())
        start = (await game.view())["version"]
        acted: Json = {"version": start + 1}
        await begun.wait()
        acted |= {"version": (await game.step(Random(1)))["version"]}
    assert len(reads) == 1


async def test_another_process_is_heard_at_once(database_url: str) -> None:
    async with running(database_url, **NEVER) as one, running(database_url, **NEVER) as two:
        await heard(one, two)


async def heard(one: httpx.AsyncClient, two: httpx.AsyncClient) -> None:
    """Fail unless a stream and a long poll at one process see what is done at another."""
    for api in (one, two):
        async with asyncio.timeout(30):
            while not parts(api).notices.connected:
                await asyncio.sleep(0.01)
    game = await new_game(one)
    there = Game(two, game.created)
    async with reading(two, f"{game.path}/events", game.token(0)) as reader:
        start = int((await reader.event()).id or 0)
        polling = asyncio.create_task(there.get(1, f"?wait=30&after={start}"))
        version = await play_some(game)
        follows([m.json for m in await reader.until(version)], start)
        assert (await polling).json()["version"] > start


async def test_what_no_channel_tells_is_found_in_the_log(database_url: str) -> None:
    alone = {"channel": "memory", "look_seconds": 0.05}
    async with running(database_url, **alone) as one, running(database_url, **alone) as two:
        game = await new_game(one)
        async with reading(two, f"{game.path}/events", game.token(0)) as reader:
            start = int((await reader.event()).id or 0)
            version = await play_some(game)
            follows([m.json for m in await reader.until(version)], start)


async def test_games_of_others_are_not_mixed_up(api: httpx.AsyncClient) -> None:
    games = [await new_game(api) for _ in range(5)]
    async with asyncio.TaskGroup() as tasks:
        begun = asyncio.Barrier(6)

        async def read(game: Game) -> None:
            async with reading(api, f"{game.path}/events", game.token(0)) as reader:
                await reader.event()
                await begun.wait()
                for _ in range(5):
                    assert (await reader.event()).json["game"] == game.id

        for game in games:
            tasks.create_task(read(game))
        await begun.wait()
        for number, game in enumerate(games):
            await play_some(game, 5, seed=number)
