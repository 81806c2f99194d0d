"""The short version of the fault runs: real processes, a real Postgres, real kills. The whole list
is `python -m faults` (docs/faults.md).

No time is asserted: everything has a minute to be live again, which only a hanging run needs.
"""

import inspect
from pathlib import Path

import pytest

from faults import run
from faults.catalogue import FAULTS, Fault
from faults.report import Report, carry_out
from faults.violations import Violation

pytestmark = pytest.mark.postgres

PATIENCE_SECONDS = 60.0


async def short(name: str, seed: int, actions: int, keep: Path) -> Report:
    report = await carry_out(
        FAULTS[name], seed, actions=actions, live_seconds=PATIENCE_SECONDS, keep=keep
    )
    assert report.verdict != "broken", report.detail
    return report


async def test_durability_switched_off_is_caught(tmp_path: Path) -> None:
    """The proof that the checker can fail: the same kill with synchronous_commit=off."""
    report = await short("not-durable", 1, 60, tmp_path)
    assert report.verdict == "caught", report
    assert report.violations[0].property == "acknowledged"
    assert report.figures["processes of Postgres killed"] > 1


async def test_a_storm_leaves_nothing_wrong(tmp_path: Path) -> None:
    """Lost answers, ended sessions, killed servers and workers, a frozen one, a killed Postgres."""
    report = await short("storm", 1, 100, tmp_path)
    assert report.violations == ()
    assert report.verdict == "held"
    assert report.figures["blows"] == 7
    assert report.counts["acknowledged"] >= 100
    assert report.counts["unknown"] == 0


async def test_every_oracle_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    oracles = (
        *("judge", "check_logs", "check_feed", "check_clocks"),
        *("check_audit", "check_lag", "check_projections"),
    )
    for name in oracles:
        real, said = getattr(run, name), [Violation("fault", name)]
        if inspect.iscoroutinefunction(real):

            async def asked_later(*_: object, said: list[Violation] = said) -> list[Violation]:
                return said

            monkeypatch.setattr(run, name, asked_later)
        else:
            monkeypatch.setattr(run, name, lambda *_, said=said: said)

    async def nothing(run: run.Run) -> None:
        """Nothing breaks."""
        async with run.serving({}) as processes, run.playing(processes):
            await run.acted(1)

    report = await carry_out(Fault("made-up", nothing, ""), 1, actions=10, keep=tmp_path)
    assert report.verdict == "violated", report.detail
    assert sorted([violation.text for violation in report.violations]) == sorted(oracles)
