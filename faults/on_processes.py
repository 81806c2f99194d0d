"""Faults of the API's processes: killed, restarted, standing still."""

import asyncio
import signal
from contextlib import AsyncExitStack

from faults.callers import Door
from faults.network import proxy
from faults.postgres import stopped
from faults.processes import Process
from faults.run import Run

ROUNDS = 3
STORM_LOST = 0.02
"""How likely an answer, or a request, is lost in a storm."""


async def workers_killed(run: Run) -> None:
    """kill -9 of one of two workers, again and again, and of the projector; the server starts
    others."""
    async with run.serving({}, {}, workers=2) as processes, run.playing(processes):
        for _ in range(ROUNDS):
            await run.acted(1 / (ROUNDS + 1))
            process = run.chance.choice(processes)
            run.note("workers killed", len(process.kill_workers()))
            run.note("projectors killed", len(process.kill_projector()))
            await run.live_again(processes, "a worker was killed")
        await run.acted(1 / (ROUNDS + 1))
    run.must(run.figures["workers killed"] == ROUNDS, "not every worker was killed")
    run.must(run.figures["projectors killed"] == ROUNDS, "not every projector was killed")


async def api_killed(run: Run) -> None:
    """kill -9 of a whole server, which somebody starts again; its workers end by themselves."""
    async with run.serving({}, {}) as processes, run.playing(processes):
        for _ in range(ROUNDS):
            await run.acted(1 / (ROUNDS + 1))
            victim = run.chance.choice(processes)
            run.must(victim.kill(), "a server was not killed")
            run.note("servers killed", 1)
            await asyncio.sleep(run.chance.uniform(0, 0.3))
            victim.start()
            await run.live_again(processes, f"server {victim.name} was killed and started")
        await run.acted(1 / (ROUNDS + 1))


async def restarts(run: Run) -> None:
    """SIGTERM of one server after the other while the others serve, and of Postgres under all."""
    async with run.serving({}, {}) as processes, run.playing(processes):
        for process in processes:
            await run.acted(0.2)
            await process.stop()
            process.start()
            await process.ready()
            run.note("servers restarted", 1)
        for name, number in (("fast", signal.SIGINT), ("immediate", signal.SIGQUIT)):
            await run.acted(0.2)
            # Whoever serves starts it again.
            ended = await asyncio.to_thread(run.server.stop, number)
            run.must(ended, f"Postgres did not stop ({name})")
            run.note("Postgres restarted", 1)
            await run.live_again(processes, f"Postgres was stopped ({name})")
        await run.acted(0.2)


async def storm(run: Run) -> None:
    """All at once, in random order: answers lost on the way, sessions ended, servers,
    workers and projectors killed, workers standing still, Postgres killed and stopped, with little
    time between."""
    kinds = [
        *(_kill_postgres, _stop_postgres, _end_sessions),
        *(_kill_server, _kill_worker, _kill_projector, _freeze),
    ]
    async with run.serving({}, {}) as processes, AsyncExitStack() as stack:
        doors: list[Door] = []
        for process in processes:
            lossy = proxy(process.port, run.chance, answers=STORM_LOST, requests=STORM_LOST)
            port = (await stack.enter_async_context(lossy)).port
            doors.append((process.name, f"http://127.0.0.1:{port}"))
        async with run.playing(doors, seconds=3.0):
            rounds = max(1, run.actions // 500)
            steps = [kind for _ in range(rounds) for kind in run.chance.sample(kinds, len(kinds))]
            for step in steps:
                await run.acted(1 / (len(steps) + 1))
                await step(run, processes)
                run.note("blows", 1)
                await run.live_again(processes, f"{step.__name__.strip('_').replace('_', ' ')}")
            await run.acted(1 / (len(steps) + 1))


async def _kill_postgres(run: Run, processes: list[Process]) -> None:
    run.server.kill()


async def _stop_postgres(run: Run, processes: list[Process]) -> None:
    await asyncio.to_thread(run.server.stop, signal.SIGINT)


async def _kill_server(run: Run, processes: list[Process]) -> None:
    victim = run.chance.choice(processes)
    victim.kill()
    victim.start()


async def _kill_worker(run: Run, processes: list[Process]) -> None:
    run.chance.choice(processes).kill_workers()


async def _kill_projector(run: Run, processes: list[Process]) -> None:
    run.chance.choice(processes).kill_projector()


async def _end_sessions(run: Run, processes: list[Process]) -> None:
    for pid in run.server.backends():
        run.server.execute("SELECT pg_terminate_backend(%s)", pid)


async def _freeze(run: Run, processes: list[Process]) -> None:
    [pid, *_] = run.chance.choice(processes).worker_pids()
    with stopped(pid):
        await asyncio.sleep(2)


async def worker_stopped(run: Run) -> None:
    """SIGSTOP of a worker for longer than its callers wait; they go elsewhere meanwhile."""
    async with run.serving({}, {}) as processes, run.playing(processes, seconds=1.5):
        for process in processes:
            await run.acted(0.3)
            [pid] = process.worker_pids()
            others = [each for each in processes if each is not process]
            with stopped(pid):
                await asyncio.sleep(2)
                await run.live_again(others, f"a worker of {process.name} stands still")
                await run.acted(0.05)
            run.note("workers stopped", 1)
            await run.live_again(processes, f"the worker of {process.name} goes on")
        await run.acted(0.2)
    unanswered = run.history.counts()["unanswered"]
    run.must(unanswered, "no request was left without an answer")
