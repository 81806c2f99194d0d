"""What the database tells: whether it can be used, how it keeps things, how far everything is."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any, Final

import psycopg
from psycopg import AsyncConnection
from psycopg.conninfo import conninfo_to_dict

from api.complaints import told
from api.doctor.findings import Finding, fail, ok, warn
from api.kept_keys import named, strangers
from eventstore.migrate import MigrationError, later, pending
from eventstore.postgres import EventStore
from eventstore.records import StoreUnavailable
from projections.registry import PROJECTIONS
from projections.standing import Feed, Standing, standing
from projections.writing import kind_of

_CONNECT_SECONDS: Final = 10
_OLDEST: Final = 150000
_SKEW_SECONDS: Final = 1.0
_HEARD_SECONDS: Final = 2.0
_OF_A_WORKER: Final = 6
"""Connections beside the pool: projections take three, one listens, one is for webhooks and one for
group commit."""
_BEHIND_EVENTS: Final = 10_000
_CHANNEL: Final = "fairdeal_doctor"

Connection = AsyncConnection[Any]


class Target:
    """Which database, and what is going to use it."""

    def __init__(
        self,
        url: str,
        *,
        embedded: bool,
        prepare: bool,
        listen_url: str,
        connections: int,
        workers: int,
        lag_seconds: float,
        kids: frozenset[str] | None = None,
    ) -> None:
        """`listen_url` empty: nobody listens there. `connections` and `workers` as `serve` has
        them. `kids`: the signing keys, None where they cannot be read."""
        self.url: Final = url
        self.embedded: Final = embedded
        self.prepare: Final = prepare
        self.listen_url: Final = listen_url
        self.needed: Final = workers * (connections + _OF_A_WORKER)
        self.lag_seconds: Final = lag_seconds
        self.kids: Final = kids


async def findings(target: Target) -> AsyncIterator[Finding]:
    """All checks of this kind; the first only, where there is no connection."""
    try:
        conn = await _connect(target.url, prepare=target.prepare)
    except (psycopg.Error, ValueError) as error:
        yield fail(
            "connection",
            f"the database cannot be reached: {_reason(error)}",
            "Start it, or correct FAIRDEAL_DATABASE_URL (behind a pooler also set "
            "FAIRDEAL_DATABASE_PREPARE=false). What depends on it was not checked.",
        )
        return
    async with conn:
        yield _version(conn)
        migrated = await _migrations(conn)
        yield migrated
        yield await _clock(conn)
        yield await _durability(conn)
        yield await _connections(conn, target)
        yield await _size(conn)
        if target.listen_url:
            yield await _listening(conn, target)
        if migrated.state == "ok":
            yield await _role(conn, target)
            if target.kids is not None:
                yield await _receipts(conn, target.kids)
            async for finding in _lag(target):
                yield finding


async def _connect(url: str, *, prepare: bool) -> Connection:
    # As the store connects: a pooler that takes no start-up options refuses these.
    given = conninfo_to_dict(url).get("options") or ""
    limited = {"options": f"-c statement_timeout=10000 {given}".strip()}
    options: dict[str, Any] = limited if prepare else {}
    return await AsyncConnection.connect(
        url,
        autocommit=True,
        prepare_threshold=None,
        connect_timeout=_CONNECT_SECONDS,
        application_name="fairdeal-doctor",
        **options,
    )


def _reason(error: Exception) -> str:
    return " ".join(told(error).split()) or kind_of(error)


async def _one(conn: Connection, statement: str) -> Any:
    cursor = await conn.execute(statement.encode())
    return await cursor.fetchone()


def _version(conn: Connection) -> Finding:
    number = conn.info.server_version
    found = f"PostgreSQL {number // 10000}.{number % 10000}, as {conn.info.user}"
    if number < _OLDEST:
        return fail("connection", found, "Use PostgreSQL 15 or later.")
    return ok("connection", found)


async def _migrations(conn: Connection) -> Finding:
    try:
        missing = await pending(conn)
    except MigrationError as error:
        return fail("migrations", str(error), "Run the version that belongs to this database.")
    except psycopg.Error as error:
        return fail("migrations", kind_of(error), "Run `fairdeal migrate --app-role ROLE`.")
    if missing:
        return fail("migrations", f"pending: {', '.join(missing)}", "Run `fairdeal migrate`.")
    ahead = await later(conn)
    if ahead:
        return warn(
            "migrations",
            f"this version does not know {', '.join(ahead)}",
            "Go on to the version that applied them.",
        )
    return ok("migrations", "up to date")


async def _role(conn: Connection, target: Target) -> Finding:
    superuser, owner, writes, calls = await _one(
        conn,
        """SELECT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user),
                  pg_has_role(c.relowner, 'USAGE'),
                  has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE'),
                  (SELECT bool_and(has_function_privilege(p.oid, 'EXECUTE')) FROM pg_proc p
                   WHERE p.pronamespace = c.relnamespace AND p.proname IN ('append', 'wake'))
           FROM pg_class c WHERE c.oid = 'fairdeal.events'::regclass""",
    )
    if not calls:
        return fail(
            "role",
            f"{conn.info.user} may not append to the log",
            f"Run `fairdeal migrate --app-role {conn.info.user}` as the owner.",
        )
    if target.embedded:
        return ok("role", "the embedded Postgres' own")
    if superuser or owner or writes:
        what = "is a superuser" if superuser else "owns the log" if owner else "can write the log"
        return warn(
            "role",
            f"{conn.info.user} {what}: it could change history",
            "Let the service run under a role of its own: `fairdeal migrate --app-role`.",
        )
    return ok("role", f"{conn.info.user} can append to the log and change nothing of it")


async def _receipts(conn: Connection, kids: frozenset[str]) -> Finding:
    try:
        found = await strangers(conn, kids)
    except psycopg.Error as error:
        return warn("receipts", f"they cannot be read: {kind_of(error)}", "Run `fairdeal migrate`.")
    if found:
        return warn(
            "receipts",
            f"some were signed with keys that are not among the signing keys: {named(found)}",
            "Put the keys back from a backup, before the present one: without them nobody can "
            "check these receipts.",
        )
    return ok("receipts", "those that were looked at are signed with keys that are here")


async def _clock(conn: Connection) -> Finding:
    before = time.time()
    (there,) = await _one(conn, "SELECT extract(epoch FROM clock_timestamp())::float8")
    after = time.time()
    # The database looked at its clock at some moment between.
    return skewed(max(0.0, there - after, before - there))


def skewed(skew: float) -> Finding:
    """Whether clocks that are so many seconds apart are near enough."""
    found = f"{skew:.3f} s between this machine and the database"
    if skew > _SKEW_SECONDS:
        return warn(
            "clock", found, "Have both keep time (NTP): turn clocks and tokens go by the time."
        )
    return ok("clock", found)


async def _durability(conn: Connection) -> Finding:
    names = ("fsync", "full_page_writes", "synchronous_commit")
    values = {name: (await _one(conn, f"SHOW {name}"))[0] for name in names}
    off = [name for name, value in values.items() if value == "off"]
    if off:
        return fail(
            "durability",
            f"{' and '.join(off)} off: acknowledged actions can be lost",
            "Turn it on in postgresql.conf, or for the role or database that has it off.",
        )
    return ok("durability", ", ".join(f"{name} {value}" for name, value in values.items()))


async def _connections(conn: Connection, target: Target) -> Finding:
    most, others = await _one(
        conn,
        """SELECT current_setting('max_connections')::int
                  - current_setting('superuser_reserved_connections')::int,
                  (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'
                   AND application_name NOT LIKE 'fairdeal%')""",
    )
    found = f"the workers take up to {target.needed}, others {others}, of {most}"
    if target.needed + others > most:
        return warn(
            "connections",
            found,
            "Raise max_connections, lower FAIRDEAL_DATABASE_CONNECTIONS or --workers, or put "
            "pgbouncer between.",
        )
    return ok("connections", found)


async def _size(conn: Connection) -> Finding:
    (size,) = await _one(conn, "SELECT pg_database_size(current_database())")
    return ok("database size", f"{size / 1e6:.1f} MB")


async def _listening(conn: Connection, target: Target) -> Finding:
    """Whether what one process tells is heard by another."""
    try:
        ear = await _connect(target.listen_url, prepare=False)
        async with ear:
            await ear.execute(f"LISTEN {_CHANNEL}".encode())
            # A pooler in transaction mode gives the session away here.
            await asyncio.sleep(0.05)
            await conn.execute(f"SELECT pg_notify('{_CHANNEL}', '')".encode())
            async for _ in ear.notifies(timeout=_HEARD_SECONDS, stop_after=1):
                return ok("channel", "what one process tells, others hear")
    except psycopg.Error as error:
        return fail(
            "channel",
            f"nobody can listen: {_reason(error)}",
            "Point FAIRDEAL_LISTEN_URL at Postgres itself.",
        )
    return warn(
        "channel",
        "what one process tells is not heard: there is a pooler in between",
        "Point FAIRDEAL_LISTEN_URL at Postgres itself; until then streams are seconds late.",
    )


async def _lag(target: Target) -> AsyncIterator[Finding]:
    try:
        async with EventStore.open(target.url, prepare=target.prepare) as store:
            found = await standing(store)
    except (StoreUnavailable, psycopg.Error) as error:
        yield fail("feed", f"it cannot be read: {kind_of(error)}", "Run `fairdeal migrate`.")
        return
    for finding in judged(found, target.lag_seconds):
        yield finding


def judged(found: Feed, lag_seconds: float) -> Iterator[Finding]:
    """How the feed and each projection do, where being behind for `lag_seconds` is too long."""
    if found.unstamped > _BEHIND_EVENTS:
        yield warn(
            "feed",
            f"{found.unstamped} committed events have no number",
            "Run `fairdeal serve` or `fairdeal project`; look into their logs.",
        )
    else:
        yield ok("feed", f"{found.unstamped} committed events have no number yet")
    live = found.live()
    for name in PROJECTIONS:
        yield _projection(name, live.get(name), lag_seconds)


def _projection(name: str, build: Standing | None, lag_seconds: float) -> Finding:
    check = f"projection {name}"
    if build is None:
        return warn(check, "not built yet", "`fairdeal serve` and `fairdeal project` build it.")
    if build.parked:
        return warn(
            check,
            f"{len(build.parked)} streams are parked",
            f"See `fairdeal projections`, mend the cause, then `fairdeal rebuild {name}`.",
        )
    if build.lag_events and build.lag_seconds > lag_seconds:
        return warn(
            check,
            f"{build.lag_events} events behind for {build.lag_seconds:.0f} s, "
            f"last run {build.heartbeat_seconds:.0f} s ago",
            "Run `fairdeal serve` or `fairdeal project`; look into their logs.",
        )
    return ok(check, f"{build.lag_events} events behind")
