"""`python -m faults [NAME…]`: break things, judge, tell. Exit codes: 0 everything held, 1 something
did not, 2 the command line was wrong."""

import asyncio
import secrets
import signal
import sys
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.console import Console
from rich.table import Table

from faults.catalogue import FAULTS
from faults.report import Report, carry_out
from faults.violations import PROPERTIES

_SIGNS = {"held": "green", "caught": "green", "skipped": "yellow"}


def main(
    names: Annotated[list[str] | None, typer.Argument(help="Which faults; none: all.")] = None,
    seed: Annotated[int | None, typer.Option(help="Choose as an earlier run did.")] = None,
    actions: Annotated[
        int | None, typer.Option(min=10, help="About how many acknowledged commands a run has.")
    ] = None,
    listing: Annotated[bool, typer.Option("--list", help="List the faults and end.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Report as JSON on stdout.")] = False,
    keep: Annotated[
        Path, typer.Option(help="Where the evidence of what did not hold is put.")
    ] = Path("build"),
) -> None:
    """Run faults against real processes and a real Postgres, and judge what came of it."""
    console = Console(stderr=as_json)
    unknown = [name for name in names or () if name not in FAULTS]
    if unknown:
        raise typer.BadParameter(f"no fault {', '.join(unknown)}; --list lists them")
    if listing:
        _list(console, as_json=as_json)
        return
    # So that whatever has been started is ended then too.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    chosen = secrets.randbelow(2**31) if seed is None else seed
    console.print(f"seed {chosen} (--seed {chosen} chooses the same again)")
    reports = asyncio.run(_run(console, names or list(FAULTS), chosen, actions, keep))
    if as_json:
        print(msgspec.json.encode(reports).decode())
    else:
        _summary(console, reports)
    if not all(report.well for report in reports):
        raise typer.Exit(1)


async def _run(
    console: Console, names: list[str], seed: int, actions: int | None, keep: Path
) -> list[Report]:
    reports = []
    for place, name in enumerate(names, 1):
        with console.status("") as status:

            def tell(text: str, shown: str = f"[{place}/{len(names)}] {name}") -> None:
                status.update(f"{shown}: {text}")

            report = await carry_out(FAULTS[name], seed, actions=actions, tell=tell, keep=keep)
        reports.append(report)
        _tell(console, report)
    return reports


def _tell(console: Console, report: Report) -> None:
    colour = _SIGNS.get(report.verdict, "bold red")
    counts, figures = report.counts, report.figures
    console.print(
        f"[{colour}]{report.verdict:8}[/] {report.fault:17} {report.seconds:6.1f} s"
        f"  {counts['acknowledged']} acknowledged, {counts['refused']} refused,"
        f" {counts['unavailable']} times 503, {counts['unanswered']} unanswered;"
        f" {', '.join([f'{name}: {value:g}' for name, value in figures.items()])}",
        highlight=False,
        soft_wrap=True,
    )
    if report.detail:
        console.print(report.detail, markup=False, highlight=False)
    if report.verdict in ("violated", "broken", "missed"):
        for found in report.violations:
            where = f" (game {found.game}, versions {list(found.versions)})" if found.game else ""
            console.print(f"  {found.property}: {found.text}{where}", markup=False, soft_wrap=True)
        console.print(f"  {report.violated} in all; evidence: {report.evidence}", soft_wrap=True)
    elif report.verdict == "caught":
        text = f"  as it has to be, for example: {_first(report)}"
        console.print(text, markup=False, soft_wrap=True)


def _first(report: Report) -> str:
    wanted = FAULTS[report.fault].found
    return next(each.text for each in report.violations if each.property == wanted)


def _summary(console: Console, reports: list[Report]) -> None:
    skipped = [report.fault for report in reports if report.verdict == "skipped"]
    bad = [report.fault for report in reports if not report.well]
    acknowledged = sum([report.counts["acknowledged"] for report in reports])
    minutes = sum([report.seconds for report in reports]) / 60
    console.print(
        f"{len(reports)} faults, {acknowledged} acknowledged commands, {minutes:.1f} minutes;"
        f" skipped: {', '.join(skipped) or 'none'}; did not hold: {', '.join(bad) or 'none'}"
    )


def _list(console: Console, *, as_json: bool) -> None:
    if as_json:
        listed = [
            {"name": f.name, "what": f.what, "oracle": f.oracle, "actions": f.actions}
            for f in FAULTS.values()
        ]
        print(msgspec.json.encode({"faults": listed, "properties": PROPERTIES}).decode())
        return
    table = Table("fault", "what is done", "what to look at", show_lines=True)
    for fault in FAULTS.values():
        table.add_row(fault.name, fault.what, fault.oracle)
    console.print(table)
    console.print("After each of them:")
    for name, text in PROPERTIES.items():
        console.print(f"  {name}: {text}", highlight=False)


if __name__ == "__main__":
    typer.run(main)
