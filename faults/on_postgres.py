"""Faults of Postgres: killed, sessions ended or stopped, errors raised, no connection left."""

import asyncio
import os
import signal
from contextlib import ExitStack, suppress
from time import monotonic

import psycopg

from faults.postgres import stopped
from faults.run import Run, Skipped, Stuck

KILLS = 5
HOLD_SECONDS = 0.4
"""Longer than the time-outs of `time_outs`, shorter than a caller waits."""
_BUSY_SECONDS = 60.0
_LOCK = "SELECT pg_advisory_xact_lock(uuid_hash_extended(%s::uuid, 0))"
"""The lock that an append to a stream takes first."""


async def postgres_killed(run: Run) -> None:
    """kill -9 of the postmaster and all its children at once, in the middle of it all."""
    async with run.serving({}, {}) as processes, run.playing(processes, tables=8):
        kills = min(KILLS, max(1, run.actions // 100))
        for _ in range(kills):
            await run.acted(1 / (kills + 1))
            run.note("processes of Postgres killed", run.server.kill())
            await run.live_again(processes, "Postgres was killed")
        await run.acted(1 / (kills + 1))
    run.must(run.figures["processes of Postgres killed"] > kills, "Postgres was not killed")


async def not_durable(run: Run) -> None:
    """The proof that the checker can fail: durability off, then the same kill. The checker has to
    find acknowledged commands that are not in the log."""
    async with run.serving({}, {}) as processes:
        # What is committed stays in memory: written neither at commit nor by the WAL writer.
        run.server.set(synchronous_commit="off")
        [(writer,)] = run.server.execute(
            "SELECT pid FROM pg_stat_activity WHERE backend_type = 'walwriter'"
        )
        async with run.playing(processes):
            with stopped(writer):
                await run.acted(0.5)
                run.note("processes of Postgres killed", run.server.kill())
            await run.live_again(processes, "Postgres was killed")
            await run.acted(0.1)


async def sessions_ended(run: Run) -> None:
    """pg_terminate_backend of every session of the service, in random order, without a pause; then
    kill -9 of one, after which Postgres restarts itself."""
    run_over = asyncio.Event()

    async def terminate() -> None:
        while not run_over.is_set():
            with suppress(psycopg.OperationalError):
                for pid in run.server.backends():
                    if run.chance.random() < 0.3:
                        run.server.execute("SELECT pg_terminate_backend(%s)", pid)
                        run.note("sessions ended", 1)
            await asyncio.sleep(0.05)

    async with run.serving({}, {}) as processes, run.playing(processes):
        await run.acted(0.1)
        ending = asyncio.create_task(terminate())
        await run.acted(0.6)
        run_over.set()
        await ending
        await run.live_again(processes, "sessions were ended")
        os.kill(run.chance.choice(run.server.backends()), signal.SIGKILL)
        run.note("sessions killed", 1)
        await run.live_again(processes, "a session was killed")
        await run.acted(0.3)
    run.must(run.figures.get("sessions ended"), "no session was ended")


async def session_stopped(run: Run) -> None:
    """SIGSTOP of a session in the middle of its work, with the locks that it holds."""
    async with run.serving({}, {}) as processes, run.playing(processes):
        for _ in range(2):
            await run.acted(0.3)
            pid = await _busy(run)
            with stopped(pid):
                await asyncio.sleep(7)
            run.note("sessions stopped", 1)
            await run.live_again(processes, "a session stood still")
        await run.acted(0.3)
    run.must(run.history.counts()["unavailable"], "no request was answered with 503")


async def _busy(run: Run) -> int:
    """A session that is appending at this moment."""
    end = monotonic() + _BUSY_SECONDS
    while monotonic() < end:
        rows = run.server.execute(
            "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend'"
            " AND application_name <> 'faults' AND state = 'active' AND query LIKE '%append%'"
        )
        pids: list[int] = [pid for (pid,) in rows]
        if pids:
            return run.chance.choice(pids)
        await asyncio.sleep(0.002)
    raise Stuck(f"nothing was appended for {_BUSY_SECONDS:g} seconds")


async def deadlocks(run: Run) -> None:
    """Real deadlocks (40P01): a foreign transaction holds a stream's row, an append waits for it
    with the stream's lock, for which the foreign one then asks."""
    async with run.serving({}, {}) as processes:
        run.server.log_states()
        # Found sooner than a group of appends gives up waiting for a lock.
        run.server.set(deadlock_timeout="20ms")
        async with run.playing(processes):
            before = run.server.errors()["40P01"]
            for number in range(12):
                await run.acted(0.07)
                await asyncio.to_thread(_deadlock, run, number)
            await run.live_again(processes, "deadlocks")
            found = run.server.errors()["40P01"] - before
    run.note("40P01", found)
    run.must(found, "no deadlock came about")


def _deadlock(run: Run, number: int) -> None:
    with run.server.connect(autocommit=False) as conn:
        # The append is to be the one that is given up.
        conn.execute("SET LOCAL deadlock_timeout = '20s'")
        conn.execute("SET LOCAL lock_timeout = '3s'")
        row = conn.execute(
            "SELECT stream::text FROM fairdeal.streams WHERE wake_at IS NULL"
            " ORDER BY stream DESC OFFSET %s LIMIT 1 FOR UPDATE",
            [number % 4],
        ).fetchone()
        if row is None:
            return
        _wait_for_waiter(run)
        with suppress(psycopg.errors.LockNotAvailable):
            conn.execute(_LOCK, [row[0]])
        conn.rollback()


def _wait_for_waiter(run: Run) -> None:
    end = monotonic() + 2
    while monotonic() < end:
        [(waiting,)] = run.server.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
            " AND application_name <> 'faults'"
        )
        if waiting:
            return


async def not_serialisable(run: Run) -> None:
    """Serialisation failures (40001): somebody makes REPEATABLE READ the default of the server, and
    the processes may set nothing on their connections, as behind a pooler. Each append that waited
    for another on its game fails once then. The feed refuses to work so, and catches up when the
    default is put back."""
    without = {"FAIRDEAL_DATABASE_PREPARE": "false"}
    async with run.serving(without, without) as processes:
        run.server.log_states()
        async with run.playing(processes, tables=4):
            await run.acted(0.2)
            run.server.set(default_transaction_isolation="repeatable read")
            # Appends take their time, so that the next one has its snapshot before they commit.
            with run.server.saboteur("PERFORM pg_sleep(0.02);"):
                await run.acted(0.6)
            found = run.server.errors()["40001"]
            run.server.set(default_transaction_isolation="read committed")
            await run.live_again(processes, "transactions are READ COMMITTED again")
            await run.acted(0.2)
    run.note("40001", found)
    run.must(found, "no transaction failed to serialise")


async def time_outs(run: Run) -> None:
    """Lock time-outs (55P03) at one process and statement time-outs (57014) at the other: a foreign
    transaction holds the locks of games, mostly for a moment, once for longer than a request may
    take, which is answered with 503."""
    with run.database() as url:
        await run.migrated(url)
        run.server.log_states()
        short = [
            f"{url}&options=-c%20{name}%3D100" for name in ("lock_timeout", "statement_timeout")
        ]
        environments = [
            {"FAIRDEAL_DATABASE_URL": each, "FAIRDEAL_DATABASE_DEADLINE_SECONDS": "2"}
            for each in short
        ]
        async with run.serving(*environments) as processes, run.playing(processes):
            for number in range(10):
                await run.acted(0.08)
                await asyncio.to_thread(_hold, run, number, 3.0 if number == 5 else HOLD_SECONDS)
            await run.live_again(processes, "locks were held")
            found = run.server.errors()
    for state in ("55P03", "57014"):
        run.note(state, found[state])
        run.must(found[state], f"no {state} came about")
    run.must(run.history.counts()["unavailable"], "no request was answered with 503")


def _hold(run: Run, number: int, seconds: float) -> None:
    with run.server.connect(autocommit=False) as conn:
        games = conn.execute(
            "SELECT stream::text FROM fairdeal.streams ORDER BY stream DESC LIMIT 20"
        ).fetchall()
        for (game,) in games:
            conn.execute("SET LOCAL lock_timeout = '1s'")
            with suppress(psycopg.errors.LockNotAvailable), conn.transaction():
                conn.execute(_LOCK, [game])
        conn.execute("SELECT pg_sleep(%s)", [seconds])
        conn.rollback()


async def errors_raised(run: Run) -> None:
    """Every tenth append fails in its transaction, in turn with each of the errors that pass:
    40P01, 40001, 55P03, 57014, 53100 (disk full), 53300 and 57P01."""
    states = ("40P01", "40001", "55P03", "57014", "53100", "53300", "57P01")
    listed = ", ".join([f"'{state}'" for state in states])
    body = (
        "IF nextval('faults.turn') % 10 = 0 THEN RAISE EXCEPTION 'on purpose' USING ERRCODE ="
        f" (ARRAY[{listed}])[1 + currval('faults.turn') / 10 % {len(states)}]; END IF;"
    )
    async with run.serving({}, {}) as processes:
        run.server.log_states()
        with run.server.saboteur(body):
            async with run.playing(processes):
                await run.acted(0.9)
        found = run.server.errors()
    for state in states:
        run.note(state, found[state])
        run.must(found[state], f"no {state} came about")


async def late_commits(run: Run) -> None:
    """Commits in another order than their numbers in the feed were drawn, and numbers that nobody
    will ever use: three appends in ten sleep a while after drawing, one in ten rolls back then."""
    body = (
        "IF random() < 0.3 THEN PERFORM pg_sleep(random() * 0.5); END IF;"
        " IF random() < 0.1 THEN RAISE EXCEPTION 'on purpose' USING ERRCODE = '40001'; END IF;"
    )
    async with run.serving({}, {}) as processes:
        run.server.log_states()
        with run.server.saboteur(body):
            # More games than lanes: two of them have to share one.
            async with run.playing(processes, tables=24):
                await run.acted(0.9)
        rolled_back = run.server.errors()["40001"]
        [(late,)] = run.server.execute(
            "SELECT count(*) FROM (SELECT alloc, lag(alloc) OVER (PARTITION BY lane ORDER BY seq)"
            " AS before FROM fairdeal.feed) f WHERE alloc < before"
        )
    run.note("numbered later than a higher number", late)
    run.note("rolled back after drawing", rolled_back)
    run.must(late, "no commit came late")
    run.must(rolled_back, "no append was rolled back")


async def pool_exhausted(run: Run) -> None:
    """Two connections for each process and twice as many callers as usual; then a server that has
    none left to give (53300) after all sessions were ended."""
    few = {"FAIRDEAL_DATABASE_CONNECTIONS": "2", "FAIRDEAL_DATABASE_DEADLINE_SECONDS": "2"}
    async with run.serving(few, few) as processes:
        run.server.log_states()
        async with run.playing(processes, tables=12):
            await run.acted(0.5)
            with ExitStack() as held:
                _take_all(run, held)
                await asyncio.sleep(4)
            await run.live_again(processes, "there were no connections left")
            await run.acted(0.4)
        found = run.server.errors()["53300"]
    run.note("53300", found)
    run.must(found, "connections did not run out")


def _take_all(run: Run, held: ExitStack) -> None:
    """Take every connection that the server has, those of the service's sessions among them."""
    admin = held.enter_context(run.server.connect())
    for _ in range(1000):
        try:
            held.enter_context(run.server.connect())
        except psycopg.OperationalError:
            ended = admin.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE backend_type = 'client backend' AND application_name <> 'faults'"
            ).fetchall()
            if not ended:
                return
    raise Skipped("the server has more connections to give than could be taken")
