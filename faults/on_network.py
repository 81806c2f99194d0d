"""Faults between callers, processes and Postgres: lost answers, callers who hang up, a pooler."""

import asyncio
from contextlib import AsyncExitStack
from time import monotonic

import httpx

from faults.callers import Caller, Door
from faults.history import Attempt
from faults.network import proxy
from faults.pooler import Pooler
from faults.processes import HOST_KEY, Process
from faults.run import Run

LOST = 0.05
"""How likely an answer is lost."""


async def answers_lost(run: Run) -> None:
    """A proxy before each process cuts connections after the request was forwarded and before the
    answer; the caller asks another process again, with the same key."""
    async with run.serving({}, {}) as processes, AsyncExitStack() as stack:
        proxies = [
            await stack.enter_async_context(
                proxy(process.port, run.chance, answers=LOST, requests=LOST / 5)
            )
            for process in processes
        ]
        doors: list[Door] = [
            (process.name, f"http://127.0.0.1:{each.port}")
            for process, each in zip(processes, proxies, strict=True)
        ]
        async with run.playing(doors):
            await run.acted(0.9)
        run.note("answers lost", sum([each.lost_answers for each in proxies]))
        run.note("requests lost", sum([each.lost_requests for each in proxies]))
    run.note("answered again", run.history.counts()["replayed"])
    run.must(run.figures["answers lost"], "no answer was lost")
    run.must(run.figures["answered again"], "nothing was answered again")


async def commits_lost(run: Run) -> None:
    """The same between the processes and Postgres: the word of a COMMIT gets lost."""
    with run.database() as url:
        await run.migrated(url)
        socket = str(run.server.data.parent / "postgres.sockets" / ".s.PGSQL.5432")
        async with proxy(socket, run.chance, answers=LOST / 3, requests=LOST / 10) as line:
            there = f"postgresql://postgres@127.0.0.1:{line.port}/postgres?sslmode=disable"
            environment = {"FAIRDEAL_DATABASE_URL": there}
            line.losing = False
            async with (
                run.serving(environment, environment) as processes,
                run.playing(processes),
            ):
                await run.acted(0.1)
                line.losing = True
                await run.acted(0.7)
                line.losing = False
                await run.live_again(processes, "the line to Postgres lost no more")
                await run.acted(0.1)
            run.note("answers of Postgres lost", line.lost_answers)
            run.note("requests to Postgres lost", line.lost_requests)
    run.must(run.figures["answers of Postgres lost"], "no answer was lost")


async def callers_gone(run: Run) -> None:
    """Callers hang up in the middle of their requests, at any moment of them, and ask again later:
    beside the players, who go on."""
    async with run.serving({}, {}) as processes, run.playing(processes) as caller:
        await run.acted(0.1)
        over = asyncio.Event()
        impatient = asyncio.create_task(_hang_up(run, caller, processes, over))
        await run.acted(0.8)
        over.set()
        await impatient
        await run.live_again(processes, "callers hung up")
    run.must(run.figures.get("callers who hung up"), "nobody hung up")


async def _hang_up(run: Run, caller: Caller, processes: list[Process], over: asyncio.Event) -> None:
    """Set up games and hang up after a random part of the time that it takes; then ask again, twice
    at once. Each answer must be about one and the same game."""
    kind = 0
    while not over.is_set():
        kind += 1
        door = run.chance.choice(caller.doors)
        address = next(p.address for p in processes if p.name == door)
        asks = {"game": "loc", "players": [{"name": "A"}, {"name": "B"}, {"bot": "random"}]}
        command = caller.history.command(caller.key(), None, None, asks)
        attempt = Attempt(door, monotonic())
        command.attempts.append(attempt)
        headers = {"Authorization": f"Bearer {HOST_KEY}", "Idempotency-Key": command.key}
        async with httpx.AsyncClient(base_url=address) as http:
            asking = asyncio.create_task(http.post("/v1/games", json=asks, headers=headers))
            await asyncio.sleep(run.chance.uniform(0, 0.03))
            asking.cancel()
            done = await asyncio.gather(asking, return_exceptions=True)
        attempt.ended = monotonic()
        if isinstance(done[0], httpx.Response):
            attempt.status = done[0].status_code
            attempt.retry_after = done[0].headers.get("Retry-After")
            attempt.body = type(attempt.body)(done[0].content)
        else:
            run.note("callers who hung up", 1)
        await asyncio.gather(*[caller.ask(command, HOST_KEY, each) for each in caller.doors])


async def pooler(run: Run) -> None:
    """pgbouncer in transaction mode between; its sessions are ended, it is killed and started."""
    with run.database() as url:
        await run.migrated(url)
        between = Pooler(run.folder, url)
        between.start()
        environment = {
            "FAIRDEAL_DATABASE_URL": between.url,
            "FAIRDEAL_DATABASE_PREPARE": "false",
            "FAIRDEAL_LISTEN_URL": url,
        }
        try:
            async with (
                run.serving(environment, environment) as processes,
                run.playing(processes),
            ):
                await run.acted(0.3)
                for pid in run.server.backends():
                    run.server.execute("SELECT pg_terminate_backend(%s)", pid)
                    run.note("sessions ended", 1)
                await run.live_again(processes, "the pooler's sessions were ended")
                await run.acted(0.3)
                between.kill()
                between.start()
                await run.live_again(processes, "the pooler was killed and started")
                await run.acted(0.3)
        finally:
            between.kill()
    run.must(run.figures.get("sessions ended"), "no session was ended")
