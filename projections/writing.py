"""Connections that projections are written through, and whose fault it is when that fails.

Nothing is kept in the session, so a pooler in transaction mode may stand in between.
"""

from typing import Any, Final

import psycopg
from psycopg import AsyncConnection, IsolationLevel
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import TupleRow

from eventstore.records import StoreUnavailable

Writer = AsyncConnection[TupleRow]
"""Autocommit, `%s` parameters; what belongs together is in `conn.transaction()`."""

_CONNECT_SECONDS: Final = 5
_SILENT_MILLISECONDS: Final = 30_000
_LONGEST_ERROR: Final = 300

_OF_THE_DATA: Final = ("21", "22", "23", "44", "54", "P0")
"""Classes of errors that what is written causes: too many rows, a value out of range, a broken
constraint, a limit of the row's, an exception raised by a function."""


async def connect(url: str, *, prepare: bool = True, name: str = "fairdeal-projections") -> Writer:
    """A connection of one's own, under a name that operators see. Raises
    psycopg.OperationalError."""
    given = conninfo_to_dict(url)
    settings: dict[str, Any] = {
        "autocommit": True,
        "connect_timeout": _CONNECT_SECONDS,
        # A server that is gone without a word is noticed.
        "tcp_user_timeout": _SILENT_MILLISECONDS,
        "application_name": name,
    }
    settings = {name: value for name, value in settings.items() if name not in given}
    conn = await AsyncConnection.connect(url, prepare_threshold=5 if prepare else None, **settings)
    # Whatever a database or role has for its default: a page is read after its lanes are locked.
    await conn.set_isolation_level(IsolationLevel.READ_COMMITTED)
    return conn


def of_the_event(error: Exception) -> bool:
    """Whether an error in `apply` is put down to the event: to its data, or to code that cannot
    take it. The database's own trouble never is, nor tables that are not what the code needs."""
    match error:
        case psycopg.Error(sqlstate=str(state)):
            return state.startswith(_OF_THE_DATA)
        case psycopg.OperationalError() | psycopg.InterfaceError():
            return False
        case StoreUnavailable() | OSError() | MemoryError():
            return False
        case _:
            return True


def kind_of(error: BaseException) -> str:
    """The class of an error; of Postgres' own also SQLSTATE, table and constraint."""
    kind = type(error)
    words = kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"
    if isinstance(error, psycopg.Error):
        named = (error.sqlstate, error.diag.table_name, error.diag.constraint_name)
        words += "".join([f" {name}" for name in named if name])
    return words


def described(error: BaseException) -> str:
    """What kind of error it was and where, for operators. Its message is left out: it may quote
    what an event holds."""
    words = kind_of(error)
    step = error.__traceback__
    places = []
    while step is not None:
        code = step.tb_frame.f_code
        if "site-packages" not in code.co_filename:
            module = step.tb_frame.f_globals.get("__name__", "?")
            places.append(f"{module}.{code.co_name}:{step.tb_lineno}")
        step = step.tb_next
    if places:
        words += f" in {places[-1]}"
    return words[:_LONGEST_ERROR]
