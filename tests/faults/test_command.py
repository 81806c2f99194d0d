"""`python -m faults`: what it lists, how it ends, and what it leaves as evidence."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from faults import __main__ as command
from faults.catalogue import FAULTS, Fault
from faults.report import carry_out
from faults.run import Run, Skipped
from faults.violations import PROPERTIES

ROOT = Path(__file__).parents[2]
DOCUMENT = (ROOT / "docs" / "faults.md").read_text(encoding="utf-8")


def faults(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "faults", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_it_lists_every_fault_and_property() -> None:
    listed = json.loads(faults("--list", "--json").stdout)
    assert [fault["name"] for fault in listed["faults"]] == list(FAULTS)
    assert listed["properties"] == PROPERTIES
    assert all(fault["what"] and fault["oracle"] for fault in listed["faults"])
    shown = faults("--list").stdout
    assert all(name in shown for name in (*FAULTS, *PROPERTIES))


def test_a_name_that_is_none_is_refused() -> None:
    done = faults("flood")
    assert done.returncode == 2
    assert "no fault flood" in done.stderr


@pytest.mark.parametrize("name", FAULTS)
def test_the_document_has_a_row_for_every_fault(name: str) -> None:
    fault = FAULTS[name]
    assert DOCUMENT.splitlines().count(f"| `{name}` | {fault.what} | {fault.oracle} |") == 1


@pytest.mark.parametrize("name", PROPERTIES)
def test_the_document_has_a_row_for_every_property(name: str) -> None:
    assert DOCUMENT.splitlines().count(f"| {name} | {PROPERTIES[name]} |") == 1


async def lying(run: Run) -> None:
    """Nothing breaks."""
    run.concluded = True
    run.must(False, "nothing broke")


async def quiet(run: Run) -> None:
    """Nothing is to break."""
    run.concluded = True


async def broken(run: Run) -> None:
    """The run itself fails."""
    raise RuntimeError("the run fell over")


async def impossible(run: Run) -> None:
    """Not here."""
    raise Skipped("no such thing here")


@pytest.mark.parametrize(
    ("fault", "verdict"),
    [
        (Fault("made-up", lying, ""), "violated"),
        (Fault("made-up", quiet, ""), "held"),
        (Fault("made-up", broken, ""), "broken"),
        (Fault("made-up", impossible, ""), "skipped"),
        (Fault("made-up", lying, "", found="fault"), "caught"),
        (Fault("made-up", lying, "", found="acknowledged"), "missed"),
        (Fault("made-up", quiet, "", found="acknowledged"), "missed"),
    ],
)
async def test_the_verdict_on_a_run(fault: Fault, verdict: str, tmp_path: Path) -> None:
    report = await carry_out(fault, 7, keep=tmp_path)
    assert report.verdict == verdict
    assert report.well == (verdict in ("held", "caught", "skipped"))
    kept = tmp_path / "faults-made-up-7"
    assert kept.exists() != report.well
    assert report.evidence == (None if report.well else str(kept))


@pytest.mark.parametrize(("run", "code"), [(lying, 1), (broken, 1), (quiet, 0), (impossible, 0)])
def test_the_exit_code(
    run: object, code: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(command, "FAULTS", {"made-up": Fault("made-up", run, "")})  # type: ignore[arg-type]
    app = typer.Typer()
    app.command()(command.main)
    arguments = ["--seed", "7", "--json", "--keep", str(tmp_path)]
    before = signal.getsignal(signal.SIGTERM)
    try:
        done = CliRunner().invoke(app, arguments)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert done.exit_code == code, done.output
    [report] = json.loads(done.stdout)
    assert report["seed"] == 7
    assert "seed 7" in done.stderr
