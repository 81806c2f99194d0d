"""A real Postgres for the tests, and a fresh migrated database for each. Never a mock.

`FAIRDEAL_TEST_DATABASE_URL` names a server whose role may create databases; else
`FAIRDEAL_TEST_POSTGRES=container` asks a Docker engine; else the embedded Postgres serves from a
temporary folder, in memory where there is room.
"""

import asyncio
import gc
import os
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit, urlunsplit
from uuid import uuid4

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from eventstore import embedded
from eventstore.migrate import migrate

if TYPE_CHECKING:
    from testcontainers.postgres import PostgresContainer

CONTAINER_IMAGE = "postgres:15-alpine"

ROOM = 2 * 2**30
"""Bytes that memory must have free for databases to be kept there."""


@contextmanager
def postgres() -> Iterator[str]:
    """The URL of a server for this test process; skips where the one asked for cannot be had."""
    if url := os.environ.get("FAIRDEAL_TEST_DATABASE_URL"):
        yield url
    elif os.environ.get("FAIRDEAL_TEST_POSTGRES") == "container":
        with container() as url:
            yield url
    else:
        with open_folder() as folder, embedded.server(folder, throwaway=True) as url:
            yield url


@contextmanager
def container() -> Iterator[str]:
    """A Postgres in a container; skips with the engine's own words where none answers."""
    engine, trouble = _start_container()
    if engine is None:
        pytest.skip(f"no Docker engine answers: {trouble}")
    try:
        yield engine.get_connection_url()
    finally:
        engine.stop()


def _start_container() -> "tuple[PostgresContainer | None, str]":
    trouble = ""
    # The client warns about itself, and leaves a socket open where no engine answers.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from docker.errors import DockerException  # type: ignore[import-untyped]
        from testcontainers.postgres import PostgresContainer

        try:
            engine = PostgresContainer(CONTAINER_IMAGE, driver=None)
            engine.start()
            return engine, trouble
        except DockerException as error:
            trouble = str(error)
        gc.collect()
    return None, trouble


def memory() -> Path | None:
    """Where files lie in memory, if programs may run there and it has room; else None.

    A run makes and drops some hundreds of databases of 300 files each: on a disk that takes ten
    times as long, even where nothing waits for the disk.
    """
    place = Path("/dev/shm")
    if not os.access(place, os.W_OK | os.X_OK):
        return None
    found = os.statvfs(place)
    is_roomy = found.f_bavail * found.f_frsize >= ROOM
    return place if is_roomy and not found.f_flag & os.ST_NOEXEC else None


@contextmanager
def open_folder(prefix: str = "fairdeal-test-") -> Iterator[Path]:
    """A temporary folder that root's account for Postgres may enter, unlike pytest's own."""
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir=memory()))
    folder.chmod(0o711 if os.geteuid() == 0 else 0o700)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class Databases:
    """Makes databases on one server, each a copy of one that was migrated once."""

    def __init__(self, server_url: str) -> None:
        self.server_url = server_url
        self._template = f"fairdeal_template_{uuid4().hex[:12]}"
        self._admin = psycopg.connect(server_url, autocommit=True)

    def prepare(self) -> None:
        """Make and migrate the database that the others are copied from."""
        self._create(self._template, "template0")
        url = database_url(self.server_url, self._template)
        # In a thread: the tests' event loop stays as it is.
        with ThreadPoolExecutor(1) as thread:
            thread.submit(asyncio.run, migrate(url)).result()

    def close(self) -> None:
        self.drop(self._template)
        self._admin.close()

    def create(self, *, migrated: bool = True) -> str:
        """The name of a new database."""
        name = f"fairdeal_test_{uuid4().hex[:12]}"
        self._create(name, self._template if migrated else "template0")
        return name

    def drop(self, name: str) -> None:
        """Drop a database, whoever is still connected."""
        statement = sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)")
        self._admin.execute(statement.format(sql.Identifier(name)))

    @contextmanager
    def fresh(self, *, migrated: bool = True) -> Iterator[str]:
        """The URL of a new database, dropped at the end of the block."""
        name = self.create(migrated=migrated)
        try:
            yield database_url(self.server_url, name)
        finally:
            self.drop(name)

    @contextmanager
    def copy_of(self, url: str) -> Iterator[str]:
        """The URL of a copy of a database that nobody is connected to, dropped at the end."""
        with psycopg.connect(url) as connection:
            original = connection.info.dbname
        name = f"fairdeal_test_{uuid4().hex[:12]}"
        self._create(name, original)
        try:
            yield database_url(self.server_url, name)
        finally:
            self.drop(name)

    def _create(self, name: str, template: str) -> None:
        statement = sql.SQL("CREATE DATABASE {} TEMPLATE {}")
        self._admin.execute(statement.format(sql.Identifier(name), sql.Identifier(template)))


def database_url(server_url: str, name: str) -> str:
    """The address of another database on the same server."""
    if "://" not in server_url:
        return make_conninfo(server_url, dbname=name)
    return urlunsplit(urlsplit(server_url)._replace(path=f"/{name}"))
