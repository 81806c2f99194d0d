"""Faults between callers, processes and Postgres: lost answers, callers who hang up, a pooler."""

from contextlib import AsyncExitStack

from faults.callers import Door
from faults.network import proxy
from faults.pooler import Pooler
from faults.run import Run

LOST = 0.05
"""How likely an answer is lost."""
IMPATIENCE = 0.25
"""How likely a caller hangs up."""


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
    """Callers hang up in the middle of every fourth request, at any moment of it, and ask again
    with the same key, perhaps while the first is still under way."""
    async with run.serving({}, {}) as processes:
        async with run.playing(processes, impatience=IMPATIENCE):
            await run.acted(0.9)
        run.note("callers who hung up", run.history.counts()["unanswered"])
        await run.live_again(processes, "callers hung up")
    run.note("answered again", run.history.counts()["replayed"])
    run.must(run.figures["callers who hung up"], "nobody hung up")
    run.must(run.figures["answered again"], "nothing was answered again")


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
