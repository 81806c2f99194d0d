"""The short version of the fault runs: real processes, a real Postgres, real kills. The whole list
is `python -m faults` (docs/faults.md).

No time is asserted: everything has a minute to be live again, which only a hanging run needs.
"""

from pathlib import Path

import pytest

from faults.catalogue import FAULTS
from faults.report import Report, carry_out

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
