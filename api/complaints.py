"""Foreseen failures of the command line: one line on stderr and an exit code, never a traceback."""

from collections.abc import Iterator
from contextlib import contextmanager

import typer


@contextmanager
def complaints() -> Iterator[None]:
    """Exit code 1 where something did not work, 2 where a file is not what it was given for."""
    try:
        yield
    except Exception as error:
        complaint = _complaint(error)
        if complaint is None:
            raise
        raise complaint from None


def _complaint(error: Exception) -> typer.Exit | None:
    """How to end after what was foreseen, having said so; None for anything else."""
    # Imported here: a command that fails at nothing need not load them.
    import psycopg
    from psycopg import errors

    from api.checking import UnreadableFile
    from api.settings import SettingsError
    from api.workers import ServeError
    from eventstore.dumps import DumpError
    from eventstore.embedded import EmbeddedPostgresError
    from eventstore.migrate import MigrationError
    from eventstore.records import StoreUnavailable

    match error:
        case UnreadableFile():
            return _said(str(error), 2)
        case (
            ServeError()
            | SettingsError()
            | EmbeddedPostgresError()
            | MigrationError()
            | DumpError()
        ):
            return _said(str(error), 1)
        case errors.UndefinedTable() | errors.UndefinedFunction() | errors.InvalidSchemaName():
            return _said("the database needs `fairdeal migrate`", 1)
        case errors.InsufficientPrivilege():
            return _said(f"the database does not let this role do that: {told(error)}", 1)
        case psycopg.OperationalError() | psycopg.ProgrammingError() | StoreUnavailable():
            return _said(f"the database cannot be used: {told(error)}", 1)
        case _:
            return None


def told(error: Exception) -> str:
    """An error in its own words, unless it may quote an address with the password in it: one that
    cannot be read, or is read wrongly because the password has characters of its own."""
    from psycopg import ProgrammingError

    words = str(error).strip()
    unread = isinstance(error, ProgrammingError) and error.sqlstate is None
    if unread or "@" in words or "invalid integer value" in words:
        return (
            "its address is not one. It is like postgresql://user:password@host:5432/name; "
            "other characters than letters and digits in the password are percent-encoded."
        )
    return words


def _said(message: str, code: int) -> typer.Exit:
    typer.echo(f"fairdeal: {message}", err=True)
    return typer.Exit(code)
