"""`.ci/audit.py`: what it makes of the answers of pip-audit."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

AUDIT = Path(__file__).parents[1] / ".ci" / "audit.py"

CLEAN = {"name": "one", "version": "1.0", "vulns": []}
MENDED = {
    "name": "two",
    "version": "2.0",
    "vulns": [{"id": "PYSEC-2026-1", "fix_versions": ["2.0.1"], "aliases": []}],
}
OPEN = {
    "name": "three",
    "version": "3.0",
    "vulns": [{"id": "PYSEC-2026-2", "fix_versions": [], "aliases": []}],
}
SKIPPED = {"name": "ours", "skip_reason": "not there"}


def audited(folder: Path, answers: dict[str, Any]) -> subprocess.CompletedProcess[str]:
    """Run it with a pip-audit that answers so for each service (None: it breaks off)."""
    for service, packages in answers.items():
        text = "no JSON" if packages is None else json.dumps({"dependencies": packages})
        (folder / service).write_text(text)
    stand_in = folder / "pip-audit"
    stand_in.write_text(f'#!/bin/sh\nfor last; do :; done\ncat "{folder}/$last"\n')
    stand_in.chmod(0o755)
    return subprocess.run(
        [sys.executable, AUDIT, str(stand_in)], capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    ("pypi", "osv", "code", "said"),
    [
        ([CLEAN, SKIPPED], None, 0, "1 of 2 packages audited, 0 flaws"),
        ([CLEAN, MENDED], None, 1, "two 2.0: PYSEC-2026-1, mended in 2.0.1"),
        ([CLEAN, OPEN], None, 0, "three 3.0: PYSEC-2026-2, no version without it yet"),
        ([SKIPPED], [OPEN, MENDED], 1, "mended in 2.0.1"),
        (None, [CLEAN], 0, "1 of 1 packages audited"),
        ([SKIPPED], None, 0, "Not audited"),
        (None, None, 0, "Not audited"),
    ],
)
def test_a_flaw_with_a_remedy_fails_and_nobody_to_ask_is_said(
    tmp_path: Path, pypi: Any, osv: Any, code: int, said: str
) -> None:
    done = audited(tmp_path, {"pypi": pypi, "osv": osv})
    assert done.returncode == code, done.stderr
    assert said in done.stdout
    assert not done.stderr
