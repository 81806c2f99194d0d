"""Ask what is known against the packages that are installed: fails where there is a version without
the flaw, says so where there is none, and says plainly where nobody could be asked.

`python .ci/audit.py PIP_AUDIT`, with the path of pip-audit. Exit code 1 for a flaw with a remedy.
"""

import json
import subprocess
import sys
from typing import Any

SERVICES = ("pypi", "osv")
"""Who is asked, one after the other until one answers."""
SECONDS = 120


def main(pip_audit: str) -> int:
    """Print what was found; the exit code."""
    for service in SERVICES:
        packages = asked(pip_audit, service)
        audited = [package for package in packages if "vulns" in package]
        if audited:
            return judged(audited, len(packages))
    print("Not audited: no service that knows of vulnerabilities can be reached from here.")
    return 0


def asked(pip_audit: str, service: str) -> list[dict[str, Any]]:
    """The packages installed, each with its `vulns`, or why it was skipped; none where the service
    does not answer."""
    options = ["--local", "--format", "json", "--progress-spinner", "off", "--timeout", "10"]
    try:
        done = subprocess.run(
            [pip_audit, *options, "--vulnerability-service", service],
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        found: list[dict[str, Any]] = json.loads(done.stdout)["dependencies"]
    except (subprocess.TimeoutExpired, json.JSONDecodeError):
        return []
    return found


def judged(audited: list[dict[str, Any]], installed: int) -> int:
    """Print each flaw; 1 where one has a remedy."""
    mendable = 0
    for package in audited:
        for flaw in package["vulns"]:
            remedy = ", ".join(flaw["fix_versions"])
            mendable += bool(remedy)
            said = f"mended in {remedy}" if remedy else "no version without it yet"
            print(f"{package['name']} {package['version']}: {flaw['id']}, {said}")
    print(f"{len(audited)} of {installed} packages audited, {mendable} flaws to mend.")
    return int(mendable > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
