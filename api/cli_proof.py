"""The commands with which the service is checked: `verify`, `export`, `import`, `audit`, `keys`."""

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Annotated, Any, TypeVar
from uuid import UUID

import msgspec
import typer

from api.complaints import complaints

T = TypeVar("T")

commands = typer.Typer()
keys = typer.Typer(help="The keys that receipts are signed with; alone: `list`.")
commands.add_typer(keys, name="keys")

Json = Annotated[bool, typer.Option("--json", help="Report as JSON.")]


@commands.command()
def verify(
    file: Annotated[Path, typer.Argument(help="A log: `fairdeal export`, or `GET …/export`.")],
    receipt: Annotated[
        list[Path] | None,
        typer.Option(help="A receipt that was kept, which the log must continue; repeatable."),
    ] = None,
    keys: Annotated[
        Path | None, typer.Option(help="The service's public keys: its /.well-known/jwks.json.")
    ] = None,
    explain: Annotated[
        int | None, typer.Option(min=1, help="Say why the event of this version followed.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Check a log from the file alone: chain, digests, signatures, deals, and the rules again.

    Exit code 0 where nothing failed, 1 where something did, 2 where a file cannot be read.
    """
    from rich.console import Console

    from api import checking

    with complaints():
        log = checking.read_log(file)
        kept = checking.read_receipts(receipt or ())
        anchor = None if keys is None else checking.read_keys(keys)
        try:
            checked = checking.check(log, kept, anchor, explain)
        except KeyError:
            raise typer.BadParameter(
                f"the log has no version {explain}", param_hint="--explain"
            ) from None
    if as_json:
        print(checking.as_json(checked))
    else:
        checking.tell(checked, Console(highlight=False))
    if checked.report.failed:
        raise typer.Exit(1)


@commands.command()
def export(
    game: Annotated[UUID, typer.Argument(help="The game's id.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Where to write it; else to stdout.")
    ] = None,
) -> None:
    """Write a game's log, as anybody may see it now, for `fairdeal verify`."""
    from api.exporting import export_lines
    from api.games import Games
    from api.signing import of_environment
    from domain.visibility import SPECTATOR
    from eventstore.postgres import EventStore

    async def lines(store: EventStore) -> list[bytes]:
        history = await Games(store, 1).history(str(game))
        return list(export_lines(history, SPECTATOR, of_environment()))

    with complaints():
        try:
            found = _with_store(lines)
        except LookupError:
            typer.echo(f"fairdeal: there is no game {game}", err=True)
            raise typer.Exit(1) from None
    if output is None:
        sys.stdout.buffer.writelines(found)
        return
    try:
        output.write_bytes(b"".join(found))
    except OSError as error:
        raise typer.BadParameter(f"{output}: {error.strerror}", param_hint="--output") from None


def _tenant(host: str | None) -> str:
    """The host that gets what is imported: one whose key is known here, where any is."""
    from api.settings import SettingsError, host_names

    try:
        names = host_names()
    except SettingsError:
        if host is None:
            raise
        return host
    if host is not None and host not in names:
        reason = f"{host} is not one of the hosts: {', '.join(names)}"
        raise typer.BadParameter(reason, param_hint="--host")
    return host or names[0]


@commands.command("import")
def import_(
    files: Annotated[list[Path] | None, typer.Argument(help="Opened logs.")] = None,
    samples: Annotated[
        bool, typer.Option("--samples", help="The recorded games that come with Fairdeal.")
    ] = False,
    host: Annotated[
        str | None, typer.Option(help="The host (tenant) that gets them; the first by default.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Load logs of games that are over; each is verified first, and none replaces anything."""
    from api import checking, importing
    from eventstore.postgres import EventStore

    if not files and not samples:
        raise typer.BadParameter("give files, or --samples")

    async def load(store: EventStore) -> list[tuple[Traversable, importing.Imported]]:
        tenant = _tenant(host)
        found = []
        for path in [*(files or ()), *(importing.samples() if samples else ())]:
            log = checking.read_log(path)
            report = checking.check(log).report
            found.append((path, await importing.import_log(store, log, report, tenant)))
        return found

    with complaints():
        outcomes = _with_store(load)
    if as_json:
        items = [{"file": str(path), **msgspec.to_builtins(done)} for path, done in outcomes]
        print(json.dumps({"items": items}))
    else:
        for path, done in outcomes:
            reason = f": {done.reason}" if done.reason else ""
            print(f"{done.outcome}  {done.game}  {path.name}{reason}")
    if any(done.outcome == "refused" for _, done in outcomes):
        raise typer.Exit(1)


@commands.command()
def audit(
    sample: Annotated[
        int | None, typer.Option(min=1, help="Only so many streams, drawn at random.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Hold every stream of the store against its hashes, digests, head and receipts.

    Exit code 0 where all agree, 1 where something does not.
    """
    from api import auditing
    from api.checking import bar
    from api.signing import of_environment
    from eventstore.postgres import EventStore

    async def look(store: EventStore) -> auditing.Audit:
        signer = of_environment()
        total = await store.count() if sample is None else sample
        with bar("Auditing", total) as told:
            public = None if signer is None else signer.keys
            return await auditing.audit(store, public, sample, told)

    with complaints():
        found = _with_store(look)
    if as_json:
        print(json.dumps(msgspec.to_builtins(found)))
    else:
        for trouble in found.trouble:
            print(f"FAILED  {trouble.stream}  {trouble.check}: {trouble.reason}")
        print(
            f"{found.streams} streams with {found.events} events: "
            f"{len(found.trouble)} disagreements"
        )
    if found.trouble:
        raise typer.Exit(1)


@keys.callback(invoke_without_command=True)
def of_keys(context: typer.Context, as_json: Json = False) -> None:
    """The keys that receipts are signed with; alone: `list`."""
    if context.invoked_subcommand is None:
        list_keys(as_json)


@keys.command("list")
def list_keys(as_json: Json = False) -> None:
    """The keys that sign receipts or have signed them, without their secrets."""
    from api.signing import of_environment
    from domain.times import format_at

    with complaints():
        signer = of_environment()
    found = () if signer is None else signer.keys
    if as_json:
        print(json.dumps({"keys": msgspec.to_builtins(found)}))
        return
    for key in found:
        since = format_at((key.nbf or 0) * 1_000_000)
        until = "today" if key.exp is msgspec.UNSET else format_at(key.exp * 1_000_000)
        print(f"{key.kid}  from {since} until {until}")
    if not found:
        print("There are no keys yet: `fairdeal serve` makes one.")


@keys.command()
def rotate(as_json: Json = False) -> None:
    """Let a new key sign from now on; the old ones stay for what they have signed."""
    from api import settings, signing

    with complaints():
        if text := os.environ.get(settings.SIGNING_KEYS_ENV):
            # An environment cannot be changed from here: whoever keeps it gets the new value.
            found = signing.rotated(signing.parse(text, settings.SIGNING_KEYS_ENV))
            print(f"Set {settings.SIGNING_KEYS_ENV} to this, everywhere:", file=sys.stderr)
            print(",".join([key.text for key in found]))
            return
        key = signing.rotate(signing.key_file())
    if as_json:
        print(json.dumps({"key": msgspec.to_builtins(key.public)}))
    else:
        print(f"From now on {key.public.kid} signs.")


def _with_store(work: Callable[[Any], Awaitable[T]]) -> T:
    """Do something with the store of this environment."""
    from api import serving
    from api.settings import database_prepare
    from eventstore.postgres import EventStore

    async def run(url: str) -> T:
        prepare = database_prepare()
        async with EventStore.open(url, prepare=prepare, deadline_seconds=60) as store:
            return await work(store)

    with serving.database() as url:
        return asyncio.run(run(url))
