"""`fairdeal serve`: Postgres if none is given, keys if there are none, then the server's processes.

Everything the workers need goes to them through the environment; they end with this process,
however it ends.
"""

import asyncio
import logging
import os
import secrets
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import Final

import psycopg

from api import logs, settings, signing, tracing
from api.kept import kept
from api.workers import ServeError, Workers
from eventstore import embedded
from eventstore.migrate import Report, grant_app, migrate, pending

_CONNECT_SECONDS: Final = 10


def serve(workers: Workers, host: str, port: int, *, show: bool = False) -> None:
    """Have workers serve until a signal says to stop; with `show`, open the table in a browser.
    Raises ServeError, SettingsError, EmbeddedPostgresError, MigrationError."""
    logs.begin()
    tracing.exporter()
    folder = settings.data_dir()
    with ExitStack() as ending:
        url = ending.enter_context(database())
        os.environ[settings.DATABASE_URL_ENV] = url
        _warn_unmigrated(url)
        first_key = _provide_keys(folder)
        found = settings.from_environment()
        signing.Signer(found.signing_keys, found.signing_keys_file)
        address = f"http://{f'[{host}]' if ':' in host else host}:{port}"
        print(f"Fairdeal serves at {address} (its API: {address}/schema)", flush=True)
        if first_key is not None:
            print(f"Host key, shown this once and kept in {folder}: {first_key}", flush=True)
        if show:
            from api import opening

            obstacle = opening.obstacle(host)
            if obstacle is None:
                key = next(iter(found.host_keys.values()))
                ending.enter_context(opening.opened(address, key))
            else:
                print(f"No browser is opened: {obstacle}.", flush=True)
        # Beside the workers, who need not wait for it.
        threading.Thread(target=_warn_of_strangers, args=[url], daemon=True).start()
        keep_up = found.projections == "serve"
        # It is not the workers who do it.
        os.environ[settings.PROJECTIONS_ENV] = "elsewhere"
        workers.serve(found.drain_seconds, found.stop_seconds, projections=keep_up)


def _warn_of_strangers(url: str) -> None:
    from api import kept_keys

    kept_keys.warn_of_strangers(url)


@contextmanager
def database() -> Iterator[str]:
    """The URL of the database while the block lasts: the one given, or one of our own, migrated."""
    given = os.environ.get(settings.DATABASE_URL_ENV)
    if given:
        # A database that cannot be used is said now, not to every caller.
        psycopg.connect(given, connect_timeout=_CONNECT_SECONDS).close()
        yield given
        return
    with embedded.server(settings.data_dir()) as url:
        asyncio.run(migrate(url))
        yield url


def migrate_database(app_role: str | None = None) -> Report:
    """Bring the database of this environment up to date, and let a role serve from it."""
    given = os.environ.get(settings.DATABASE_URL_ENV)
    with nullcontext(given) if given else embedded.server(settings.data_dir()) as url:
        report = asyncio.run(migrate(url))
        if app_role is not None:
            asyncio.run(grant_app(url, app_role))
        return report


def _warn_unmigrated(url: str) -> None:
    """Say once what else would show as one error after the other, of each worker."""

    async def missing() -> list[str]:
        async with await psycopg.AsyncConnection.connect(url) as conn:
            return await pending(conn)

    names = asyncio.run(missing())
    if names:
        logging.getLogger("fairdeal").warning(
            "the database needs `fairdeal migrate` (%s): until then nothing can be played",
            ", ".join(names),
        )


def _provide_keys(folder: Path) -> str | None:
    """Put host keys, the secret and the signing keys' file into the environment, from the data
    folder where the environment has none; the host key where it has just been made."""
    made: str | None = None
    if not os.environ.get(settings.SECRET_ENV):
        path = folder / "secret"
        found, _ = kept(path, secrets.token_urlsafe(32), settings.SECRET_ENV)
        if not found:
            raise ServeError(f"{path} is empty. Put it back from a backup, or remove it.")
        os.environ[settings.SECRET_ENV] = found
    if len(os.environ[settings.SECRET_ENV].encode()) < 32:
        logging.getLogger("fairdeal").warning(
            "the secret is shorter than 32 bytes: tokens can be forged by guessing it"
        )
    if not os.environ.get(settings.HOST_KEYS_ENV):
        keys, new = kept(
            folder / settings.HOST_KEY_FILE,
            f"host:fd_{secrets.token_urlsafe(32)}",
            settings.HOST_KEYS_ENV,
        )
        os.environ[settings.HOST_KEYS_ENV] = keys
        made = keys.partition(":")[2] if new else None
    if not os.environ.get(settings.SIGNING_KEYS_ENV):
        signing.check_named_file()
        os.environ[settings.SIGNING_KEYS_FILE_ENV] = str(signing.key_file())
    return made
