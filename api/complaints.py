"""Foreseen failures of the command line: one line on stderr and an exit code, never a traceback."""

from collections.abc import Iterator
from contextlib import contextmanager

import typer


@contextmanager
def complaints() -> Iterator[None]:
    """Exit code 1 where something did not work, 2 where a file is not what it was given for."""
    # Imported here: a command that fails at nothing need not load them.
    import psycopg
    from psycopg import errors

    from api.checking import UnreadableFile
    from api.serving import ServeError
    from api.settings import SettingsError
    from eventstore.dumps import DumpError
    from eventstore.embedded import EmbeddedPostgresError
    from eventstore.migrate import MigrationError
    from eventstore.records import StoreUnavailable

    try:
        yield
    except UnreadableFile as error:
        raise _said(str(error), 2) from None
    except (
        ServeError,
        SettingsError,
        EmbeddedPostgresError,
        MigrationError,
        DumpError,
    ) as error:
        raise _said(str(error), 1) from None
    except (errors.UndefinedTable, errors.UndefinedFunction, errors.InvalidSchemaName):
        raise _said("the database needs `fairdeal migrate`", 1) from None
    except errors.InsufficientPrivilege as error:
        raise _said(f"the database does not let this role do that: {error}".strip(), 1) from None
    except (psycopg.OperationalError, psycopg.ProgrammingError, StoreUnavailable) as error:
        raise _said(f"the database cannot be used: {error}".strip(), 1) from None


def _said(message: str, code: int) -> typer.Exit:
    typer.echo(f"fairdeal: {message}", err=True)
    return typer.Exit(code)
