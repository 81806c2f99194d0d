"""The command `doctor`."""

import asyncio
import os
from typing import TYPE_CHECKING, Annotated, Final

import typer

from api.cli_proof import Json
from api.complaints import complaints

if TYPE_CHECKING:
    from api.doctor.database import Target
    from api.doctor.findings import Checkup, Finding

commands = typer.Typer()

_MARKS: Final = {"ok": "[green]ok[/]", "warn": "[yellow]warn[/]", "fail": "[red]FAIL[/]"}


@commands.command()
def doctor(
    workers: Annotated[
        int, typer.Option(min=1, max=256, help="Worker processes in all, for what they need.")
    ] = 1,
    as_json: Json = False,
) -> None:
    """Check settings, connection, migrations, clock, keys, lag and disk; change nothing.

    Exit code 1 where something fails, 0 where nothing does, with warnings or without.
    """
    import msgspec

    with complaints():
        found = _examined(workers)
    if as_json:
        print(msgspec.json.format(msgspec.json.encode(found)).decode())
    else:
        _tell(found)
    if found.state == "fail":
        raise typer.Exit(1)


def _examined(workers: int) -> "Checkup":
    from api.doctor import place
    from api.doctor.findings import Checkup, worst

    findings = [*place.findings(os.environ), *_of_database(workers)]
    return Checkup(worst(findings), place.listed(os.environ), tuple(findings))


def _of_database(workers: int) -> "list[Finding]":
    from api import settings
    from api.doctor import findings as told
    from eventstore import embedded

    url = os.environ.get(settings.DATABASE_URL_ENV)
    if url:
        return asyncio.run(_asked(url, workers, own=False))
    folder = settings.data_dir()
    if not (folder / "postgres").exists():
        found = f"there is no Postgres in {folder} yet"
        return [told.warn("connection", found, "`fairdeal serve` makes one and migrates it.")]
    try:
        with embedded.server(folder) as own:
            return asyncio.run(_asked(own, workers, own=True))
    except embedded.EmbeddedPostgresError as error:
        return [told.fail("connection", str(error), "Do as it says.")]


async def _asked(url: str, workers: int, *, own: bool) -> "list[Finding]":
    from api.doctor import database

    return [finding async for finding in database.findings(_target(url, workers, own=own))]


def _target(url: str, workers: int, *, own: bool) -> "Target":
    from api import settings, signing
    from api.doctor import database

    def asked(name: str) -> settings.Settings:
        # One that cannot be read is a finding already, and counts as not set here.
        kept = {k: v for k, v in os.environ.items() if v and k == f"FAIRDEAL_{name.upper()}"}
        stand_ins = {
            settings.DATABASE_URL_ENV: url,
            settings.HOST_KEYS_ENV: "host:key",
            settings.SECRET_ENV: "secret",
        }
        try:
            return settings.from_environment(stand_ins | kept)
        except settings.SettingsError:
            return settings.from_environment(stand_ins)

    try:
        kids = signing.known_kids()
    except settings.SettingsError:
        kids = None
    listens = asked("channel").channel == "postgres"
    return database.Target(
        url,
        embedded=own,
        prepare=asked("database_prepare").database_prepare,
        listen_url=(asked("listen_url").listen_url or url) if listens else "",
        connections=asked("database_connections").database_connections,
        workers=workers,
        lag_seconds=asked("projection_lag_seconds").projection_lag_seconds,
        kids=kids,
    )


def _tell(found: "Checkup") -> None:
    from rich.console import Console
    from rich.table import Table

    out = Console(highlight=False)
    table = Table(box=None, pad_edge=False)
    table.add_column("setting", no_wrap=True)
    for heading in ("value", "from"):
        table.add_column(heading, overflow="fold")
    for setting in found.settings:
        table.add_row(setting.name, _plain(setting.value), setting.source)
    out.print(table)
    out.print()
    checks = Table(box=None, pad_edge=False, show_header=False)
    for finding in found.findings:
        advice = f"\n→ {_plain(finding.advice)}" if finding.advice else ""
        checks.add_row(_MARKS[finding.state], finding.check, _plain(finding.found) + advice)
    out.print(checks)


def _plain(text: str) -> str:
    from rich.markup import escape

    return escape(text)
