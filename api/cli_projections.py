"""The commands around projections: `project`, `projections`, `rebuild`."""

import asyncio
import json
import signal
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from api.cli_proof import Json
from api.complaints import complaints

if TYPE_CHECKING:
    from projections.standing import Feed

commands = typer.Typer()


@commands.command()
def project(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="Which; all by default.")
    ] = None,
) -> None:
    """Keep projections up with the log until a signal says to stop; any number of processes may."""
    from api import logs, serving, tracing
    from api.settings import database_prepare
    from projections.registry import PROJECTIONS
    from projections.runner import run

    chosen = [PROJECTIONS[name] for name in _known(names or list(PROJECTIONS))]

    async def until_told(url: str) -> None:
        prepare = database_prepare()
        await _check_migrated(url)
        work = asyncio.create_task(run(url, chosen, prepare=prepare))
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, work.cancel)
        print(f"Fairdeal keeps up: {', '.join([p.name for p in chosen]) or 'nothing'}", flush=True)
        await asyncio.wait([work])
        if not work.cancelled():
            work.result()

    with complaints():
        logs.begin()
        tracing.begin()
        with serving.database() as url:
            asyncio.run(until_told(url))


@commands.command()
def projections(as_json: Json = False) -> None:
    """Say how projections stand: version, lag, parked streams, heartbeat.

    Exit code 1 where a projection has no live build or has parked streams.
    """
    from api import serving
    from api.settings import database_prepare
    from eventstore.postgres import EventStore
    from projections.registry import PROJECTIONS
    from projections.standing import standing

    async def look(url: str) -> "Feed":
        await _check_migrated(url)
        prepare = database_prepare()
        async with EventStore.open(url, prepare=prepare, deadline_seconds=60) as store:
            return await standing(store)

    with complaints(), serving.database() as url:
        found = asyncio.run(look(url))
    live = found.live()
    missing = [name for name in PROJECTIONS if name not in live]
    if as_json:
        items = msgspec.to_builtins(found.builds)
        print(json.dumps({"unstamped": found.unstamped, "missing": missing, "items": items}))
    else:
        _tell(found, missing)
    if missing or any(build.parked for build in live.values()):
        raise typer.Exit(1)


@commands.command()
def rebuild(
    name: Annotated[str, typer.Argument(help="Which projection.")], as_json: Json = False
) -> None:
    """Build a projection again from the whole log, compare it with the live one, and switch."""
    from rich.console import Console
    from rich.progress import Progress

    from api import serving
    from api.settings import database_prepare
    from projections import rebuild as rebuilding
    from projections.registry import PROJECTIONS

    [name] = _known([name])

    async def build(url: str) -> rebuilding.Rebuilt:
        await _check_migrated(url)
        console = Console(stderr=True)
        with Progress(console=console, transient=True, disable=not console.is_terminal) as shown:
            task = shown.add_task(f"Rebuilding {name}", total=None)
            return await rebuilding.rebuild(
                url,
                PROJECTIONS[name],
                prepare=database_prepare(),
                told=lambda done, of: shown.update(task, completed=done, total=of),
            )

    with complaints(), serving.database() as url:
        try:
            done = asyncio.run(build(url))
        except rebuilding.RebuildError as error:
            typer.echo(f"fairdeal: {error}", err=True)
            raise typer.Exit(1) from None
    if as_json:
        print(json.dumps({**msgspec.to_builtins(done), "different": done.different}))
        return
    print(
        f"Projection {done.name} was built again from {done.events} events in "
        f"{done.seconds:.1f} s and is live (version {done.version}, build {done.build})."
    )
    if done.compared is None:
        print("It was not compared: the build before was of another version, or could not be read.")
    for table in done.compared or ():
        same = not (table.only_live or table.only_rebuilt)
        how = "the same" if same else f"{table.only_live} rows gone, {table.only_rebuilt} new"
        print(f"  {table.table}: {table.rebuilt_rows} rows, {how}")
    if done.parked:
        print(f"  {done.parked} streams could not be applied; see `fairdeal projections`.")


def _known(names: list[str]) -> list[str]:
    from projections.registry import PROJECTIONS

    for name in names:
        if name not in PROJECTIONS:
            there = ", ".join(PROJECTIONS) or "none"
            raise typer.BadParameter(f"{name} is no projection; there are: {there}")
    return list(dict.fromkeys(names))


async def _check_migrated(url: str) -> None:
    from eventstore.migrate import MigrationError, pending
    from projections.writing import connect

    async with await connect(url) as conn:
        if await pending(conn):
            raise MigrationError("the database needs `fairdeal migrate`")


def _tell(found: "Feed", missing: list[str]) -> None:
    from rich.console import Console
    from rich.table import Table

    from domain.times import format_at

    table = Table(box=None, pad_edge=False)
    for heading in ("projection", "version", "build", "state", "behind", "since", "parked", "beat"):
        table.add_column(heading)
    for build in found.builds:
        table.add_row(
            build.name,
            str(build.version),
            str(build.build),
            build.state,
            str(build.lag_events),
            f"{build.lag_seconds:.1f} s",
            str(len(build.parked)),
            f"{build.heartbeat_seconds:.1f} s ago",
        )
    for name in missing:
        table.add_row(name, "-", "-", "not begun", "-", "-", "-", "-")
    out = Console(highlight=False)
    out.print(table)
    for build in found.builds:
        for stream in build.parked:
            at = format_at(stream.parked_at)
            where = f"{build.name} build {build.build}: {stream.stream} from version"
            print(f"parked {at}  {where} {stream.version}: {stream.error}")
    if found.unstamped:
        print(f"{found.unstamped} committed events have no number in the feed yet.")
