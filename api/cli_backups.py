"""The commands `backup` and `restore`."""

import asyncio
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from api.complaints import complaints

commands = typer.Typer()


@commands.command()
def backup(
    file: Annotated[Path, typer.Argument(help="Where to write it; replaced if it is there.")],
) -> None:
    """Write the whole database, as of one moment, to a file; the service may go on meanwhile.

    Keys and secrets are not in it: keep host.key, secret and signing.keys as well.
    """
    from eventstore.dumps import dump

    half = file.with_name(f".{file.name}.half")
    with complaints(), _database() as url:
        try:
            with open(os.open(half, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as output:
                dump(url, output)
                output.flush()
                os.fsync(output.fileno())
            half.replace(file)
        except OSError as error:
            raise typer.BadParameter(f"{file}: {error.strerror}", param_hint="FILE") from None
        finally:
            half.unlink(missing_ok=True)
    print(f"{file} holds the database ({file.stat().st_size / 1e6:.1f} MB). Keep the keys too.")


@commands.command()
def restore(
    file: Annotated[Path, typer.Argument(help="What `backup` has written.")],
) -> None:
    """Put a backup into an empty database, all of it or nothing, and bring it up to this version.

    Afterwards: `fairdeal migrate --app-role`, where a role of its own serves; `fairdeal audit`; and
    erase again whoever was erased since the backup.
    """
    from eventstore.dumps import restore as take_back
    from eventstore.migrate import migrate

    with complaints():
        try:
            taken = file.open("rb")
        except OSError as error:
            raise typer.BadParameter(f"{file}: {error.strerror}", param_hint="FILE") from None
        with taken, _database() as url:
            take_back(url, taken)
            report = asyncio.run(migrate(url))
    print(f"{file} was restored, and {len(report.applied)} migrations were applied since.")


@contextmanager
def _database() -> Iterator[str]:
    """The database as it is: the one given, or one of our own, not migrated."""
    from api import settings
    from eventstore import embedded

    given = os.environ.get(settings.DATABASE_URL_ENV)
    if given:
        yield given
        return
    with embedded.server(settings.data_dir()) as url:
        yield url
