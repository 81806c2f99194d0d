"""Carrying a run out, and what is told of it."""

import shutil
import traceback
from pathlib import Path
from time import monotonic
from typing import Final, Literal

import msgspec

from faults.catalogue import Fault
from faults.run import LIVE_SECONDS, Run, Skipped, Tell, workplace
from faults.violations import Violation

_TOLD: Final = 20
"""Violations told of one run; the evidence has all of them."""

Verdict = Literal["held", "caught", "violated", "missed", "skipped", "broken"]


class Report(msgspec.Struct, frozen=True):
    """What came of a run.

    - `held`: every property held. `violated`: some did not.
    - `caught`: the checker found what it had to find. `missed`: it did not.
    - `skipped`: this machine cannot bring the fault about. `broken`: the run itself went wrong.
    """

    fault: str
    seed: int
    verdict: Verdict
    seconds: float
    counts: dict[str, int]
    figures: dict[str, float]
    violations: tuple[Violation, ...] = ()
    violated: int = 0
    """How many violations there are in all."""
    detail: str = ""
    evidence: str | None = None
    """The folder with the history, the violations and the servers' logs."""

    @property
    def well(self) -> bool:
        """Whether nothing is wrong with what was tried."""
        return self.verdict in ("held", "caught", "skipped")


async def carry_out(
    fault: Fault,
    seed: int,
    *,
    actions: int | None = None,
    tell: Tell = lambda _: None,
    live_seconds: float = LIVE_SECONDS,
    keep: Path | None = None,
) -> Report:
    """Run one fault. `actions` in place of its own number; evidence goes below `keep`."""
    begun = monotonic()
    with workplace() as folder:
        run = Run(seed, folder, actions or fault.actions, tell, live_seconds)
        verdict, detail = await _run(fault, run)
        bad = verdict in ("violated", "missed", "broken")
        evidence = _evidence(fault, run, keep, seed, detail) if bad and keep is not None else None
    return Report(
        fault=fault.name,
        seed=seed,
        verdict=verdict,
        seconds=round(monotonic() - begun, 1),
        counts=run.history.counts(),
        figures=run.figures,
        violations=tuple(run.violations[:_TOLD]),
        violated=len(run.violations),
        detail=detail,
        evidence=None if evidence is None else str(evidence),
    )


async def _run(fault: Fault, run: Run) -> tuple[Verdict, str]:
    try:
        await fault.bring_about(run)
        if not run.concluded:
            await run.conclude()
    except Skipped as reason:
        return "skipped", str(reason)
    except Exception:
        # Whatever it is, the other faults get their turn, and this one is told as broken.
        return "broken", traceback.format_exc()
    finally:
        run.end()
    if fault.found is not None:
        found = any(violation.property == fault.found for violation in run.violations)
        return ("caught" if found else "missed"), ""
    return ("violated" if run.violations else "held"), ""


def _evidence(fault: Fault, run: Run, keep: Path, seed: int, detail: str) -> Path:
    """Put aside what one needs to find the reason."""
    folder = keep / f"faults-{fault.name}-{seed}"
    folder.mkdir(parents=True, exist_ok=True)
    run.history.write(folder / "history.ndjson")
    (folder / "violations.json").write_bytes(msgspec.json.encode(run.violations))
    (folder / "broken.txt").write_text(detail)
    logs = [*run.folder.glob("*.log"), run.server.data / "server.log"]
    for log in logs:
        if log.exists():
            shutil.copy(log, folder)
    return folder
