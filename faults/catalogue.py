"""Every fault that there is a run for: its name, what is broken, and what has to hold."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from faults import on_network, on_postgres, on_processes, on_storage, on_time
from faults.run import Run
from faults.violations import Property


@dataclass(frozen=True)
class Fault:
    """A fault. Every property of `violations.PROPERTIES` has to hold after each of them."""

    name: str
    bring_about: Callable[[Run], Awaitable[None]]
    oracle: str
    """What to look at in particular, beside what always has to hold."""
    actions: int = 1000
    """About how many acknowledged commands a run has."""
    found: Property | None = None
    """What the checker must find: this run is the proof that it can."""

    @property
    def what(self) -> str:
        """What is done, in one paragraph."""
        return " ".join((self.bring_about.__doc__ or "").split())


_ALL: Final = (
    Fault(
        "worker-killed",
        on_processes.workers_killed,
        "the server starts another worker; what it had under way is done once or not at all; "
        "projections are what a fold of the log gives",
    ),
    Fault(
        "api-killed",
        on_processes.api_killed,
        "its Postgres goes on for the others; nothing acknowledged depends on a process",
        actions=10_000,
    ),
    Fault(
        "restarts",
        on_processes.restarts,
        "players notice nothing but 503 and repeated requests",
    ),
    Fault(
        "worker-stopped",
        on_processes.worker_stopped,
        "the others serve meanwhile; what the worker does late is done once or refused",
    ),
    Fault(
        "postgres-killed",
        on_postgres.postgres_killed,
        "recovery brings back every acknowledged command; whoever serves starts it again",
        actions=10_000,
    ),
    Fault(
        "sessions-ended",
        on_postgres.sessions_ended,
        "an append whose session ended is sent again and done once",
    ),
    Fault(
        "session-stopped",
        on_postgres.session_stopped,
        "whoever waits for it is answered with 503; games go on when the session does",
    ),
    Fault("deadlock", on_postgres.deadlocks, "40P01 came about, and no caller was told"),
    Fault("not-serialisable", on_postgres.not_serialisable, "40001 came about, and none was told"),
    Fault("time-outs", on_postgres.time_outs, "55P03 and 57014 came about; 503 where they last"),
    Fault("errors-raised", on_postgres.errors_raised, "every one of the errors came about"),
    Fault("pool-exhausted", on_postgres.pool_exhausted, "53300 came about; 503, never a 500"),
    Fault(
        "late-commits",
        on_postgres.late_commits,
        "commits came late and numbers were lost; the feed holds every event once and in order",
    ),
    Fault(
        "answers-lost",
        on_network.answers_lost,
        "the same key at another process gives the answer that was lost",
    ),
    Fault("commits-lost", on_network.commits_lost, "an append whose outcome got lost is done once"),
    Fault("callers-gone", on_network.callers_gone, "a request given up is done once or not at all"),
    Fault("pooler", on_network.pooler, "nothing depends on a session"),
    Fault("disk-full", on_storage.disk_full, "503 while it is full; nothing acknowledged is lost"),
    Fault(
        "clock-back",
        on_time.clock_back,
        "time in the logs never runs back, deadlines hold, tokens stay good",
    ),
    Fault("two-clocks", on_time.two_clocks, "each deadline counts once, and none is forgotten"),
    Fault(
        "dump-restored",
        on_storage.dump_restored,
        "both stores are judged: the one dumped, and the restored one with what was known when "
        "the dump began",
    ),
    Fault(
        "storm",
        on_processes.storm,
        "one fault in the middle of what another has left is no different",
        actions=3000,
    ),
    Fault(
        "not-durable",
        on_postgres.not_durable,
        "the checker must find acknowledged commands that are not in the log",
        found="acknowledged",
    ),
)

FAULTS: Final[Mapping[str, Fault]] = MappingProxyType({fault.name: fault for fault in _ALL})
